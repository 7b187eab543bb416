"""The search for devices on one node (structured/internal/*/allocator_*.go).

Every request is tried with every device in turn, the first full solution wins. Where minors differ, also in what they
get wrong, `DeviceRules` says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.labels import InvalidSelector
from kubectl_sched.api.resource import ALLOCATION_RESULTS_MAX_SIZE
from kubectl_sched.config.device_rules import (
    ADMIN_ACCESS,
    BINDING_CONDITIONS,
    COMPATIBILITY_GROUPS,
    CONSUMABLE_CAPACITY,
    DERIVED_ATTRIBUTES,
    DEVICE_TAINTS,
    FRACTIONAL_RANGE,
    LIST_ATTRIBUTES,
    OPTIONAL_NODE_OPERATIONS,
    PARTITIONABLE,
    PRIORITIZED_LIST,
)
from kubectl_sched.dynamic_resource_allocation.devices import node_matches
from kubectl_sched.dynamic_resource_allocation.failures import AllocationFailed, FailedAllocationOnNode, SearchTooLong
from kubectl_sched.plugins.dynamic_resources.capacity import CapacityUnknown, consumed_capacity, fits
from kubectl_sched.plugins.dynamic_resources.constraints import make_constraint, published_attribute
from kubectl_sched.plugins.dynamic_resources.counters import (
    CompatibilityGroups,
    ConsumedCounters,
    CounterLedger,
    left_over,
)
from kubectl_sched.plugins.dynamic_resources.pools import Pool, gather_pools
from kubectl_sched.plugins.dynamic_resources.requests import ClaimData, RequestData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.quantity import Quantity
    from kubectl_sched.api.resource import (
        DeviceAttribute,
        DeviceClass,
        DeviceTaint,
        DeviceToleration,
        ResourceClaim,
    )
    from kubectl_sched.config.device_rules import AllocatorChannel, DeviceRules
    from kubectl_sched.dynamic_resource_allocation.allocated import AllocatedState
    from kubectl_sched.dynamic_resource_allocation.devices import DeviceID, SliceDevice, SliceIndex
    from kubectl_sched.dynamic_resource_allocation.selectors import Selectors
    from kubectl_sched.plugins.dynamic_resources.constraints import Constraint

MOST_STEPS = 200_000
"""How many devices are tried on one node before the search is given up; the real one has ten seconds."""


class AllocatedDevice(NamedTuple):
    """One device for one request, and what it takes of the device where several share it."""

    request: RequestData
    device: SliceDevice
    consumed: Mapping[str, Quantity] | None


class Allocation(NamedTuple):
    """What a claim would get."""

    claim: ResourceClaim
    devices: tuple[AllocatedDevice, ...]


class _LimitExceeded(Exception):  # noqa: N818 - caught within the search
    """More devices than a claim may hold (errAllocationResultMaxSizeExceeded)."""


@dataclass(frozen=True)
class Allocator:
    """What the searches on all nodes of a cycle share."""

    channel: AllocatorChannel
    rules: DeviceRules
    features: frozenset[str]
    allocated: AllocatedState
    classes: Callable[[str], DeviceClass | None]
    slices: SliceIndex
    selectors: Selectors
    ledger: CounterLedger

    def pools(self, node: Node) -> list[Pool]:
        """What the node can reach, in the order that it is tried; raises AllocationFailed."""
        return gather_pools(self.slices, node, self.features, self.rules, self.channel)

    def allocate(self, node: Node, claims: Sequence[ResourceClaim]) -> list[Allocation] | None:
        """The devices for each claim, None where they cannot all be had; raises AllocationFailed."""
        return Search(self, node, claims).run()


class Search:
    """One node's search."""

    def __init__(self, allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> None:
        self.shared = allocator
        self.rules = allocator.rules
        self.features = allocator.features
        self.node = node
        self.pools = allocator.pools(node)
        self.claims = [ClaimData(claim) for claim in claims]
        self.constraints: list[list[Constraint]] = []
        self.results: list[list[AllocatedDevice]] = [[] for _ in claims]
        self._allocating: dict[DeviceID, list[int]] = {}
        self._capacity: dict[DeviceID, dict[str, Quantity]] = {}
        self._counters = ConsumedCounters()
        self._groups = CompatibilityGroups(allocator.allocated)
        self._matches: dict[tuple[int, int, int], dict[SliceDevice, bool]] = {}
        self._steps = 0

    @property
    def knows_capacity(self) -> bool:
        """Whether consumable capacity is on."""
        return CONSUMABLE_CAPACITY in self.features

    def run(self) -> list[Allocation] | None:
        """Check the requests, then search."""
        for index, data in enumerate(self.claims):
            self._prepare(index, data)
        self._matches.clear()
        if not self._next_claim(0):
            if not self.rules.invalid_pool_fails and any(pool.invalid_reason is not None for pool in self.pools):
                raise FailedAllocationOnNode("invalid resource pools were encountered")
            return None
        return [Allocation(data.claim, tuple(devices)) for data, devices in zip(self.claims, self.results, strict=True)]

    # Checking

    def _prepare(self, index: int, data: ClaimData) -> None:
        claim = data.claim
        least = 0
        for position, request in enumerate(claim.spec.devices.requests):
            where = f"claim {claim.key}, request {request.name}"
            if PRIORITIZED_LIST not in self.features and request.first_available:
                raise AllocationFailed(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
            self._refuse_capacity(index, position, where)
            if request.first_available:
                data.requests.append([])
                for number, alternative in enumerate(request.first_available):
                    made = RequestData(index, alternative.name, request.name, alternative)
                    data.requests[-1].append(self._checked(made, (index, position, number)))
            else:
                exact = request.exact
                if exact is None:
                    raise AllocationFailed(f"{where}: missing device class name (unsupported request type?)")
                made = RequestData(index, request.name, None, exact)
                data.requests.append([self._checked(made, (index, position, 0))])
            needed = min(alternative.count for alternative in data.requests[-1])
            if self.rules.device_limit_counts_requests and needed > ALLOCATION_RESULTS_MAX_SIZE - least:
                message = (
                    f"{where}: adding {needed} devices exceeds the claim limit of {ALLOCATION_RESULTS_MAX_SIZE}, "
                    f"with {least} already accounted for"
                )
                raise AllocationFailed(message)
            least += needed
        if least > ALLOCATION_RESULTS_MAX_SIZE:
            message = (
                f"claim {claim.key}: number of requested devices {least} exceeds the claim limit of "
                f"{ALLOCATION_RESULTS_MAX_SIZE}"
            )
            raise AllocationFailed(message)
        self.constraints.append(list(self._constraints(claim)))

    def _refuse_capacity(self, index: int, position: int, where: str) -> None:
        if self.knows_capacity or not self.shared.channel.knows_capacity:
            return
        claim = self.claims[index].claim
        request = claim.spec.devices.requests[position]
        refusal = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
        if request.exact is not None and request.exact.capacity is not None:
            raise AllocationFailed(f"{where}: {refusal}")
        for alternative in request.first_available:
            if alternative.capacity is not None:
                if self.rules.capacity_refusal_names_request:
                    raise AllocationFailed(f"{where}: {refusal}")
                raise AllocationFailed(f"claim {claim.key}, subrequest {alternative.name}: {refusal}")

    def _constraints(self, claim: ResourceClaim) -> Iterator[Constraint]:
        knows_distinct = self.shared.channel.knows_capacity
        for number, constraint in enumerate(claim.spec.devices.constraints):
            yield make_constraint(
                constraint,
                self._attribute,
                lists=LIST_ATTRIBUTES in self.features,
                distinct_by=self.rules.distinct_by if knows_distinct else None,
                where=f"claim {claim.key}, constraint #{number}",
            )

    def _attribute(self, request: RequestData, device: SliceDevice, name: str) -> DeviceAttribute | None:
        derived = next((one for one in request.exact.derived_attributes if one.name == name), None)
        if derived is None:
            return published_attribute(device, name)
        return self.shared.selectors.derived_attribute(derived, device)

    def _checked(self, request: RequestData, key: tuple[int, int, int]) -> RequestData:
        """Find out how many devices the request is for (validateDeviceRequest)."""
        claim = self.claims[request.claim_index].claim
        where = f"claim {claim.key}, request {request.name}"
        for number, selector in enumerate(request.exact.selectors):
            if selector.cel is None:
                raise AllocationFailed(
                    f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)"
                )
        if ADMIN_ACCESS not in self.features and request.parent_name is None and request.exact.admin_access is not None:
            raise AllocationFailed(f"{where}: admin access is requested, but the feature is disabled")
        if not request.exact.device_class_name:
            raise AllocationFailed(f"{where}: missing device class name (unsupported request type?)")
        device_class = self.shared.classes(request.exact.device_class_name)
        if device_class is None:
            name = request.exact.device_class_name
            missing = f'deviceclass.resource.k8s.io "{name}" not found'
            raise AllocationFailed(f"{where}: could not retrieve device class {name}: {missing}")
        request.device_class = device_class
        if request.exact.derived_attributes and DERIVED_ATTRIBUTES not in self.features:
            raise AllocationFailed(f"{where}: cannot handle request with derived attributes, the feature is disabled")
        if request.wants_all:
            request.all_devices = list(self._all_devices(request, key, where))
            request.count = len(request.all_devices)
        elif request.exact.allocation_mode == "ExactCount":
            request.count = request.exact.count
        else:
            raise AllocationFailed(f"{where}: unsupported count mode {request.exact.allocation_mode}")
        return request

    def _all_devices(
        self, request: RequestData, key: tuple[int, int, int], where: str
    ) -> Iterator[tuple[Pool, SliceDevice]]:
        if self.rules.all_alternatives_share_matches and key[2]:
            key = (*key[:2], key[2] - 1)
        for pool in self.pools:
            asks = f"{where}: asks for all devices, but resource pool {pool.id} is currently"
            if pool.is_incomplete:
                raise AllocationFailed(f"{asks} being updated")
            if pool.invalid_reason is not None:
                raise AllocationFailed(f"{asks} invalid")
            for one in pool.slices:
                for device in one.devices:
                    if self._is_selectable(request, device, key) and self._has_capacity(request, device, empty=True):
                        yield pool, device

    # Searching

    def _next_claim(self, index: int) -> bool:
        return index >= len(self.claims) or self._next_request(index, 0)

    def _next_request(self, claim: int, position: int) -> bool:
        requests = self.claims[claim].requests
        if position >= len(requests):
            try:
                return self._next_claim(claim + 1)
            except _LimitExceeded:
                # Another choice for an earlier claim may need fewer devices here.
                return False
        alternatives = requests[position]
        if alternatives[0].parent_name is None:
            return self._next_device((claim, position, 0), 0, (0, 0, 0))
        always_exceeded = True
        for number in range(len(alternatives)):
            try:
                if self._next_device((claim, position, number), 0, (0, 0, 0)):
                    return True
            except _LimitExceeded:
                continue
            always_exceeded = False
        if always_exceeded:
            raise _LimitExceeded
        return False

    def _next_device(self, key: tuple[int, int, int], number: int, start: tuple[int, int, int]) -> bool:
        """Allocate the device of this number for a request (allocateOne)."""
        claim, position, alternative = key
        request = self.claims[claim].requests[position][alternative]
        if request.wants_all and not request.all_devices:
            return False
        if number >= request.count:
            return self._next_request(claim, position + 1)
        if request.count - number > ALLOCATION_RESULTS_MAX_SIZE - len(self.results[claim]):
            raise _LimitExceeded
        if request.wants_all:
            return self._all_or_nothing(key, request, number)
        return self._one_of_many(key, request, number, start)

    def _all_or_nothing(self, key: tuple[int, int, int], request: RequestData, number: int) -> bool:
        pool, device = request.all_devices[number]
        undo = self._take(request, pool, device, number, must=True)
        if undo is None:
            return False
        following = (*key[:2], 0) if self.rules.all_devices_forget_alternative else key
        try:
            done = self._next_device(following, number + 1, (0, 0, 0))
        except _LimitExceeded:
            undo()
            raise
        if not done and not self.rules.all_devices_stay_taken:
            undo()
        return done

    def _one_of_many(
        self, key: tuple[int, int, int], request: RequestData, number: int, start: tuple[int, int, int]
    ) -> bool:
        for where, pool, device in self._from(start):
            if self._is_in_use(request, device.id) or not self._is_selectable(request, device, key):
                continue
            if not self._has_capacity(request, device):
                continue
            undo = self._take(request, pool, device, number, must=False)
            if undo is None:
                continue
            following = (*where[:2], where[2] + 1) if self.shared.channel.tries_combinations else (0, 0, 0)
            try:
                if self._next_device(key, number + 1, following):
                    return True
            except _LimitExceeded:
                undo()
                raise
            undo()
        return False

    def _from(self, start: tuple[int, int, int]) -> Iterator[tuple[tuple[int, int, int], Pool, SliceDevice]]:
        """All devices from a place on, in order, those of pools that cannot be used left out."""
        for pool_index in range(start[0], len(self.pools)):
            pool = self.pools[pool_index]
            if pool.invalid_reason is not None and self.rules.invalid_pool_fails:
                raise AllocationFailed(f"pool {pool.id.pool} is invalid: {pool.invalid_reason}")
            if pool.invalid_reason is not None or (pool.is_incomplete and not self.rules.incomplete_pool_is_used):
                continue
            for slice_index in range(start[1] if pool_index == start[0] else 0, len(pool.slices)):
                devices = pool.slices[slice_index].devices
                begun = (pool_index, slice_index) == start[:2]
                for device_index in range(start[2] if begun else 0, len(devices)):
                    self._steps += 1
                    if self._steps > MOST_STEPS:
                        raise SearchTooLong
                    yield (pool_index, slice_index, device_index), pool, devices[device_index]

    # One device

    def _is_in_use(self, request: RequestData, device: DeviceID) -> bool:
        allocating = self._allocating.get(device, ())
        if request.admin_access:
            return not self.rules.admin_access_repeats_device and request.claim_index in allocating
        return device in self.shared.allocated.devices or bool(allocating)

    def _is_selectable(self, request: RequestData, device: SliceDevice, key: tuple[int, int, int]) -> bool:
        """Whether the device satisfies class and request (isSelectable)."""
        if (
            self.rules.knows_binding_conditions
            and BINDING_CONDITIONS not in self.features
            and device.device.binding_conditions
        ):
            return False
        known = self._matches.setdefault(key, {})
        if device not in known:
            known[device] = self._matches_now(request, device)
        return known[device]

    def _matches_now(self, request: RequestData, device: SliceDevice) -> bool:
        claim = self.claims[request.claim_index].claim
        selectors, of_class = self.shared.selectors, request.device_class
        if not selectors.match(f"class {of_class.name}", of_class.spec.selectors, device):
            return False
        if not selectors.match(f"claim {claim.key}", request.exact.selectors, device):
            return False
        if not device.slice.published.spec.per_device_node_selection:
            return True
        published = device.device
        try:
            return node_matches(self.node, published.node_name, published.all_nodes, published.node_selector)
        except InvalidSelector as wrong:
            raise AllocationFailed(f"failed to parse node selector: {wrong.reason}") from wrong

    def _has_capacity(self, request: RequestData, device: SliceDevice, *, empty: bool = False) -> bool:
        """Whether as much of the device is left as the request takes; `empty` of one that nobody uses."""
        if not self.knows_capacity:
            return True
        strict = self.rules.capacity_errors_fail
        forget = empty and strict
        try:
            return fits(
                request.exact.capacity,
                device.device.capacity,
                {} if forget else self.shared.allocated.capacity.get(device.id, {}),
                {} if forget else self._capacity.get(device.id, {}),
                fractional=FRACTIONAL_RANGE in self.features,
                strict=strict,
            )
        except CapacityUnknown:
            return False
        except AllocationFailed as failure:
            claim = self.claims[request.claim_index].claim
            named = device.id.device if empty else device.id
            where = f"claim {claim.key}, request {request.name}"
            raise AllocationFailed(f"{where}: checking capacity for device {named}: {failure}") from failure

    def _take(
        self, request: RequestData, pool: Pool, device: SliceDevice, number: int, *, must: bool
    ) -> Callable[[], None] | None:
        """Allocate the device for the time being; None where it cannot be, else how to undo it (allocateDevice)."""
        shared = self.knows_capacity and device.device.allow_multiple_allocations
        if not (shared and request.admin_access) and self._is_in_use(request, device.id):
            return None
        undone: list[Callable[[], None]] = []
        if not (
            self._node_can_skip_operations(device)
            and self._take_counters(pool, device, shared, undone)
            and not self._is_repelled(request, device.device.taints)
            and self._satisfies_constraints(request, device, must, undone)
        ):
            self._give_up(undone)
            return None
        if not shared and not (request.admin_access and self.rules.admin_access_repeats_device):
            self._allocating.setdefault(device.id, []).append(request.claim_index)
            undone.append(lambda: self._allocating[device.id].remove(request.claim_index))
        if self.knows_capacity and not self._has_capacity(request, self._measured(device, number)):
            self._give_up(undone)
            return None
        consumed = self._take_capacity(request, device, undone) if shared else None
        results = self.results[request.claim_index]
        results.append(AllocatedDevice(request, device, consumed or None))
        undone.append(lambda: results.__delitem__(-1))
        return lambda: _run_backwards(undone)

    def _measured(self, device: SliceDevice, number: int) -> SliceDevice:
        """The device whose capacity is looked at."""
        if not self.rules.capacity_is_of_another_device:
            return device
        others = device.slice.devices
        if number >= len(others):
            crash = f"runtime error: index out of range [{number}] with length {len(others)}"
            raise AllocationFailed(f"kube-scheduler crashes here in this version: {crash}")
        return others[number]

    def _give_up(self, undone: list[Callable[[], None]]) -> None:
        if not self.rules.failed_device_keeps_counters:
            _run_backwards(undone)

    def _node_can_skip_operations(self, device: SliceDevice) -> bool:
        if not (self.shared.channel.knows_skipped_operations and device.slice.published.spec.skip_node_operations):
            return True
        return (
            OPTIONAL_NODE_OPERATIONS in self.features
            and "DRAOptionalNodeOperations" in self.node.status.declared_features
        )

    def _take_counters(self, pool: Pool, device: SliceDevice, shared: bool, undone: list[Callable[[], None]]) -> bool:
        if not device.device.consumes_counters:
            return True
        if PARTITIONABLE not in self.features:
            return self.rules.counters_include_allocating
        if shared and self._capacity_in_use(device.id) and not self.rules.shared_device_takes_counters_again:
            return True
        if self.rules.counters_include_allocating:
            return self._counters_suffice(device)
        return self._joins_group(pool, device, undone) and self._uses_counters(pool, device, shared, undone)

    def _joins_group(self, pool: Pool, device: SliceDevice, undone: list[Callable[[], None]]) -> bool:
        if COMPATIBILITY_GROUPS not in self.features:
            return True
        added = self._groups.admit(pool, device)
        if added is None:
            return False
        undone.append(lambda: self._groups.forget(added))
        return True

    def _uses_counters(self, pool: Pool, device: SliceDevice, shared: bool, undone: list[Callable[[], None]]) -> bool:
        ledger = self.shared.ledger
        key = ledger.key(pool, device)
        if not self._counters.take(key, device, ledger.available(pool, device)):
            return False
        if not (shared and self.rules.failed_device_keeps_counters):
            undone.append(lambda: self._counters.give_back(key, device))
        return True

    def _counters_suffice(self, device: SliceDevice) -> bool:
        """Whether the slice's counters do, those of devices being allocated taken off."""
        held = self.shared.allocated.devices
        available = left_over(
            device.slice.published.spec.shared_counters,
            (device.slice,),
            lambda other: other in held or bool(self._allocating.get(other)),
        )
        consumed = self.shared.selectors.quantities(device)
        return all(
            name in available.get(counters, {}) and available[counters][name] >= amount
            for counters, name, amount in consumed
        )

    def _capacity_in_use(self, device: DeviceID) -> bool:
        state = self.shared.allocated
        if device in state.capacity or device in self._capacity:
            return True
        return self.rules.capacity_errors_fail and device in state.shared

    def _is_repelled(self, request: RequestData, taints: Sequence[DeviceTaint]) -> bool:
        return DEVICE_TAINTS in self.features and any(
            (self.rules.any_taint_effect_counts or taint.effect in {"NoSchedule", "NoExecute"})
            and not any(tolerates(toleration, taint) for toleration in request.exact.tolerations)
            for taint in taints
        )

    def _satisfies_constraints(
        self, request: RequestData, device: SliceDevice, must: bool, undone: list[Callable[[], None]]
    ) -> bool:
        added: list[Constraint] = []
        for constraint in self.constraints[request.claim_index]:
            if not constraint.add(request, device):
                if must:
                    claim = self.claims[request.claim_index].claim
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

    def _take_capacity(
        self, request: RequestData, device: SliceDevice, undone: list[Callable[[], None]]
    ) -> dict[str, Quantity]:
        consumed = consumed_capacity(
            request.exact.capacity,
            device.device.capacity,
            fractional=FRACTIONAL_RANGE in self.features,
            strict=self.rules.capacity_errors_fail,
        )
        before = self._capacity.get(device.id)
        total = dict(before or {})
        for name, amount in consumed.items():
            total[name] = total[name] + amount if name in total else amount
        self._capacity[device.id] = total

        def give_back() -> None:
            if before is None:
                del self._capacity[device.id]
            else:
                self._capacity[device.id] = before

        undone.append(give_back)
        return consumed


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Whether the toleration is for the taint (ToleratesTaint)."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in {"", "Equal"}:
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def _run_backwards(undone: list[Callable[[], None]]) -> None:
    while undone:
        undone.pop()()


def _removal(constraint: Constraint, request: RequestData) -> Callable[[], None]:
    return lambda: constraint.remove(request)
