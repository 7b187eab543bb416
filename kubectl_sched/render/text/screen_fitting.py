"""Fits the parts of an answer on one screen: what matters least gives way first."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from rich.segment import Segment
from rich.text import Text

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, ConsoleOptions

_DOTS = " ..."
_BREAKS = frozenset("\n\t")

LINES = 23
"""A terminal's 24 lines without the one of the next prompt."""


Lines: TypeAlias = list[list[Segment]]


LAST = 10
"""The rank of a part that stays as it is until all others gave way."""


class Part(Record, frozen=True, kw_only=True):
    """One part of an answer. Of the parts, the one of the lowest `rank` gives way first.

    It then shows `lean` in place of `full`, where it has such, and if that is still too much only its first lines, down
    to `keep`: none at all where fewer are left.
    """

    full: Sequence[Text]
    rank: int
    lean: Sequence[Text] = ()
    keep: int = 0
    least: int = 1
    """With how many lines it still means something."""


BLANK = Part(full=(Text(),), rank=0)
"""An empty line between parts, as long as there is room."""


def fitted(parts: Sequence[Part], console: Console | None, lines: int | None) -> Lines:
    """The parts, in their order, on so many lines of a console; None for no limit."""
    shown = {index: lines_of(part.full, console) for index, part in enumerate(parts)}
    if lines is not None and console is not None:
        by_rank = sorted(shown, key=lambda index: parts[index].rank)
        for is_last_resort in (False, True):
            for index in by_rank:
                part, excess = parts[index], _height(shown, console.width) - lines
                if excess > 0 and is_last_resort is (part.rank == LAST):
                    shown[index] = lines_of(part.lean, console) or _cut(shown[index], part, excess)
            for index in by_rank:
                shown[index] = _cut(shown[index], parts[index], _height(shown, console.width) - lines)
        _spread_out(shown, parts, lines, console.width)
    return _without_doubled_blanks([line for each in shown.values() for line in each])


def _without_doubled_blanks(lines: Lines) -> Lines:
    return [line for before, line in zip([[], *lines], lines, strict=False) if line or before]


def lines_of(shown: Iterable[Text], console: Console | None) -> Lines:
    """Return the parts as lines of this console, if there is one, without the blanks at the ends of lines."""
    if console is None:
        lines = (line.rstrip() for each in shown for line in each.plain.split("\n"))
        return [[Segment(line)] if line else [] for line in lines]
    options = console.options
    return [_stripped(line) for each in shown for line in _rendered(each, console, options)]


def _rendered(shown: Text, console: Console, options: ConsoleOptions) -> Lines:
    """Lines no longer than the console's, but for texts that must not be wrapped."""
    if not _BREAKS.intersection(shown.plain) and shown.cell_len <= options.max_width:
        return [list(Segment.apply_style(shown.render(console), console.get_style(shown.style)))]
    if shown.overflow == "ignore":
        options = options.update(width=shown.cell_len + 1)
    return console.render_lines(shown, options, pad=False)


def _spread_out(shown: dict[int, Lines], parts: Sequence[Part], lines: int, width: int) -> None:
    """Put empty lines back where room is left, the last first."""
    for index in reversed(shown):
        if parts[index] is BLANK and not shown[index] and _height(shown, width) < lines:
            shown[index] = [[]]


def _height(shown: dict[int, Lines], width: int) -> int:
    """Count the terminal lines that they take. A line that must not be wrapped may take several."""
    return sum(max(-(-Segment.get_line_length(line) // width), 1) for lines in shown.values() for line in lines)


def _cut(lines: Lines, part: Part, excess: int) -> Lines:
    """So many lines less if the part can do with them, with dots at the end of the last where it is text."""
    length = max(len(lines) - max(excess, 0), part.keep)
    if length >= len(lines):
        return lines
    if length < part.least:
        return []
    kept = lines[:length]
    if part.keep and kept[-1]:
        text = "".join(segment.text for segment in kept[-1])
        kept[-1] = [Segment(f"{text[: max(len(text) - len(_DOTS), 0)]}{_DOTS}", kept[-1][0].style)]
    return kept


def _stripped(line: list[Segment]) -> list[Segment]:
    kept = list(line)
    while kept and not kept[-1].text.rstrip():
        kept.pop()
    if kept:
        kept[-1] = Segment(kept[-1].text.rstrip(), kept[-1].style)
    return kept
