"""`capacity`: the room that a cluster has left, by pool of nodes, and the part of it where no pod of a shape fits."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.component_helpers.resource_names import PODS
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod, PodSpec
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.queries.nodes_by_pool import CONDITION_TAINT, pools
from kubectl_sched.queries.shapes import SHOWN, Shape, parse_shape, shapes_of
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.simulation.pod_capacity import MOST_REPLAYED, PodCapacity, pod_capacity
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.pod_selection import Selection, select

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Floats, Integers, Mask
    from kubectl_sched.sources.dump.dump import Dump

_FIRST = ("cpu", "memory")


class CapacityQuestion(Record, frozen=True, kw_only=True):
    """The flags of the same names; without shapes those of the pods there are, of one namespace if it is given."""

    shapes: tuple[str, ...] = ()
    namespace: str | None = None
    selector: str | None = None
    profile: str | None = None
    replay: Replay = Replay()


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


class Resource(CachingRecord, frozen=True, kw_only=True):
    """Amounts of one resource over the nodes of a pool, in the scheduler's units."""

    name: str
    allocatable: int
    requested: int
    free: int
    stranded: int
    overcommitted: int
    """The amount by which nodes are requested beyond what they have; allocatable = requested + free - overcommitted."""

    largest: int
    """The most that one pod can request, if it tolerates the pool's taints and requests nothing else."""

    largest_on: str | None
    shares: Floats
    """The part of each node's amount that is requested, from 0 to 1."""

    is_stranded: Mask
    """bool[n]: the nodes whose free amount is stranded."""


class PoolShape(CachingRecord, frozen=True, kw_only=True):
    """The number of further pods of a shape that fit on the nodes of a pool, and what is out of their reach there."""

    name: str
    fits: int
    stranded: tuple[Stranded, ...]


class Pool(CachingRecord, frozen=True, kw_only=True):
    """Nodes of one pool, their resources, and the shapes in the order of the answer."""

    name: str
    nodes: tuple[str, ...]
    resources: tuple[Resource, ...]
    shapes: tuple[PoolShape, ...]

    @cached_property
    def fullness(self) -> Floats:
        """The highest share of any resource that is requested of each node."""
        shares: Floats = np.max([np.zeros(len(self.nodes)), *(each.shares for each in self.resources)], axis=0)
        return shares


class CapacityAnswer(CachingRecord, frozen=True, kw_only=True):
    """The shapes, the pools in the order of their first nodes, and sentences about what was assumed."""

    shapes: tuple[ShapeCapacity, ...]
    pools: tuple[Pool, ...]
    kubernetes_version: str
    notes: tuple[str, ...]
    kubernetes_patch: str | None = None


def capacity(question: CapacityQuestion, dump: Dump) -> CapacityAnswer:
    """Count what is free, and replay how much of it pods can use.

    Raises SchedError for an unreadable shape or an unknown profile.
    """
    schedulers = ClusterSchedulers(dump, question.replay, question.profile)
    schedulers.check_profile()
    shapes, notes = _shapes(question, dump)
    found = [_shape_capacity(shape, schedulers) for shape in shapes]
    scheduler = schedulers.default_scheduler
    nodes = scheduler.nodes
    reachable = _reachable(nodes, schedulers)
    by_pool = pools(nodes, range(len(nodes)))
    found_pools = tuple(_pool(name, rows, nodes, found, reachable) for name, rows in by_pool.items())
    said = (*notes, *_about(found), *schedulers.notes, *dump.warnings, *schedulers.warnings)
    release = schedulers.assumed(question.profile or DEFAULT_SCHEDULER_NAME).configuration.release
    return CapacityAnswer(
        shapes=tuple(found),
        pools=found_pools,
        kubernetes_version=str(release.version),
        kubernetes_patch=release.patch_name,
        notes=said,
    )


def _shapes(question: CapacityQuestion, dump: Dump) -> tuple[list[Shape], list[str]]:
    if question.shapes:
        shapes = [parse_shape(text, question.namespace or "default") for text in question.shapes]
        twice = next((name for name, times in Counter(each.name for each in shapes).items() if times > 1), None)
        notes = ["a shape of --shape tolerates no taints and chooses no nodes"]
        return shapes, notes if twice is None else [*notes, f"several shapes are called {twice}"]
    shapes = shapes_of(select(dump.objects, Selection(namespace=question.namespace, label_selector=question.selector)))
    if len(shapes) <= SHOWN:
        return shapes, []
    note = f"{len(shapes) - SHOWN:,} more shapes of pods are left out: -n narrows to a namespace, --shape asks for one"
    return shapes[:SHOWN], [note]


def _shape_capacity(shape: Shape, schedulers: ClusterSchedulers) -> ShapeCapacity:
    scheduler = schedulers.scheduler(shape.pod)
    capacity = pod_capacity(shape.pod, scheduler, schedulers.profile)
    nodes = scheduler.nodes
    requests = {name: amount for name, amount in nodes.resource_of(shape.pod).requested.items() if amount}
    stranded = _all_stranded(requests, capacity, np.arange(len(nodes)))
    return ShapeCapacity(shape=shape, requests=requests, capacity=capacity, stranded=stranded)


def _free(nodes: Snapshot, resource: str) -> Integers:
    free: Integers = np.maximum(_allocatable(nodes, resource) - _requested(nodes, resource), 0)
    return free


def _allocatable(nodes: Snapshot, resource: str) -> Integers:
    """Return what pods can have: a negative amount, which any pod exceeds, counts as none."""
    amounts: Integers = np.maximum(nodes.allocatable(resource), 0)
    return amounts


def _requested(nodes: Snapshot, resource: str) -> Integers:
    return nodes.pod_count if resource == PODS else nodes.requested(resource)


def _all_stranded(requests: Iterable[str], capacity: PodCapacity, rows: Integers) -> tuple[Stranded, ...]:
    return tuple(_stranded(name, capacity, rows) for name in requests)


def _stranded(resource: str, capacity: PodCapacity, rows: Integers) -> Stranded:
    free, verdict = _free(capacity.first.nodes, resource)[rows], capacity.first.verdict
    unfit = ~capacity.first.feasible_mask[rows] & (free > 0)
    blocked: dict[tuple[str, ...], Blocked] = {}
    if verdict is not None:
        codes = verdict.codes[rows][unfit]
        amounts = np.zeros(len(verdict.values), dtype=object)  # sums may exceed int64
        np.add.at(amounts, codes, free[unfit].astype(object))
        numbers = np.bincount(codes, minlength=len(amounts))
        for code in np.flatnonzero(numbers).tolist():
            reasons = verdict.values[code].reasons
            before = blocked.get(reasons, Blocked(reasons=reasons, nodes=0, free=0))
            blocked[reasons] = Blocked(
                reasons=reasons, nodes=before.nodes + int(numbers[code]), free=before.free + int(amounts[code])
            )
    by_amount = sorted(blocked.values(), key=lambda each: (-each.free, each.reasons))
    return Stranded(resource=resource, free=_total(free), stranded=_total(free[unfit]), blocked_by=tuple(by_amount))


def _reachable(nodes: Snapshot, schedulers: ClusterSchedulers) -> Mask:
    """bool[n]: the nodes that a pod without requests fits on that tolerates all taints but those of conditions."""
    keys = {taint.key for taints in nodes.taints.values for taint in taints}
    tolerations = tuple(
        Toleration(key=key, operator="Exists") for key in sorted(keys) if not key.startswith(CONDITION_TAINT)
    )
    spec = PodSpec(tolerations=tolerations, scheduler_name=DEFAULT_SCHEDULER_NAME, preemption_policy="Never")
    pod = Pod(metadata=ObjectMeta(name="empty", namespace="default", uid="empty"), spec=spec)
    return schedulers.default_scheduler.cycle(pod, nodes, schedulers.profile).feasible_mask


def _pool(name: str, rows: Sequence[int], nodes: Snapshot, shapes: Sequence[ShapeCapacity], reachable: Mask) -> Pool:
    of_pool = np.array(rows, dtype=np.intp)
    names = [each for each in _resource_names(nodes) if nodes.allocatable(each)[of_pool].any()]
    names += [each for each in _resource_names(nodes) if each not in names and _requested(nodes, each)[of_pool].any()]
    return Pool(
        name=name,
        nodes=tuple(nodes.names[row] for row in rows),
        resources=tuple(_resource(each, of_pool, nodes, shapes, reachable) for each in names),
        shapes=tuple(
            PoolShape(
                name=each.shape.name,
                fits=int(each.capacity.per_node[of_pool].sum()),
                stranded=_all_stranded(each.requests, each.capacity, of_pool),
            )
            for each in shapes
        ),
    )


def _resource_names(nodes: Snapshot) -> list[str]:
    """Cpu and memory first, the number of pods last."""
    names = {*nodes.table.allocatable, *nodes.usage.requested} - {*_FIRST, PODS}
    return [*_FIRST, *sorted(names), PODS]


def _resource(name: str, rows: Integers, nodes: Snapshot, shapes: Sequence[ShapeCapacity], reachable: Mask) -> Resource:
    allocatable, requested = _allocatable(nodes, name)[rows], _requested(nodes, name)[rows]
    free = np.maximum(allocatable - requested, 0)
    asking = [each for each in shapes if name in each.requests] or list(shapes)
    unfit = np.full(len(rows), bool(asking))
    for each in asking:
        unfit &= ~each.capacity.first.feasible_mask[rows]
    usable = np.where(reachable[rows], free, 0)
    largest = int(usable.argmax()) if len(rows) else 0
    return Resource(
        name=name,
        allocatable=_total(allocatable),
        requested=_total(requested),
        free=_total(free),
        stranded=_total(free[unfit]),
        overcommitted=_total(np.maximum(requested - allocatable, 0)),
        largest=int(usable[largest]),
        largest_on=nodes.names[rows[largest]] if usable[largest] else None,
        shares=np.where(allocatable > 0, np.minimum(requested / np.maximum(allocatable, 1), 1.0), 0.0),
        is_stranded=unfit & (free > 0),
    )


def _total(amounts: Integers) -> int:
    """Add up without the bounds of int64."""
    return sum(amounts.tolist())


def _about(shapes: Sequence[ShapeCapacity]) -> Iterator[str]:
    for each in shapes:
        if each.shape.left_aside:
            yield f"{each.shape.name}: {' and '.join(each.shape.left_aside)} are left aside, as one more has its own"
    if any(each.capacity.at_least for each in shapes):
        yield f"pods that look at each other are placed one after the other, at most {MOST_REPLAYED:,} of a shape"
