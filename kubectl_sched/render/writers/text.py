"""A Document as text, part by part, for so many columns."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.render.document import (
    STAYS,
    Commands,
    Ladder,
    Listing,
    Quote,
    Sentence,
    Snippet,
    Waterfall,
)
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.writers.first_screen import BLANK, Part, folded
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.table_lines import first_that_fits, side_by_side, table_lines, with_bars
from kubectl_sched.safe_output import safe
from kubectl_sched.shell_commands import folded as folded_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.render.display import Display
    from kubectl_sched.render.document import Document, Notes, Rung, Said, Verdict

STYLES = {"strong": "bold", "good": "green", "bad": "red", "dim": "dim", "changed": "yellow"}
_INDENT = "  "
_NUMBER = 2
_LABEL = 6
_FIRST_RUNGS = 3
"""The number of rungs that give way after all else."""

_MORE_RUNGS = "and other ways (-o wide)"


def document_parts(document: Document, width: int, display: Display) -> Iterator[Part]:
    """Yield the parts with the lines of each."""
    yield from _verdict(document.verdict)
    changing = tuple(Text(safe(each), style="bold") for each in document.notes.changing)
    if changing:
        yield Part(full=changing, rank=STAYS - 1, keep=1)
    for said in document.parts:
        if said.gap:
            yield BLANK
        yield from draw(said, width)
    for each in document.details:
        yield BLANK
        yield from document_parts(each, width, display)
    yield from _premises(document.notes, width, display)


def _verdict(verdict: Verdict) -> Iterator[Part]:
    style = {"good": "bold green", "bad": "bold red"}.get(verdict.tone, "bold")
    if verdict.text:
        yield Part(full=(Text(safe(verdict.line), style=style),), rank=STAYS - 1, keep=3)


def _premises(notes: Notes, width: int, display: Display) -> Iterator[Part]:
    """Yield the premises in one line, or each in full where that is asked for."""
    distinct = list(map(safe, notes.premises))
    if not distinct:
        return
    in_full = display.is_wide or display.notes
    shown = [f"note: {note}" for note in distinct] if in_full else [_in_one_line(distinct, width)]
    yield BLANK
    yield Part(full=[Text(line, style="dim") for line in shown], rank=STAYS, keep=len(shown))


def _in_one_line(notes: Sequence[str], width: int) -> str:
    """The first note if it fits one line, and how many more there are."""
    more = f"; {len(notes) - 1} more: --notes" if len(notes) > 1 else ""
    line = f"note: {notes[0]}{more}"
    return line if len(line) <= width else f"{count(len(notes), 'note')}: --notes"


def draw(said: Said, width: int) -> Iterator[Part]:
    """Yield the lines of one part of a Document; none of what only a page has."""
    match said:
        case Sentence():
            yield from _sentence(said, width)
        case Listing():
            yield from _listing(said, width)
        case Commands():
            yield from _commands(said, width)
        case Ladder():
            yield from _ladder(said, width)
        case Quote():
            yield from _quote(said)
        case Snippet():
            yield _snippet(said, width)
        case Waterfall():
            yield from _waterfall(said, width)


def _sentence(said: Sentence, width: int) -> Iterator[Part]:
    style = STYLES.get(said.tone, "")
    lines = folded(safe(said.text), width - said.indent) if said.indent else [safe(said.text)]
    yield Part(full=[Text(f"{' ' * said.indent}{line}", style) for line in lines], rank=said.rank, keep=said.keep)


def _listing(said: Listing, width: int) -> Iterator[Part]:
    room = width - said.indent
    if said.is_split:
        for position, each in enumerate(side_by_side(said.tables[0], room)):
            yield from (BLANK,) if position else ()
            yield Part(full=_indented(table_lines(each, room), said.indent), rank=said.rank)
        return
    table = first_that_fits([each for table in said.tables for each in with_bars(table, room)], room)
    if not said.is_headed:
        table = replace(table, columns=tuple(replace(column, heading="", about="") for column in table.columns))
    lines = _indented(table_lines(table, room), said.indent)[0 if said.is_headed else 1 :]
    lean = tuple(line for each in said.lean for part in draw(each, width) for line in part.full)
    least = (
        len(_indented(table_lines(replace(table, rows=table.rows[:1]), room), said.indent)) if said.rank < STAYS else 1
    )
    yield Part(full=lines, rank=said.rank, leaner=(lean,) if lean else (), keep=said.keep, least=least)
    if said.more:
        yield Part(full=(Text(safe(said.more), style="dim"),), rank=min(said.rank, 3))


def _indented(lines: list[Text], columns: int) -> list[Text]:
    return [line.indented(columns) for line in lines] if columns else lines


def _commands(said: Commands, width: int) -> Iterator[Part]:
    lines = tuple(line for command in said.commands for line in command_lines(command, width, said.indent))
    yield Part(full=lines, rank=said.rank)


def command_lines(command: str, width: int, indent: int = len(_INDENT)) -> Iterator[Text]:
    """Yield the command on lines that a shell takes for one, and that nothing may break: a terminal copies them."""
    for line in folded_command(command, width - indent):
        yield Text(f"{' ' * indent}{line}", no_wrap=True, command=command)


def _ladder(said: Ladder, width: int) -> Iterator[Part]:
    if not said.rungs:
        return
    labelled = any(rung.label for rung in said.rungs)
    rungs = [tuple(_rung(rung, place, width, labelled=labelled)) for place, rung in enumerate(said.rungs, 1)]
    first, others = rungs[:_FIRST_RUNGS], rungs[_FIRST_RUNGS:]
    heading, more = Text(said.heading, style="bold"), Text(_MORE_RUNGS, style="dim")
    rest = (more,) if not others and said.more else ()
    end = () if others else (more,)
    fewer = [(heading, *chain.from_iterable(first[:number]), *end) for number in range(len(first) - 1, 0, -1)]
    whole = (heading, *chain.from_iterable(first), *rest)
    yield Part(full=whole, rank=STAYS - 1, leaner=fewer, keep=len((fewer or [whole])[-1]))
    if others:
        last = (more,) if said.more else ()
        fewer = [(*chain.from_iterable(others[:number]), more) for number in range(len(others) - 1, -1, -1)]
        yield Part(full=(*chain.from_iterable(others), *last), rank=said.rank, leaner=fewer, keep=1)


def _rung(rung: Rung, place: int, width: int, *, labelled: bool) -> Iterator[Text]:
    """Yield ` 1 yours  ask for 4 GPUs ...`, and below it what to paste and what to change by hand."""
    for line in _lines_of_rung(rung, place, width, labelled=labelled):
        line.command = rung.to_copy
        yield line


def _lines_of_rung(rung: Rung, place: int, width: int, *, labelled: bool) -> Iterator[Text]:
    start = f"{place:>{_NUMBER}} {f'{rung.label:<{_LABEL}} ' if labelled else ''}"
    first, *rest = folded(safe(rung.text), width - len(start))
    line = Text(f"{start}{first}")
    line.stylize("bold", 0, len(start))
    yield line
    yield from (Text(f"{' ' * len(start)}{each}") for each in rest)
    for command in rung.commands:
        yield from command_lines(command, width, _NUMBER + 2)
    yield from (Text(each, no_wrap=True) for each in _by_hand_lines(rung.by_hand, width, _NUMBER + 2))


def _by_hand_lines(by_hand: Sequence[tuple[str, str]], width: int, indent: int) -> Iterator[str]:
    """Yield what is changed by hand: the instruction, and the lines of the document."""
    for instruction, document in by_hand:
        told = f"{safe(instruction)}{':' if document else ''}"
        yield from (f"{' ' * indent}{line}" for line in folded(told, width - indent))
        yield from (f"{' ' * indent}{safe(line)}" for line in document.split("\n") if line)


def _quote(said: Quote) -> Iterator[Part]:
    line = Text(f"{said.heading}: {safe(said.text)}")
    line.stylize("bold", 0, len(said.heading) + 1)
    yield Part(full=(line,), rank=said.rank, keep=said.keep)


def _snippet(said: Snippet, width: int) -> Part:
    """Return the lines, which nothing may break: their columns carry the meaning. The help gives way."""
    from kubectl_sched.render.writers.snippet_lines import marked_lines, snippet_lines  # only a manifest has one

    full, lean = (
        tuple(Text(line, no_wrap=True) for line in lines(said, width)) for lines in (snippet_lines, marked_lines)
    )
    return Part(full=full, rank=said.rank, leaner=(lean,), keep=len(lean))


def _waterfall(said: Waterfall, width: int) -> Iterator[Part]:
    from kubectl_sched.render.writers.waterfall_lines import waterfall_lines

    yield Part(
        full=waterfall_lines(said.contrast, said.among, width, in_full=said.in_full), rank=said.rank, keep=said.keep
    )
