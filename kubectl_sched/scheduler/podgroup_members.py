"""The pods of a group's cycle, in their order (podGroupInfoForPod, since 1.37 the scheduling queue)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.scheduling import CompositePodGroup
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.cycle_budget import GroupBudget
from kubectl_sched.framework.podgroup_info import Group, PodGroupInfo, children_of, root_of, tree_info
from kubectl_sched.scheduler.group_membership import is_member, queue_key, scheduled_members
from kubectl_sched.scheduler.opportunistic_batch import OpportunisticBatch
from kubectl_sched.scheduler.podgroup_result import Member, PodGroupResult
from kubectl_sched.scheduler.podgroup_submission import failed_before_scheduling
from kubectl_sched.scheduler.podgroup_validation import refusal
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one_podgroup import schedule_one_podgroup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.snapshot import Snapshot


def explain_podgroup(
    group: Group,
    scheduler: Scheduler,
    nodes: Snapshot | None = None,
    profile: str | None = None,
    batch: OpportunisticBatch | None = None,
) -> PodGroupResult:
    """Run the cycle for the members of the group that may enter the queue; the others are told why not.

    A group in a tree has the cycle of the whole tree. `nodes` is another state than the scheduler's own, and `profile`
    one for all members instead of their own.
    `batch` is that of the cycles before; without one the group is the first.
    """
    nodes = scheduler.nodes if nodes is None else nodes
    info = info_of(root_of(group, nodes.objects, scheduler.configuration.features) or group, nodes)
    queued: list[Pod] = []
    outside: list[Member] = []
    for pod in info.pods:
        framework = scheduler.framework(profile or scheduler_name_of(pod))
        if framework is None:
            outside.append(Member(pod=pod, outcome=Outcome.NO_PROFILE))
            continue
        status = framework.run_pre_enqueue(pod, nodes)
        if status.is_success:
            queued.append(pod)
        else:
            outside.append(Member(pod=pod, outcome=Outcome.GATED, message=status.message))
    if scheduler.configuration.release.groups_wait_for_gated and any(each.outcome is Outcome.GATED for each in outside):
        outside += [Member(pod=pod, outcome=Outcome.GATED) for pod in queued]
        queued = []
    info = _queued(info, frozenset(pod.key for pod in queued))
    result = cycle_of_group(info, scheduler, nodes, profile=profile, batch=batch)
    return replace(result, members=(*result.members, *outside))


def info_of(group: Group, nodes: Snapshot, queued: Sequence[Pod] | None = None) -> PodGroupInfo:
    """Return the group with its members that have a node, and all that wait, or of those that are `queued`."""
    if isinstance(group, CompositePodGroup):
        below = children_of(group.name, group.namespace, nodes.objects)
        return tree_info(group, [info_of(child, nodes, queued) for child in below])
    waiting = [pod for pod in (nodes.pending if queued is None else queued) if is_member(pod, group)]
    if queued is None:
        waiting.sort(key=queue_key)
    return PodGroupInfo(group=group, pods=tuple(waiting), scheduled=scheduled_members(group, nodes))


def _queued(info: PodGroupInfo, keys: frozenset[str]) -> PodGroupInfo:
    """Return the group with only those waiting members that are in the queue."""
    if info.is_tree:
        return tree_info(info.group, [_queued(child, keys) for child in info.children])
    return replace(info, pods=tuple(pod for pod in info.pods if pod.key in keys))


def cycle_of_group(
    info: PodGroupInfo,
    scheduler: Scheduler,
    nodes: Snapshot,
    *,
    preempts: bool = True,
    profile: str | None = None,
    budget: GroupBudget | None = None,
    batch: OpportunisticBatch | None = None,
) -> PodGroupResult:
    """Run the cycle for the members that are in the queue, in their order; without `preempts` nobody may be evicted.

    `profile` is one for all members instead of their own; without a budget the cycle has one of its own.
    Without a `batch` the group is the first that the scheduler meets.
    """
    configuration = scheduler.configuration
    batch = batch or OpportunisticBatch()
    if info.pods:
        batch.begin(1 if configuration.release.groups_are_queued else len(info.pods))
    release = configuration.release
    if not info.pods:
        return PodGroupResult(
            info=info,
            outcome=Outcome.GATED,
            kubernetes_version=str(release.version),
            kubernetes_patch=release.patch_name,
        )
    why = refusal(info, configuration, profile)
    framework = scheduler.framework(profile or scheduler_name_of(info.pods[0]))
    if why is not None or framework is None:
        text, is_invalid = why or ("", False)
        return failed_before_scheduling(info, text, release, is_invalid=is_invalid)
    budget = budget or GroupBudget(scheduler.limits)
    return schedule_one_podgroup(
        info, _in_flight(info, nodes), framework, preempts=preempts, budget=budget, batch=batch
    )


def _in_flight(info: PodGroupInfo, nodes: Snapshot) -> Snapshot:
    """The cluster as the cycle sees the nominations of its own members.

    The queue has given them away, so the nominator knows no more than their names (nominatedPodToInfo): each counts as
    a pod that asks for nothing and has no priority.
    """
    own = {pod.key for pod in info.pods}
    nominated = {
        node: tuple(_name_alone(pod) if pod.key in own else pod for pod in pods)
        for node, pods in nodes.nominated.items()
    }
    return replace(nodes, nominated=nominated)


def _name_alone(pod: Pod) -> Pod:
    meta = pod.metadata
    return Pod(metadata=ObjectMeta(name=meta.name, namespace=meta.namespace, uid=meta.uid))
