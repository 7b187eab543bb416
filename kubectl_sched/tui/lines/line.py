"""Lines of text with a meaning for each piece, before any colour: what widgets draw and what tests read."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from rich.cells import cell_len, set_cell_size

from kubectl_sched.render.safe_text import safe, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

DOTS = "…"
_MORE = f" {DOTS}"
_BREAKS = "/:,-="


class Tone(Enum):
    """The meaning of a piece of text. The palette gives each a colour, and the words say it without one."""

    PLAIN = "plain"
    STRONG = "strong"
    DIM = "dim"
    GOOD = "good"
    BAD = "bad"
    CHANGED = "changed"
    BAR = "bar"
    OTHER_BAR = "other-bar"
    CHOSEN = "chosen"


class Span(NamedTuple):
    """A piece of a line, safe to show."""

    text: str
    tone: Tone = Tone.PLAIN
    reason: str = ""
    """The reason in kube-scheduler's words to whose entry the piece links."""

    command: str = ""
    """The command that the line is a part of."""


Line: TypeAlias = tuple[Span, ...]
BLANK: Line = ()


def line(text: str, tone: Tone = Tone.PLAIN) -> Line:
    """A line of one piece; its control characters are escaped."""
    return (Span(safe(text), tone),)


def with_command(of: Line, command: str) -> Line:
    """The line as a part of a command."""
    return tuple(span._replace(command=command) for span in of)


def plain(of: Line) -> str:
    """A line's text alone, without the blanks at its end."""
    return "".join(span.text for span in of).rstrip()


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly so many cells: cut with dots at its end, or filled with blanks."""
    length = cell_len(text)
    if length > width:
        return set_cell_size(text, max(width - 1, 0)) + DOTS if width > 0 else ""
    blanks = " " * (width - length)
    return blanks + text if right else text + blanks


def name_in(name: str, width: int) -> str:
    """A name in exactly so many cells, cut in its middle, as names of one cluster differ at their ends."""
    return padded(shortened(safe(name), width) if width > 9 else safe(name), width)


def bar(value: int, most: int, width: int) -> str:
    """A bar of exactly so many cells, filled to half a cell by the share that the value is of the most there can be."""
    halves = _halves(value, most, width)
    return ("━" * (halves // 2) + "╸" * (halves % 2)).ljust(max(width, 0))


def bar_to_the_left(value: int, most: int, width: int) -> str:
    """A bar of exactly so many cells that grows from the right."""
    halves = _halves(value, most, width)
    return ("╺" * (halves % 2) + "━" * (halves // 2)).rjust(max(width, 0))


def _halves(value: int, most: int, width: int) -> int:
    """Return the number of filled half cells, at least one if the value is not zero."""
    if most <= 0 or width <= 0 or value <= 0:
        return 0
    return max(round(min(value, most) / most * width * 2), 1)


def wrapped(text: str, width: int, tone: Tone = Tone.PLAIN, indent: str = "") -> list[Line]:
    """The text over as many lines as it takes, broken between words where it can be, each after the indent."""
    room = width - len(indent)
    return [(Span(indent + part, tone),) for each in text.split("\n") for part in broken(safe(each), room)]


def first_lines(lines: Sequence[Line], most: int, width: int) -> list[Line]:
    """At most so many lines, with dots at the end of the last where any is left out."""
    if len(lines) <= most:
        return list(lines)
    *kept, last = lines[:most]
    text = "".join(span.text for span in last)
    shown = set_cell_size(text, min(cell_len(text), width - len(_MORE))) + _MORE
    return [*kept, (Span(shown, last[0].tone),)]


def broken(text: str, width: int) -> list[str]:
    """The text in pieces of at most so many cells: between words, and a word that is too long after its punctuation."""
    pieces: list[str] = []
    at = 0
    while (fits := _fitting(text, at, width)) < len(text):
        end = max(fits, at + 1)
        blank = text.rfind(" ", at, end + 1)
        cut = blank if blank > at else max(text.rfind(each, at, end) for each in _BREAKS) + 1 or end
        pieces.append(text[at:cut].rstrip())
        at = cut
        while text[at : at + 1].isspace():
            at += 1
    return [*pieces, text[at:]]


def _fitting(text: str, start: int, width: int) -> int:
    """Return the end of what fits of the text from there on."""
    used = 0
    for index in range(start, len(text)):
        used += cell_len(text[index])
        if used > width:
            return index
    return len(text)
