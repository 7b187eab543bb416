"""A pod of ours as the queue knows it, and for how long it waits."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.cluster_events import ClusterEvent


class Place(Enum):
    """Where a pod of ours is; the first four are values of scheduler_pending_pods' label."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    IN_FLIGHT = "in flight"


class Backoff(Record, frozen=True):
    """podInitialBackoffSeconds and podMaxBackoffSeconds."""

    initial: float = 1.0
    maximum: float = 10.0

    def seconds(self, attempts: int) -> float:
        """How long a pod waits after so many attempts: doubled with each (calculateBackoffDuration)."""
        return 0.0 if attempts == 0 else float(min(self.initial * 2.0 ** min(attempts - 1, 60), self.maximum))


@dataclass(slots=True)
class QueuedPod:
    """A pod of ours with what the queue remembers of it (framework.QueuedPodInfo)."""

    pod: Pod
    entered: float
    """When it first came into the queue."""
    place: Place = Place.ACTIVE
    attempts: int = 0
    failures: int = 0
    """Those attempts after which it did not fit, or the binding failed: what backoff counts."""
    waits_since: float = 0.0
    """When it last came to its place; among pods of equal priority the first in the active queue is the first out."""
    backoff_until: float = 0.0
    rejected_by: frozenset[str] = frozenset()
    nominated_node: str = ""
    entry: int = 0
    """The number of its one entry in a heap that still counts."""
    missed: set[ClusterEvent] = field(default_factory=set)
    """What has happened since it was taken out, which a verdict that is older knows nothing of."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return self.pod.key


def is_worth_an_attempt(before: Pod, after: Pod) -> bool:
    """Whether a change of a pod that waits may let it in: not where it is only what was said of it."""
    return (
        before.spec != after.spec
        or before.metadata.labels != after.metadata.labels
        or before.metadata.deletion_timestamp != after.metadata.deletion_timestamp
        or before.status.resource_claim_statuses != after.status.resource_claim_statuses
    )
