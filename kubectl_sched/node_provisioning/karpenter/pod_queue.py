"""The order in which the simulation takes pods (queue.go)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import ZERO

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.node_provisioning.karpenter.pod_data import PodData


class Queue:
    """Pods by CPU and memory, most first. It ends when a round over all of them has placed none."""

    def __init__(self, pods: Iterable[PodData]) -> None:
        self._pods = deque(sorted(pods, key=_order))
        self._length_at_push: dict[str, int] = {}

    def pop(self) -> PodData | None:
        """The next pod; None if there is none or nothing has changed since it was last tried."""
        if not self._pods or self._length_at_push.get(self._pods[0].pod.metadata.uid) == len(self._pods):
            return None
        return self._pods.popleft()

    def push(self, data: PodData) -> None:
        """Try the pod again after the others."""
        self._pods.append(data)
        self._length_at_push[data.pod.metadata.uid] = len(self._pods)


def _order(data: PodData) -> tuple[Quantity, Quantity, str, str]:
    metadata = data.pod.metadata
    cpu, memory = data.requests.get("cpu", ZERO), data.requests.get("memory", ZERO)
    return -cpu, -memory, metadata.creation_timestamp or "", metadata.uid
