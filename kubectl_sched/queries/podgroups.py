"""`explain podgroup`: the cycle of each group that was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kubectl_sched.api.pod import Pod
from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup, Workload
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.podgroup_info import Group, root_of
from kubectl_sched.near_names import near_hint
from kubectl_sched.plugins.gang_scheduling import GangScheduling
from kubectl_sched.queries.explain import ExplainAnswer, ExplainQuestion, PodExplainer
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.group_membership import GENERIC_WORKLOAD, is_member
from kubectl_sched.scheduler.podgroup_members import explain_podgroup, info_of
from kubectl_sched.scheduler.workload_gang import explain_workload, is_of_workload
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.pod_selection import Selection
from kubectl_sched.suggestions.podgroup_suggestions import PodGroupSuggestion, suggest_for_podgroup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.config import Configuration
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.sources.dump.dump import Dump


class PodGroupQuestion(Record, frozen=True, kw_only=True):
    """A question about some groups; without names, about those that have a pending member."""

    names: tuple[str, ...] = ()
    namespace: str | None = None
    """None means all namespaces."""

    are_workloads: bool = False
    """The names are those of Workloads, whose groups are meant."""

    replay: Replay = Replay()


class PodGroupAnswer(CachingRecord, frozen=True, kw_only=True):
    """The groups in the order in which they were named, else in that of the cluster."""

    results: tuple[PodGroupResult, ...]
    is_about_one: bool
    suggestions: tuple[PodGroupSuggestion, ...] = ()
    """The changes after which the group fits, searched if one was named that does not."""

    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class CycleOfOne(CachingRecord, frozen=True, kw_only=True):
    """The cycle of one group, and what it was run with."""

    result: PodGroupResult
    scheduler: Scheduler
    schedulers: ClusterSchedulers


def cycle_of_one(question: PodGroupQuestion, dump: Dump) -> CycleOfOne:
    """Run the cycle of the one group that the question names. Raises what `explain_podgroups` raises."""
    schedulers = ClusterSchedulers(dump, question.replay)
    (group,) = _selected(question, dump)
    root, scheduler = _root(group, schedulers)
    return CycleOfOne(result=explain_podgroup(root, scheduler), scheduler=scheduler, schedulers=schedulers)


def explain_podgroups(question: PodGroupQuestion, dump: Dump) -> PodGroupAnswer:
    """Run the cycle of each group. Raises SchedError if a group is not there, or if this version has no such cycle."""
    schedulers = ClusterSchedulers(dump, question.replay)
    roots: dict[tuple[type, str], tuple[Group, Scheduler]] = {}
    if question.are_workloads and schedulers.default_scheduler.configuration.release.gangs_are_of_workloads:
        results = tuple(_of_workloads(question, dump, schedulers))
    else:
        for group in _selected(question, dump):
            root, scheduler = _root(group, schedulers)
            roots.setdefault((type(root), root.key), (root, scheduler))
        results = tuple(explain_podgroup(*each) for each in roots.values())
    is_about_one = len(question.names) == 1 and len(results) == 1
    suggestions: tuple[PodGroupSuggestion, ...] = ()
    if is_about_one and results[0].chosen is not None:
        suggestions = suggest_for_podgroup(results[0], next(iter(roots.values()))[1])
    return PodGroupAnswer(
        results=results,
        is_about_one=is_about_one,
        suggestions=suggestions,
        notes=tuple(schedulers.notes),
        warnings=(*schedulers.warnings, *dump.warnings),
    )


def explain_members(
    answer: PodGroupAnswer, question: PodGroupQuestion, dump: Dump, sentences: tuple[str, ...]
) -> tuple[ExplainAnswer, ClusterSchedulers]:
    """Explain each member of the groups, to go through them; the sentences say what is known of the groups."""
    pods = [member.pod for result in answer.results for member in result.members]
    schedulers = ClusterSchedulers(dump, question.replay)
    asked = ExplainQuestion(selection=Selection(namespace=question.namespace), replay=question.replay)
    explainer = PodExplainer(asked, dump, schedulers, suggesting=False)
    explanations = tuple(map(explainer.explained, pods))
    notes = (*sentences, *answer.notes)
    return ExplainAnswer(
        explanations=explanations, is_about_one_pod=False, notes=notes, warnings=answer.warnings
    ), schedulers


def _selected(question: PodGroupQuestion, dump: Dump) -> Sequence[Group]:
    groups = _inside(question, dump, PodGroup)
    if question.are_workloads:
        groups = [group for group in groups if group.workload is not None]
    if not question.names:
        pods = (item for item in dump.objects if isinstance(item, Pod))
        waiting = [pod for pod in pods if pod.is_pending]
        return [group for group in groups if any(is_member(pod, group) for pod in waiting)]
    if not question.are_workloads:
        known: list[Group] = [*groups, *_inside(question, dump, CompositePodGroup)]
        return _named(question, known)
    keys = {each.key for each in _named(question, _inside(question, dump, Workload), "Workload")}
    return [group for group in groups if f"{group.metadata.namespace}/{group.workload}" in keys]


def _of_workloads(question: PodGroupQuestion, dump: Dump, schedulers: ClusterSchedulers) -> Iterator[PodGroupResult]:
    workloads = _inside(question, dump, Workload)
    if question.names:
        workloads = _named(question, workloads, "Workload")
    for workload in workloads:
        pods = [item for item in dump.objects if isinstance(item, Pod) and is_of_workload(item, workload)]
        if not (pods or question.names):
            continue
        scheduler = next(map(schedulers.scheduler, pods), schedulers.default_scheduler)
        _check_gate(scheduler.configuration, GangScheduling.name, f"{GENERIC_WORKLOAD}=true,")
        results = explain_workload(workload, scheduler)
        yield from (result for result in results if question.names or result.members)


_Kind = TypeVar("_Kind", PodGroup, Workload, CompositePodGroup, Group)


def _inside(question: PodGroupQuestion, dump: Dump, kind: type[_Kind]) -> list[_Kind]:
    """The objects of the kind in the question's namespace."""
    found = (item for item in dump.objects if isinstance(item, kind))
    return [item for item in found if question.namespace in {None, item.metadata.namespace}]


def _named(question: PodGroupQuestion, groups: Sequence[_Kind], kind: str = "PodGroup") -> list[_Kind]:
    """Return the groups of the question's names, the first of each namespace and name."""
    found: list[_Kind] = []
    for name in question.names:
        of_name: dict[str, _Kind] = {}
        for group in groups:
            if group.metadata.name == name:
                of_name.setdefault(group.metadata.namespace, group)
        if not of_name:
            hint = near_hint(name, [group.metadata.name for group in groups])
            place = f"in namespace {question.namespace}" if question.namespace else "in any namespace"
            raise SchedError(f"there is no {kind} {name} {place}{hint}")
        found += of_name.values()
    return found


def _root(group: Group, schedulers: ClusterSchedulers) -> tuple[Group, Scheduler]:
    """The topmost group of its tree, and whose cycle it is."""
    scheduler = _scheduler_of(group, schedulers)
    _check_has_cycle(scheduler.configuration)
    return root_of(group, scheduler.nodes.objects, scheduler.configuration.features) or group, scheduler


def _scheduler_of(group: Group, schedulers: ClusterSchedulers) -> Scheduler:
    info = info_of(group, schedulers.default_scheduler.nodes)
    return next(map(schedulers.scheduler, (*info.pods, *info.scheduled)), schedulers.default_scheduler)


def _check_has_cycle(configuration: Configuration) -> None:
    if not configuration.release.groups_have_cycle:
        raise SchedError(
            f"Kubernetes {configuration.version} schedules the pods of a group one by one: `explain pod` replays each "
            "(--kube-version 1.36 has a cycle of the group)"
        )
    _check_gate(configuration, GENERIC_WORKLOAD)


def _check_gate(configuration: Configuration, gate: str, needed: str = "") -> None:
    """Raise SchedError if the gate is off; `needed` turns on those that it needs."""
    if not configuration.features.enabled(gate):
        raise SchedError(
            f"the feature gate {gate} is off, so the pods of a group are scheduled one by one: `explain pod` replays "
            f"each (--feature-gates {needed}{gate}=true turns it on)"
        )
