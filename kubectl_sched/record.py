"""The base of values that only hold fields."""

from __future__ import annotations

from typing import Any

import msgspec


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen value, compared by its fields; subclasses say `frozen=True, kw_only=True` again.

    A dataclass compiles its methods whenever the program starts, half a millisecond for each class; this does not.
    """


class CachingRecord(msgspec.Struct, frozen=True, kw_only=True, eq=False, dict=True):
    """A frozen value that is equal to itself alone, and may have fields that it computes once (`cached_property`)."""

    __repr__ = object.__repr__  # its fields are a whole cluster


def plain(value: object) -> Any:
    """Return a value as JSON has it, in dictionaries, lists and scalars."""
    return msgspec.json.decode(msgspec.json.encode(value))
