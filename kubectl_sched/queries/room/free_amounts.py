"""Amounts of one resource on each node, as pods can have them, and sums of amounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.component_helpers.resource_names import PODS

if TYPE_CHECKING:
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers


def free(nodes: Snapshot, resource: str) -> Integers:
    """int[n]: allocatable less requested, and never less than nothing."""
    left: Integers = np.maximum(allocatable(nodes, resource) - requested(nodes, resource), 0)
    return left


def allocatable(nodes: Snapshot, resource: str) -> Integers:
    """int[n]: what pods can have: a negative amount, which any pod exceeds, counts as none."""
    amounts: Integers = np.maximum(nodes.allocatable(resource), 0)
    return amounts


def requested(nodes: Snapshot, resource: str) -> Integers:
    """int[n]: what kube-scheduler counts for the pods on each node."""
    return nodes.pod_count if resource == PODS else nodes.requested(resource)


def total(amounts: Integers) -> int:
    """Add up without the bounds of int64."""
    return sum(amounts.tolist())
