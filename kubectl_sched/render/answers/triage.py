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
from kubectl_sched.render.kubectl_names import kubectl_name, pod_name
from kubectl_sched.render.safe_text import count, listed
from kubectl_sched.render.sentences.group_sentences import (
    cause_in_words,
    cause_of_pods,
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
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.queries.pending.lacking_workloads import LackingWorkload
    from kubectl_sched.queries.triage import Group, Triage
    from kubectl_sched.render.display import Display
    from kubectl_sched.render.schemas import triage as schema
    from kubectl_sched.suggestions.for_all import ForAll

NOTHING = "nothing is pending"
NONE = "-"
_NOT_SEARCHED = "…"
_REFUSALS_SHOWN = 5
_INDENT = 2
_WORKLOADS_SHOWN = 8
_THERE = len("10 of 10 there")
_AGE = 4


def shown_triage(triage: Triage) -> Shown:
    """Return the answer in each form."""
    return Shown(
        document=lambda display: triage_document(triage, display),
        data=lambda: triage_data(triage),
        names=lambda: _names(triage),
        remarks=lambda: triage.notes,
        warnings=triage.warnings,
    )


def _names(triage: Triage) -> Iterator[str]:
    """Yield the pods that are there, and the workloads whose pods were never created."""
    for group in triage.groups:
        yield from (f"pod/{pod.name}" for pod in group.pods)
        if group.missing:
            yield from dict.fromkeys(
                kubectl_name(f"{each.workload.kind}/{each.workload.name}") for each in group.missing
            )


def triage_exit_code(triage: Triage) -> int:
    """Return 0 if no workload lacks pods, 1 if any does, 3 if an outcome is Unknown, 4 if a bug left anything open."""
    if any(each.result.has_met_a_bug for group in triage.groups for each in group.explanations):
        return EXIT_CODE
    if any(each.result.outcome is Outcome.UNKNOWN for group in triage.groups for each in group.explanations):
        return UNKNOWN_EXIT_CODE
    return 1 if triage.groups else 0


def triage_document(triage: Triage, display: Display) -> Document:
    """Return a paragraph for each group with its workloads; in full and on pages also its pods and what to paste."""
    is_page = display.output in PAGES
    rows = WorkloadRows(triage)
    details = tuple(_group(each, rows) for each in triage.groups) if is_page or display.is_wide else ()
    told: Sequence[Said] = ()
    if is_page and triage.groups:
        table = group_table(triage.groups, triage.workloads, triage.at)
        told = (Listing(tables=(table,), caption="Causes, the largest first"),)
    elif not details:
        told = tuple(chain.from_iterable(paragraph(each, rows) for each in triage.groups))
    return Document(
        verdict=Verdict(text=f"{lacking_in_words(triage.groups)}." if triage.groups else NOTHING),
        parts=(*told, *_on_purpose(triage)),
        notes=notes_of(triage.changing, triage.notes),
        details=(*details, *_refusals(triage)),
        is_index=True,
        heading="Pods that do not run",
        command="",
    )


def lacking_in_words(groups: Sequence[Group]) -> str:
    """`19 pods pending, 2 never created, 5 causes`."""
    missing = sum(each.missing or 1 for group in groups for each in group.missing)
    refused = sum(pod.has_ended for group in groups for pod in group.pods)
    pending = sum(len(group.pods) for group in groups) - refused
    told = (
        f"{count(pending, 'pod')} pending" if pending or not (missing or refused) else "",
        f"{missing:,} never created" if missing else "",
        f"{refused:,} refused by a kubelet" if refused else "",
        count(len(groups), "cause"),
    )
    return ", ".join(filter(None, told))


def paragraph(group: Group, rows: WorkloadRows) -> Iterator[Said]:
    """Yield the cause, what helps, and the first workloads."""
    yield Sentence(text=f"{cause_of_pods(group)}.", tone="strong", gap=True)
    yield from help_of(group)
    yield from _workloads(group, rows, _WORKLOADS_SHOWN)


def help_of(group: Group) -> Iterator[Said]:
    """Yield what helps the pods, else what they wait for."""
    helps, waiting = what_helps(group), waits_for(group)
    if helps:
        yield Sentence(text=f"What helps: {helps}.", indent=_INDENT, tone="good")
    elif waiting:
        yield Sentence(text=f"Waits for {waiting}.", indent=_INDENT)


def _workloads(group: Group, rows: WorkloadRows, most: int) -> Iterator[Said]:
    own = rows.of(group)
    if own:
        tables = (rows.table(own[:most], group), rows.table(own[:most], group, with_verdict=False))
        more = len(own) - most
        yield Listing(tables=tables, is_headed=False, indent=_INDENT, caption="Workloads")
        if more > 0:
            yield Sentence(text=f"and {count(more, 'more workload')} (-o wide)", indent=_INDENT, tone="dim")


class WorkloadRows:
    """The workloads of an answer by group, one column wide for all."""

    def __init__(self, triage: Triage) -> None:
        self._at = triage.at
        self._by_key = {each.key: each for each in triage.workloads}
        self._widest = max((len(_name(each)) for each in triage.lacking), default=0)

    def of(self, group: Group) -> list[LackingWorkload]:
        """Return the workloads of a group that lack pods."""
        return [self._by_key[key] for key in group.workloads if key in self._by_key]

    def table(
        self, rows: Sequence[LackingWorkload], group: Group, *, with_verdict: bool = True
    ) -> Table[LackingWorkload]:
        """Return them as rows: what is there of each, how long it has waited, and its verdict where it is another.

        Each pod of a DaemonSet has a node and a verdict of its own, so the workload has none.
        """
        said = cause_in_words(group)
        verdict: Column[LackingWorkload] = Column(
            heading="Verdict", cell=lambda row: row.verdict if _is_other(row, said) else "", kind="words"
        )
        tells = with_verdict and group.cause.binding is not None and any(_is_other(row, said) for row in rows)
        return Table(
            columns=(
                Column(heading="Workload", cell=lambda row: _name(row).ljust(self._widest), kind="name"),
                Column(heading="There", cell=lambda row: there_of(row).rjust(_THERE), kind="number"),
                Column(heading="Age", cell=lambda row: (age(row.oldest, self._at) or NONE).rjust(_AGE), kind="number"),
                *([verdict] if tells else []),
            ),
            rows=rows,
        )


def _is_other(row: LackingWorkload, said: str) -> bool:
    """Report whether the row has a verdict besides what is said."""
    return row.verdict not in said and not row.workload.startswith("DaemonSet/")


def _name(row: LackingWorkload) -> str:
    return f"{row.namespace}/{row.workload}"


def there_of(row: LackingWorkload) -> str:
    """`1 of 3 there`, as far as the numbers are known."""
    return NONE if row.wanted is None or row.there is None else f"{row.there:,} of {row.wanted:,} there"


def _on_purpose(triage: Triage) -> Iterator[Said]:
    """Yield the workloads that somebody suspended or paused."""
    found = [each for each in triage.workloads if each.on_purpose]
    if found:
        shown = listed([f"{_name(each)} ({each.stage})" for each in found])
        yield Sentence(text=f"Suspended or paused by somebody, so no failure: {shown}.", tone="dim", gap=True)


def _refusals(triage: Triage) -> Iterator[Document]:
    """Yield the nodes whose kubelets refused pods."""
    if triage.refusals:
        shown = triage.refusals[:_REFUSALS_SHOWN]
        more = len(triage.refusals) - len(shown)
        rest = (Sentence(text=f"and {count(more, 'more node')} (-o json)", tone="dim"),) if more else ()
        heading = "Nodes whose kubelet refuses pods"
        told = (Sentence(text=each.text, indent=_INDENT) for each in shown)
        yield Document(verdict=Verdict(text=f"{heading}:"), parts=(*told, *rest), heading=heading)


def _group(group: Group, rows: WorkloadRows) -> Document:
    """Return the whole answer about one group."""
    return Document(
        verdict=Verdict(text=f"{cause_of_pods(group)}."),
        parts=tuple(_parts(group, rows)),
        heading=pods_in_words(group),
    )


def _parts(group: Group, rows: WorkloadRows) -> Iterator[Said]:
    yield from help_of(group)
    yield from _workloads(group, rows, len(group.workloads))
    if group.pods:
        yield Sentence(text=", ".join(pod.key for pod in group.pods), indent=_INDENT)
    if group.suggestions:
        yield ladder_for_all(group.suggestions)


def ladder_for_all(found: Sequence[ForAll]) -> Ladder:
    """Return what helps the pods of a group, each with what it does for how many of them."""
    return Ladder(heading=WHAT_HELPS, rungs=tuple(map(_rung, found)))


def _rung(found: ForAll) -> Rung:
    caution = f" (but {found.suggestion.caution})" if found.suggestion.caution else ""
    return rung_of(found.suggestion, f"{help_in_words(found)}{caution}")


def group_table(groups: Sequence[Group], workloads: Sequence[LackingWorkload], at: str | None) -> Table[Group]:
    """Return a row for each group, with its workloads; ages count from the moment `at`."""
    by_key = {each.key: each for each in workloads}
    return Table(
        columns=(
            Column(heading="Pods", cell=lambda group: f"{group.size:,}", kind="number"),
            Column(heading="Oldest", cell=lambda group: age(group.oldest, at) or NONE, kind="number"),
            Column(heading="Why", cell=cause_in_words, kind="words"),
            Column(heading="What helps", cell=_helps, kind="words"),
            Column(heading="Waiting for", cell=lambda group: waits_for(group) or NONE, kind="words"),
            Column(heading="Workloads", cell=lambda group: workloads_in_words(group, by_key), kind="words"),
        ),
        rows=groups,
    )


def _helps(group: Group) -> str:
    return _NOT_SEARCHED if group.suggestions is None else what_helps(group) or NONE


def workloads_in_words(group: Group, workloads: Mapping[tuple[str, str], LackingWorkload]) -> str:
    """`ml/Job/train (0 of 8 there) and research/Pod/eval (0 of 1 there)`."""
    told = []
    for key in group.workloads:
        there = there_of(workloads[key]) if key in workloads else NONE
        told.append("/".join(key) if there == NONE else f"{'/'.join(key)} ({there})")
    return listed(told)


def triage_data(triage: Triage) -> schema.Triage:
    """Return the `Triage`."""
    refused = (each.text for each in triage.refusals)
    return {
        "apiVersion": API_VERSION,
        "kind": "Triage",
        "groups": [_group_data(each) for each in triage.groups],
        "workloads": list(_workloads_data(triage)),
        "pending": triage.pending,
        "refusingNodes": plain(triage.refusals),
        "warnings": list(dict.fromkeys((*refused, *triage.notes, *triage.warnings))),
    }


def _workloads_data(triage: Triage) -> Iterator[schema.Workload]:
    helps = {key: what_helps(group) for group in reversed(triage.groups) for key in group.workloads}
    for each in triage.workloads:
        yield {
            "workload": each.workload,
            "namespace": each.namespace,
            "wanted": each.wanted,
            "there": each.there,
            "stage": each.stage,
            "verdict": each.verdict,
            "helps": helps.get(each.key) or None,
            "onPurpose": each.on_purpose,
            "oldest": each.oldest,
        }


def _group_data(group: Group) -> schema.Group:
    return {
        "cause": {
            "outcome": group.cause.outcome,
            "plugins": list(group.cause.plugins),
            "reasons": list(group.cause.reasons),
            "comesBy": group.cause.comes_by,
        },
        "summary": summary(group),
        "pods": [pod_name(pod) for pod in group.pods],
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
