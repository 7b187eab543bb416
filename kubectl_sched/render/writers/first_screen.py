"""Fits the parts of an answer on one screen: what matters least gives way first."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import Record
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.safe_output import Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console

_DOTS = " ..."
_BREAKS = frozenset("\n\t")
_WORD = pattern(r"[^ ]+")

LINES = 23
"""A terminal's 24 lines without the one of the next prompt."""


Lines: TypeAlias = list[list[Piece]]


class Part(Record, frozen=True, kw_only=True):
    """The lines of one part of an answer. Of the parts, the one of the lowest `rank` gives way first.

    It then shows the first of `leaner` with which everything fits, and if that is still too much only its first lines,
    down to `keep`: none at all where fewer than `least` are left.
    """

    full: Sequence[Text]
    rank: int
    leaner: Sequence[Sequence[Text]] = ()
    keep: int = 0
    least: int = 1
    """With how many lines it still means something."""


BLANK = Part(full=(Text(),), rank=0)
"""An empty line between parts, as long as there is room."""


def fitted(parts: Sequence[Part], console: Console | None, lines: int | None) -> Lines:
    """The parts, in their order, on so many lines of a console; None for no limit."""
    shown = {index: lines_of(part.full, console) for index, part in enumerate(parts)}
    if lines is not None and console is not None:
        order = sorted(shown, key=lambda index: (parts[index].rank, -index))
        for index in order:
            _give_way(shown, index, parts[index], lines, console)
        for index in reversed(order):  # what gave way last may have left room
            if parts[index] is not BLANK:
                shown[index] = lines_of(parts[index].full, console)
                _give_way(shown, index, parts[index], lines, console)
        _spread_out(shown, parts, lines, console.width)
    return _without_doubled_blanks([line for each in shown.values() for line in each])


def _give_way(shown: dict[int, Lines], index: int, part: Part, lines: int, console: Console) -> None:
    """Show as much less of a part as is too much."""
    for fewer in (*part.leaner, None):
        excess = _height(shown, console.width) - lines
        if excess > 0:
            shown[index] = _cut(shown[index], part, excess) if fewer is None else lines_of(fewer, console)


def _without_doubled_blanks(lines: Lines) -> Lines:
    return [line for before, line in zip([[], *lines], lines, strict=False) if line or before]


def lines_of(shown: Iterable[Text], console: Console | None) -> Lines:
    """Return the parts as lines of this console, if there is one, without the blanks at the ends of lines."""
    if console is None:
        lines = (line.rstrip() for each in shown for line in each.plain.split("\n"))
        return [[Piece(line)] if line else [] for line in lines]
    return [_stripped(line) for each in shown for line in _rendered(each, console)]


def _rendered(shown: Text, console: Console) -> Iterator[list[Piece]]:
    """Lines no longer than the console's, where their words are short enough and they may be broken at all."""
    from rich.segment import Segment

    style, text = console.get_style(shown.style), shown.for_console()
    lines = [text]
    if _BREAKS.intersection(text.plain) or text.cell_len > console.width:
        lines = list(text.split(allow_blank=True))
    for line in lines:
        line.expand_tabs()
        starts = () if shown.no_wrap else line_starts(line.plain, console.width)
        for part in line.divide(starts):
            yield [Piece(each.text, each.style) for each in Segment.apply_style(part.render(console), style)]


def _spread_out(shown: dict[int, Lines], parts: Sequence[Part], lines: int, width: int) -> None:
    """Put empty lines back where room is left, the last first."""
    for index in reversed(shown):
        if parts[index] is BLANK and not shown[index] and _height(shown, width) < lines:
            shown[index] = [[]]


def _height(shown: dict[int, Lines], width: int) -> int:
    """Count the terminal lines that they take. A line that must not be wrapped may take several."""
    return sum(max(-(-_cells(line) // width), 1) for lines in shown.values() for line in lines)


def _cells(line: list[Piece]) -> int:
    return sum(map(_cell_len(), [piece.text for piece in line]))


def _cut(lines: Lines, part: Part, excess: int) -> Lines:
    """So many lines less if the part can do with them, with dots at the end of the last where it is text."""
    length = max(len(lines) - max(excess, 0), part.keep)
    if length >= len(lines):
        return lines
    if length < part.least:
        return []
    kept = lines[:length]
    if part.keep and kept[-1]:
        text = "".join(piece.text for piece in kept[-1])
        words = text[: -len(_DOTS)].rpartition(" ")[0] or text
        kept[-1] = [Piece(f"{words}{_DOTS}", kept[-1][0].style)]
    return kept


def _stripped(line: list[Piece]) -> list[Piece]:
    kept = list(line)
    while kept and not kept[-1].text.rstrip():
        kept.pop()
    if kept:
        kept[-1] = Piece(kept[-1].text.rstrip(), kept[-1].style)
    return kept


def folded(text: str, width: int) -> list[str]:
    """The text on lines of so many cells, broken at blanks alone: a longer word stands whole on its own line."""
    return [text[start:end].rstrip() for start, end in pairwise((0, *line_starts(text, width), len(text)))]


def line_starts(text: str, width: int) -> Iterator[int]:
    """Yield where each line but the first begins."""
    end = cells = 0
    for word in _WORD.finditer(text):
        wider = cells + word.start() - end + length(word[0])
        if end and wider > width:
            yield word.start()
            wider = length(word[0])
        end, cells = word.end(), wider


def length(text: str) -> int:
    """Count the cells."""
    return len(text) if text.isascii() else _cell_len()(text)


@cache
def _cell_len() -> Callable[[str], int]:
    from rich.cells import cell_len

    return cell_len
