"""Effects of a running scheduler that a replay of one pod's own cycle does not have: its group's cycle, timeouts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.config.types import DynamicResourcesArgs
from kubectl_sched.scheduler.member_result import MemberResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.cycle_result import CycleResult

_MEMBERS_NAMED = 5


def not_replayed(result: CycleResult) -> Iterator[str]:
    """A sentence for each that concerns the pod."""
    yield from _group_cycle(result)
    yield from _filter_timeout(result)


def _group_cycle(result: CycleResult) -> Iterator[str]:
    """The group, its minCount and its members (schedule_one_podgroup.go places them in one cycle)."""
    name = result.pod.group_name
    if name is None:
        return
    namespace = result.pod.metadata.namespace
    group = result.nodes.objects.get(PodGroup, name, namespace)
    gang = group.spec.scheduling_policy.gang if group is not None else None
    needed = f"minCount {gang.min_count}" if gang is not None else "no gang policy"
    members = result.nodes.group_members
    keys = members.placed(namespace, name) | members.waiting(namespace, name)
    named = sorted({key.rpartition("/")[2] for key in keys} | {result.pod.metadata.name})
    shown = ", ".join(named[:_MEMBERS_NAMED]) + (", ..." if len(named) > _MEMBERS_NAMED else "")
    yield (
        f"the pod is one of group {name} ({needed if group is not None else 'which does not exist'}; members seen: "
        f"{len(named)}, {shown}); {_how_scheduled(result)}"
    )


def _how_scheduled(result: CycleResult) -> str:
    if isinstance(result, MemberResult):
        return "kube-scheduler places them in one cycle, and this is the pod's part of it"
    handle = result.framework.handle
    if not (handle.release.groups_have_cycle and handle.features.enabled("GenericWorkload")):
        return "kube-scheduler schedules them one by one"
    if result.current_node:
        return "kube-scheduler places them in one cycle; a pod that has a node is replayed by itself"
    return "kube-scheduler places them in one cycle, and this is the pod by itself"


def _filter_timeout(result: CycleResult) -> Iterator[str]:
    args = result.framework.profile.args.get("DynamicResources")
    if not isinstance(args, DynamicResourcesArgs) or args.filter_timeout is None:
        return
    if result.budget_ended is not None and "DynamicResources" in result.unjudged_masks:
        fails = result.framework.handle.release.devices.filter_timeout_fails
        then = "the cycle fails at the first such node" if fails else "such a node counts as one without the devices"
        yield (
            f"kube-scheduler itself gives up on a node after {args.filter_timeout.seconds:g} s of allocating devices "
            f"(filterTimeout), and {then}"
        )
    elif "DynamicResources" in result.verdicts:
        yield (
            "DynamicResources gives up on a node for which allocating devices takes over "
            f"{args.filter_timeout.seconds:g} s; that timeout is not replayed"
        )
