"""The list of what a snapshot may hold: kinds, and every field that holds a text, each with its treatment."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import msgspec
from msgspec.structs import fields

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE: Final = Path(__file__).with_name("exported_fields.txt")


@cache
def sections() -> dict[str, tuple[str, ...]]:
    """Read the table: the entries of each section."""
    parts = (section.split("\n") for section in _TABLE.read_text("utf-8").split("\n[")[1:])
    return {head.removesuffix("]"): tuple(filter(None, entries)) for head, *entries in parts}


@cache
def listed() -> dict[str, str]:
    """Return the treatment of each field by the name of its type and its own."""
    return {entry: section for section, entries in sections().items() if section != "kinds" for entry in entries}


@cache
def treatment(kind: type[msgspec.Struct], field: str) -> str | None:
    """Return the treatment of a field of that type, or of the type that it derives from; None if it is not listed."""
    names = (f"{base.__name__}.{field}" for base in kind.__mro__)
    return next((listed()[name] for name in names if name in listed()), None)


def holds_text(kind: Any) -> bool:
    """Report whether a field of that type holds a text outside of Structs."""
    return kind is str or any(map(holds_text, get_args(kind)))


def structs_in(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the Structs that a field of that type holds itself."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for argument in get_args(kind):
        yield from structs_in(argument)


@cache
def types_of_fields(kind: type[msgspec.Struct]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a Struct with their types."""
    return fields(kind)
