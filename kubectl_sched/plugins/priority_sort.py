"""Orders the queue by priority, then by how long a pod has waited (plugins/queuesort/priority_sort.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kubectl_sched.framework.interface import QueueSortPlugin

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod


class PrioritySort(QueueSortPlugin):
    """Higher priority first, and then earlier in the queue."""

    name: ClassVar[str] = "PrioritySort"

    def queue_key(self, pod: Pod) -> tuple[int | float | str, ...]:
        """Upstream compares when each pod entered the queue.

        No object holds that, so the creation time stands for it; a pod without one, yet to be created, comes last.
        RFC 3339 times of the API server are all in UTC and to the second, so they sort as text.
        """
        created = pod.metadata.creation_timestamp
        return (-pod.priority, created is None, created or "")
