"""`explain podgroup`: the cycle of each group that was asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.pod import Pod
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.errors import SchedError
from kubectl_sched.near_names import near_hint
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.podgroup_members import explain_podgroup, is_member
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.config import Configuration
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.sources.dump.dump import Dump

_GATE = "GenericWorkload"


class PodGroupQuestion(Record, frozen=True, kw_only=True):
    """A question about some groups; without names, about those that have a pending member."""

    names: tuple[str, ...] = ()
    namespace: str | None = None
    """None means all namespaces."""

    replay: Replay = Replay()


class PodGroupAnswer(CachingRecord, frozen=True, kw_only=True):
    """The groups in the order in which they were named, else in that of the cluster."""

    results: tuple[PodGroupResult, ...]
    is_about_one: bool
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def explain_podgroups(question: PodGroupQuestion, dump: Dump) -> PodGroupAnswer:
    """Run the cycle of each group. Raises SchedError if a group is not there, or if this version has no such cycle."""
    schedulers = ClusterSchedulers(dump, question.replay)
    pods = [item for item in dump.objects if isinstance(item, Pod)]
    groups = _selected(question, dump, pods)
    results = tuple(_explained(group, pods, schedulers) for group in groups)
    return PodGroupAnswer(
        results=results,
        is_about_one=len(question.names) == 1,
        notes=tuple(schedulers.notes),
        warnings=(*schedulers.warnings, *dump.warnings),
    )


def _selected(question: PodGroupQuestion, dump: Dump, pods: Sequence[Pod]) -> list[PodGroup]:
    groups = [
        item
        for item in dump.objects
        if isinstance(item, PodGroup) and question.namespace in {None, item.metadata.namespace}
    ]
    if not question.names:
        waiting = [pod for pod in pods if not pod.spec.node_name and not pod.has_ended]
        return [group for group in groups if any(is_member(pod, group) for pod in waiting)]
    return [_named(name, groups, question.namespace) for name in question.names]


def _named(name: str, groups: Sequence[PodGroup], namespace: str | None) -> PodGroup:
    found = next((group for group in groups if group.metadata.name == name), None)
    if found is not None:
        return found
    hint = near_hint(name, [group.metadata.name for group in groups])
    place = f"in namespace {namespace}" if namespace else "in any namespace"
    raise SchedError(f"there is no PodGroup {name} {place}{hint}")


def _explained(group: PodGroup, pods: Sequence[Pod], schedulers: ClusterSchedulers) -> PodGroupResult:
    scheduler = _scheduler_of(group, pods, schedulers)
    _check_has_cycle(group, scheduler.configuration)
    return explain_podgroup(group, scheduler)


def _scheduler_of(group: PodGroup, pods: Sequence[Pod], schedulers: ClusterSchedulers) -> Scheduler:
    member = next((pod for pod in pods if is_member(pod, group) and not pod.has_ended), None)
    return schedulers.default_scheduler if member is None else schedulers.scheduler(member)


def _check_has_cycle(group: PodGroup, configuration: Configuration) -> None:
    if not configuration.release.groups_have_cycle:
        raise SchedError(
            f"Kubernetes {configuration.version} schedules the pods of a group one by one: `explain pod` replays each "
            "(--kube-version 1.36 has a cycle of the group)"
        )
    if not configuration.features.enabled(_GATE):
        raise SchedError(
            f"the feature gate {_GATE} is off, so the pods of a group are scheduled one by one: `explain pod` replays "
            f"each (--feature-gates {_GATE}=true turns it on)"
        )
    parent = group.spec.parent_composite_pod_group_name
    if parent is not None and configuration.features.enabled("CompositePodGroup"):
        raise SchedError(
            f"PodGroup {group.key} belongs to the CompositePodGroup {parent}, and the cycle of a tree of groups is not "
            "replayed (--feature-gates CompositePodGroup=false replays the group alone)"
        )
