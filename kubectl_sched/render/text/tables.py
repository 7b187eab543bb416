"""Tables without rules, whose cells are never read as markup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = 2


def plain_table() -> Table:
    """A table whose columns are two blanks apart."""
    return Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_edge=False, header_style="bold")


def one_line_each(
    headings: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, numbers: frozenset[int] = frozenset()
) -> tuple[Text, ...]:
    """A table in which every row takes one line, the last column being cut where there is no room for it.

    `numbers` are the columns that are set to the right.
    """
    heading, *lines = aligned([headings, *rows], numbers=numbers)
    texts = (Text(heading, style="bold", no_wrap=True), *(Text(line, no_wrap=True) for line in lines))
    for text in texts:
        text.truncate(width, overflow="ellipsis")
    return texts


def aligned(rows: Sequence[Sequence[str]], *, numbers: frozenset[int] = frozenset()) -> list[str]:
    """A line a row, its cells below each other. A rich table of many rows takes a hundred times as long."""
    columns = list(zip(*rows, strict=True))
    padded = [_padded(column, right=index in numbers) for index, column in enumerate(columns)]
    return [(" " * _GAP).join(cells).rstrip() for cells in zip(*padded, strict=True)]


def _padded(column: Sequence[str], *, right: bool) -> list[str]:
    lengths = [len(cell) if cell.isascii() else cell_len(cell) for cell in column]
    width = max(lengths)
    blanks = [" " * (width - length) for length in lengths]
    return [space + cell if right else cell + space for cell, space in zip(column, blanks, strict=True)]
