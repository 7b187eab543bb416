"""Parses YAML in block style, as kubectl writes it, line by line; all other YAML is left to libyaml's events.

Reading the events of such a document takes three times as long, and importing PyYAML as long as reading a small one. A
document is taken only if each of its lines can mean one thing, so that the values are those that the events give.
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, Any, TypeAlias

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.yaml.yaml_scalars import SPECIAL, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = pattern(r"( *)(- )?(?:([A-Za-z_][A-Za-z0-9_./-]{0,300}):(?: (.+))?|(.*))")

_MOST_DEPTH = 400
_CACHED_LENGTH = 250

_NOTHING = object()
_LITERAL = object()
_STRIPPED = object()
_FIXED = {"{}": dict, "[]": list, "|": _LITERAL, "|-": _STRIPPED}
"""Values that stand for something else: a container is made anew for each place."""

_Line: TypeAlias = tuple[int, type, str | None, Any]
_SKIPPED: _Line = (-1, dict, None, None)


class UnusualYamlError(Exception):
    """YAML that has to be read from events."""


def parse_blocks(data: bytes, *, strict: bool) -> Any:
    """Return the value of a document. Raises UnusualYamlError for one that is not in plain block style.

    `strict` is as for `documents`; a duplicate key that is refused counts as unusual.
    """
    lines = TextIOWrapper(BytesIO(data), "utf-8", newline="\n")
    blocks = _Blocks(strict=strict)
    try:
        if data.startswith(b"---\n"):
            next(lines)
        text = next(lines, "")
        while text:
            column, kind, key, value = _line(text) if len(text) < _CACHED_LENGTH else _line.__wrapped__(text)
            text = ""
            if value is _LITERAL or value is _STRIPPED:
                indent = column + 2 if kind is list else column
                value, text = _literal(lines, indent, is_stripped=value is _STRIPPED)
            if column >= 0:
                blocks.take(column, kind, key, value)
            text = text or next(lines, "")
    except UnicodeDecodeError:
        raise UnusualYamlError from None
    return blocks.value


class _Blocks:
    """The containers that are open at a line, and the key that waits for the lines below it."""

    def __init__(self, *, strict: bool) -> None:
        self.value: Any = None
        self._strict = strict
        self._open: list[tuple[int, Any]] = []
        self._column = -1
        self._container: Any = None
        self._pending: str | None = None

    def take(self, column: int, kind: type, key: str | None, value: Any) -> None:
        """Put a line where it belongs."""
        if self._pending is not None or self._column != column or type(self._container) is not kind:
            self._seek(column, kind)
        container = self._container
        if kind is list:
            if key is None:
                container.append(value() if isinstance(value, type) else value)
                return
            self._push(column + 2, {})
            container.append(self._container)
            container = self._container
        if key in container and (self._strict or len(self._open) == 1):
            raise UnusualYamlError
        if type(value) is not str:
            if value is _NOTHING:
                self._pending, value = key, None
            elif isinstance(value, type):
                value = value()
        container[key] = value

    def _seek(self, column: int, kind: type) -> None:
        """Make the container that a line at the column is in the innermost one."""
        pending, self._pending = self._pending, None
        if not self._open:
            if column:
                raise UnusualYamlError
            self.value = self._push(0, kind())
        elif pending is not None and (column > self._column or (column == self._column and kind is list)):
            self._container[pending] = value = kind()
            self._push(column, value)
        else:
            opened = self._open
            while opened and (opened[-1][0] > column or (opened[-1][0] == column and type(opened[-1][1]) is not kind)):
                opened.pop()
            if not opened or opened[-1][0] != column:
                raise UnusualYamlError
            self._column, self._container = opened[-1]

    def _push(self, column: int, container: Any) -> Any:
        if len(self._open) >= _MOST_DEPTH:
            raise UnusualYamlError
        self._open.append((column, container))
        self._column, self._container = column, container
        return container


@lru_cache(maxsize=1 << 13)
def _line(text: str) -> _Line:
    """Return the column of a line, the container that it belongs in (a list after a dash), its key and its value."""
    text = text.removesuffix("\n")
    match = _LINE.fullmatch(text)
    if match is None or not text.isprintable():
        raise UnusualYamlError
    indent, dash, key, value, alone = match.groups()
    if key is None:
        if not dash and (not alone or alone[0] == "#"):
            return _SKIPPED
        value = _scalar(alone)
        if not dash or value is _LITERAL or value is _STRIPPED:
            raise UnusualYamlError
        return len(indent), list, None, value
    if type(resolve(key)) is not str:
        raise UnusualYamlError
    return len(indent), list if dash else dict, key, _NOTHING if value is None else _scalar(value)


def _scalar(text: str) -> Any:
    """Return the value of a scalar that ends with its line."""
    first, last = text[:1], text[-1:]
    if text in _FIXED:
        return _FIXED[text]
    if first in {"'", '"'}:
        inner = text[1:-1]
        if len(text) > 1 and first == last:
            if first == "'" and "'" not in inner.replace("''", ""):
                return inner.replace("''", "'")
            if first == '"' and '"' not in inner and "\\" not in inner:
                return inner
        raise UnusualYamlError
    is_plain = first.isalnum() or (first and first in "_./+~(") or (first == "-" and text[1:2] not in {"", " "})
    if not is_plain or last in {" ", ":"} or ": " in text or " #" in text:
        raise UnusualYamlError
    return resolve(text) if first in SPECIAL else text


def _literal(lines: Iterator[str], column: int, *, is_stripped: bool) -> tuple[str, str]:
    """Return the text of a literal block below the column, and the line that follows it."""
    content: list[str] = []
    indent = ""
    for text in lines:
        if text != "\n":
            if not indent:
                indent = " " * (len(text) - len(text.lstrip(" ")))
                if len(indent) <= column:
                    raise UnusualYamlError
            if not text.startswith(indent):
                break
            if not text.endswith("\n") or text.isspace() or not text[:-1].isprintable():
                raise UnusualYamlError
        elif not content:
            raise UnusualYamlError
        content.append(text.removeprefix(indent))
    else:
        text = ""
    if not content:
        raise UnusualYamlError
    return "".join(content).rstrip("\n") + ("" if is_stripped else "\n"), text
