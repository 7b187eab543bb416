"""The notes at the end of an answer: one line, or each in full with --notes and -o wide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.writers.first_screen import BLANK, Part
from kubectl_sched.render.writers.styled_text import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.render.display import Display


def note_parts(notes: Sequence[str], width: int, display: Display) -> Iterator[Part]:
    """Yield the notes below an empty line."""
    lines = note_lines(notes, width, display)
    if lines:
        yield BLANK
        yield Part(full=lines, rank=9, keep=len(lines))


def note_lines(notes: Sequence[str], width: int, display: Display) -> list[Text]:
    """Return each note once, or one line for all of them."""
    distinct = list(dict.fromkeys(map(safe, notes)))
    in_full = display.is_wide or display.notes or not distinct
    shown = [f"note: {note}" for note in distinct] if in_full else [_in_one_line(distinct, width)]
    return [Text(line, style="dim") for line in shown]


def _in_one_line(notes: Sequence[str], width: int) -> str:
    """The first note if it fits one line, and how many more there are."""
    more = f"; {len(notes) - 1} more: --notes" if len(notes) > 1 else ""
    line = f"note: {notes[0]}{more}"
    return line if len(line) <= width else f"{count(len(notes), 'note')}: --notes"
