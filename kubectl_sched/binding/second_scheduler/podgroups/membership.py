"""The group that a pod is scheduled with, by the latest objects (pkg/scheduler/backend/queue/workload_forest.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup
from kubectl_sched.framework.podgroup_info import root_of
from kubectl_sched.scheduler.group_membership import has_group_cycles
from kubectl_sched.scheduler.queue_position import as_queued

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.cache import Cache
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.snapshot import Snapshot


class Membership:
    """Answers for pods that name a group; where groups have no cycle of their own, nobody is a member."""

    def __init__(self, configuration: Configuration, cache: Cache) -> None:
        self._configuration = configuration
        self._cache = cache
        self._is_on = has_group_cycles(configuration)
        self._are_queued = self._is_on and configuration.release.groups_are_queued
        self._trees = configuration.release.groups_form_trees and configuration.features.enabled("CompositePodGroup")

    def is_member(self, pod: Pod) -> bool:
        """Report whether the pod is scheduled in the cycle of a group."""
        return self._is_on and pod.spec.scheduling_group is not None

    def root(self, pod: Pod) -> Group | None:
        """Return the pod's group, of a tree the topmost; None if one of them is not there."""
        named, objects = pod.spec.scheduling_group, self._cache.objects().objects
        group = objects.get(PodGroup, named.pod_group_name or "", pod.namespace) if named is not None else None
        return root_of(group, objects, self._configuration.features) if group is not None else None

    def queued_with(self, pod: Pod) -> str | None:
        """Name the group with which the pod stands in the queue as one, since 1.37; None if it stands by itself."""
        named = pod.spec.scheduling_group
        if named is None or not self._are_queued:
            return None
        root = self.root(pod)
        return f"{type(root).__name__} {root.key}" if root else f"PodGroup {pod.namespace}/{named.pod_group_name}"

    def preemptor(self, pod: Pod) -> str | None:
        """The UID of who preempts for the pod: its group if that preempts as a whole, else itself."""
        handle = self._configuration
        is_whole = handle.release.groups_have_placement_feasible or handle.features.enabled("WorkloadAwarePreemption")
        if not self.is_member(pod) or not is_whole:
            return pod.metadata.uid
        root = self.root(pod)
        return root.metadata.uid if root is not None else None

    def as_queued(self, pod: Pod) -> Pod:
        """Return the pod with the priority by which it is queued."""
        if pod.spec.scheduling_group is None:
            return pod
        return as_queued(pod, self._cache.objects().objects, self._configuration)

    def seen_by_pre_enqueue(self, pod: Pod) -> Snapshot:
        """The part of the cluster that PreEnqueue asks about: objects such as claims, and the pods of groups."""
        if not self.is_member(pod) and pod.spec.workload_ref is None:
            return self._cache.objects()
        return self._cache.groups_alone(pod, all_groups=self._trees)

    def concerned_by(self, old: KubernetesObject | None, new: KubernetesObject | None) -> Callable[[Pod], bool] | None:
        """Tell the pods that may stand elsewhere in the queue after this change of a group; None if none do."""
        item = new if new is not None else old
        if not self._are_queued or not isinstance(item, PodGroup | CompositePodGroup):
            return None
        if isinstance(old, PodGroup | CompositePodGroup) and new is not None and old.spec == item.spec:
            return None
        name, namespace = item.name, item.namespace
        if self._trees:
            return lambda pod: pod.namespace == namespace
        return lambda pod: pod.namespace == namespace and pod.group_name == name
