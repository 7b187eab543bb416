"""Resources that are insufficient, for all nodes at once (fitsRequest of plugins/noderesources/fit.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.component_helpers.resource_names import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    is_extended_resource_name,
)
from kubectl_sched.api.resource import DEVICE_CLASS_RESOURCE_PREFIX, DeviceClass
from kubectl_sched.framework.status import SUCCESS, Code, Status
from kubectl_sched.record import Record
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask

_FIRST: tuple[str, ...] = (CPU, MEMORY, EPHEMERAL_STORAGE)


class PreFilterState(Record, frozen=True, kw_only=True):
    """The pod's requests, in the scheduler's units.

    Resources that the profile ignores or that are 0 are left out, so all of these are compared.
    """

    requests: Mapping[str, int]
    device_backed: frozenset[str] = frozenset()
    """The resources that nodes without a device plugin for them may provide as devices instead."""


class Shortage(Record, frozen=True, kw_only=True):
    """bool[n] each: where a resource is insufficient, and where the node would be too small even if it were empty."""

    resource: str
    insufficient: Mask
    unresolvable: Mask

    @property
    def reason(self) -> str:
        """The reason string of upstream."""
        return "Too many pods" if self.resource == PODS else f"Insufficient {self.resource}"


def in_order(requests: Mapping[str, int]) -> list[str]:
    """The resources as upstream compares them; scalar ones, which it takes in no order at all, by name."""
    return [name for name in _FIRST if name in requests] + sorted(name for name in requests if name not in _FIRST)


def shortages(state: PreFilterState, nodes: Snapshot, *, absent_only: bool) -> list[Shortage]:
    """One Shortage for each thing that any node has too little of, pods first.

    `absent_only`: devices stand in for a resource only where the node does not name it at all.
    """
    found = [
        Shortage(
            resource=PODS,
            insufficient=nodes.pod_count + 1 > nodes.allocatable(PODS),
            unresolvable=np.zeros(len(nodes), dtype=np.bool_),
        )
    ]
    for name in in_order(state.requests):
        wanted = state.requests[name]
        allocatable = nodes.allocatable(name)
        insufficient = wanted > allocatable - nodes.requested(name)
        if name in state.device_backed:
            insufficient &= _named(name, nodes) if absent_only else allocatable > 0
        found.append(
            Shortage(resource=name, insufficient=insufficient, unresolvable=insufficient & (wanted > allocatable))
        )
    return [shortage for shortage in found if shortage.insufficient.any()]


def _named(resource: str, nodes: Snapshot) -> Mask:
    """bool[n]: the nodes that name the resource, be it that they have none of it."""
    return nodes.table.known_allocatable.where(lambda known: resource in known)


def statuses(found: Sequence[Shortage], node_count: int, *, tells_unresolvable: bool) -> Column[Status]:
    """One Status a node with all its reasons; one unresolvable shortage makes the whole status so."""
    if not found:
        return Column.filled(node_count, SUCCESS)
    masks = [shortage.insufficient for shortage in found]
    unresolvable = np.zeros(node_count, dtype=np.bool_)
    if tells_unresolvable:
        for shortage in found:
            unresolvable |= shortage.unresolvable
    combinations: Column[tuple[bool, ...]] = Column.filled(node_count, ())
    for mask in (*masks, unresolvable):
        combinations = _told_apart(combinations, mask)
    reasons = tuple(shortage.reason for shortage in found)
    return combinations.map(lambda combination: _status(combination, reasons))


def _told_apart(combinations: Column[tuple[bool, ...]], mask: Mask) -> Column[tuple[bool, ...]]:
    pairs = combinations.combined(Column(mask.astype(np.int32), (False, True)))
    return pairs.map(lambda pair: (*pair[0], pair[1]))


def _status(combination: tuple[bool, ...], reasons: tuple[str, ...]) -> Status:
    *insufficient, unresolvable = combination
    if not any(insufficient):
        return SUCCESS
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE
    return Status(code, tuple(reason for reason, lacks in zip(reasons, insufficient, strict=True) if lacks))


def device_backed(requests: Mapping[str, int], nodes: Snapshot, *, in_first_release: bool) -> frozenset[str]:
    """The resources among the requests that a DeviceClass offers.

    A class offers its extendedResourceName and a resource of its own name. `in_first_release` is how 1.34 has it: of
    these only one, the own name where it has no other; and where the pod asks for no extended resource at all, nobody
    looks, and every scalar resource counts as offered.
    """
    scalars = [name for name in requests if name not in _FIRST]
    if not scalars:
        return frozenset()
    if in_first_release and not any(is_extended_resource_name(name) for name in scalars):
        return frozenset(scalars)
    offered: set[str] = set()
    for each in nodes.objects.all(DeviceClass):
        named = each.spec.extended_resource_name
        if named is not None:
            offered.add(named)
        if named is None or not in_first_release:
            offered.add(DEVICE_CLASS_RESOURCE_PREFIX + each.name)
    return frozenset(offered.intersection(scalars))
