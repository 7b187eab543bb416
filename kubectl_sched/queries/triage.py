"""`kubectl sched`: every pending pod, grouped by what keeps it pending, with what helps all pods of a group."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.diagnostics.awaited_changes import waiting_for
from kubectl_sched.queries.explain import PodExplainer, Question
from kubectl_sched.queries.ladder import coming_node
from kubectl_sched.queries.pending_cause import Cause, cause_of
from kubectl_sched.record import Record
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.pending_together import together as pending_together
from kubectl_sched.simulation.queue_simulation import owner_of
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.dump.completeness import completeness
from kubectl_sched.sources.pod_selection import select
from kubectl_sched.suggestions.change import Promise, Rung
from kubectl_sched.suggestions.for_all import ForAll, suggest_for_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.kubelet_refusals import Refusals
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.simulation.pending_together import Together
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.suggestions.change import Suggestion

_HELPED = frozenset({Outcome.UNSCHEDULABLE, Outcome.GATED})


class Group(Record, frozen=True, kw_only=True):
    """The pods of one cause, in the order of the cluster."""

    cause: Cause
    explanations: tuple[Explanation, ...]
    suggestions: tuple[ForAll, ...] | None = None
    """The changes that help, best advice first; None if they were not searched for yet."""

    together: Together | None = None
    """Pods that each fit now, placed one after the other; None for others, and if one scheduler does not serve all."""

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods themselves."""
        return tuple(each.pod for each in self.explanations)

    @property
    def workloads(self) -> tuple[tuple[str, str], ...]:
        """(namespace, `Deployment/web`) of each workload; a pod that nothing manages stands for itself."""
        return tuple(dict.fromkeys((pod.namespace, owner_of(pod) or f"Pod/{pod.metadata.name}") for pod in self.pods))

    @property
    def oldest(self) -> str | None:
        """The creation time of the pod that has waited the longest (RFC 3339)."""
        return min((made for pod in self.pods if (made := pod.metadata.creation_timestamp)), default=None)

    @property
    def waiting_for(self) -> tuple[tuple[str, int], ...]:
        """Events that pods of the group wait for, with how many of them do; what most wait for comes first."""
        if self.suggestions and self.suggestions[0].suggestion.promise is Promise.STATED:
            return ((self.suggestions[0].suggestion.changes[0].text, len(self.explanations)),)
        found = (waiting_for(each.result, each.stage, each.observed) for each in self.explanations)
        return tuple(Counter(each for each in found if each is not None).most_common())


class Triage(Record, frozen=True, kw_only=True):
    """The groups, the largest first, and what the answer rests on."""

    groups: tuple[Group, ...]
    at: str | None = None
    """The moment that the state is of (RFC 3339), from which ages are counted; None if nothing tells it."""

    refusals: tuple[Refusals, ...] = ()
    """The nodes whose kubelets refuse pods."""

    notes: tuple[str, ...] = ()
    """Sentences about the state and the configuration that the answer rests on."""

    warnings: tuple[str, ...] = ()
    """Sentences about what went wrong while reading."""

    @property
    def pending(self) -> int:
        """The number of pending pods."""
        return sum(len(group.explanations) for group in self.groups)


def triage(question: Question, dump: Dump, report: Callable[[str, int, int | None], None] | None = None) -> Triage:
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

    def __init__(self, question: Question, dump: Dump) -> None:
        self.schedulers = ClusterSchedulers(dump, question.replay, question.profile)
        self.schedulers.check_profile()
        self._dump = dump
        self.at = dump.at
        self._explainer = PodExplainer(question, dump, self.schedulers, suggesting=False)
        self.pods = select(dump.objects, question.selection, dump.skipped)
        self._groups: dict[Cause, list[Explanation]] = {}
        self._unreadable: list[str] = []

    @property
    def refusals(self) -> tuple[Refusals, ...]:
        """The nodes whose kubelets refuse pods."""
        return self._explainer.refusals

    def judge(self) -> Iterator[int]:
        """Judge one pod after the other, and yield how many are done."""
        for done, pod in enumerate(self.pods, 1):
            try:
                explanation = self._explainer.explained(pod)
                self._groups.setdefault(cause_of(explanation), []).append(explanation)
            except InvalidQuantity as error:
                self._unreadable.append(f"pod {pod.key} is left out: {error}")
            yield done

    def groups(self) -> tuple[Group, ...]:
        """Return the groups of the pods judged so far, the largest first, those of equal size as they came."""
        found = (Group(cause=cause, explanations=tuple(pods)) for cause, pods in self._groups.items())
        return tuple(sorted(found, key=lambda group: -len(group.explanations)))

    def helped(self, group: Group) -> Group:
        """Return the group with the changes that help its pods, each replayed for all of them."""
        results = [each.result for each in group.explanations]
        schedulers = {self.schedulers.scheduler(result.pod) for result in results}
        sets_fields = any(each.sets_fields for each in group.explanations)
        in_groups = any(isinstance(result, MemberResult) for result in results)
        if len(schedulers) != 1 or sets_fields or in_groups or any(result.unknown for result in results):
            return structs.replace(group, suggestions=())
        scheduler, outcome = schedulers.pop(), results[0].outcome
        profile = self.schedulers.profile
        together = pending_together(results, scheduler, profile) if outcome is Outcome.SCHEDULABLE else None
        needs = group.explanations[0].needs
        found = suggest_for_all(results, scheduler, profile, needs) if outcome in _HELPED else ()
        if outcome is Outcome.UNSCHEDULABLE:
            coming = coming_node(self._explainer.with_new_nodes(group.explanations[0]), self.at)
            found = found if coming is None else _while_it_comes(coming, found, len(results))
        return structs.replace(group, suggestions=found, together=together)

    def answer(self, groups: tuple[Group, ...]) -> Triage:
        """Return the groups with what is known of the state as a whole."""
        results = [each.result for group in groups for each in group.explanations]
        notes = (*self._explainer.about_workloads(), *self.schedulers.notes, *completeness(self._dump, results))
        warnings = (*self.schedulers.warnings, *self._unreadable, *self._dump.warnings)
        return Triage(groups=groups, at=self.at, refusals=self.refusals, notes=notes, warnings=warnings)


def _while_it_comes(coming: Suggestion, found: tuple[ForAll, ...], pods: int) -> tuple[ForAll, ...]:
    """Put the node that an autoscaler adds first; while it comes nobody ends and no other node is bought."""
    kept = (each for each in found if each.suggestion.rung not in {Rung.PAY.value, Rung.ENDS.value})
    return (ForAll(suggestion=coming, pods=pods, per_node={}), *kept)
