"""The position of a pending pod among those that wait (pkg/scheduler/backend/queue)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.runtime import Framework


class QueuePlace(Record, frozen=True):
    """`position` of `length`, counted from 1, and how many of those ahead have a higher priority.

    It is the order of QueueSort over all pods that wait. Which of them kube-scheduler holds back after a failed attempt
    is its own memory and cannot be read.
    """

    position: int
    length: int
    higher_priority_ahead: int


def place_in_queue(pod: Pod, waiting: Sequence[Pod], framework: Framework) -> QueuePlace | None:
    """The pod's place among those that wait and itself; None without a QueueSort plugin."""
    if not framework.queue_sort_plugins:
        return None
    key = framework.queue_sort_plugins[0].queue_key
    own_key = key(pod)
    own = (pod.metadata.namespace, pod.metadata.name)
    others = [other for other in waiting if (other.metadata.namespace, other.metadata.name) != own]
    ahead = [other for other in others if key(other) < own_key]
    higher = sum(other.priority > pod.priority for other in ahead)
    return QueuePlace(len(ahead) + 1, len(others) + 1, higher)
