"""Groups of pending pods as rows of lines, what stands above and below them, and what helps the pods of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.render.answers.triage import WorkloadRows, help_of, ladder_for_all, paragraph, triage_document
from kubectl_sched.render.display import Display
from kubectl_sched.render.document import Document, Listing, Notes, Said, Sentence, Verdict
from kubectl_sched.render.safe_text import count
from kubectl_sched.render.sentences.group_sentences import cause_of_pods, fits_now, summary, waits_for
from kubectl_sched.render.table import Column, Table
from kubectl_sched.tui.lines.document_lines import document_lines, part_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.triage import Group, Triage
    from kubectl_sched.suggestions.for_all import ForAll
    from kubectl_sched.tui.lines.line import Line

_WIDE = Display(output="wide")


def lines_above(told: str, triage: Triage, width: int) -> list[Line]:
    """Return the sum, and what changes the answer."""
    return document_lines(Document(verdict=Verdict(text=told), notes=Notes(changing=triage.changing)), width)


def group_rows(groups: Sequence[Group], triage: Triage, width: int) -> list[list[Line]]:
    """Return the lines of each group, as the answer on a terminal has them."""
    rows = WorkloadRows(triage)
    return [part_lines(paragraph(each, rows), width) for each in groups]


def lines_below(triage: Triage, width: int) -> list[Line]:
    """Return what the answer has below its groups."""
    found = triage_document(replace(triage, groups=(), changing=()), _WIDE)
    return document_lines(replace(found, verdict=Verdict(text="")), width)


def matching_groups(groups: Sequence[Group], text: str) -> list[Group]:
    """The groups that every word of the text matches: by sentence, workload or a pod's name."""
    words = text.lower().split()
    return [group for group in groups if all(word in _haystack(group) for word in words)] if words else list(groups)


def _haystack(group: Group) -> str:
    names = (f"{namespace}/{name}" for namespace, name in group.workloads)
    pods = (pod.key for pod in group.pods)
    return " ".join((summary(group), group.cause.outcome, *group.cause.reasons, *names, *pods)).lower()


def group_heading(group: Group, width: int) -> list[Line]:
    """Return the group's sentence, and what helps its pods or what they wait for."""
    return part_lines((_cause(group), *help_of(group)), width)


def _cause(group: Group) -> Sentence:
    return Sentence(text=f"{cause_of_pods(group)}.", tone="strong")


def trial_lines(group: Group, width: int) -> list[Line]:
    """Return what helps the pods of a group, with what to paste, and where they land by each way."""
    return part_lines(_trial(group), width)


def _trial(group: Group) -> Iterator[Said]:
    found = group.suggestions or ()
    if not found:
        yield Sentence(text=_without_help(group))
        return
    yield ladder_for_all(found)
    for number, each in enumerate(found, 1):
        yield Sentence(
            text=f"{number}: replayed for {count(each.pods, 'pod')}, {each.placed:,} placed", tone="strong", gap=True
        )
        yield Listing(tables=(_landings(each),), indent=4, is_headed=False)


def _landings(found: ForAll) -> Table[tuple[str, int]]:
    """Return the nodes, those with most pods first."""
    return Table(
        columns=(
            Column(heading="Node", cell=lambda each: each[0], kind="name"),
            Column(heading="Pods", cell=lambda each: count(each[1], "pod"), kind="number"),
        ),
        rows=sorted(found.per_node.items(), key=lambda each: (-each[1], each[0])),
    )


def _without_help(group: Group) -> str:
    """The sentence about a group for which there is no suggestion, with what its pods wait for."""
    found = "No change is needed" if fits_now(group) else "No change was found that helps them"
    waiting = waits_for(group)
    return f"{found}: they wait for {waiting}." if waiting else f"{found}."
