"""The answer of `kubectl sched` by itself: pending pods by what keeps them pending, and what helps each group."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from kubectl_sched.own_error import EXIT_CODE
from kubectl_sched.record import plain
from kubectl_sched.render.ages import age
from kubectl_sched.render.answers.explain import WHAT_HELPS, rung_of
from kubectl_sched.render.answers.explanation_data import suggestion_data
from kubectl_sched.render.display import PAGES
from kubectl_sched.render.document import Document, Ladder, Listing, Rung, Said, Sentence, Verdict, notes_of
from kubectl_sched.render.safe_text import count, listed
from kubectl_sched.render.sentences.group_sentences import (
    cause_in_words,
    help_in_words,
    pods_in_words,
    summary,
    waits_for,
    what_helps,
)
from kubectl_sched.render.show import Shown
from kubectl_sched.render.table import Column, Table
from kubectl_sched.safe_output import API_VERSION
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.queries.triage import Group, Triage
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.schemas import triage as schema
    from kubectl_sched.suggestions.for_all import ForAll

NOTHING = "nothing is pending"
NONE = "-"
_NOT_SEARCHED = "…"
_REFUSALS_SHOWN = 5
_INDENT = 2


def shown_triage(triage: Triage) -> Shown:
    """Return the answer in each form."""
    return Shown(
        document=lambda display: triage_document(triage, display),
        data=lambda: triage_data(triage),
        names=lambda: (f"pod/{pod.name}" for group in triage.groups for pod in group.pods),
        remarks=lambda: triage.notes,
        warnings=triage.warnings,
    )


def triage_exit_code(triage: Triage) -> int:
    """Return 0 if nothing is pending, 1 if anything is, 3 if a budget ended, 4 if a bug left anything open."""
    if any(each.result.has_met_a_bug for group in triage.groups for each in group.explanations):
        return EXIT_CODE
    if any(each.result.outcome is Outcome.UNKNOWN for group in triage.groups for each in group.explanations):
        return UNKNOWN_EXIT_CODE
    return 1 if triage.groups else 0


def triage_document(triage: Triage, display: Display) -> Document:
    """Return a paragraph for each group; in full and on pages also its pods and what to paste."""
    pods, groups = count(triage.pending, "pod"), count(len(triage.groups), "cause")
    is_page = display.output in PAGES
    details = tuple(_group(each, triage.at) for each in triage.groups) if is_page or display.is_wide else ()
    listing = (Listing(tables=(group_table(triage.groups, triage.at),), caption="Causes, the largest first"),)
    told: Sequence[Said] = listing if is_page and triage.groups else ()
    if not details:
        told = tuple(chain.from_iterable(_paragraph(each, triage.at) for each in triage.groups))
    return Document(
        verdict=Verdict(text=f"{pods} pending, {groups}." if triage.groups else NOTHING),
        parts=tuple(told),
        notes=notes_of((), triage.notes),
        details=(*details, *_refusals(triage)),
        is_index=True,
        heading="Pending pods",
        command="",
    )


def _paragraph(group: Group, at: str | None) -> Iterator[Sentence]:
    yield Sentence(text=f"{summary(group)}.", tone="strong")
    yield from _about(group, at)


def _about(group: Group, at: str | None) -> Iterator[Sentence]:
    oldest, waiting = age(group.oldest, at) or NONE, waits_for(group)
    yield Sentence(text=f"oldest {oldest}: {workloads_in_words(group)}", indent=_INDENT)
    if waiting:
        yield Sentence(text=f"waiting for {waiting}", indent=_INDENT)


def _refusals(triage: Triage) -> Iterator[Document]:
    """Yield the nodes whose kubelets refused pods."""
    if triage.refusals:
        shown = triage.refusals[:_REFUSALS_SHOWN]
        more = len(triage.refusals) - len(shown)
        rest = (Sentence(text=f"and {count(more, 'more node')} (-o json)", tone="dim"),) if more else ()
        heading = "Nodes whose kubelet refuses pods"
        told = (Sentence(text=each.text, indent=_INDENT) for each in shown)
        yield Document(verdict=Verdict(text=f"{heading}:"), parts=(*told, *rest), heading=heading)


def _group(group: Group, at: str | None) -> Document:
    """Return the whole answer about one group."""
    return Document(
        verdict=Verdict(text=f"{summary(group)}."),
        parts=tuple(_parts(group, at)),
        heading=pods_in_words(group),
    )


def _parts(group: Group, at: str | None) -> Iterator[Said]:
    yield from _about(group, at)
    yield Sentence(text=", ".join(pod.key for pod in group.pods), indent=_INDENT)
    if group.suggestions:
        yield Ladder(heading=WHAT_HELPS, rungs=tuple(map(_rung, group.suggestions)))


def _rung(found: ForAll) -> Rung:
    caution = f" (but {found.suggestion.caution})" if found.suggestion.caution else ""
    return rung_of(found.suggestion, f"{help_in_words(found)}{caution}")


def group_table(groups: Sequence[Group], at: str | None) -> Table[Group]:
    """Return a row for each group; ages count from the moment `at`."""
    return Table(
        columns=(
            Column(heading="Pods", cell=lambda group: f"{len(group.explanations):,}", kind="number"),
            Column(heading="Oldest", cell=lambda group: age(group.oldest, at) or NONE, kind="number"),
            Column(heading="Why", cell=cause_in_words, kind="words"),
            Column(heading="What helps", cell=_helps, kind="words"),
            Column(heading="Waiting for", cell=lambda group: waits_for(group) or NONE, kind="words"),
            Column(heading="Workloads", cell=workloads_in_words, kind="words"),
        ),
        rows=groups,
    )


def _helps(group: Group) -> str:
    return _NOT_SEARCHED if group.suggestions is None else what_helps(group) or NONE


def workloads_in_words(group: Group) -> str:
    """`ml/Job/train, ml/Deployment/notebook and research/Pod/eval`."""
    return listed([f"{namespace}/{name}" for namespace, name in group.workloads])


def triage_data(triage: Triage) -> schema.Triage:
    """Return the `Triage`."""
    refused = (each.text for each in triage.refusals)
    return {
        "apiVersion": API_VERSION,
        "kind": "Triage",
        "groups": [_group_data(each) for each in triage.groups],
        "pending": triage.pending,
        "refusingNodes": plain(triage.refusals),
        "warnings": list(dict.fromkeys((*refused, *triage.notes, *triage.warnings))),
    }


def _group_data(group: Group) -> schema.Group:
    return {
        "cause": plain(group.cause),
        "summary": summary(group),
        "pods": [{"namespace": pod.namespace, "name": pod.name} for pod in group.pods],
        "workloads": [name for _, name in group.workloads],
        "oldest": group.oldest,
        "suggestions": [_for_all(each) for each in group.suggestions or ()],
        "waitingFor": waits_for(group),
    }


def _for_all(found: ForAll) -> schema.SuggestionForAll:
    """The suggestion, with what it does for the pods of the group."""
    return {
        **suggestion_data(found.suggestion),
        "summary": help_in_words(found),
        "placed": found.placed,
        "pods": found.pods,
        "perNode": dict(found.per_node),
    }
