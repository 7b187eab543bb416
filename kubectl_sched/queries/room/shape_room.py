"""The number of further pods of one shape that fit, and what is free where none of them does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from kubectl_sched.queries.room.free_amounts import free, total
from kubectl_sched.queries.unreadable_kinds import kinds_in_words, without_unreadable
from kubectl_sched.queries.verdict.verdict import cycle_verdict
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.simulation.pod_capacity import PodCapacity, pod_capacity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.queries.room.shapes import Shape
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind, UnreadableKinds
    from kubectl_sched.snapshot.array_types import Integers
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers

_ELSEWHERE = "not among the nodes that it is for"


class Blocked(Record, frozen=True, kw_only=True):
    """Nodes on which a pod of a shape does not fit, for the same reasons, and the free amount on them."""

    reasons: tuple[str, ...]
    nodes: int
    free: int


class Stranded(Record, frozen=True, kw_only=True, rename="camel"):
    """The free amount of a resource on nodes where no pod of a shape fits, most first."""

    resource: str
    free: int
    stranded: int
    blocked_by: tuple[Blocked, ...]


class ShapeCapacity(CachingRecord, frozen=True, kw_only=True):
    """The number of further pods of one shape that fit, and what is out of their reach."""

    shape: Shape
    requests: Mapping[str, int]
    capacity: PodCapacity
    stranded: tuple[Stranded, ...]
    why: str = ""
    """The verdict of `explain` on a pod of the shape; empty where one fits."""

    unread: tuple[UnreadableKind, ...] = ()
    """The kinds that a pod of the shape needs and that were not read."""

    @property
    def is_known(self) -> bool:
        """Report whether one more fits or not; what else keeps it off every node does so without the kinds, too."""
        missing = {each.kind for each in self.unread if each.is_known}
        return not missing or ("Node" not in missing and not self.capacity.total)


def shape_capacity(shape: Shape, schedulers: ClusterSchedulers, unreadable: UnreadableKinds) -> ShapeCapacity:
    """Count the further pods of the shape. A pending pod that fits nowhere with its own claims leaves none.

    What was not read of its claims is left aside, and named so.
    """
    scheduler, own = schedulers.scheduler(shape.pod), shape.own
    unread = unreadable.needed_by(own or shape.pod)
    missing = tuple(each for each in unread if each.is_known and each.kind != "Node")
    if missing:
        left_aside = tuple(dict.fromkeys((*shape.left_aside, f"its claims ({kinds_in_words(missing)})")))
        shape = replace(shape, pod=without_unreadable(shape.pod, missing), left_aside=left_aside)
        own = None if own is None else without_unreadable(own, missing)
    first = None if own is None else scheduler.schedule_one(own, schedulers.profile)
    if first is not None and not first.fits:
        capacity = PodCapacity(first=first, per_node=np.zeros(len(scheduler.nodes), dtype=np.int64))
    else:
        capacity = pod_capacity(shape.pod, scheduler, schedulers.profile)
    asked = scheduler.nodes.resource_of(shape.pod).requested
    requests = {name: amount for name, amount in asked.items() if amount}
    return ShapeCapacity(
        shape=shape,
        requests=requests,
        capacity=capacity,
        stranded=stranded_for(requests, capacity, np.arange(len(scheduler.nodes))),
        why="" if capacity.total else cycle_verdict(capacity.first),
        unread=unread,
    )


def stranded_for(requests: Iterable[str], capacity: PodCapacity, rows: Integers) -> tuple[Stranded, ...]:
    """Return for each of the resources what is free on rows where no pod of the shape fits."""
    return tuple(_stranded(name, capacity, rows) for name in requests)


def _stranded(resource: str, capacity: PodCapacity, rows: Integers) -> Stranded:
    left, verdict = free(capacity.first.nodes, resource)[rows], capacity.first.verdict
    unfit = ~capacity.first.feasible_mask[rows] & (left > 0)
    blocked: dict[tuple[str, ...], Blocked] = {}
    if verdict is not None:
        codes = verdict.codes[rows][unfit]
        amounts = np.zeros(len(verdict.values), dtype=object)  # sums may exceed int64
        np.add.at(amounts, codes, left[unfit].astype(object))
        numbers = np.bincount(codes, minlength=len(amounts))
        for code in np.flatnonzero(numbers).tolist():
            reasons = verdict.values[code].reasons or (_ELSEWHERE,)
            before = blocked.get(reasons, Blocked(reasons=reasons, nodes=0, free=0))
            blocked[reasons] = Blocked(
                reasons=reasons, nodes=before.nodes + int(numbers[code]), free=before.free + int(amounts[code])
            )
    elif unfit.any():
        why = capacity.first.pre_filter.reasons or (capacity.first.error or _ELSEWHERE,)
        blocked[why] = Blocked(reasons=why, nodes=int(unfit.sum()), free=total(left[unfit]))
    by_amount = sorted(blocked.values(), key=lambda each: (-each.free, each.reasons))
    return Stranded(resource=resource, free=total(left), stranded=total(left[unfit]), blocked_by=tuple(by_amount))
