"""The nodes that lack a resource which a pod requests, and what they report of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.component_helpers.pod_requests import in_scheduler_units

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask

FIT = "NodeResourcesFit"

ROWS_EXAMINED: Final = 50
"""The most nodes whose pods a rule looks at."""


def requests_of(result: ScheduleResult) -> Mapping[str, int]:
    """Return what the pod requests, in the scheduler's units, without zeros."""
    requested = result.nodes.resource_of(result.pod).requested
    return {name: int(amount) for name, amount in requested.items() if amount}


def too_small_for(result: ScheduleResult, resource: str, wanted: int) -> list[int]:
    """Return the rows that NodeResourcesFit rejects and that have less of the resource than is wanted, when empty."""
    fit: Mask | None = result.rejection_masks.get(FIT)
    if fit is None:
        return []
    outside = _outside(result)
    rows: list[int] = np.flatnonzero(fit & (result.nodes.allocatable(resource) < wanted) & ~outside).tolist()
    return rows


def is_large_enough(result: ScheduleResult, resource: str, wanted: int) -> bool:
    """Report whether a node that the pod's selectors leave in has as much of the resource when it is empty."""
    return bool(((result.nodes.allocatable(resource) >= wanted) & ~_outside(result)).any())


def _outside(result: ScheduleResult) -> Mask:
    """bool[n]: the nodes that the pod's own selectors leave out."""
    out: Mask = np.zeros(len(result.nodes), dtype=np.bool_)
    for plugin in ("NodeName", "NodeAffinity"):
        mask = result.rejection_masks.get(plugin)
        out = out if mask is None else out | mask
    return out


def capacity_of(result: ScheduleResult, row: int, resource: str) -> int:
    """Return what the node's status.capacity says, in the scheduler's units; 0 if it says nothing that can be read."""
    raw = result.nodes.node_objects[row].status.capacity.get(resource)
    if raw is None:
        return 0
    try:
        return in_scheduler_units(resource, parse_quantity(raw))
    except InvalidQuantity:
        return 0
