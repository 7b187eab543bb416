"""The value: pods of one workload that were never made, and what keeps them from being made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.shell_commands import ShellCommand


class WorkloadName(NamedTuple):
    """The kind, namespace and name of a workload."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """Return `Deployment team/web`."""
        return f"{self.kind} {self.namespace}/{self.name}"


class Obstacle(Record, frozen=True, kw_only=True):
    """The obstacle to making pods: the cause in one word, a short clause, and the object that it names."""

    cause: str
    """Quota, LimitRange, PodSecurity, Webhook, Policy, ServiceAccount, PriorityClass, RuntimeClass, Limits, Namespace,
    Refused, Suspended, Paused, NoController, NoNode, WaitsForOrdinal, TooLate, StillRunning, InvalidSchedule or
    Failed."""

    clause: str
    detail: str = ""
    """More about it, with numbers; empty where the clause says all."""

    name: str = ""
    says: str = ""
    """The text of the event or condition; empty where the objects' fields show it."""

    helps: str = ""
    commands: tuple[ShellCommand, ...] = ()
    since: str | None = None
    source: str = "fields"
    """`event`, `condition`, or `fields`."""

    on_purpose: bool = False
    """Somebody suspended or paused the workload."""


class NeverCreated(Record, frozen=True, kw_only=True):
    """Pods of one workload that were never made."""

    workload: WorkloadName
    """The topmost owner, as a Deployment."""

    owner: WorkloadName
    """The owner that makes the pods, as a ReplicaSet; the workload itself for other kinds."""

    obstacle: Obstacle
    wanted: int | None = None
    there: int | None = None

    @property
    def missing(self) -> int | None:
        """The number of pods that are missing; None where it is not known."""
        return None if self.wanted is None or self.there is None else max(self.wanted - self.there, 0)

    @property
    def on_purpose(self) -> bool:
        """Report whether the pods are missing because somebody wants it so."""
        return self.obstacle.on_purpose

    @property
    def how_many(self) -> str:
        """Return `2 of 3 pods are missing`, as far as the numbers are known."""
        if self.missing is None:
            return "pods are missing"
        return f"{self.missing:,} of {self.wanted:,} pods {'is' if self.missing == 1 else 'are'} missing"

    @property
    def sentence(self) -> str:
        """Return how many pods are missing and why, without the name of the workload."""
        if self.on_purpose or self.missing == 0:
            return self.obstacle.clause
        return f"{self.how_many}: {self.obstacle.clause}"

    @property
    def whole(self) -> str:
        """Return the sentence with its detail, after the workload."""
        return "; ".join(filter(None, (f"{self.workload}: {self.sentence}", self.obstacle.detail)))
