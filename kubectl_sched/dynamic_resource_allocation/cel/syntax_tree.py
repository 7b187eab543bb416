"""The nodes of an expression's syntax tree."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.dynamic_resource_allocation.cel.values import Value


@dataclass(slots=True)
class Node:
    """A piece of the expression; `at` is the offset of the character that messages point to."""

    at: int


@dataclass(slots=True)
class Const(Node):
    """A literal."""

    value: Value


@dataclass(slots=True)
class Ident(Node):
    """A variable."""

    name: str


@dataclass(slots=True)
class Select(Node):
    """`operand.name`, or with `test` has(operand.name)."""

    operand: Node
    name: str
    test: bool = False


@dataclass(slots=True)
class Call(Node):
    """A function, an operator under its internal name, or a method of `target`."""

    function: str
    args: list[Node]
    target: Node | None = None
    is_resolved: bool = True
    """Report whether the checker found one overload, not several that only the values decide between."""


@dataclass(slots=True)
class ListOf(Node):
    """A list literal; `optional` are the indices of elements that begin with a question mark."""

    items: list[Node]
    optional: set[int] = field(default_factory=set)


@dataclass(slots=True)
class MapOf(Node):
    """A map literal."""

    entries: list[tuple[Node, Node, bool]]


@dataclass(slots=True)
class Fold(Node):
    """A macro over all elements of a range; `names` are one or two variables, `args` what follows them."""

    macro: str
    range: Node
    names: list[str]
    args: list[Node]


@dataclass(slots=True)
class Bind(Node):
    """cel.bind, and with `optional` set optMap and optFlatMap."""

    name: str
    init: Node
    body: Node
    optional: str = ""


def children(node: Node) -> Iterator[Node]:
    """The nodes right below a node, in the order of the text."""
    for each in fields(node):
        yield from _nodes(getattr(node, each.name))


def _nodes(value: object) -> Iterable[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _nodes(item)
