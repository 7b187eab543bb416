"""Literal arguments that can never be right: an expression is refused for them before it runs (cel-go validator.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.dynamic_resource_allocation.cel.library.conversions import to_duration, to_timestamp
from kubectl_sched.dynamic_resource_allocation.cel.regex import regex
from kubectl_sched.dynamic_resource_allocation.cel.syntax_tree import Call, Const, Node, children
from kubectl_sched.dynamic_resource_allocation.cel.values import CelError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_READERS: dict[str, Callable[..., object]] = {"duration": to_duration, "timestamp": to_timestamp, "matches": regex}
"""The parsers of functions' first arguments."""


def literal_problems(node: Node) -> Iterator[tuple[int, str]]:
    """The arguments below a node that cannot be read, each with its place."""
    match node:
        case Call(function=name, args=[Const(at=at, value=value), *_]) if name in _READERS:
            try:
                _READERS[name](value)
            except CelError:
                yield at, f"invalid {name} argument"
    for child in children(node):
        yield from literal_problems(child)
