"""A table as lines of text: as wide as it is where there is room, else wrapped; no cell is ever cut."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kubectl_sched.render.safe_text import safe
from kubectl_sched.render.writers.first_screen import folded, length
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.visible_text import is_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.render.table import Column, Kind, Row, Table, Tone

_GAP = "  "
_INDENT = "  "
_LEAST_WORDS = 40
"""The least width of a column of words. Where there is less room they stand below their row."""

_BARS = (20, 16, 12, 10, 8, 6)
"""The lengths that bars may have: a shorter one tells little, and reads like dots."""

_MARKS = "#x"
"""The marks of what is taken, and of what is free and of no use."""

_STYLES = {"good": "green", "bad": "red", "dim": "dim", "changed": "yellow"}


class _Layout(NamedTuple):
    """The heading and the rows as texts, and the widths of those columns that stand beside each other."""

    rows: list[tuple[str, ...]]
    widths: list[int]
    is_whole: bool
    """No cell is wider than its column, and none stands below its row."""


def _line(text: str, style: str = "") -> Text:
    return Text(text, style)


def table_lines(table: Table[Row], width: int) -> list[Text]:
    """The heading and the rows, lines of at most so many columns if that is possible without cutting a name."""
    layout, kinds = _layout(table, width), [column.kind for column in table.columns]
    lines: list[Text] = []
    if layout.is_whole and not any(column.tone for column in table.columns):
        heading, *others = _joined(layout.rows, kinds, layout.widths)
        lines = [_line(heading, "bold"), *map(_line, others)]
    else:
        for row, meant in zip(layout.rows, [None, *(_tones(table, row) for row in table.rows)], strict=True):
            lines += _lines_of_row(row, meant, kinds, layout, width)
    return [*lines, Text(table.below, style="dim")] if table.below else lines


def _joined(rows: Iterable[Sequence[str]], kinds: Sequence[Kind], widths: Sequence[int]) -> list[str]:
    """Rows that need no more than a line each."""
    columns = zip(zip(*rows, strict=True), widths, kinds, strict=True)
    padded = [[_padded(cell, width, kind) for cell in cells] for cells, width, kind in columns]
    return [_GAP.join(cells).rstrip() for cells in zip(*padded, strict=True)]


def _lines_of_row(
    row: Sequence[str], tones: Sequence[Tone] | None, kinds: Sequence[Kind], layout: _Layout, width: int
) -> Iterator[Text]:
    """The lines of one row, and the cells that stand below it; the heading has no tones."""
    if _is_title(row):
        style = "bold" if tones is None else _STYLES.get(tones[0], "")
        yield from (_line(line, style) for line in folded(row[0], width))
        return
    yield from _row(row, tones, kinds, layout.widths)
    beside = len(layout.widths)
    for text, tone in zip(row[beside:], (tones or [""] * len(kinds))[beside:], strict=True):
        style = "bold" if tones is None else _STYLES.get(tone, "")
        yield from (Text(f"{_INDENT}{line}", style) for line in folded(text, width - len(_INDENT)) if line)


def _is_title(row: Sequence[str]) -> bool:
    """Report whether a row has nothing but its name, which then takes the whole line."""
    return len(row) > 1 and not any(row[1:])


def fits(table: Table[Row], width: int) -> bool:
    """Report whether the rows take no more than so many columns, with nothing but words below them."""
    return any(_total(layout.widths) <= width for layout in _layouts(table, width, _sides(table)))


def with_bars(table: Table[Row], width: int) -> Iterator[Table[Row]]:
    """Yield the table with its shares as bars in front of the cells, the longest first, and then without.

    Bars are for room that is left: no name is shortened for them.
    """
    shares = [column.share for column in table.columns if column.share]
    for cells in _BARS if shares and table.rows else ():
        columns = tuple(_with_bar(cells, column, table.rows) for column in table.columns)
        barred = replace(table, columns=columns, below=table.about_bars or table.below)
        if _total(next(_layouts(barred, width, _sides(barred))).widths) <= width:
            yield barred
    yield table


def _with_bar(cells: int, column: Column[Row], rows: Iterable[Row]) -> Column[Row]:
    """Return the column with bars below each other in front of its cells, which are not broken behind them."""
    share = column.share
    if share is None:
        return column
    widest = _width([column.cell(row) for row in rows])

    def cell(row: Row) -> str:
        bar = _bar(share(row), cells)
        return f"{bar} {_padded(column.cell(row), widest, 'number')}" if bar else column.cell(row)

    return replace(column, cell=cell, kind="number")


def _bar(shares: Sequence[float], cells: int) -> str:
    """Return `####xx..`: a character for each part of a whole, and dots for what is left."""
    drawn = ""
    for mark, share in zip(_MARKS, shares, strict=False):
        drawn += mark * min(max(0, round(cells * share)), cells - len(drawn))
    return drawn.ljust(cells, ".") if shares else ""


def first_that_fits(tables: Sequence[Table[Row]], width: int) -> Table[Row]:
    """Return the first table whose rows take no more than so many columns, else the last."""
    return next((each for each in tables if fits(each, width)), tables[-1])


def _layout(table: Table[Row], width: int) -> _Layout:
    """The first layout that fits, else the last: with all but the names below their rows, the rightmost first."""
    sides = _sides(table)
    layouts = chain(_layouts(table, width, sides), _layouts(table, width, range(sides[-1] - 1, 0, -1)))
    layout = next(layouts)
    while _total(layout.widths) > width:
        following = next(layouts, None)
        if following is None:
            break
        layout = following
    return layout


def _sides(table: Table[Row]) -> list[int]:
    """The numbers of columns that may stand beside each other: all, or those before the words."""
    kinds = [column.kind for column in table.columns]
    return [len(kinds), *([kinds.index("words", 1)] if "words" in kinds[1:] else [])]


def _layouts(table: Table[Row], width: int, sides: Iterable[int]) -> Iterator[_Layout]:
    """Wrap, then shorten names, then put what is not beside the others below their rows."""
    kinds = [column.kind for column in table.columns]
    for beside in sides:
        for shown in table.shortenings():
            columns = [_safe(column) for column in zip(*shown, strict=True)]
            rows = list(zip(*columns, strict=True))
            is_whole = beside == len(kinds) and _width(columns[0]) <= width
            columns[0] = [row[0] for row in rows if not _is_title(row)] or columns[0]
            natural = list(map(_width, columns[:beside]))
            widths = natural
            if _total(natural) > width:
                widths = _narrowed(columns[:beside], natural, kinds, width)
            yield _Layout(rows, widths, is_whole and widths is natural)


def _tones(table: Table[Row], row: Row) -> list[Tone]:
    return [column.tone(row) if column.tone else "" for column in table.columns]


def side_by_side(table: Table[Row], width: int) -> Iterator[Table[Row]]:
    """The table in as many parts as it takes to fit the width, each with the first column."""
    if fits(table, width):
        yield table
        return
    first, *rest = table.columns
    while rest:
        taken = 1
        while taken < len(rest) and fits(replace(table, columns=(first, *rest[: taken + 1])), width):
            taken += 1
        yield replace(table, columns=(first, *rest[:taken]), below="")
        rest = rest[taken:]


def _safe(cells: Sequence[str]) -> Sequence[str]:
    return cells if is_plain("".join(cells)) else list(map(safe, cells))


def _width(cells: Sequence[str]) -> int:
    return max(map(len if "".join(cells).isascii() else length, cells))


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _narrowed(columns: Sequence[Sequence[str]], natural: Sequence[int], kinds: Sequence[Kind], width: int) -> list[int]:
    """Take what is too much from the widest words, then from texts and headings; these are not broken within a word."""
    widths = list(natural)
    least = [_least(kind, cells) for kind, cells in zip(kinds, columns, strict=False)]
    for kind in ("words", "text", "number"):
        for _ in range(_total(widths) - width):
            wide = [index for index, each in enumerate(widths) if kinds[index] == kind and each > least[index]]
            if wide:
                widths[max(wide, key=widths.__getitem__)] -= 1
    return widths


def _least(kind: Kind, cells: Sequence[str]) -> int:
    unbroken = cells[1:] if kind == "number" else ()
    longest = max(map(length, (*unbroken, *(word for cell in cells for word in cell.split(" ")))))
    return max(longest, _LEAST_WORDS) if kind == "words" else longest


def _row(
    cells: Sequence[str], tones: Sequence[Tone] | None, kinds: Sequence[Kind], widths: Sequence[int]
) -> Iterator[Text]:
    """The lines of one row, each cell on as many as it takes; the heading has no tones."""
    styles = [_STYLES.get(tone, "") for tone in tones] if tones is not None else [""] * len(kinds)
    lines: Iterable[Sequence[str]] = [cells]
    if any(length(cell) > width for cell, width in zip(cells, widths, strict=False)):
        columns = [folded(cell, width) for cell, width in zip(cells, widths, strict=False)]
        lines = zip_longest(*columns, fillvalue="")
    for parts in lines:
        texts = list(map(_padded, parts, widths, kinds))
        line = _line(_GAP.join(texts).rstrip(), "bold" if tones is None else "")
        end = 0
        for text, style in zip(texts, styles, strict=False):
            if style:
                line.stylize(style, end, end + len(text))
            end += len(text) + len(_GAP)
        yield line


def _padded(text: str, width: int, kind: Kind) -> str:
    if not text.isascii():
        width -= length(text) - len(text)
    return text.rjust(width) if kind == "number" else text.ljust(width)
