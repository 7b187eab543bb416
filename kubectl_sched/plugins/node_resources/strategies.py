"""Scoring strategies: points for the requested share of a node.

Answers to resource_allocation.go, least_allocated.go, most_allocated.go and requested_to_capacity_ratio.go of
plugins/noderesources, and plugins/helper/shape_score.go.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.api.apimachinery.int64 import MAX_INT64, wrapped
from kubectl_sched.api.component_helpers.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, is_scalar_resource_name
from kubectl_sched.framework.golang import truncated_divisions
from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.config.types import ResourceSpec, ScoringStrategy, UtilizationShapePoint
    from kubectl_sched.plugins.node_resources.device_counts import DeviceCounts
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows

MAX_UTILIZATION = MAX_NODE_SCORE
_MAX_CUSTOM_PRIORITY_SCORE = 10


class PreScoreState(Record, frozen=True, kw_only=True):
    """The pod's requests as scoring counts them, and the devices that back scored resources, if there are any."""

    requests: Mapping[str, int]
    devices: DeviceCounts | None


class ResourceAmounts(Record, frozen=True, kw_only=True):
    """int64[n] each, for one resource: what pods ask for without and with the new one, and what there is.

    All are 0 on nodes where the resource does not count.
    """

    spec: ResourceSpec
    allocated: Integers
    requested: Integers
    allocatable: Integers


def node_amounts(
    resources: Sequence[ResourceSpec],
    state: PreScoreState,
    nodes: Snapshot,
    rows: Rows,
    *,
    use_requested: bool,
    saturates: bool,
) -> list[ResourceAmounts]:
    """The amounts of each resource that the strategy looks at.

    A scalar resource that the pod does not ask for does not count; without `use_requested`, the cpu and memory of pods
    that do not say are taken by default values. Sums that overflow are held at the limit of int64 if it `saturates`.
    """
    found: list[ResourceAmounts] = []
    for spec in resources:
        wanted = state.requests.get(spec.name, 0)
        allocatable, allocated = _of_nodes(spec.name, wanted, nodes, use_requested=use_requested)
        allocatable, allocated = allocatable[rows], allocated[rows]
        if state.devices is not None and wanted and state.devices.backs(spec.name):
            allocatable, allocated = _with_devices(spec.name, allocatable, allocated, nodes, rows, state.devices)
        allocated = np.where(allocatable == 0, 0, allocated)
        total = allocated + wanted
        if saturates and wanted > 0:
            total[(allocated > 0) & (total < 0)] = MAX_INT64
        requested = np.where(allocatable == 0, 0, total)
        found.append(ResourceAmounts(spec=spec, allocated=allocated, requested=requested, allocatable=allocatable))
    return found


def _of_nodes(name: str, wanted: int, nodes: Snapshot, *, use_requested: bool) -> tuple[Integers, Integers]:
    """int64[n] twice: allocatable, and requested by the pods there."""
    if name in {CPU, MEMORY}:
        return nodes.allocatable(name), nodes.requested(name) if use_requested else nodes.non_zero_requested(name)
    if name == EPHEMERAL_STORAGE or (wanted and is_scalar_resource_name(name)):
        return nodes.allocatable(name), nodes.requested(name)
    nothing = np.zeros(len(nodes), dtype=np.int64)
    return nothing, nothing


def _with_devices(
    name: str, allocatable: Integers, allocated: Integers, nodes: Snapshot, rows: Rows, devices: DeviceCounts
) -> tuple[Integers, Integers]:
    """int64[n] twice: allocatable and requested, with devices where the node offers nothing by itself."""
    allocatable, allocated = allocatable.copy(), allocated.copy()
    for at in np.flatnonzero(allocatable == 0):
        capacity, taken = devices.of(name, nodes.node_objects[rows[at]])
        if capacity:
            allocatable[at], allocated[at] = capacity, taken
    return allocatable, allocated


def _shares(parts: Integers, wholes: Integers, *, is_exact: bool) -> Integers:
    """int64[n]: hundredths of the whole (scaledFraction of 1.38); anything where the whole is 0."""
    if not is_exact:
        return truncated_divisions(parts * MAX_NODE_SCORE, wholes)
    held = np.clip(parts, 0, np.maximum(wholes, 0))
    shares = truncated_divisions(held * MAX_NODE_SCORE, wholes)
    for row in np.flatnonzero(held > np.iinfo(np.int64).max // MAX_NODE_SCORE):
        shares[row] = int(held[row]) * MAX_NODE_SCORE // int(wholes[row])
    return shares


class Strategy(ABC):
    """A scoring strategy. With `is_exact` large amounts do not overflow: Release.amounts_saturate."""

    wants: ClassVar[str]
    """The nodes that get more points, in words."""

    def __init__(self, *, is_exact: bool = False) -> None:
        self._is_exact = is_exact

    @abstractmethod
    def points(self, requested: Integers, allocatable: Integers) -> Integers:
        """int64[n]: 0 to 100 for one resource; anything where allocatable is 0."""

    def score(self, amounts: Sequence[ResourceAmounts]) -> Integers:
        """int64[n]: the weighted mean over the resources that count, 0 where none does."""
        total = np.zeros_like(amounts[0].requested)
        weights = np.zeros_like(total)
        for each in amounts:
            points = self.points(each.requested, each.allocatable)
            counts = self._counts(points, each.allocatable)
            total += np.where(counts, points * each.spec.weight, 0)
            weights += np.where(counts, each.spec.weight, 0)
        return self._mean(total, weights)

    def _counts(self, points: Integers, allocatable: Integers) -> Mask:
        counts: Mask = allocatable != 0
        return counts

    def _mean(self, total: Integers, weights: Integers) -> Integers:
        return truncated_divisions(total, weights)


class LeastAllocated(Strategy):
    """The share that would stay free."""

    wants: ClassVar[str] = "emptier nodes"

    def points(self, requested: Integers, allocatable: Integers) -> Integers:
        """100 where nothing is requested, 0 where all is."""
        held = np.maximum(requested, 0) if self._is_exact else requested
        free = _shares(allocatable - held, allocatable, is_exact=self._is_exact)
        return np.where(requested > allocatable, 0, free)


class MostAllocated(Strategy):
    """The share that would be requested."""

    wants: ClassVar[str] = "fuller nodes"

    def points(self, requested: Integers, allocatable: Integers) -> Integers:
        """100 where all is requested, or more."""
        return _shares(np.minimum(requested, allocatable), allocatable, is_exact=self._is_exact)


class RequestedToCapacityRatio(Strategy):
    """A curve over the utilization."""

    wants: ClassVar[str] = "nodes by the shape of the profile"

    def __init__(self, shape: Sequence[UtilizationShapePoint], *, is_exact: bool = False) -> None:
        super().__init__(is_exact=is_exact)
        from kubectl_sched.framework.plugin_scores import broken_linear

        scale = MAX_NODE_SCORE // _MAX_CUSTOM_PRIORITY_SCORE
        points = [(point.utilization, point.score * scale) for point in shape]
        self._points_at = np.array(
            [broken_linear(points, utilization) for utilization in range(MAX_UTILIZATION + 1)], dtype=np.int64
        )

    def points(self, requested: Integers, allocatable: Integers) -> Integers:
        """The curve's value at the utilization in whole percent; one that overflows is below the first point."""
        utilization = np.maximum(_shares(requested, allocatable, is_exact=self._is_exact), 0)
        return self._points_at[np.where(requested > allocatable, MAX_UTILIZATION, utilization)]

    def _counts(self, points: Integers, allocatable: Integers) -> Mask:
        counts: Mask = (allocatable != 0) & (points > 0)
        return counts

    def _mean(self, total: Integers, weights: Integers) -> Integers:
        """Rounded as Go's math.Round does, where the other strategies truncate."""
        ratio = total / np.where(weights == 0, 1, weights)
        whole = np.trunc(ratio)
        return (whole + (ratio - whole >= 0.5)).astype(np.int64)


def strategy_of(scoring: ScoringStrategy, *, is_exact: bool) -> Strategy:
    """The strategy of a NodeResourcesFitArgs."""
    if scoring.type == "RequestedToCapacityRatio":
        ratio = scoring.requested_to_capacity_ratio
        return RequestedToCapacityRatio(ratio.shape if ratio is not None else (), is_exact=is_exact)
    return MostAllocated(is_exact=is_exact) if scoring.type == "MostAllocated" else LeastAllocated(is_exact=is_exact)


def placement_score(
    resources: Sequence[ResourceSpec], requests: Mapping[str, int], nodes: Snapshot, rows: Rows, *, is_exact: bool
) -> int:
    """Return the points of MostAllocated for the sums over these nodes, once they have these requests, too."""
    if not resources:
        return 0
    state = PreScoreState(requests=requests, devices=None)
    amounts = node_amounts(resources, state, nodes, rows, use_requested=False, saturates=is_exact)
    sums = [
        ResourceAmounts(
            spec=each.spec,
            allocated=each.allocated.sum(keepdims=True),
            requested=each.allocated.sum(keepdims=True) + wrapped(requests.get(each.spec.name, 0)),
            allocatable=each.allocatable.sum(keepdims=True),
        )
        for each in amounts
    ]
    return int(MostAllocated(is_exact=is_exact).score(sums)[0])
