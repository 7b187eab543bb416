"""Events that came while pods were in flight (inFlightEvents in pkg/scheduler/backend/queue/active_queue.go)."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.binding.second_scheduler.cluster_events import Happened
    from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod


class InFlightEvents:
    """One log for all pods in flight: each knows how many events there had been when it was taken out."""

    def __init__(self) -> None:
        self._pods: dict[str, QueuedPod] = {}
        self._events: deque[Happened] = deque()
        self._dropped = 0

    def begin(self, queued: QueuedPod) -> None:
        """The pod is in flight from now on."""
        queued.events_seen = self._dropped + len(self._events)
        self._pods[queued.key] = queued

    def record(self, happened: Happened) -> None:
        """Remember the event if any pod is in flight."""
        if self._pods:
            self._events.append(happened)

    def since(self, queued: QueuedPod) -> Iterator[Happened]:
        """Give what happened since the pod was taken out, in order."""
        return islice(self._events, queued.events_seen - self._dropped, None)

    def end(self, key: str) -> None:
        """The pod is no longer in flight; events that only it has not seen are forgotten."""
        if self._pods.pop(key, None) is None:
            return
        oldest = next(iter(self._pods.values()), None)
        keep_from = oldest.events_seen if oldest is not None else self._dropped + len(self._events)
        while self._dropped < keep_from:
            self._events.popleft()
            self._dropped += 1
