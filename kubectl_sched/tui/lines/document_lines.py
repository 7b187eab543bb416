"""Parts of a Document as lines of a screen: drawn as on a terminal, in the explorer's tones, commands to be copied."""

from __future__ import annotations

from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING

from kubectl_sched.render.display import Display
from kubectl_sched.render.writers.text import document_parts, draw
from kubectl_sched.tui.lines.line import BLANK, Span, Tone, broken, with_command, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.render.document import Document, Said
    from kubectl_sched.render.writers.styled_text import Text
    from kubectl_sched.tui.lines.line import Line

_TONES = {
    "bold": Tone.STRONG,
    "green": Tone.GOOD,
    "bold green": Tone.GOOD,
    "red": Tone.BAD,
    "bold red": Tone.BAD,
    "dim": Tone.DIM,
    "yellow": Tone.CHANGED,
}
_TOO_LONG = "(the commands are wider than this screen: y copies them)"
_INDENT = "  "


def document_lines(document: Document, width: int) -> list[Line]:
    """Return a whole Document."""
    parts = document_parts(document, width, Display(output="wide"))
    return _without_doubled_blanks(text_lines(chain.from_iterable(part.full for part in parts), width))


def part_lines(parts: Iterable[Said], width: int) -> list[Line]:
    """Return some parts of one."""
    texts = (text for said in parts for part in draw(said, width) for text in part.full)
    return _without_doubled_blanks(text_lines(texts, width))


def text_lines(texts: Iterable[Text], width: int) -> Iterator[Line]:
    """Yield the lines; a screen neither breaks what is copied nor shows a part of it."""
    for (whole, command), group in groupby(texts, key=lambda text: (text.no_wrap, text.command)):
        lines = [line for text in group for line in _lines(text, width, whole=whole)]
        if command and whole and any(sum(len(span.text) for span in line) > width for line in lines):
            lines = wrapped(_TOO_LONG, width, Tone.CHANGED, indent=_INDENT)
        yield from (with_command(line, command) for line in lines)


def _lines(text: Text, width: int, *, whole: bool) -> Iterator[Line]:
    """Yield the lines of one text, in which each piece keeps its tone."""
    marks = {at for _, start, end in text.parts for at in (start, end)}
    at = 0
    for piece in [text.plain] if whole else broken(text.plain, width):
        start = text.plain.index(piece, at)
        at = start + len(piece)
        cuts = sorted({start, at, *(mark for mark in marks if start < mark < at)})
        yield tuple(Span(text.plain[one:other], _tone(text, one)) for one, other in pairwise(cuts)) or BLANK


def _tone(text: Text, at: int) -> Tone:
    styles = (style for style, start, end in text.parts if start <= at < end)
    return _TONES.get(next(styles, text.style), Tone.PLAIN)


def _without_doubled_blanks(lines: Iterable[Line]) -> list[Line]:
    found = list(lines)
    kept = [line for before, line in zip([BLANK, *found], found, strict=False) if line or before]
    return _without_blank_end(kept)


def _without_blank_end(lines: Sequence[Line]) -> list[Line]:
    return list(lines if not lines or lines[-1] else lines[:-1])
