"""Everything that is said of the decision as a whole: preemption, what it would take with commands, events, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.answers.explain import WHAT_HELPS, ladder
from kubectl_sched.render.sentences.gate_sentences import gate_lines
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.render.sentences.preemption_sentence import preemption
from kubectl_sched.render.sentences.verdict_line import verdict_line
from kubectl_sched.render.writers.text import steps_of
from kubectl_sched.tui.lines.line import BLANK, Tone, line, with_command, wrapped
from kubectl_sched.tui.lines.what_if_changes import changes, in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.queries.provisioning.new_nodes import NewNodes
    from kubectl_sched.render.document import Rung
    from kubectl_sched.render.table import Row, Table
    from kubectl_sched.suggestions.change import Suggestion
    from kubectl_sched.tui.explorer_state import View
    from kubectl_sched.tui.lines.line import Line

_INDENT = "  "
_TOO_LONG = "(the commands are wider than this screen: y copies them, e writes them to a file that ends in .md)"


def report_lines(view: View, suggestions: Sequence[Suggestion], notes: Iterable[str], width: int) -> list[Line]:
    """Paragraph by paragraph; those that have nothing to say are left out."""
    result = view.result
    lines = wrapped(verdict_line(view.explanation), width, Tone.GOOD if result.fits else Tone.BAD)
    lines += wrapped(f"{headline(view.explanation)}.", width)
    lines += _paragraph("Gates and queues", list(gate_lines(view.explanation.gates)), width)
    lines += _edits(view, width)
    lines += _new_nodes(view.explanation.new_nodes, width)
    would = preemption(result)
    lines += _paragraph("Preemption", [would] if would is not None else [], width)
    if suggestions:
        lines += (BLANK, line(WHAT_HELPS, Tone.STRONG))
    for number, rung in enumerate(ladder(suggestions).rungs, 1):
        start = f"{number} {rung.label}".rstrip()
        told = (*wrapped(f"{start}  {rung.text}", width, indent=_INDENT), *_steps(rung, width))
        lines += (with_command(each, "\n".join(rung.commands)) for each in told)
    actions = [f"{each.extension_point} {each.plugin}: {each.action}" for each in result.binding]
    lines += _paragraph("Then", actions, width)
    lines += _paragraph("kube-scheduler would say", [result.event] if result.event else [], width)
    lines += _paragraph("Notes", list(dict.fromkeys((*view.explanation.notes, *notes))), width)
    return lines


def _new_nodes(found: NewNodes | None, width: int) -> Iterator[Line]:
    """Yield the verdicts, a table of NodePools and one of node groups, and what was assumed."""
    if found is None:
        return
    from kubectl_sched.render.sentences.new_nodes_sentences import (  # most clusters need none
        assumed_sentence,
        new_nodes_sentences,
        new_nodes_tables,
    )

    yield from _paragraph("New nodes", list(new_nodes_sentences(found)), width)
    for table in new_nodes_tables(found):
        if table.rows:
            yield BLANK
            yield from _table(table, width)
    yield BLANK
    yield from wrapped(assumed_sentence(found), width, Tone.DIM, indent=_INDENT)


def _table(table: Table[Row], width: int) -> Iterator[Line]:
    """Yield the lines of a table; where its names are too long for the screen, a paragraph for each row."""
    from kubectl_sched.render.writers.table_lines import fits, table_lines  # most clusters need none

    room = width - len(_INDENT)
    if fits(table, room):
        for each in table_lines(table, room):
            yield line(f"{_INDENT}{each}", Tone.STRONG if each.style == "bold" else Tone.PLAIN)
        return
    for name, *cells in table.texts:
        told = list(zip(table.columns[1:], cells, strict=True))
        numbers = " ".join(f"{column.heading} {cell}" for column, cell in told if column.kind == "number")
        words = (cell for column, cell in told if column.kind == "words")
        yield from wrapped(name, width, Tone.STRONG, indent=_INDENT)
        yield from wrapped("; ".join(filter(None, (numbers, *words))), width, indent=_INDENT * 2)


def _steps(rung: Rung, width: int) -> list[Line]:
    """The commands; a screen neither breaks an argument nor shows a part of a command."""
    steps = steps_of(rung, width)
    if max(map(len, steps), default=0) > width:
        return wrapped(_TOO_LONG, width, Tone.CHANGED, indent=_INDENT)
    return [line(step, Tone.CHANGED) for step in steps]


def _edits(view: View, width: int) -> Iterator[Line]:
    if view.edits:
        yield from _paragraph("What if", [edit.text for edit in view.edits], width)
        yield from wrapped(in_words(changes(view.base.result, view.result)), width, Tone.CHANGED, indent=_INDENT)


def _paragraph(title: str, told: Sequence[str], width: int) -> Iterator[Line]:
    if told:
        yield from (BLANK, line(title, Tone.STRONG))
    for each in told:
        yield from wrapped(each, width, indent=_INDENT)
