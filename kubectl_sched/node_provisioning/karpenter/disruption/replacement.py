"""The node that takes the place of one that goes, if it is cheaper (pkg/controllers/disruption/consolidation.go)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_order import (
    min_values_text,
    ordered_by_price,
    too_few_values,
)
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, RESERVED
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import is_compatible, merged, of_key
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.disruption.candidates import Candidate
    from kubectl_sched.node_provisioning.karpenter.outcome import PlannedNodeClaim
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements

SPOT, ON_DEMAND = "spot", "on-demand"
FEWEST_SPOT_TYPES: Final = 15
"""Cheaper instance types that a spot node needs to be replaced by spot."""

_NOT_CHEAPER: Final = "Can't replace with a cheaper node"
_SPOT_DISABLED: Final = "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node"


class Replacement(CachingRecord, frozen=True, kw_only=True):
    """The NodeClaim in the place of a node, its instance types cheapest first."""

    claim: PlannedNodeClaim
    types: tuple[InstanceType, ...]
    requirements: Requirements

    @property
    def price(self) -> float:
        """The price of the cheapest type in an offering that the NodeClaim may have; 0 if there is none."""
        well_known = self.claim.template.table.well_known
        offerings = self.types[0].offerings if self.types else ()
        prices = [
            each.price
            for each in offerings
            if each.available and is_compatible(self.requirements, each.requirements, well_known)
        ]
        return min(prices, default=0.0)


def cheaper_replacement(candidate: Candidate, claim: PlannedNodeClaim, *, spot_to_spot: bool) -> Replacement | str:
    """Return the replacement of a candidate, or why there is none, in Karpenter's words (computeConsolidation)."""
    table = claim.template.table
    rows = ordered_by_price(table, claim.rows, claim.requirements)
    types = [table.types[row] for row in rows]
    wanted = of_key(claim.requirements, CAPACITY_TYPE)
    if candidate.capacity_type == SPOT and wanted.has(SPOT):
        return _spot_to_spot(candidate, claim, types, is_enabled=spot_to_spot)
    requirements = claim.requirements
    found = _cheaper(types, claim, requirements, candidate.price)
    if isinstance(found, str):
        return found
    if wanted.has(SPOT) and wanted.has(ON_DEMAND):
        requirements = merged(requirements.values(), [requirement(CAPACITY_TYPE, IN, (SPOT,))])
    return Replacement(claim=claim, types=tuple(found), requirements=requirements)


def _spot_to_spot(
    candidate: Candidate, claim: PlannedNodeClaim, types: Sequence[InstanceType], *, is_enabled: bool
) -> Replacement | str:
    """Return a spot node in the place of another (computeSpotToSpotConsolidation)."""
    if not is_enabled:
        return _SPOT_DISABLED
    table = claim.template.table
    requirements = merged(claim.requirements.values(), [requirement(CAPACITY_TYPE, IN, (SPOT,))])
    offered = [
        each
        for each in types
        if any(
            offering.is_launchable(table.release)
            and is_compatible(requirements, offering.requirements, table.well_known)
            for offering in each.offerings
        )
    ]
    found = _cheaper(offered, claim, requirements, candidate.price)
    if isinstance(found, str):
        return found
    if len(found) < FEWEST_SPOT_TYPES:
        return (
            f"SpotToSpotConsolidation requires {FEWEST_SPOT_TYPES} cheaper instance type options than the current "
            f"candidate to consolidate, got {len(found)}"
        )
    most = max(FEWEST_SPOT_TYPES, _needed_by_min_values(found, claim, requirements))
    return Replacement(claim=claim, types=tuple(found[:most]), requirements=requirements)


def _cheaper(
    types: Sequence[InstanceType], claim: PlannedNodeClaim, requirements: Requirements, price: float
) -> list[InstanceType] | str:
    """Return the types that cost less at worst, or why none does (RemoveInstanceTypeOptionsByPriceAndMinValues)."""
    left = [each for each in types if _worst_price(each, claim, requirements) < price]
    short = too_few_values(left, requirements, claim.template.table.release)
    if short:
        return f"Filtering by price: {min_values_text(short)}"
    return left or _NOT_CHEAPER


def _worst_price(kind: InstanceType, claim: PlannedNodeClaim, requirements: Requirements) -> float:
    """Return the highest price of the capacity type that would be launched (WorstLaunchPrice)."""
    table = claim.template.table
    offered = [
        each
        for each in kind.offerings
        if each.is_launchable(table.release) and is_compatible(requirements, each.requirements, table.well_known)
    ]
    for capacity_type in (RESERVED, SPOT, ON_DEMAND):
        only = {CAPACITY_TYPE: requirement(CAPACITY_TYPE, IN, (capacity_type,))}
        prices = [each.price for each in offered if is_compatible(only, each.requirements, table.well_known)]
        if prices:
            return max(prices)
    return sys.float_info.max


def _needed_by_min_values(types: Sequence[InstanceType], claim: PlannedNodeClaim, requirements: Requirements) -> int:
    """Return how many of the types, in their order, meet every minValues; 0 if none is asked for."""
    if all(each.min_values is None for each in requirements.values()):
        return 0
    release = claim.template.table.release
    met = (number for number in range(1, len(types) + 1) if not too_few_values(types[:number], requirements, release))
    return next(met, 0)
