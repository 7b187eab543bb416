"""Placements that a what-if decides, in the order in which the pods are scheduled."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import Outcome, ScheduleResult, Unknown
    from kubectl_sched.snapshot import Snapshot

TIED_SHOWN = 100
"""The number of tied nodes that a placement names."""


class QueuedPod(Record, frozen=True, kw_only=True):
    """A pod that waits to be scheduled, and what it is for: `Deployment/web`, None for a bare pod."""

    pod: Pod
    owner: str | None = None
    waits_for: Pod | None = None
    """The pod that must have its node before this one is made (OrderedReady)."""


class Ties(NamedTuple):
    """Nodes that tie at the highest total, the first TIED_SHOWN in name order by their places in `names`.

    A what-if has thousands of them, whose names are put together only for those who ask.
    """

    names: Sequence[str]
    shown: Sequence[int]
    number: int

    @classmethod
    def of(cls, names: Sequence[str]) -> Ties:
        """All of these nodes."""
        return cls(names, range(min(len(names), TIED_SHOWN)), len(names))


NO_TIES = Ties.of(())


class Placement(Record, frozen=True, kw_only=True):
    """The placement of one pod. `reason` says why no scheduler ever saw a pod that has no node."""

    pod: Pod
    owner: str | None
    outcome: Outcome
    node: str | None = None
    ties: Ties = NO_TIES
    total: int | None = None
    nominated_node: str | None = None
    victims: tuple[Pod, ...] = ()
    event: str | None = None
    beyond_sampling: bool = False
    """More nodes are feasible than kube-scheduler would have looked at."""

    instead_of: str | None = None
    """The node that scores alone would choose, where kube-scheduler takes the next one of the order that it has cached
    for equal pods."""

    reason: str | None = None
    is_over_quota: bool = False
    """A ResourceQuota does not admit the pod, as `reason` says."""

    unknown: tuple[Unknown, ...] = ()
    """All that a bug of ours kept from being judged."""

    @property
    def tied(self) -> tuple[str, ...]:
        """The first TIED_SHOWN in name order of the `tied_count` nodes that tie."""
        names = self.ties.names
        return tuple([names[place] for place in self.ties.shown])

    @property
    def tied_count(self) -> int:
        """The number of nodes that tie at the highest total."""
        return self.ties.number

    @property
    def is_placed(self) -> bool:
        """Report whether the pod has a node now."""
        return self.node is not None


class Simulated(Record, frozen=True, kw_only=True):
    """The placements, the cluster after them, and the whole cycle of the first pod that did not fit."""

    placements: tuple[Placement, ...]
    before: Snapshot
    after: Snapshot
    first_unplaced: ScheduleResult | None = None
    stopped: Placement | None = None
    """The first pod that did not fit, where placing was to stop there; it is not among the placements."""

    @property
    def different_pods(self) -> list[Pod]:
        """One pod of each spec that was tried."""
        tried = self.placements if self.stopped is None else (*self.placements, self.stopped)
        return [*{id(each.pod.spec): each.pod for each in tried}.values()]

    @property
    def placed(self) -> int:
        """The number of pods that have a node."""
        return len([None for each in self.placements if each.node is not None])

    @property
    def unplaced(self) -> int:
        """The number of pods without a node."""
        return len(self.placements) - self.placed
