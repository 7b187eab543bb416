"""The instance types that can take the pods of a NodeClaim, and Karpenter's words where none can.

Answers to filterInstanceTypesByRequirements and InstanceTypeFilterError of nodeclaim.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kubectl_sched.api.apimachinery.quantity import ZERO, parse_quantity
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_order import min_values_text, too_few_values
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import requirements_text
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import (
    max_resources,
    merge,
    min_resources,
    resources_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_table import InstanceTypeTable
    from kubectl_sched.node_provisioning.karpenter.daemons import DaemonOverheadGroup
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.snapshot.array_types import Mask

_TYPO_FROM: Final = parse_quantity("1M")

_NONE_MET: Final = {
    (
        False,
        False,
        False,
    ): "no instance type met the scheduling requirements or had enough resources or had a required offering",
    (False, False, True): "no instance type met the scheduling requirements or had enough resources",
    (False, True, False): "no instance type met the scheduling requirements or had a required offering",
    (True, False, False): "no instance type had enough resources or had a required offering",
    (False, True, True): "no instance type met all requirements",
    (True, False, True): "no instance type has enough resources",
    (True, True, False): "no instance type has the required offering",
}
"""By whether any instance type met the requirements, had the room, and had an offering."""

_SOME_MET_BOTH: Final = (
    "no instance type which met the scheduling requirements and had enough resources, had a required offering",
    "no instance type which had enough resources and the required offering met the scheduling requirements",
    "no instance type which met the scheduling requirements and the required offering had the required resources",
)
_NONE_MET_ALL: Final = "no instance type met the requirements/resources/offering tuple"


class Filtered(NamedTuple):
    """The instance types that are left, in order, and the labels whose minValues they do not reach."""

    rows: list[int]
    mask: Mask
    unsatisfied: dict[str, int]


class NoInstanceType(NamedTuple):
    """The conditions that any instance type met, for the reason why none met all of them."""

    met: tuple[bool, bool, bool]
    met_two: tuple[bool, bool, bool]
    too_few: dict[str, int]
    requirements: Requirements
    pod_requests: Resources
    daemon_overheads: tuple[Resources, ...]

    def text(self) -> str:
        """Karpenter's sentence (Error)."""
        shown = f"requirements={requirements_text(self.requirements)}, resources={self._resources()}"
        if self.too_few:
            return f"{min_values_text(self.too_few)}, {shown}"
        if self.met in _NONE_MET:
            is_typo = self.met == (True, False, True) and self.pod_requests.get("cpu", ZERO) >= _TYPO_FROM
            return f"{_NONE_MET[self.met]}, {shown}" + (" (CPU request >= 1 Million, m vs M typo?)" if is_typo else "")
        for met, reason in zip(self.met_two, _SOME_MET_BOTH, strict=True):
            if met:
                return f"{reason}, {shown}"
        return f"{_NONE_MET_ALL}, {shown}"

    def _resources(self) -> str:
        """Return what was asked for with the daemons; least and most if the daemons differ (resourcesString)."""
        smallest: Resources = {}
        largest: Resources = {}
        for overhead in self.daemon_overheads:
            smallest = min_resources(smallest, overhead) if largest else overhead
            largest = max_resources((largest, overhead)) if largest else overhead
        if not smallest:
            return resources_text(self.pod_requests)
        least = resources_text(merge(smallest, self.pod_requests))
        most = resources_text(merge(largest, self.pod_requests))
        return least if least == most else f"min={least}, max={most}"


class Demand(NamedTuple):
    """Requirements, the pod's requests, and those of all pods of the NodeClaim with it."""

    requirements: Requirements
    pod_requests: Resources
    requests: Resources


def filter_instance_types(
    table: InstanceTypeTable,
    options: Mask,
    groups: Sequence[DaemonOverheadGroup],
    demand: Demand,
    *,
    relaxes_min_values: bool,
) -> Filtered | NoInstanceType:
    """The options of these daemon groups that meet the requirements and have the room and an offering."""
    requirements = demand.requirements
    compatible = table.compatible(requirements)
    met = np.zeros(3, dtype=np.bool_)
    met_two = np.zeros(3, dtype=np.bool_)
    rows: list[int] = []
    overheads: list[Resources] = []
    left = np.zeros_like(options)
    for group in groups:
        if group.overhead:
            overheads.append(group.overhead)
        requests = merge(demand.requests, group.overhead) if group.overhead else demand.requests
        fit, offered = table.fitting(requests, requirements)
        asked = options & group.mask
        met |= [bool((asked & each).any()) for each in (compatible, fit, offered)]
        met_two |= [
            bool((asked & compatible & fit & ~offered).any()),
            bool((asked & fit & offered & ~compatible).any()),
            bool((asked & compatible & offered & ~fit).any()),
        ]
        passing = asked & compatible & fit & offered
        rows += [row for row in group.rows if passing[row]] if len(groups) > 1 else np.flatnonzero(passing).tolist()
        left |= passing
    short: dict[str, int] = {}
    if any(each.min_values is not None for each in requirements.values()):
        short = too_few_values([table.types[row] for row in rows], requirements, table.release)
    if rows and (not short or relaxes_min_values):
        return Filtered(rows, left, short)
    too_few = {} if relaxes_min_values else short
    first, second, third = (bool(each) for each in met)
    return NoInstanceType(
        (first, second, third),
        (bool(met_two[0]), bool(met_two[1]), bool(met_two[2])),
        too_few,
        requirements,
        demand.pod_requests,
        tuple(overheads),
    )
