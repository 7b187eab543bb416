"""A pending pod as the scheduling queue knows it, and its backoff (pkg/scheduler/backend/queue/backoff_queue.go)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

_WINDOW_SECONDS: Final = 1.0
"""Pods whose backoff ends in the same window leave it together, in the order of QueueSort."""


class Place(Enum):
    """The part of the queue that a pod is in; the first four are values of scheduler_pending_pods' label."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    IN_FLIGHT = "in flight"


@dataclass(slots=True)
class QueuedPod:
    """A pod with what the queue remembers of it (framework.QueuedPodInfo)."""

    pod: Pod
    entered: float
    """When it first came into the queue."""
    place: Place = Place.ACTIVE
    attempts: int = 0
    rejections: int = 0
    """Attempts that a plugin rejected (UnschedulableCount)."""
    errors: int = 0
    """Attempts in a row that ended without a verdict (ConsecutiveErrorsCount)."""
    timestamp: float = 0.0
    """When it came into the queue or back from its last attempt. Of pods of equal priority the earliest is first."""
    unschedulable_plugins: frozenset[str] = frozenset()
    """The plugins that rejected it, PreEnqueue plugins included."""
    pending_plugins: frozenset[str] = frozenset()
    """The plugins that wait for something: once that has come, the pod skips its backoff."""
    gating_plugin: str = ""
    """The PreEnqueue plugin that holds it back."""
    nominated_node: str = ""
    flushed: float = 0.0
    """When it was last flushed."""
    entry: int = 0
    """The number of its one entry in a heap that still counts."""
    events_seen: int = 0
    """The number of events that there had been when it was taken out."""
    backoff_until: float | None = field(default=None)
    """When its backoff ends, once that has been asked for."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return self.pod.key

    @property
    def rejected_by(self) -> frozenset[str]:
        """All plugins that keep it from being scheduled."""
        return self.unschedulable_plugins | self.pending_plugins


class Backoff(Record, frozen=True, kw_only=True):
    """The backoff of a configuration and version, in seconds."""

    initial: float = 1.0
    maximum: float = 10.0
    is_popped_early: bool = True
    """SchedulerPopFromBackoffQ: with nothing active, a rejected pod is taken before its backoff ends."""
    counts_every_attempt: bool = False
    """Backoff grows with each attempt, as up to 1.33, instead of with rejections and errors apart."""

    flushes_gated: bool = False
    """The flush after five minutes looks at gated pods, too, as since 1.37."""

    def seconds(self, attempts: int) -> float:
        """The backoff after so many attempts: doubled with each (calculateBackoffDuration)."""
        return 0.0 if attempts == 0 else float(min(self.initial * 2.0 ** min(attempts - 1, 60), self.maximum))

    def until(self, queued: QueuedPod) -> float:
        """When the pod's backoff ends, the start of its window; minus infinity if it has none (getBackoffTime)."""
        count = queued.attempts if self.counts_every_attempt else queued.errors or queued.rejections
        if count == 0 or self.maximum == 0:
            return -math.inf
        if queued.backoff_until is None:
            queued.backoff_until = self._aligned(queued.timestamp + self.seconds(count))
        return queued.backoff_until

    def is_backing_off(self, queued: QueuedPod, now: float) -> bool:
        """Report whether the pod's backoff, or its window, has not ended (isPodBackingoff)."""
        return self.until(queued) >= self._aligned(now)

    def leaves_at(self, queued: QueuedPod) -> float:
        """When the pod leaves backoffQ by time alone."""
        return self.until(queued) + (_WINDOW_SECONDS if self.is_popped_early else 0.001)

    def _aligned(self, moment: float) -> float:
        return math.floor(moment / _WINDOW_SECONDS) * _WINDOW_SECONDS if self.is_popped_early else moment
