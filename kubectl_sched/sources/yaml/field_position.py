"""The place of a field in the manifest that sets it: file, line and columns."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.sources.dump.manifest_lines import manifest_files
from kubectl_sched.sources.dump.text_encoding import utf8
from kubectl_sched.sources.dump.user_files import bounded_content

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FieldPath: TypeAlias = tuple[str | int, ...]
"""Names of fields and positions in lists, from the top of the object."""

_MOST_BYTES: Final = 1 << 20
"""A larger file is read for its objects only: libyaml's nodes of it would take seconds."""

_LONGEST_LINE, _LONGEST_FIELD = 100, 60
_BREAK: Final = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""The ends of lines by which libyaml counts."""

_END_OF_FIELD: Final = re.compile(r"[\s,:\[\]{}]*(#.*)?")


class ManifestObject(Record, frozen=True, kw_only=True):
    """The object of a manifest: its kind, its name and the namespace that it is applied to."""

    kind: str
    name: str
    namespace: str


class WantedField(Record, frozen=True, kw_only=True):
    """The fields of an object, of which the first that its manifest sets is the one whose place is wanted."""

    of: ManifestObject
    fields: Sequence[FieldPath]
    with_value: bool = True
    """Show the field's value, too, and not its name alone, as of one that may hold a secret."""


class FieldPosition(Record, frozen=True, kw_only=True):
    """A line of a manifest and the column of a field in it, both counted from 1, and how to draw them.

    Of a line that holds more than the field, `text` is the field alone: no other value of the manifest is shown. The
    mark stands under `width` characters of it, from the offset `start` on.
    """

    file: str
    line: int
    column: int
    field: str
    text: str
    start: int
    width: int


def field_positions(paths: Sequence[str], wanted: Sequence[WantedField]) -> list[FieldPosition | None]:
    """Return the place of each field that is wanted; None of one that the object's manifest does not set.

    The last manifest of an object counts, as in kubectl apply. Standard input cannot be read again, and has no places.
    The files have been read before, which bounds how deeply they are nested.
    """
    found: list[FieldPosition | None] = [None] * len(wanted)
    of_object: dict[tuple[str | None, str | None], list[int]] = {}
    for number, each in enumerate(wanted):
        of_object.setdefault((each.of.kind, each.of.name), []).append(number)
    for path in chain.from_iterable(manifest_files(path) for path in paths if path != "-"):
        with suppress(OSError, SchedError):
            file = _File(path, utf8(bounded_content(path)))
            for root in file.objects():
                metadata = _child(root, "metadata")[1]
                for number in of_object.get((_text(root, "kind"), _text(metadata, "name")), ()):
                    each = wanted[number]
                    if (_text(metadata, "namespace") or each.of.namespace) == each.of.namespace:
                        found[number] = next(file.places(root, each), None)
    return found


def _name_of(path: FieldPath) -> str:
    """Return `spec.nodeSelector[example.com/pool]`, as the API server names fields."""
    parts = (f".{part}" if isinstance(part, str) and part.isidentifier() else f"[{part}]" for part in path)
    return "".join(parts).removeprefix(".")


class _File:
    """A manifest whose objects are looked through."""

    def __init__(self, name: str, content: bytes) -> None:
        self._name = name
        self._content = content

    @cached_property
    def _lines(self) -> list[str]:
        return _BREAK.split(self._content.decode(errors="replace"))

    def objects(self) -> Iterator[Any]:
        """Yield the node of each object, also of those in a List; none of a file that is too large."""
        import yaml  # most questions have no manifest

        if len(self._content) > _MOST_BYTES:
            return
        with suppress(ValueError, RecursionError, yaml.YAMLError):
            for root in yaml.compose_all(self._content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
                items = _child(root, "items")[1] if str(_text(root, "kind")).endswith("List") else None
                yield from items.value if items is not None and isinstance(items.value, list) else [root]

    def places(self, root: Any, wanted: WantedField) -> Iterator[FieldPosition]:
        """Yield the place of each of the fields that the object sets."""
        for path in wanted.fields:
            key, value = None, root
            for name in path:
                key, value = _child(value, name)
            if value is not None:
                yield self._place(path, key, value, with_value=wanted.with_value)

    def _place(self, path: FieldPath, key: Any, value: Any, *, with_value: bool) -> FieldPosition:
        """Return the place of a name with the value behind it; of a member of a list that of its first field."""
        if key is None and value.value and isinstance(value.value[0], tuple):
            key, value = value.value[0]
        start, end = (value if key is None else key).start_mark, (value if key is None else key).end_mark
        if with_value and isinstance(value.value, str) and value.start_mark.line == value.end_mark.line == start.line:
            end = max(end, value.end_mark, key=lambda mark: mark.column)
        line = self._lines[start.line].replace("\t", " ")
        before, after = line[: start.column], line[end.column :]
        field = line[start.column : end.column] if end.line == start.line else line[start.column :]
        is_alone = not before.strip(" -") and _END_OF_FIELD.fullmatch(after) is not None
        if not is_alone or len(line) > _LONGEST_LINE:
            field = f"{field[:_LONGEST_FIELD]}…" if len(field) > _LONGEST_FIELD else field
            before = before[-_LONGEST_FIELD:] if not before.strip(" -") else "… "
            after = " …" if after.strip() else ""
        return FieldPosition(
            file=self._name,
            line=start.line + 1,
            column=start.column + 1,
            field=_name_of(path),
            text=f"{before}{field}{after}".rstrip(),
            start=len(before),
            width=max(len(field), 1),
        )


def _text(node: Any, name: str) -> str | None:
    value = getattr(_child(node, name)[1], "value", None)
    return value if isinstance(value, str) else None


def _child(node: Any, name: str | int) -> tuple[Any, Any]:
    """Return the nodes of a field's name and value; a member of a list has no name. None for what is not there."""
    children = getattr(node, "value", None)
    if not isinstance(children, list):
        return None, None
    if isinstance(name, int):
        there = name < len(children) and not isinstance(children[name], tuple)
        return None, children[name] if there else None
    pairs = (each for each in children if isinstance(each, tuple))
    return next(((key, value) for key, value in pairs if key.value == name), (None, None))
