"""The one description of a table: its columns with their headings, and its rows. Each output only draws it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

from kubectl_sched.queries.verdict.wording import shared_domain
from kubectl_sched.record import CachingRecord, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    share: Callable[[Row], Sequence[float]] | None = None
    """The parts of a whole that a bar in front of the cell shows, each from 0 to 1; empty for no bar."""

    about: str = ""
    """The name that stands in the heading for `{}`."""

    among: Sequence[str] = ()
    """The names that those of the column, or of its heading, belong to: what all of these share tells none apart."""


class Table(CachingRecord, Generic[Row], frozen=True, kw_only=True):
    """Columns over rows, and a line below them that belongs to their numbers."""

    columns: tuple[Column[Row], ...]
    rows: Sequence[Row]
    below: str = ""
    about_bars: str = ""
    """The line below it where the shares of its columns are drawn as bars of characters."""

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns' headings in order."""
        return tuple(column.heading.replace("{}", column.about) for column in self.columns)

    @cached_property
    def texts(self) -> list[tuple[str, ...]]:
        """The cells, row by row."""
        columns = [list(map(column.cell, self.rows)) for column in self.columns]
        return list(zip(*columns, strict=True))

    def shortenings(self) -> Iterator[list[tuple[str, ...]]]:
        """Yield headings and cells with names whole, then without their domain, their first words, and their last."""
        yield [self.headings, *self.texts]
        for shorten in (without_common_domain, without_common_prefix, without_common_ends):
            columns = zip(self.columns, *self.texts, strict=True)
            shortened = [_shortened(column, cells, shorten) for column, *cells in columns]
            yield list(zip(*shortened, strict=True))


def _shortened(
    column: Column[Row], cells: list[str], shorten: Callable[[Sequence[str], Sequence[str]], list[str]]
) -> list[str]:
    """The heading and the cells with shorter names."""
    about = shorten([column.about], column.among)[0]
    short = shorten(cells, column.among) if column.kind == "name" else cells
    return [column.heading.replace("{}", about), *short]


def without_common_domain(names: Sequence[str], among: Sequence[str] = ()) -> list[str]:
    """The names without the domain that all of `among` end with."""
    domain = shared_domain(tuple(among))
    return [name.removesuffix(domain) for name in names]


def without_common_prefix(names: Sequence[str], among: Sequence[str] = ()) -> list[str]:
    """The names without their domain, and with dots for the words that all of `among` begin with.

    What distinguishes two of them is kept.
    """
    names = without_common_domain(names, among)
    shared = _shared_words(among or names)
    return [f"…{name[shared:]}" for name in names] if shared > 1 else list(names)


def without_common_ends(names: Sequence[str], among: Sequence[str]) -> list[str]:
    """The names without the words that all of `among` begin with, and without those that all of them end with."""
    begun = without_common_prefix(names, among)
    shared = _shared_words([name[::-1] for name in without_common_prefix(among, among)])
    return [f"{name[:-shared]}…" for name in begun] if shared > 1 else begun


def _shared_words(names: Sequence[str]) -> int:
    """Count the characters of the words that all of them begin with, each with what ends it."""
    first, last = min(names, default=""), max(names, default="")
    shared = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), 0)
    while shared and first[shared - 1] not in _ENDS_OF_WORDS:
        shared -= 1
    return shared
