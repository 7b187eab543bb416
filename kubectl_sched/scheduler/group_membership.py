"""The pods that belong to a group, and the versions that give it a cycle of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.scheduling import PodGroup

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.snapshot import Snapshot

GENERIC_WORKLOAD = "GenericWorkload"
"""The feature gate of the cycle of groups."""


def group_with_cycle(pod: Pod, scheduler: Scheduler) -> Group | None:
    """Return the group, of a tree the topmost, in whose cycle the pod is scheduled; None if it has its own cycle."""
    named = pod.spec.scheduling_group
    if named is None or not named.pod_group_name or not has_group_cycles(scheduler.configuration):
        return None
    from kubectl_sched.framework.podgroup_info import root_of  # most pods are in no group

    objects = scheduler.nodes.objects
    group = objects.get(PodGroup, named.pod_group_name, pod.metadata.namespace)
    return root_of(group, objects, scheduler.configuration.features) if group is not None else None


def has_group_cycles(of: Configuration | Handle) -> bool:
    """Report whether this version schedules groups in cycles of their own, with these feature gates."""
    return of.release.groups_have_cycle and of.features.enabled(GENERIC_WORKLOAD)


def is_member(pod: Pod, group: PodGroup) -> bool:
    """Report whether the pod names the group."""
    named = pod.spec.scheduling_group
    return (
        named is not None
        and named.pod_group_name == group.metadata.name
        and pod.metadata.namespace == group.metadata.namespace
    )


def scheduled_members(group: PodGroup, nodes: Snapshot) -> tuple[Pod, ...]:
    """Return the members that have a node."""
    placed = (*nodes.whole.existing_pods.pods, *nodes.stranded)
    return tuple(pod for pod in placed if is_member(pod, group))


def queue_key(pod: Pod) -> tuple[int, bool, str, str]:
    """Priority, and then the first attempt, which no object holds: creation and name stand for it."""
    created = pod.metadata.creation_timestamp
    return -pod.priority, created is None, created or "", pod.metadata.name
