"""The heaps of activeQ and backoffQ (pkg/scheduler/backend/queue/active_queue.go, backoff_queue.go)."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.binding.second_scheduler.queued_pod import Place, Queued, QueuedPod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.queued_pod import Backoff

_ENTRIES_KEPT: Final = 1_000

_Entry = tuple[Any, int, Queued]
"""The key it is ordered by, the number of the entry, and the pod or group."""


class QueueHeaps:
    """Entries of pods and groups in their order. One that no longer stands for its pod stays until it comes up.

    `order` is the profile's QueueSort; `is_there` tells whether a pod or group is still in the queue.
    """

    def __init__(
        self,
        order: Callable[[Pod], tuple[int | float | str, ...]],
        backoff: Backoff,
        is_there: Callable[[Queued], bool],
    ) -> None:
        self._order = order
        self._backoff = backoff
        self._is_there = is_there
        self._active: list[_Entry] = []
        self._backing_off: list[_Entry] = []
        self._backing_off_after_error: list[_Entry] = []
        self._resting: list[_Entry] = []
        """Members of groups in backoffQ that are taken early only once something has changed."""
        self.entries = 0
        """The number of the latest entry."""

    def __len__(self) -> int:
        return sum(len(heap) for heap, _ in self._heaps())

    def _heaps(self) -> Iterator[tuple[list[_Entry], Place]]:
        yield self._active, Place.ACTIVE
        yield from ((heap, Place.BACKOFF) for heap in self._backoff_heaps())

    def _backoff_heaps(self) -> tuple[list[_Entry], ...]:
        return self._backing_off, self._backing_off_after_error, self._resting

    def outdate(self, queued: Queued) -> None:
        """Whatever stands in a heap for the pod or group no longer counts."""
        self.entries += 1
        queued.entry = self.entries

    def push_active(self, queued: Queued) -> None:
        """Into activeQ, or to its place there if its priority is another one now."""
        self._push(self._active, queued, self._active_key(queued))

    def push_backoff(self, queued: Queued) -> None:
        """Into backoffQ."""
        heap = self._backing_off if queued.rejected_by else self._backing_off_after_error
        if queued.rejected_by and isinstance(queued, QueuedPod) and queued.rests:
            heap = self._resting
        self._push(heap, queued, (self._backoff.until(queued), *self._active_key(queued)))

    def pop_active(self) -> Queued | None:
        """Take the first out of activeQ."""
        return self._head(self._active, Place.ACTIVE)

    def pop_backoff(self) -> Queued | None:
        """Take the first out of backoffQ among those whose backoff may be cut short."""
        return self._head(self._backing_off, Place.BACKOFF)

    def wake_resting(self) -> None:
        """Let the members of groups be taken early, as something has changed since they were rejected."""
        resting, self._resting[:] = list(self._resting), []
        for _, entry, queued in resting:
            if self._stands(queued, Place.BACKOFF, entry) and isinstance(queued, QueuedPod):
                queued.rests = False
                self.push_backoff(queued)

    def backoff_over(self, now: float) -> Iterator[Queued]:
        """Take out those whose backoff is over."""
        for heap in self._backoff_heaps():
            self._forget_stale(heap, Place.BACKOFF)
            while heap and not self._backoff.is_backing_off(heap[0][2], now):
                yield heapq.heappop(heap)[2]
                self._forget_stale(heap, Place.BACKOFF)

    def backoff_ends(self) -> list[float]:
        """The times at which the first of each heap of backoffQ leaves it by time alone."""
        for heap in self._backoff_heaps():
            self._forget_stale(heap, Place.BACKOFF)
        return [self._backoff.leaves_at(heap[0][2]) for heap in self._backoff_heaps() if heap]

    def compact(self, pods: int) -> None:
        """Drop the entries of pods that are gone: nothing pops them while another replica leads."""
        most = 2 * pods + _ENTRIES_KEPT
        for heap, place in self._heaps():
            if len(heap) > most:
                heap[:] = [each for each in heap if self._stands(each[2], place, each[1])]
                heapq.heapify(heap)

    def _active_key(self, queued: Queued) -> tuple[Any, ...]:
        # QueueSort compares when each pod came into the queue; no object holds that, so it stands after the priority.
        priority, *rest = self._order(queued.pod)
        return (priority, queued.timestamp, *rest)

    def _push(self, heap: list[_Entry], queued: Queued, key: tuple[Any, ...]) -> None:
        self.outdate(queued)
        heapq.heappush(heap, (key, queued.entry, queued))

    def _head(self, heap: list[_Entry], place: Place) -> Queued | None:
        self._forget_stale(heap, place)
        return heapq.heappop(heap)[2] if heap else None

    def _stands(self, queued: Queued, place: Place, entry: int) -> bool:
        """Report whether an entry of a heap still stands for where its pod or group is."""
        return queued.entry == entry and queued.place is place and self._is_there(queued)

    def _forget_stale(self, heap: list[_Entry], place: Place) -> None:
        while heap and not self._stands(heap[0][2], place, heap[0][1]):
            heapq.heappop(heap)
