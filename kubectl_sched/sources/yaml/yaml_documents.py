"""Reads YAML into plain values, the way Kubernetes does, with the line of every mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.budget import Budget
from kubectl_sched.sources.dump_errors import YamlError
from kubectl_sched.sources.yaml.yaml_blocks import UnusualYamlError, parse_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

_SEPARATOR = pattern(rb"[\n\r]---(?=\s|$)")
_DIRECTIVES = pattern(rb"(?:(?:[%#][^\n\r]*|[ \t]*)[\n\r])+")
"""Directives, such as `%YAML 1.1`, and comments before the first document."""


class Document(NamedTuple):
    """One document of a file: the line it begins on, and its value or what is wrong with it."""

    line: int
    value: Any
    error: YamlError | None = None


def documents(data: bytes, source: str, *, strict: bool = False, budget: Budget | None = None) -> Iterator[Document]:
    """Every document that is not empty; a mistake in one leaves the others readable.

    `strict` refuses duplicate keys, of which otherwise the last counts. On top of a document they are always refused:
    two documents that lost the line between them would else be one of them.
    """
    budget = budget or Budget()
    budget.take_text(data, source, _values_in)
    start, line = 0, 1
    for end in [*(match.start() + 1 for match in _SEPARATOR.finditer(data)), len(data)]:
        if start == 0 and data.find(b"%", 0, end) >= 0 and _DIRECTIVES.fullmatch(data, 0, end):
            continue
        part = data[start:end]
        try:
            value = _parse(part, source, line, strict=strict)
        except YamlError as error:
            yield Document(line, None, error)
        else:
            if value is not None:
                yield Document(line, value)
        line += part.count(b"\n") or part.count(b"\r")
        start = end


def _values_in(data: bytes) -> int:
    return data.count(b",") + max(data.count(b"\n"), data.count(b"\r"))


def _parse(data: bytes, source: str, line: int, *, strict: bool) -> Any:
    try:
        return parse_blocks(data, strict=strict)
    except UnusualYamlError:
        from kubectl_sched.sources.yaml.yaml_events import parse

        return parse(data, source, line, strict=strict)
