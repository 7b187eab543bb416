"""The one description of a table: its columns with their headings, and its rows. Each output only draws it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

from msgspec.structs import replace

from kubectl_sched.record import CachingRecord, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Row = TypeVar("Row")

Kind = Literal["name", "number", "text", "words"]
"""A name is never cut, a number stands to the right, words wrap before any text does."""

Tone: TypeAlias = str
"""`good`, `bad`, `dim`, `changed`, or how far `ahead-3` or `behind-7` of another a number is, in tenths."""

_ENDS_OF_WORDS = "-./ :"


class Column(Record, Generic[Row], frozen=True, kw_only=True):
    """One column: its heading with the unit, and functions from a row to the cell's text and meaning."""

    heading: str
    cell: Callable[[Row], str]
    kind: Kind = "text"
    tone: Callable[[Row], Tone] | None = None
    about: str = ""
    """The name that stands in the heading for `{}`."""


class Table(CachingRecord, Generic[Row], frozen=True, kw_only=True):
    """Columns over rows, and a line below them that belongs to their numbers."""

    columns: tuple[Column[Row], ...]
    rows: Sequence[Row]
    below: str = ""

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns' headings in order."""
        return tuple(column.heading.replace("{}", column.about) for column in self.columns)

    def with_short_headings(self) -> Table[Row]:
        """The same without what the names in its headings have in common."""
        short = iter(without_common_prefix([column.about for column in self.columns if column.about]))
        columns = (replace(column, about=next(short)) if column.about else column for column in self.columns)
        return replace(self, columns=tuple(columns))

    @cached_property
    def texts(self) -> list[tuple[str, ...]]:
        """The cells, row by row."""
        columns = [list(map(column.cell, self.rows)) for column in self.columns]
        return list(zip(*columns, strict=True))


def without_common_prefix(names: Sequence[str]) -> list[str]:
    """The names with dots for the words that they all begin with; what tells two apart is kept."""
    first, last = min(names, default=""), max(names, default="")
    shared = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), 0)
    while shared and first[shared - 1] not in _ENDS_OF_WORDS:
        shared -= 1
    return [f"…{name[shared:]}" for name in names] if shared > 1 else list(names)
