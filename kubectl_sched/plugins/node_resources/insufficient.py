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
from kubectl_sched.snapshot.column import distinct_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Codes, Mask

_STEPS_A_REQUEST = 8
OPERATIONS_A_REQUEST, BYTES_A_REQUEST = 6, 3
"""The operations on arrays of nodes that `shortages` takes for each request, and the bytes a node while it does."""

_MASKS_A_NUMBER = 32
_REASONS_A_STEP = 16
_POINTER = 8
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


def steps_to_sum(pod: Pod) -> int:
    """Return the steps that the sum of the pod's requests takes."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    listed = sum(1 + len(container.resources.requests) for container in containers) + len(pod.spec.overhead)
    return _STEPS_A_REQUEST * listed


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


def statuses(
    found: Sequence[Shortage], node_count: int, budget: CycleBudget, *, tells_unresolvable: bool
) -> Column[Status]:
    """One Status a node with all its reasons; one unresolvable shortage makes the whole status so."""
    if not found:
        return Column.filled(node_count, SUCCESS)
    insufficient = np.stack([shortage.insufficient for shortage in found])
    unresolvable = np.zeros(node_count, dtype=np.bool_)
    if tells_unresolvable:
        for shortage in found:
            unresolvable |= shortage.unresolvable
    codes, rows = _told_apart((*insufficient, unresolvable))
    budget.spend(len(rows) * len(found) // _REASONS_A_STEP)
    budget.hold(len(rows) * len(found) * _POINTER)
    reasons = [shortage.reason for shortage in found]
    return Column(codes, [_status(insufficient[:, row], bool(unresolvable[row]), reasons) for row in rows])


def _told_apart(masks: Sequence[Mask]) -> tuple[Codes, list[int]]:
    """int32[n]: equal for nodes that all masks hold alike; and a row of each code."""
    codes = np.zeros(len(masks[0]), dtype=np.intp)
    for start in range(0, len(masks), _MASKS_A_NUMBER):
        numbers = codes
        for mask in masks[start : start + _MASKS_A_NUMBER]:
            numbers = 2 * numbers + mask
        codes = distinct_numbers(numbers)[1]
    rows = np.zeros(codes.max(initial=-1) + 1, dtype=np.intp)
    rows[codes] = np.arange(len(codes))
    return codes.astype(np.int32), rows.tolist()


def _status(insufficient: Mask, unresolvable: bool, reasons: Sequence[str]) -> Status:
    lacking = tuple([reasons[index] for index in np.flatnonzero(insufficient).tolist()])
    if not lacking:
        return SUCCESS
    return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE if unresolvable else Code.UNSCHEDULABLE, lacking)


def device_backed(requests: Mapping[str, int], nodes: Snapshot, *, in_first_release: bool) -> frozenset[str]:
    """Return the resources among the requests that a DeviceClass offers.

    A class offers its extendedResourceName and a resource of its own name. With `in_first_release` (1.34) it offers its
    own name only if it has no extendedResourceName. There every scalar resource counts as offered, too, if the pod asks
    for no extended resource at all.
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
