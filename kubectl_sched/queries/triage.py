"""`kubectl sched`: every pending pod, grouped by what keeps it pending, with what helps all pods of a group."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import field, structs

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.diagnostics.awaited_changes import waiting_for
from kubectl_sched.queries.explain import ExplainQuestion, PodExplainer
from kubectl_sched.queries.pending.group_help import GroupHelp
from kubectl_sched.queries.pending.lacking_workloads import LackingWorkload, LackingWorkloads, workloads_of
from kubectl_sched.queries.pending.pending_cause import Cause, Causes, cause_of_missing
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.dump.completeness import completeness
from kubectl_sched.sources.pod_selection import select
from kubectl_sched.suggestions.suggestion import Promise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.kubelet_refusals import Refusals
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.never_created.missing_pods import NeverCreated
    from kubectl_sched.simulation.pending_together import Together
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.suggestions.for_all import ForAll


class Group(CachingRecord, frozen=True, kw_only=True):
    """The pods of one cause, in the order of the cluster."""

    cause: Cause
    explanations: tuple[Explanation, ...] = ()
    """The pods that are there, each by itself."""

    missing: Mapping[NeverCreated, Explanation] = field(default_factory=dict)
    """The workloads whose pods were never created for this cause, with the answer about such a pod."""

    suggestions: tuple[ForAll, ...] | None = None
    """The changes that help, best advice first; None if they were not searched for yet."""

    together: Together | None = None
    """Pods that each fit now, placed one after the other; None for others, and if one scheduler does not serve all."""

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods themselves; pods that were never created are none."""
        return tuple(each.pod for each in self.explanations)

    @property
    def answers(self) -> tuple[Explanation, ...]:
        """The answers about the pods that are there, and about a pod of each workload that lacks some."""
        return (*self.explanations, *self.missing.values())

    @property
    def size(self) -> int:
        """The number of pods that do not run: those that are there, and those that are missing, as far as known."""
        return len(self.explanations) + sum(each.missing or 1 for each in self.missing)

    @cached_property
    def workloads(self) -> tuple[tuple[str, str], ...]:
        """(namespace, `Deployment/web`) of each workload; a pod that nothing manages stands for itself."""
        missing = ((each.workload.namespace, f"{each.workload.kind}/{each.workload.name}") for each in self.missing)
        return tuple(dict.fromkeys((*missing, *workloads_of(self.pods))))

    @property
    def judged(self) -> tuple[Explanation, ...]:
        """One of all explanations that share a cycle, those that stand for most pods first."""
        found = Counter(each.result.cycle for each in self.explanations)
        first = {each.result.cycle: each for each in reversed(self.explanations)}
        return (*(first[cycle] for cycle, _ in found.most_common()), *self.missing.values())

    @property
    def oldest(self) -> str | None:
        """The creation time of the pod that has waited the longest (RFC 3339)."""
        since = (each.obstacle.since for each in self.missing)
        return min(filter(None, (*since, *(pod.metadata.creation_timestamp for pod in self.pods))), default=None)

    @property
    def waiting_for(self) -> tuple[tuple[str, int], ...]:
        """Events that pods of the group wait for, with how many of them do; what most wait for comes first."""
        first = self.suggestions[0].suggestion if self.suggestions else None
        if first is not None and first.promise is Promise.STATED and first.comes_by_itself:
            return ((first.changes[0].text, self.size),)
        found = (waiting_for(each.result, each.stage, each.observed) for each in self.explanations)
        return tuple(Counter(each for each in found if each is not None).most_common())


class Triage(Record, frozen=True, kw_only=True):
    """The groups, the largest first, and what the answer rests on."""

    groups: tuple[Group, ...]
    at: str | None = None
    """The moment that the state is of (RFC 3339), from which ages are counted; None if nothing tells it."""

    workloads: tuple[LackingWorkload, ...] = ()
    """The workloads that have fewer pods running than they want, those that lack most first."""

    refusals: tuple[Refusals, ...] = ()
    """The nodes whose kubelets refuse pods."""

    notes: tuple[str, ...] = ()
    """Sentences about the state and the configuration that the answer rests on."""

    changing: tuple[str, ...] = ()
    """The notes that change the answer: what the dump lacks, and that it is old."""

    warnings: tuple[str, ...] = ()
    """Sentences about what went wrong while reading."""

    @property
    def pending(self) -> int:
        """The number of pending pods."""
        return sum(pod.is_pending for group in self.groups for pod in group.pods)

    @property
    def lacking(self) -> tuple[LackingWorkload, ...]:
        """The workloads that lack pods although nobody wants it so."""
        return tuple(each for each in self.workloads if not each.on_purpose)


def triage(
    question: ExplainQuestion, dump: Dump, report: Callable[[str, int, int | None], None] | None = None
) -> Triage:
    """Answer about all pods of the question's selection; `report` is told what is done, and how many of how many.

    Raises SchedError if the profile is not there.
    """
    tell = report or (lambda *_: None)
    triaging = Triaging(question, dump)
    for done in triaging.judge():
        tell("judging pods", done, len(triaging.pods))
    groups = []
    for group in triaging.groups():
        groups.append(triaging.helped(group))
        tell("looking for what helps", len(groups), len(triaging.groups()))
    return triaging.answer(tuple(groups))


class Triaging:
    """One triage under way, for callers who show groups as they come."""

    def __init__(self, question: ExplainQuestion, dump: Dump) -> None:
        self.schedulers = ClusterSchedulers(dump, question.replay, question.profile)
        self.schedulers.check_profile()
        self._dump = dump
        self.at = dump.at
        self._explainer = PodExplainer(question, dump, self.schedulers, suggesting=False)
        selection = question.selection
        self._workloads = LackingWorkloads(dump, self.schedulers)
        self.missing = self._workloads.missing(selection)
        """The workloads that lack pods which were never created."""
        self._on_purpose = {each: self._workloads.explained(each) for each in self.missing if each.on_purpose}
        self.pods = [*select(dump.objects, selection, dump.skipped), *self._workloads.refused(selection)]
        """The pods that are pending, and one that its kubelet refused of each workload which lacks pods for it."""
        self._causes = Causes()
        self._help = GroupHelp(self._explainer, self.schedulers, self.at)
        self._groups: dict[Cause, list[Explanation]] = {}
        self._missing: dict[Cause, dict[NeverCreated, Explanation]] = {}
        self._unreadable: list[str] = []

    @property
    def is_empty(self) -> bool:
        """Report whether no workload lacks anything that it should have."""
        return not self.pods and len(self._on_purpose) == len(self.missing)

    @property
    def refusals(self) -> tuple[Refusals, ...]:
        """The nodes whose kubelets refuse pods."""
        return self._explainer.refusals

    def judge(self) -> Iterator[int]:
        """Judge the pods that were never created, then one pod after the other, and yield how many are done."""
        for missing in self.missing:
            if not missing.on_purpose:
                explanation = self._workloads.explained(missing)
                self._missing.setdefault(cause_of_missing(missing, explanation), {})[missing] = explanation
        for done, pod in enumerate(self.pods, 1):
            try:
                explanation = self._explainer.explained(pod)
                self._groups.setdefault(self._causes.of(explanation), []).append(explanation)
            except InvalidQuantity as error:
                self._unreadable.append(f"pod {pod.key} is left out: {error}")
            yield done

    def groups(self) -> tuple[Group, ...]:
        """Return the groups of the pods judged so far, the largest first, those of equal size as they came."""
        found = (
            Group(cause=cause, explanations=tuple(self._groups.get(cause, ())), missing=self._missing.get(cause, {}))
            for cause in dict.fromkeys((*self._groups, *self._missing))
        )
        return tuple(sorted(found, key=lambda group: -group.size))

    def helped(self, group: Group) -> Group:
        """Return the group with the changes that help its pods, each replayed for all of them."""
        suggestions, together = self._help.of(group.explanations, group.missing)
        return structs.replace(group, suggestions=suggestions, together=together)

    def workloads(self, groups: Sequence[Group]) -> tuple[LackingWorkload, ...]:
        """Return the workloads of the groups, and those that lack pods on purpose."""
        missing = {each: explanation for group in groups for each, explanation in group.missing.items()}
        waiting = [each for group in groups for each in group.explanations]
        return self._workloads.of(waiting, {**missing, **self._on_purpose})

    def answer(self, groups: tuple[Group, ...]) -> Triage:
        """Return the groups with what is known of the state as a whole."""
        results = [each.result for group in groups for each in group.explanations]
        complete = completeness(self._dump, results)
        notes = (*self.schedulers.notes, *complete.notes)
        warnings = (*self.schedulers.warnings, *self._unreadable, *self._dump.warnings)
        return Triage(
            groups=groups,
            workloads=self.workloads(groups),
            at=self.at,
            refusals=self.refusals,
            notes=notes,
            changing=complete.changing,
            warnings=warnings,
        )
