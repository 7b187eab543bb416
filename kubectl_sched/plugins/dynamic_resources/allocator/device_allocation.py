"""Devices taken and given back while one search tries them (allocateDevice)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.taints import DO_NOT_SCHEDULE, tolerates
from kubectl_sched.config.allocator_versions import (
    COMPATIBILITY_GROUPS,
    DEVICE_TAINTS,
    OPTIONAL_NODE_OPERATIONS,
    PARTITIONABLE,
)
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed, SchedulerCrashes
from kubectl_sched.plugins.dynamic_resources.allocator.allocation import AllocatedDevice
from kubectl_sched.plugins.dynamic_resources.allocator.capacity import consumed_capacity
from kubectl_sched.plugins.dynamic_resources.allocator.counters import CompatibilityGroups, ConsumedCounters, left_over
from kubectl_sched.plugins.dynamic_resources.allocator.request_validation import constraints_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.resource import DeviceTaint, ExactDeviceRequest, ResourceClaim
    from kubectl_sched.config.allocator_versions import DeviceRules
    from kubectl_sched.dynamic_resource_allocation.devices import DeviceID, SliceDevice
    from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator
    from kubectl_sched.plugins.dynamic_resources.allocator.constraints import Constraint
    from kubectl_sched.plugins.dynamic_resources.allocator.eligibility import Eligibility
    from kubectl_sched.plugins.dynamic_resources.allocator.pools import Pool
    from kubectl_sched.plugins.dynamic_resources.allocator.requests import RequestData


class TentativeAllocation:
    """The devices that the search holds at the moment: `results` has a list for each claim."""

    def __init__(
        self, shared: Allocator, node: Node, claims: Sequence[ResourceClaim], eligibility: Eligibility
    ) -> None:
        self._shared = shared
        self._rules = shared.rules
        self._features = shared.features
        self._node = node
        self._claims = claims
        self._eligibility = eligibility
        self._constraints: list[list[Constraint]] = []
        self.results: list[list[AllocatedDevice]] = [[] for _ in claims]
        self._allocating: dict[DeviceID, list[int]] = {}
        self._counters = ConsumedCounters()
        self._groups = CompatibilityGroups(shared.allocated)

    def constrain(self, claim: ResourceClaim) -> None:
        """Hold the devices of the next claim to its constraints; raises AllocationFailed."""
        self._constraints.append(constraints_of(self._shared, claim))

    def is_in_use(self, request: RequestData, device: DeviceID) -> bool:
        """Report whether somebody has the device already, or the search has taken it."""
        allocating = self._allocating.get(device, ())
        if request.admin_access:
            return not self._rules.admin_access_repeats_device and request.claim_index in allocating
        return device in self._shared.allocated.devices or bool(allocating)

    def take(
        self, request: RequestData, pool: Pool, device: SliceDevice, number: int, *, must: bool
    ) -> Callable[[], None] | None:
        """Allocate the device for the time being; None if it cannot be, else how to undo it (allocateDevice)."""
        shared = self._shared.knows_capacity and device.device.allow_multiple_allocations
        if not (shared and request.admin_access) and self.is_in_use(request, device.id):
            return None
        is_exclusive = not shared and not request.admin_access and self._rules.shared_device_is_not_exclusive
        if is_exclusive and self._capacity_in_use(device.id):
            return None
        undone: list[Callable[[], None]] = []
        if not (
            self._node_can_skip_operations(device)
            and self._take_counters(pool, device, undone, shared=shared, of_all=must)
            and not self._is_repelled(request, device.device.taints)
            and self._satisfies_constraints(request, device, must, undone)
        ):
            self._give_up(undone)
            return None
        if not shared and not (request.admin_access and self._rules.admin_access_repeats_device):
            self._allocating.setdefault(device.id, []).append(request.claim_index)
            undone.append(lambda: self._allocating[device.id].remove(request.claim_index))
        if self._shared.knows_capacity and not self._eligibility.has_capacity(request, self._measured(device, number)):
            self._give_up(undone)
            return None
        consumed = self._take_capacity(request, device, undone) if shared else None
        results = self.results[request.claim_index]
        results.append(AllocatedDevice(request, device, consumed or None))
        undone.append(lambda: results.__delitem__(-1))
        return lambda: _run_backwards(undone)

    def _measured(self, device: SliceDevice, number: int) -> SliceDevice:
        """The device whose capacity is looked at."""
        if not self._rules.capacity_is_of_another_device:
            return device
        others = device.slice.devices
        if number >= len(others):
            raise SchedulerCrashes(f"runtime error: index out of range [{number}] with length {len(others)}")
        return others[number]

    def _give_up(self, undone: list[Callable[[], None]]) -> None:
        if not self._rules.failed_device_keeps_counters:
            _run_backwards(undone)

    def _node_can_skip_operations(self, device: SliceDevice) -> bool:
        if not (self._shared.channel.knows_skipped_operations and device.slice.published.spec.skip_node_operations):
            return True
        return (
            OPTIONAL_NODE_OPERATIONS in self._features
            and "DRAOptionalNodeOperations" in self._node.status.declared_features
        )

    def _take_counters(
        self, pool: Pool, device: SliceDevice, undone: list[Callable[[], None]], *, shared: bool, of_all: bool
    ) -> bool:
        if not device.device.consumes_counters:
            return True
        if PARTITIONABLE not in self._features:
            return self._rules.counters_include_allocating
        if shared and self._capacity_in_use(device.id) and not self._rules.shared_device_takes_counters_again:
            return True
        if self._rules.counters_include_allocating:
            return self._counters_suffice(device)
        if of_all and self._rules.all_devices_with_counters_crash:
            raise SchedulerCrashes("runtime error: invalid memory address or nil pointer dereference")
        return self._joins_group(pool, device, undone) and self._uses_counters(pool, device, shared, undone)

    def _joins_group(self, pool: Pool, device: SliceDevice, undone: list[Callable[[], None]]) -> bool:
        if COMPATIBILITY_GROUPS not in self._features:
            return True
        added = self._groups.admit(pool, device)
        if added is None:
            return False
        undone.append(lambda: self._groups.forget(added))
        return True

    def _uses_counters(self, pool: Pool, device: SliceDevice, shared: bool, undone: list[Callable[[], None]]) -> bool:
        ledger = self._shared.ledger
        key = ledger.key(pool, device)
        if not self._counters.take(key, device, ledger.available(pool, device)):
            return False
        if not (shared and self._rules.failed_device_keeps_counters):
            undone.append(lambda: self._counters.give_back(key, device))
        return True

    def _counters_suffice(self, device: SliceDevice) -> bool:
        """Report whether the slice's counters do, those of devices being allocated taken off."""
        held = self._shared.allocated.devices
        available = left_over(
            device.slice.published.spec.shared_counters,
            (device.slice,),
            lambda other: other in held or bool(self._allocating.get(other)),
        )
        consumed = self._shared.selectors.quantities(device)
        return all(
            name in available.get(counters, {}) and available[counters][name] >= amount
            for counters, name, amount in consumed
        )

    def _capacity_in_use(self, device: DeviceID) -> bool:
        state = self._shared.allocated
        if device in state.capacity or device in self._eligibility.capacity:
            return True
        return self._rules.capacity_errors_fail and device in state.shared

    def _is_repelled(self, request: RequestData, taints: Sequence[DeviceTaint]) -> bool:
        return DEVICE_TAINTS in self._features and untolerated(taints, request.exact, self._rules) is not None

    def _satisfies_constraints(
        self, request: RequestData, device: SliceDevice, must: bool, undone: list[Callable[[], None]]
    ) -> bool:
        added: list[Constraint] = []
        for constraint in self._constraints[request.claim_index]:
            if not self._joins(constraint, request, device):
                if must:
                    claim = self._claims[request.claim_index]
                    message = (
                        f"claim {claim.key}, request {request.name}: cannot add device {device.id} because a claim "
                        "constraint would not be satisfied"
                    )
                    raise AllocationFailed(message)
                for other in reversed(added):
                    other.remove(request)
                return False
            added.append(constraint)
        undone.extend(_removal(constraint, request) for constraint in added)
        return True

    def _joins(self, constraint: Constraint, request: RequestData, device: SliceDevice) -> bool:
        try:
            return constraint.add(request, device)
        except AllocationFailed as failure:
            if not self._shared.channel.constraint_errors_name_request:
                raise
            where = f"claim {self._claims[request.claim_index].key}, request {request.name}"
            raise AllocationFailed(f"{where}: {failure}") from failure

    def _take_capacity(
        self, request: RequestData, device: SliceDevice, undone: list[Callable[[], None]]
    ) -> dict[str, Quantity]:
        arithmetic = self._eligibility.arithmetic
        consumed = consumed_capacity(request.exact.capacity, device, arithmetic)
        before = self._eligibility.capacity.get(device.id)
        total = dict(before or {})
        for name, amount in consumed.items():
            total[name] = total[name] + amount if name in total else amount
        self._eligibility.capacity[device.id] = total

        def give_back() -> None:
            if self._rules.failed_device_keeps_counters:
                self._subtract_capacity(device.id, consumed)
            elif before is None:
                del self._eligibility.capacity[device.id]
            else:
                self._eligibility.capacity[device.id] = before

        undone.append(give_back)
        return arithmetic.as_published(consumed, device)

    def _subtract_capacity(self, device: DeviceID, consumed: Mapping[str, Quantity]) -> None:
        held = self._eligibility.capacity.get(device)
        if held is None or not consumed:
            return
        left = {name: amount - consumed[name] if name in consumed else amount for name, amount in held.items()}
        if all(amount.is_zero for amount in left.values()):
            del self._eligibility.capacity[device]
        else:
            self._eligibility.capacity[device] = left


def untolerated(taints: Sequence[DeviceTaint], request: ExactDeviceRequest, rules: DeviceRules) -> DeviceTaint | None:
    """The first taint that keeps a device from the request (taintPreventsAllocation)."""
    for taint in taints:
        counts = rules.any_taint_effect_counts or taint.effect in DO_NOT_SCHEDULE
        if counts and not any(tolerates(toleration, taint) for toleration in request.tolerations):
            return taint
    return None


def _run_backwards(undone: list[Callable[[], None]]) -> None:
    while undone:
        undone.pop()()


def _removal(constraint: Constraint, request: RequestData) -> Callable[[], None]:
    return lambda: constraint.remove(request)
