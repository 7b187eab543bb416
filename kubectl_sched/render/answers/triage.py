"""A triage as text: a table with a line for each group, and with -o wide what to paste for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.ages import age
from kubectl_sched.render.group_table import NONE, group_table, workloads_in_words
from kubectl_sched.render.safe_text import count, safe
from kubectl_sched.render.sentences.group_sentences import (
    cause_in_words,
    help_in_words,
    pods_in_words,
    summary,
    waits_for,
)
from kubectl_sched.render.writers.first_screen import folded
from kubectl_sched.render.writers.note_lines import note_lines
from kubectl_sched.render.writers.styled_text import Text
from kubectl_sched.render.writers.suggestion_text import steps_of, unbroken
from kubectl_sched.render.writers.table_lines import table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.queries.triage import Group, Triage
    from kubectl_sched.render.display import Display
    from kubectl_sched.suggestions.for_all import ForAll

NOTHING = "nothing is pending"
_INDENT = "  "
_REFUSALS_SHOWN = 5
_NO_WIDTH = 1000
"""A console that is wider than this is a pipe."""


def triage_text(triage: Triage, width: int, display: Display) -> Iterator[Text]:
    """Yield the table, with -o wide each group's pods and commands, then the notes."""
    if not triage.groups:
        yield Text(NOTHING)
    else:
        is_piped = width > _NO_WIDTH
        yield from (
            table_lines(group_table(triage.groups, triage.at), width)
            if is_piped
            else _paragraphs(triage, width, display)
        )
        pods, groups = count(triage.pending, "pod"), count(len(triage.groups), "cause")
        yield Text(f"\n{pods} pending, {groups}.")
        for group in triage.groups if is_piped and display.is_wide else ():
            yield Text(f"\n{pods_in_words(group)}: {cause_in_words(group)}.", style="bold")
            yield from _pods_and_commands(group, width)
    if triage.refusals:
        yield Text("\nNodes that swallow pods:", style="bold")
        for each in triage.refusals[:_REFUSALS_SHOWN]:
            yield from _indented(safe(each.text), width)
        more = len(triage.refusals) - _REFUSALS_SHOWN
        if more > 0:
            yield Text(f"  and {count(more, 'more node')} (-o json)", style="dim")
    notes = note_lines(triage.notes, width, display)
    if notes:
        yield from (Text(), *notes)


def _paragraphs(triage: Triage, width: int, display: Display) -> Iterator[Text]:
    """A paragraph each, as a terminal has no room for so many columns."""
    for position, group in enumerate(triage.groups):
        if position and display.is_wide:
            yield Text()
        yield Text(f"{summary(group)}.", style="bold")
        oldest, waiting = age(group.oldest, triage.at) or NONE, waits_for(group)
        yield from _indented(f"oldest {oldest}: {workloads_in_words(group)}", width)
        if waiting:
            yield from _indented(f"waiting for {waiting}", width)
        if display.is_wide:
            yield from _pods_and_commands(group, width, is_first_told=True)


def _pods_and_commands(group: Group, width: int, *, is_first_told: bool = False) -> Iterator[Text]:
    """Yield every pod, and every suggestion with its commands; the sentence of the first only unless told already."""
    yield from _indented(", ".join(safe(pod.key) for pod in group.pods), width)
    for position, found in enumerate(group.suggestions or ()):
        if position or not is_first_told:
            yield Text(f"{'Or: ' if position else ''}{_sentence(found, capital=not position)}")
        if found.suggestion.caution:
            yield from _indented(f"But: {safe(found.suggestion.caution)}.", width)
        yield from map(unbroken, steps_of(found.suggestion, found.suggestion.commands, width))


def _sentence(found: ForAll, *, capital: bool) -> str:
    helps = help_in_words(found)
    return f"{helps[:1].upper() if capital else helps[:1]}{helps[1:]}."


def _indented(text: str, width: int) -> Iterator[Text]:
    return (Text(f"{_INDENT}{line}") for line in folded(text, width - len(_INDENT)))
