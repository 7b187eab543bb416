"""The pods that wait in a simulation."""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.simulation.placements import QueuedPod

    QueueKey = tuple[int | float | str, ...]


class SimulatedQueue:
    """Pods in the order of their keys; those of one key in the order in which they came."""

    def __init__(self) -> None:
        self._keys: list[QueueKey] = []
        self._of_key: dict[QueueKey, deque[QueuedPod]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def push(self, key: QueueKey, queued: QueuedPod) -> None:
        """Put a pod into its place."""
        waiting = self._of_key.get(key)
        if waiting is None:
            waiting = self._of_key[key] = deque()
            heapq.heappush(self._keys, key)
        waiting.append(queued)
        self._size += 1

    @property
    def first(self) -> QueuedPod | None:
        """The next pod; None if nobody waits."""
        return self._of_key[self._keys[0]][0] if self._keys else None

    def pop(self) -> QueuedPod | None:
        """Take the next pod; None if nobody waits."""
        if not self._keys:
            return None
        waiting = self._of_key[self._keys[0]]
        queued = waiting.popleft()
        if not waiting:
            del self._of_key[heapq.heappop(self._keys)]
        self._size -= 1
        return queued

    def take(self, is_meant: Callable[[QueuedPod], bool]) -> list[QueuedPod]:
        """Take all of these pods, in their order."""
        taken, before = [], self._of_key
        keys = sorted(before)
        self._keys, self._of_key, self._size = [], {}, 0
        for key in keys:
            for queued in before[key]:
                if is_meant(queued):
                    taken.append(queued)
                else:
                    self.push(key, queued)
        return taken
