"""Builds the values of any YAML document from libyaml's events, with the line of every mistake.

PyYAML's loader resolves scalars differently, knows nothing of duplicate keys, lets aliases multiply and takes three
times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from kubectl_sched.sources.dump_errors import YamlError
from kubectl_sched.sources.yaml.yaml_scalars import SPECIAL, as_key, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOADER: Any = getattr(yaml, "CLoader", yaml.Loader)

_MAX_DEPTH = 500
_MERGE = "<<"
_NUMBERS = frozenset({bool, int, float})
_TAG = "tag:yaml.org,2002:"

_RATIO_RANGE = (400_000, 4_000_000)
"""go.yaml.in/yaml/v2/decode.go: up to so many values nearly all may come from aliases, from so many on a tenth."""


def parse(data: bytes, source: str, line: int, *, strict: bool) -> Any:
    """Return the value of one document that begins on that line of its file. Raises YamlError."""
    builder = _Builder(source, line, strict=strict)
    try:
        builder.take(iter(_LOADER(data).get_event, None))
    except yaml.MarkedYAMLError as error:
        raise builder.error(_problem(error, data), error.problem_mark) from None
    except yaml.YAMLError as error:
        raise YamlError(f"{source}: it is no text in YAML: {getattr(error, 'reason', error)}") from None
    return builder.value


def _problem(error: yaml.MarkedYAMLError, data: bytes) -> str:
    said = " ".join(filter(None, (error.context, error.problem)))
    if ("cannot start any token" in said or "found a tab" in said) and _begins_with_tab(data, error.problem_mark):
        return "a tab indents the line; YAML takes only spaces"
    if "could not find expected ':'" in said:
        return "a key without a colon, or a text that needs quotes"
    if "did not find expected" in said or "mapping values are not allowed" in said:
        return f"the indentation or a bracket is wrong ({said})"
    return said


def _begins_with_tab(data: bytes, mark: Any) -> bool:
    lines = data.splitlines()
    return mark is not None and mark.line < len(lines) and b"\t" in lines[mark.line][: mark.column + 1]


class _Anchor(NamedTuple):
    value: Any
    size: int


class _Builder:
    """Puts events together, without recursion."""

    def __init__(self, source: str, line: int, *, strict: bool) -> None:
        self.value: Any = None
        self._source = source
        self._line = line
        self._strict = strict
        self._stack: list[tuple[Any, str | None, int]] = []
        self._container: Any = None
        self._key: str | None = None
        self._anchors: dict[str, _Anchor | None] = {}
        self._open_anchors: list[str | None] = []
        self._values = 0
        self._from_aliases = 0

    def error(self, problem: str, mark: Any) -> YamlError:
        """The error and its line."""
        place = f" at line {self._line + mark.line}" if mark is not None else ""
        return YamlError(f"{self._source}: it is not YAML{place}: {problem}")

    def take(self, events: Iterator[Any]) -> None:
        """Take events to the last."""
        for event in events:
            kind = type(event)
            if kind is ScalarEvent:
                value = event.value
                if not event.implicit[0]:
                    value = self._tagged(event)
                elif not value or value[0] in SPECIAL:
                    value = resolve(value)
                self._values += 1
                if event.anchor is not None:
                    self._anchors[event.anchor] = _Anchor(value, 1)
                self._put(value, event)
            elif kind is MappingStartEvent:
                self._open({}, event)
            elif kind is SequenceStartEvent:
                self._open([], event)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                self._close(event)
            elif kind is AliasEvent:
                self._alias(event)

    def _put(self, value: Any, event: Any) -> None:
        container = self._container
        if type(container) is list:
            container.append(value)
        elif container is None:
            self.value = value
        elif self._key is None:
            self._set_key(value, event)
        else:
            if self._key == _MERGE:
                self._merge(value, event)
            else:
                container[self._key] = value
            self._key = None

    def _set_key(self, value: Any, event: Any) -> None:
        key = value if type(value) is str else as_key(value) if type(value) in _NUMBERS else None
        if key is None:
            raise self.error("a key is null, a mapping or a list", event.start_mark)
        on_top = len(self._stack) == 1
        if (on_top or self._strict) and key in self._container:
            joined = "; were two files joined without a line --- between them?" if on_top else ""
            raise self.error(f"key {key!r} is already set{joined}", event.start_mark)
        self._key = key

    def _merge(self, value: Any, event: Any) -> None:
        """A merge key: the fields of other mappings, the first of them winning; fields that follow it override them."""
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            raise self.error("a merge key (<<) wants a mapping or a list of them", event.start_mark)
        for source in reversed(sources):
            if self._strict and (twice := next(filter(self._container.__contains__, source), None)) is not None:
                raise self.error(f"key {twice!r} is already set", event.start_mark)
            self._container.update(source)

    def _open(self, container: Any, event: Any) -> None:
        if len(self._stack) >= _MAX_DEPTH:
            raise self.error(f"it is nested more than {_MAX_DEPTH} levels deep", event.start_mark)
        if type(self._container) is dict and self._key is None:
            raise self.error("a key is null, a mapping or a list", event.start_mark)
        self._stack.append((self._container, self._key, self._values))
        self._open_anchors.append(event.anchor)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._container, self._key = container, None
        self._values += 1

    def _close(self, event: Any) -> None:
        value = self._container
        self._container, self._key, before = self._stack.pop()
        anchor = self._open_anchors.pop()
        if anchor is not None:
            self._anchors[anchor] = _Anchor(value, self._values - before)
        self._put(value, event)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise self.error(f"the alias *{event.anchor} has no anchor", event.start_mark)
        anchor = self._anchors[event.anchor]
        if anchor is None:
            raise self.error(f"the value of anchor &{event.anchor} contains itself", event.start_mark)
        self._values += anchor.size
        self._from_aliases += anchor.size
        if (
            self._from_aliases > 100
            and self._values > 1000
            and self._from_aliases / self._values > _allowed_share(self._values)
        ):
            raise self.error("its aliases expand to far more than the document itself", event.start_mark)
        self._put(anchor.value, event)

    def _tagged(self, event: Any) -> Any:
        if event.tag is None:
            return event.value
        tag = event.tag.removeprefix(_TAG)
        if tag == "binary":
            import base64

            try:
                return base64.b64decode("".join(event.value.split()), validate=True).decode(errors="replace")
            except ValueError:
                raise self.error("a value tagged !!binary is not base64", event.start_mark) from None
        if tag not in {"int", "float", "bool", "null"}:
            return event.value
        value = resolve(event.value)
        kind = {bool: "bool", int: "int", float: "float", type(None): "null", str: "str"}[type(value)]
        if kind != tag and (kind, tag) != ("int", "float"):
            raise self.error(f"{event.value!r} is no {tag}", event.start_mark)
        return value


def _allowed_share(values: int) -> float:
    low, high = _RATIO_RANGE
    return 0.99 - 0.89 * min(max(values - low, 0) / (high - low), 1)
