"""The result of a group's cycle, with the reasons for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.fit_error import event_note
from kubectl_sched.framework.status import SUCCESS, Code, Status
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.result import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.podgroup_info import Placement, PlacementScores, PodGroupInfo, PodGroupPostFilterResult
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import Outcome
    from kubectl_sched.snapshot import Snapshot

POD_GROUP_UNSCHEDULABLE = "pod group is unschedulable"
UNSCHEDULABLE = Status(Code.UNSCHEDULABLE, (POD_GROUP_UNSCHEDULABLE,))


class Condition(Record, frozen=True, kw_only=True):
    """A condition to set of a PodGroup or a pod, with its whole message, which only an event cuts."""

    type: str
    status: str
    reason: str
    message: str


class Attempt(CachingRecord, frozen=True, kw_only=True):
    """The algorithm's result for one member on one placement; `status` is a success where it found a node."""

    pod: Pod
    result: CycleResult
    status: Status
    node_name: str | None = None
    """The node that is assumed: among the tied ones the first in name order, or the one that preemption nominates."""

    tied: tuple[str, ...] = ()
    permit: Status = SUCCESS
    requires_preemption: bool = False


class PlacementResult(CachingRecord, frozen=True, kw_only=True):
    """The algorithm's result on one placement; the members after the last attempt were not tried."""

    placement: Placement
    attempts: tuple[Attempt, ...]
    status: Status
    waiting_on_preemption: bool = False
    after: Snapshot | None = None
    """The cluster with the members that found a node assumed."""

    children: tuple[PodGroupResult, ...] = ()
    """The groups below a CompositePodGroup that were tried; `attempts` are those on their chosen placements."""

    @property
    def is_feasible(self) -> bool:
        """Report whether the group fits here, or would after preemption."""
        return self.status.is_success or self.waiting_on_preemption

    @property
    def assigned(self) -> tuple[Attempt, ...]:
        """The attempts that found a node; in a tree, those in groups that fit (successfulLeafResults)."""
        if not self.children:
            return tuple(attempt for attempt in self.attempts if attempt.node_name is not None)
        chosen = (child.chosen for child in self.children if child.status.is_success)
        return tuple(attempt for each in chosen if each is not None for attempt in each.assigned)

    @property
    def fits(self) -> int:
        """Return how many members found a node, of a tree how many groups fit."""
        if self.children:
            return sum(child.status.is_success for child in self.children)
        return sum(attempt.status.is_success for attempt in self.attempts)

    @property
    def next_lacks(self) -> str | None:
        """Return the message of the first member or group that did not fit; None if all that were tried did."""
        tried = self.children or self.attempts
        failed = (each.status.message for each in tried if not each.status.is_success)
        return next(failed, None)


class Member(CachingRecord, frozen=True, kw_only=True):
    """One pod of the group with its node, or the message with which it goes back to the queue."""

    pod: Pod
    outcome: Outcome
    node_name: str | None = None
    tied: tuple[str, ...] = ()
    message: str | None = None
    nominated_node: str | None = None
    """None leaves the nomination alone, an empty string clears it."""

    result: CycleResult | None = None
    """The pod's part of the cycle; None if it was not tried."""

    @property
    def event(self) -> str | None:
        """The FailedScheduling event, cut as events are."""
        return None if self.message is None else event_note(self.message)


class PodGroupResult(CachingRecord, frozen=True, kw_only=True):
    """The whole answer. `placements` are in name order, and so are the totals of those that were scored.

    Since 1.38 the nominated placement comes first.
    """

    info: PodGroupInfo
    outcome: Outcome
    kubernetes_version: str
    kubernetes_patch: str | None = None
    members: tuple[Member, ...] = ()
    """In the order of the cycle; those that may not enter the queue stand last."""

    placements: tuple[PlacementResult, ...] = ()
    scores: tuple[PlacementScores, ...] = ()
    totals: tuple[int, ...] | None = None
    """Of the feasible placements; None where fewer than two are feasible, as nothing is scored then."""

    placements_left: int = 0
    """The number of placements left untried as enough others fit; chance decides which."""

    chosen: PlacementResult | None = None
    """The first in name order of the tied placements, or the first of all where none is feasible."""

    status: Status = SUCCESS
    untried: Status = SUCCESS
    """The status of members that were not tried, since 1.37: that of the group before its preemption, since 1.38
    the group's name if it failed with an error."""

    children: tuple[PodGroupResult, ...] = ()
    """The groups below a CompositePodGroup, each with its own members and condition."""

    inherits: bool = False
    """The status is that of the group above, as the cycle did not come to this one or undid it."""

    post_filter: PodGroupPostFilterResult | None = None
    condition: Condition | None = None
    """None if no condition is written."""

    warnings: tuple[str, ...] = ()
    budget_ended: str | None = None
    """The clause that says what ended the cycle before everything was judged; None if nothing did."""

    @property
    def unknown(self) -> tuple[Unknown, ...]:
        """Verdicts that are missing because the budget ended, that on the group as a whole last."""
        if self.budget_ended is None:
            return ()
        of_members = (each for attempt in self.attempts for each in attempt.result.unknown)
        return (*dict.fromkeys(of_members), Unknown(plugin=None, node=None, error=self.budget_ended))

    @property
    def domain(self) -> str | None:
        """The topology domain that the group is placed in, as `key=value`; None without a constraint."""
        key = self.info.topology_key
        return f"{key}={self.chosen.placement.name}" if key is not None and self.chosen is not None else None

    @property
    def attempts(self) -> Iterator[Attempt]:
        """All attempts of the cycle in their order."""
        for placement in self.placements:
            if not placement.children:
                yield from placement.attempts
            for child in placement.children:
                yield from child.attempts

    @property
    def victims(self) -> tuple[Pod, ...]:
        """The pods that are evicted: for the group as a whole, and up to 1.36 for its members even if it stays out."""
        if self.budget_ended is not None:
            return ()
        found = list(self.post_filter.victims) if self.post_filter is not None else []
        for attempt in self.attempts:
            if attempt.requires_preemption and attempt.result.post_filter is not None:
                found += attempt.result.post_filter.victims
        return tuple({pod.key: pod for pod in found}.values())

    @property
    def is_waiting_on_preemption(self) -> bool:
        """Report whether the group fits once victims are gone, its own or those of its members."""
        if self.post_filter is not None and self.post_filter.status.is_success:
            return True
        return self.chosen is not None and self.chosen.waiting_on_preemption

    @property
    def feasible(self) -> tuple[PlacementResult, ...]:
        """The placements on which the group fits, or would after preemption."""
        return tuple(each for each in self.placements if each.is_feasible)

    @property
    def best(self) -> tuple[str, ...]:
        """The names of the placements that tie at the highest total."""
        if self.totals is None:
            return tuple(each.placement.name for each in self.feasible)
        best = max(self.totals)
        return tuple(
            each.placement.name for each, total in zip(self.feasible, self.totals, strict=True) if total == best
        )
