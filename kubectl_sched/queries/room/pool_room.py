"""The room of each pool of nodes in each zone: amounts, the largest hole, what is full and what is stranded."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.component_helpers.resource_names import PODS, is_extended_resource_name
from kubectl_sched.api.component_helpers.taints import UNSCHEDULABLE_TAINT
from kubectl_sched.queries.nodes_by_pool import CONDITION_TAINT, pool_of, zone_of
from kubectl_sched.queries.room.free_amounts import allocatable, free, requested, total
from kubectl_sched.queries.room.reached_nodes import ANY
from kubectl_sched.queries.room.shape_room import Stranded, stranded_for
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.queries.room.shape_room import ShapeCapacity
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Floats, Integers, Mask

_FIRST: Final = ("cpu", "memory")
_FULL: Final = 20
"""A resource is full where less than one part in so many is free on the nodes that take pods."""


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
    is_full: bool
    """Nodes that take pods have less than a twentieth of it free."""

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
    """Nodes of one pool in one zone, their resources, and the shapes in the order of the answer."""

    name: str
    zone: str | None
    nodes: tuple[str, ...]
    resources: tuple[Resource, ...]
    shapes: tuple[PoolShape, ...]
    hole: Mapping[str, int]
    """The free amounts of one node: that with the most of the rarest resource; empty if no node takes pods."""

    hole_on: str | None
    closed: str = ""
    """The conditions that keep pods off all nodes, `cordoned, not ready`; empty if a node takes pods, full or not."""

    @cached_property
    def fullness(self) -> Floats:
        """The highest share of any resource that is requested of each node."""
        shares: Floats = np.max([np.zeros(len(self.nodes)), *(each.shares for each in self.resources)], axis=0)
        return shares

    @property
    def full(self) -> tuple[str, ...]:
        """The names of the resources of which next to nothing is free."""
        return tuple(each.name for each in self.resources if each.is_full)


def pools_of(
    nodes: Snapshot, shapes: Sequence[ShapeCapacity], takes_pods: Mask, reached: Mapping[str, Mask]
) -> tuple[Pool, ...]:
    """Return the pools by zone in the order of their first nodes, the zones of a pool by name.

    `takes_pods` are the nodes that are open to pods, full or not, and `reached` by resource those that a pod which
    requests it can use.
    """
    found: dict[str, dict[str | None, list[int]]] = {}
    for row, node in enumerate(nodes.node_objects):
        found.setdefault(pool_of(node), {}).setdefault(zone_of(node), []).append(row)
    return tuple(
        _pool(name, zone, np.array(zones[zone], dtype=np.intp), nodes, shapes, takes_pods, reached)
        for name, zones in found.items()
        for zone in sorted(zones, key=lambda zone: zone or "")
    )


def _pool(
    name: str,
    zone: str | None,
    rows: Integers,
    nodes: Snapshot,
    shapes: Sequence[ShapeCapacity],
    takes_pods: Mask,
    reached: Mapping[str, Mask],
) -> Pool:
    names = [each for each in _resource_names(nodes) if nodes.allocatable(each)[rows].any()]
    names += [each for each in _resource_names(nodes) if each not in names and requested(nodes, each)[rows].any()]
    hole = _hole(nodes, names, rows[takes_pods[rows]])
    return Pool(
        name=name,
        zone=zone,
        nodes=tuple(nodes.names[row] for row in rows),
        resources=tuple(_resource(each, rows, nodes, takes_pods, reached) for each in names),
        shapes=tuple(
            PoolShape(
                name=each.shape.name,
                fits=int(each.capacity.per_node[rows].sum()),
                stranded=stranded_for(each.requests, each.capacity, rows),
            )
            for each in shapes
        ),
        hole={} if hole is None else {each: int(free(nodes, each)[hole]) for each in names if each != PODS},
        hole_on=None if hole is None else nodes.names[hole],
        closed="" if takes_pods[rows].any() else _why_closed([nodes.node_objects[row] for row in rows]),
    )


def _why_closed(nodes: Iterable[Node]) -> str:
    """Return the conditions that keep pods off the nodes, as the taints that stand for them name these."""
    taints = {taint.key for node in nodes for taint in node.spec.taints if taint.key.startswith(CONDITION_TAINT)}
    words = {key.removeprefix(CONDITION_TAINT).replace("-", " ") for key in taints - {UNSCHEDULABLE_TAINT.key}}
    if UNSCHEDULABLE_TAINT.key in taints or any(node.spec.unschedulable for node in nodes):
        words.add("cordoned")
    return ", ".join(sorted(words)) or "closed"


def _resource_names(nodes: Snapshot) -> list[str]:
    """Cpu and memory first, the number of pods last."""
    names = {*nodes.table.allocatable, *nodes.usage.resources} - {*_FIRST, PODS}
    return [*_FIRST, *sorted(names), PODS]


def _hole(nodes: Snapshot, names: Sequence[str], rows: Integers) -> int | None:
    """Return the row with the most free of extended resources, then with the largest smaller share of cpu and memory.

    None if there is no row that takes one more pod.
    """
    rows = rows[free(nodes, PODS)[rows] > 0]
    if not len(rows):
        return None
    rare = [each for each in names if is_extended_resource_name(each)]
    amounts = [free(nodes, each)[rows] for each in rare]
    shares = [free(nodes, each)[rows] / np.maximum(allocatable(nodes, each)[rows], 1) for each in _FIRST]
    by_name = np.argsort(np.argsort([nodes.names[row] for row in rows.tolist()]))
    order = np.lexsort((by_name, -np.minimum(*shares), *(-each for each in reversed(amounts))))
    return int(rows[order[0]])


def _resource(name: str, rows: Integers, nodes: Snapshot, takes_pods: Mask, reached: Mapping[str, Mask]) -> Resource:
    has, used = allocatable(nodes, name)[rows], requested(nodes, name)[rows]
    left = np.maximum(has - used, 0)
    fitting = reached.get(name, reached.get(ANY))
    unfit = ~fitting[rows] if fitting is not None else np.zeros(len(rows), dtype=np.bool_)
    usable = np.where(takes_pods[rows] & (free(nodes, PODS)[rows] > 0), left, 0)
    largest = int(usable.argmax()) if len(rows) else 0
    taking = takes_pods[rows]
    return Resource(
        name=name,
        allocatable=total(has),
        requested=total(used),
        free=total(left),
        stranded=total(left[unfit]),
        overcommitted=total(np.maximum(used - has, 0)),
        largest=int(usable[largest]),
        largest_on=nodes.names[rows[largest]] if usable[largest] else None,
        is_full=total(left[taking]) * _FULL < total(has[taking]),
        shares=np.where(has > 0, np.minimum(used / np.maximum(has, 1), 1.0), 0.0),
        is_stranded=unfit & (left > 0),
    )
