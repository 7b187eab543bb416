"""A triage as text: a table with a line for each group, and with -o wide what to paste for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from kubectl_sched.render.ages import age
from kubectl_sched.render.safe_text import count, listed, safe
from kubectl_sched.render.table import Column, Table
from kubectl_sched.render.text.note_lines import note_lines
from kubectl_sched.render.text.screen_fitting import folded
from kubectl_sched.render.text.suggestion_text import steps_of, unbroken
from kubectl_sched.render.text.table_lines import table_lines
from kubectl_sched.render.triage.group_sentences import cause_in_words, help_in_words, summary, waits_for, what_helps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.triage import Group, Triage
    from kubectl_sched.render.display import Display

NOTHING = "nothing is pending"
_NONE = "-"
_INDENT = "  "
_REFUSALS_SHOWN = 5
_NO_WIDTH = 1000
"""A console that is wider than this is a pipe."""


def triage_text(triage: Triage, width: int, display: Display) -> Iterator[Text]:
    """Yield the table, with -o wide each group's pods and commands, then the notes."""
    if not triage.groups:
        yield Text(NOTHING)
    else:
        yield from table_lines(_table(triage), width) if width > _NO_WIDTH else _on_terminal(triage, width)
        pods, groups = count(triage.pending, "pod"), count(len(triage.groups), "cause")
        yield Text(f"\n{pods} pending, {groups}.")
        for group in triage.groups if display.is_wide else ():
            yield from _in_full(group, width)
    if triage.refusals:
        yield Text("\nNodes that swallow pods:", style="bold")
        yield from (Text(f"  {safe(each.text)}") for each in triage.refusals[:_REFUSALS_SHOWN])
        more = len(triage.refusals) - _REFUSALS_SHOWN
        if more > 0:
            yield Text(f"  and {count(more, 'more node')} (-o json)", style="dim")
    notes = note_lines(triage.notes, width, display)
    if notes:
        yield from (Text(), *notes)


def _table(triage: Triage) -> Table[Group]:
    return Table(
        columns=(
            Column(heading="Pods", cell=lambda group: f"{len(group.explanations):,}", kind="number"),
            Column(heading="Oldest", cell=lambda group: age(group.oldest, triage.at) or _NONE, kind="number"),
            Column(heading="Why", cell=cause_in_words, kind="words"),
            Column(heading="What helps", cell=lambda group: what_helps(group) or _NONE, kind="words"),
            Column(heading="Waiting for", cell=lambda group: waits_for(group) or _NONE, kind="words"),
            Column(heading="Workloads", cell=_workloads, kind="words"),
        ),
        rows=triage.groups,
    )


def _workloads(group: Group) -> str:
    return listed([f"{namespace}/{name}" for namespace, name in group.workloads])


def _on_terminal(triage: Triage, width: int) -> Iterator[Text]:
    """A paragraph each, as a terminal has no room for so many columns."""
    for group in triage.groups:
        oldest, waiting = age(group.oldest, triage.at) or _NONE, waits_for(group)
        yield Text(f"{summary(group)}.", style="bold")
        below = [f"oldest {oldest}: {_workloads(group)}", *([f"waiting for {waiting}"] if waiting else ())]
        lines = (line for each in below for line in folded(each, width - len(_INDENT)))
        yield from (Text(f"{_INDENT}{line}") for line in lines)


def _in_full(group: Group, width: int) -> Iterator[Text]:
    yield Text(f"\n{summary(group)}.", style="bold")
    yield Text("  " + ", ".join(safe(pod.key) for pod in group.pods))
    for found in group.suggestions or ():
        helps = help_in_words(found)
        yield Text(f"{helps[:1].upper()}{helps[1:]}.")
        yield from map(unbroken, steps_of(found.suggestion, found.suggestion.commands, width))
