"""The place of a field in the manifest that sets it: file, line and columns."""

from __future__ import annotations

import re
from contextlib import suppress
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


class FieldPosition(Record, frozen=True, kw_only=True):
    """A line of a manifest, counted from 1, and the part of its text that is marked.

    Of a line that holds more than the field, `text` is the field alone: no other value of the manifest is shown.
    """

    file: str
    line: int
    text: str
    column: int
    width: int


def field_position(
    paths: Sequence[str], of: ManifestObject, fields: Sequence[FieldPath], *, with_value: bool = True
) -> FieldPosition | None:
    """Return the place of the first of the fields that the object's manifest sets; None if it sets none.

    Without `with_value` only the field's name is shown, as of one that may hold a secret.
    The last manifest of the object counts, as in kubectl apply. Standard input cannot be read again, and has no places.
    The files have been read before, which bounds how deeply they are nested.
    """
    found: FieldPosition | None = None
    for file in chain.from_iterable(manifest_files(path) for path in paths if path != "-"):
        with suppress(OSError, SchedError):
            content = utf8(bounded_content(file))
            for root in _objects(content) if len(content) <= _MOST_BYTES else ():
                if _is_of(root, of):
                    found = next(
                        (_position(file, content, *each, with_value=with_value) for each in _set(root, fields)), None
                    )
    return found


def _objects(content: bytes) -> Iterator[Any]:
    """Yield the node of each object, also of those in a List."""
    import yaml  # most questions have no manifest

    with suppress(ValueError, RecursionError, yaml.YAMLError):
        for root in yaml.compose_all(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            items = _child(root, "items")[1] if str(_text(root, "kind")).endswith("List") else None
            yield from items.value if items is not None and isinstance(items.value, list) else [root]


def _is_of(root: Any, of: ManifestObject) -> bool:
    metadata = _child(root, "metadata")[1]
    is_named = _text(root, "kind") == of.kind and _text(metadata, "name") == of.name
    return is_named and (_text(metadata, "namespace") or of.namespace) == of.namespace


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


def _set(root: Any, fields: Sequence[FieldPath]) -> Iterator[tuple[Any, Any]]:
    """Yield the nodes of each of the fields that is set."""
    for path in fields:
        key, value = None, root
        for name in path:
            key, value = _child(value, name)
        if value is not None:
            yield key, value


def _position(file: str, content: bytes, key: Any, value: Any, *, with_value: bool) -> FieldPosition:
    """Return the place of a name with the value behind it; of a member of a list that of its first field."""
    if key is None and value.value and isinstance(value.value[0], tuple):
        key, value = value.value[0]
    start, end = (value if key is None else key).start_mark, (value if key is None else key).end_mark
    if with_value and isinstance(value.value, str) and value.start_mark.line == value.end_mark.line == start.line:
        end = max(end, value.end_mark, key=lambda mark: mark.column)
    line = _BREAK.split(content.decode(errors="replace"))[start.line].replace("\t", " ")
    before, after = line[: start.column], line[end.column :]
    field = line[start.column : end.column] if end.line == start.line else line[start.column :]
    is_alone = not before.strip(" -") and _END_OF_FIELD.fullmatch(after) is not None
    if not is_alone or len(line) > _LONGEST_LINE:
        field = f"{field[:_LONGEST_FIELD]}…" if len(field) > _LONGEST_FIELD else field
        before = before[-_LONGEST_FIELD:] if not before.strip(" -") else "… "
        after = " …" if after.strip() else ""
    text = f"{before}{field}{after}".rstrip()
    return FieldPosition(file=file, line=start.line + 1, text=text, column=len(before), width=max(len(field), 1))
