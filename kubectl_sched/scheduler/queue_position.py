"""The position of a pending pod among those that wait (pkg/scheduler/backend/queue)."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.framework.podgroup_info import root_of
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.interface import QueueSortPlugin
    from kubectl_sched.snapshot.objects import Objects


class QueuePlace(Record, frozen=True, kw_only=True, rename="camel"):
    """`position` of `length`, counted from 1, and how many of those ahead have a higher priority.

    It is the order of QueueSort over all pods that wait. Which of them kube-scheduler holds back after a failed attempt
    is its own memory and cannot be read.
    """

    position: int
    length: int
    higher_priority_ahead: int


def as_queued(pod: Pod, objects: Objects, configuration: Configuration) -> Pod:
    """Return the pod with the priority by which it is queued: since 1.37 that of its group."""
    named, of = pod.spec.scheduling_group, configuration
    if named is None or not (of.release.groups_are_queued and of.features.enabled("GenericWorkload")):
        return pod
    group = objects.get(PodGroup, named.pod_group_name or "", pod.namespace)
    root = root_of(group, objects, of.features) if group is not None else None
    return pod if root is None else with_spec(pod, priority=root.spec.priority or 0)


class QueueOrder:
    """The pods that wait, in the order of one QueueSort plugin."""

    def __init__(self, waiting: Sequence[Pod], plugin: QueueSortPlugin) -> None:
        self._key = plugin.queue_key
        ordered = sorted((plugin.queue_key(pod), pod.priority) for pod in waiting)
        self._keys = [key for key, _ in ordered]
        self._priorities = np.array([priority for _, priority in ordered], dtype=np.int64)
        self._waiting = {(pod.metadata.namespace, pod.metadata.name): pod for pod in waiting}

    def place(self, pod: Pod) -> QueuePlace:
        """Return the pod's place among those that wait and itself."""
        key = self._key(pod)
        ahead = bisect_left(self._keys, key)
        higher = int((self._priorities[:ahead] > pod.priority).sum())
        listed = self._waiting.get((pod.metadata.namespace, pod.metadata.name))
        if listed is not None and self._key(listed) < key:
            ahead -= 1
            higher -= listed.priority > pod.priority
        return QueuePlace(position=ahead + 1, length=len(self._keys) + (listed is None), higher_priority_ahead=higher)
