"""Validation of requests, and the number of devices that each is for (validateDeviceRequest)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.resource import ALLOCATION_RESULTS_MAX_SIZE
from kubectl_sched.config.allocator_versions import ADMIN_ACCESS, DERIVED_ATTRIBUTES, LIST_ATTRIBUTES, PRIORITIZED_LIST
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed, FailedAllocationOnNode
from kubectl_sched.plugins.dynamic_resources.allocator.constraints import make_constraint, published_attribute
from kubectl_sched.plugins.dynamic_resources.allocator.requests import ClaimData, RequestData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.resource import DeviceAttribute, DeviceClass, DeviceRequest, ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator
    from kubectl_sched.plugins.dynamic_resources.allocator.constraints import Constraint
    from kubectl_sched.plugins.dynamic_resources.allocator.eligibility import Eligibility
    from kubectl_sched.plugins.dynamic_resources.allocator.pools import Pool


def constraints_of(shared: Allocator, claim: ResourceClaim) -> list[Constraint]:
    """The constraints on the devices of the claim."""

    def attribute(request: RequestData, device: SliceDevice, name: str) -> DeviceAttribute | None:
        derived = next((one for one in request.exact.derived_attributes if one.name == name), None)
        if derived is None:
            return published_attribute(device, name)
        return shared.selectors.derived_attribute(derived, device)

    return [
        make_constraint(
            constraint,
            attribute,
            lists=LIST_ATTRIBUTES in shared.features,
            unsupported_fail=shared.rules.unsupported_values_fail,
            distinct_by=shared.rules.distinct_by if shared.channel.knows_capacity else None,
            where=f"claim {claim.key}, constraint #{number}",
        )
        for number, constraint in enumerate(claim.spec.devices.constraints)
    ]


class RequestChecker:
    """Checks the claims of one search, before any device is tried."""

    def __init__(self, shared: Allocator, pools: Sequence[Pool], eligibility: Eligibility) -> None:
        self._shared = shared
        self._rules = shared.rules
        self._features = shared.features
        self._pools = pools
        self._eligibility = eligibility

    def check(self, index: int, claim: ResourceClaim) -> ClaimData:
        """The requests of the search's claim of that index; raises AllocationFailed."""
        data = ClaimData(claim)
        least = 0
        for position, request in enumerate(claim.spec.devices.requests):
            where = f"claim {claim.key}, request {request.name}"
            if PRIORITIZED_LIST not in self._features and request.first_available:
                raise AllocationFailed(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
            self._refuse_capacity(claim, request, where)
            made = _alternatives(index, request, where)
            data.requests.append(
                [self._checked(claim, one, (index, position, number)) for number, one in enumerate(made)]
            )
            needed = min(alternative.count for alternative in data.requests[-1])
            if self._rules.device_limit_counts_requests and needed > ALLOCATION_RESULTS_MAX_SIZE - least:
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
        return data

    def _refuse_capacity(self, claim: ResourceClaim, request: DeviceRequest, where: str) -> None:
        if self._shared.knows_capacity or not self._shared.channel.knows_capacity:
            return
        refusal = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
        if request.exact is not None and request.exact.capacity is not None:
            raise AllocationFailed(f"{where}: {refusal}")
        for alternative in request.first_available:
            if alternative.capacity is not None:
                if self._rules.capacity_refusal_names_request:
                    raise AllocationFailed(f"{where}: {refusal}")
                raise AllocationFailed(f"claim {claim.key}, subrequest {alternative.name}: {refusal}")

    def _checked(self, claim: ResourceClaim, request: RequestData, key: tuple[int, int, int]) -> RequestData:
        where = f"claim {claim.key}, request {request.name}"
        for number, selector in enumerate(request.exact.selectors):
            if selector.cel is None:
                raise AllocationFailed(
                    f"{where}, selector #{number}: CEL expression empty (unsupported selector type?)"
                )
        if (
            ADMIN_ACCESS not in self._features
            and request.parent_name is None
            and request.exact.admin_access is not None
        ):
            raise AllocationFailed(f"{where}: admin access is requested, but the feature is disabled")
        request.device_class = self._class(request.exact.device_class_name, where)
        if request.exact.derived_attributes and DERIVED_ATTRIBUTES not in self._features:
            raise AllocationFailed(f"{where}: cannot handle request with derived attributes, the feature is disabled")
        if request.wants_all:
            request.all_devices = list(self._all_devices(request, key, where))
            request.count = len(request.all_devices)
        elif request.exact.allocation_mode == "ExactCount":
            request.count = request.exact.count
        else:
            raise AllocationFailed(f"{where}: unsupported count mode {request.exact.allocation_mode}")
        return request

    def _class(self, name: str, where: str) -> DeviceClass:
        if not name:
            raise AllocationFailed(f"{where}: missing device class name (unsupported request type?)")
        found = self._shared.classes(name)
        if found is None:
            missing = f'deviceclass.resource.k8s.io "{name}" not found'
            raise AllocationFailed(f"{where}: could not retrieve device class {name}: {missing}")
        return found

    def _all_devices(
        self, request: RequestData, key: tuple[int, int, int], where: str
    ) -> Iterator[tuple[Pool, SliceDevice]]:
        if self._rules.all_alternatives_share_matches and key[2]:
            key = (*key[:2], key[2] - 1)
        failed = FailedAllocationOnNode if self._rules.all_devices_fail_node else AllocationFailed
        for pool in self._pools:
            asks = f"{where}: asks for all devices, but resource pool {pool.id} is currently"
            if pool.is_incomplete:
                raise failed(f"{asks} being updated")
            if pool.invalid_reason is not None:
                raise failed(f"{asks} invalid")
            for one in pool.slices:
                for device in one.devices:
                    if self._eligibility.is_selectable(request, device, key) and self._eligibility.has_capacity(
                        request, device, empty=True
                    ):
                        yield pool, device


def _alternatives(index: int, request: DeviceRequest, where: str) -> Iterator[RequestData]:
    """Return what may meet the request: itself, or the first of its list that can be had."""
    for alternative in request.first_available:
        yield RequestData(index, alternative.name, request.name, alternative)
    if not request.first_available:
        if request.exact is None:
            raise AllocationFailed(f"{where}: missing device class name (unsupported request type?)")
        yield RequestData(index, request.name, None, request.exact)
