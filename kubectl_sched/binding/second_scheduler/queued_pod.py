"""A pending pod as the scheduling queue knows it, or a group of them, and its backoff.

Answers to pkg/scheduler/backend/queue/backoff_queue.go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import structs

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

LONGEST_OVERDRAFT_SECONDS: Final = 300.0

_WINDOW_SECONDS: Final = 1.0
"""Pods whose backoff ends in the same window leave it together, in the order of QueueSort."""


class Place(Enum):
    """The part of the queue that a pod is in; the first four are values of scheduler_pending_pods' label."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    IN_FLIGHT = "in flight"


@dataclass(slots=True, kw_only=True)
class QueueingParams:
    """All that the queue remembers alike of a pod and of a group (framework.QueueingParams)."""

    place: Place = Place.ACTIVE
    attempts: int = 0
    rejections: int = 0
    """Attempts that a plugin rejected (UnschedulableCount)."""
    errors: int = 0
    """Attempts in a row that ended without a verdict (ConsecutiveErrorsCount)."""
    overdrafts: int = 0
    """Attempts in a row that were given up because of what they cost others."""
    timestamp: float = 0.0
    """The time of its arrival in the queue or of its last return; of equal priority the earliest is first."""
    gating_plugin: str = ""
    """The PreEnqueue plugin that holds it back."""
    flushed: float = 0.0
    """The time at which it was last flushed."""
    entry: int = 0
    """The number of its one entry in a heap that still counts."""
    backoff_until: float | None = field(default=None)
    """The end of its backoff, once that has been asked for."""


@dataclass(slots=True)
class QueuedPod(QueueingParams):
    """A pod with what the queue remembers of it (framework.QueuedPodInfo)."""

    pod: Pod
    entered: float
    """The time at which it first came into the queue."""
    unschedulable_plugins: frozenset[str] = frozenset()
    """The plugins that rejected it, PreEnqueue plugins included."""
    pending_plugins: frozenset[str] = frozenset()
    """The plugins that wait for something: once that has come, the pod skips its backoff."""
    nominated_node: str = ""
    events_seen: int = 0
    """The number of events that there had been when it was taken out."""
    rests: bool = False
    """Its backoff is not cut short before anything has changed, as that of a member of a group."""
    first_active: int = 0
    """Its rank among all pods by when each was first active (InitialAttemptTimestamp); 0 if it never was."""
    group: QueuedPodGroup | None = field(default=None, repr=False, compare=False)
    """The group that it stands in the queue with, if it does not stand there by itself."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return self.pod.key

    @property
    def rejected_by(self) -> frozenset[str]:
        """All plugins that keep it from being scheduled."""
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def pods(self) -> tuple[QueuedPod]:
        """The pod itself."""
        return (self,)

    @property
    def size(self) -> int:
        """Return how many pods it is."""
        return 1


@dataclass(slots=True)
class QueuedPodGroup(QueueingParams):
    """A group, or a tree of groups, with its pods that wait (framework.QueuedPodGroupInfo, since 1.37)."""

    key: str
    """The kind and the key of its object, of a tree those of the topmost one."""
    members: dict[str, QueuedPod] = field(default_factory=dict)

    @property
    def pods(self) -> tuple[QueuedPod, ...]:
        """The pods of the group that are in the queue."""
        return tuple(self.members.values())

    @property
    def pod(self) -> Pod:
        """One of its pods, which stands for the others."""
        return next(iter(self.members.values())).pod

    @property
    def rejected_by(self) -> frozenset[str]:
        """Nothing: plugins reject its pods, so that its attempts count as failed and it is never taken early."""
        return frozenset()

    @property
    def size(self) -> int:
        """Return how many pods it is."""
        return len(self.members)


def nominated_pod(pod: Pod, node: str) -> Pod:
    """Return the pod with the nomination that counts, which the watch may not have shown yet."""
    if pod.status.nominated_node_name == node:
        return pod
    return structs.replace(pod, status=structs.replace(pod.status, nominated_node_name=node))


Queued: TypeAlias = QueuedPod | QueuedPodGroup
"""An entity of the queue."""


def overdraft_seconds(overdrafts: int) -> float:
    """Return the backoff after so many attempts that cost too much, whatever the configuration says of other pods."""
    return min(2.0 ** min(overdrafts - 1, 60), LONGEST_OVERDRAFT_SECONDS)


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

    def seconds(self, attempts: int, size: int = 1) -> float:
        """The backoff after so many attempts: doubled with each, and longer for a group (calculateBackoffDuration)."""
        longest = self.maximum if size == 1 else self.maximum * math.sqrt(size)
        return 0.0 if attempts == 0 else float(min(self.initial * 2.0 ** min(attempts - 1, 60), longest))

    def until(self, queued: Queued) -> float:
        """The end of the pod's backoff, the start of its window; minus infinity if it has none (getBackoffTime)."""
        count = queued.attempts if self.counts_every_attempt else queued.errors or queued.rejections
        if not queued.overdrafts and (count == 0 or self.maximum == 0):
            return -math.inf
        if queued.backoff_until is None:
            seconds = overdraft_seconds(queued.overdrafts) if queued.overdrafts else self.seconds(count, queued.size)
            queued.backoff_until = self._aligned(queued.timestamp + seconds)
        return queued.backoff_until

    def is_backing_off(self, queued: Queued, now: float) -> bool:
        """Report whether the pod's backoff, or its window, has not ended (isPodBackingoff)."""
        return self.until(queued) >= self._aligned(now)

    def leaves_at(self, queued: Queued) -> float:
        """The time at which the pod leaves backoffQ by time alone."""
        return self.until(queued) + (_WINDOW_SECONDS if self.is_popped_early else 0.001)

    def _aligned(self, moment: float) -> float:
        return math.floor(moment / _WINDOW_SECONDS) * _WINDOW_SECONDS if self.is_popped_early else moment
