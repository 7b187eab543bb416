"""Inputs that the searches for devices on all nodes of a cycle share (structured/allocator.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.config.allocator_versions import CONSUMABLE_CAPACITY, FRACTIONAL_RANGE
from kubectl_sched.plugins.dynamic_resources.allocator.capacity import CapacityArithmetic
from kubectl_sched.plugins.dynamic_resources.allocator.pools import Pool, gather_pools
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.resource import DeviceClass
    from kubectl_sched.config.allocator_versions import AllocatorChannel, DeviceRules
    from kubectl_sched.dynamic_resource_allocation.allocated_devices import AllocatedState
    from kubectl_sched.dynamic_resource_allocation.devices import SliceIndex
    from kubectl_sched.dynamic_resource_allocation.selectors import Selectors
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.plugins.dynamic_resources.allocator.counters import CounterLedger


class Allocator(Record, frozen=True, kw_only=True):
    """The inputs that the searches on all nodes of a cycle share."""

    channel: AllocatorChannel
    rules: DeviceRules
    features: frozenset[str]
    allocated: AllocatedState
    classes: Callable[[str], DeviceClass | None]
    slices: SliceIndex
    selectors: Selectors
    ledger: CounterLedger
    budget: CycleBudget
    timeout: float | None = None
    """Seconds after which the search on a node is given up; None for no clock."""

    @property
    def knows_capacity(self) -> bool:
        """Report whether consumable capacity is on."""
        return CONSUMABLE_CAPACITY in self.features

    @property
    def arithmetic(self) -> CapacityArithmetic:
        """Return the way in which the minor computes capacities."""
        return CapacityArithmetic(
            fractional=FRACTIONAL_RANGE in self.features,
            strict=self.rules.capacity_errors_fail,
            qualified=self.rules.capacities_are_qualified,
        )

    def drawing_on(self, budget: CycleBudget) -> Allocator:
        """Return the inputs for what explains the cycle, whose work is none of the cycle's."""
        return replace(self, budget=budget, selectors=self.selectors.drawing_on(budget))

    def pools(self, node: Node) -> list[Pool]:
        """Return the pools that the node can reach, in the order of the search. Raises AllocationFailed."""
        return gather_pools(self.slices, node, self.features, self.rules, self.channel)
