"""The search for devices on one node (structured/internal/*/allocator_*.go).

Every request is tried with every device in turn, the first full solution wins. Where minors differ, also in what they
get wrong, `DeviceRules` says so.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

from kubectl_sched.api.resource import ALLOCATION_RESULTS_MAX_SIZE
from kubectl_sched.dynamic_resource_allocation.allocation_errors import (
    AllocationFailed,
    FailedAllocationOnNode,
    SearchTooLong,
)
from kubectl_sched.plugins.dynamic_resources.allocator.allocation import Allocation
from kubectl_sched.plugins.dynamic_resources.allocator.device_allocation import TentativeAllocation
from kubectl_sched.plugins.dynamic_resources.allocator.eligibility import Eligibility
from kubectl_sched.plugins.dynamic_resources.allocator.request_validation import RequestChecker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator
    from kubectl_sched.plugins.dynamic_resources.allocator.pools import Pool
    from kubectl_sched.plugins.dynamic_resources.allocator.requests import ClaimData, RequestData

_STEPS_A_DEVICE = 10
_DEVICES_A_LOOK = 64
"""So many devices are tried from one look at the clock to the next."""


class _LimitExceeded(Exception):  # noqa: N818 - caught within the search
    """More devices than a claim may hold (errAllocationResultMaxSizeExceeded)."""


def allocate(allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> list[Allocation] | None:
    """Return the devices for each claim, None if they cannot all be had; raises AllocationFailed."""
    return Search(allocator, node, claims).run(claims)


class Search:
    """One node's search."""

    def __init__(self, shared: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> None:
        self._shared = shared
        self._rules = shared.rules
        self._pools = shared.pools(node)
        self._eligibility = Eligibility(shared, node, claims)
        self._node_name = node.name
        self._tentative = TentativeAllocation(shared, node, claims, self._eligibility)
        self._claims: list[ClaimData] = []
        self._tried = 0
        self._ends_at = math.inf if shared.timeout is None else time.monotonic() + shared.timeout

    def run(self, claims: Sequence[ResourceClaim]) -> list[Allocation] | None:
        """Check the requests, then search."""
        checker = RequestChecker(self._shared, self._pools, self._eligibility)
        for index, claim in enumerate(claims):
            self._claims.append(checker.check(index, claim))
            self._tentative.constrain(claim)
        self._eligibility.forget()
        if not self._finds_all():
            if not self._rules.invalid_pool_fails and any(pool.invalid_reason is not None for pool in self._pools):
                raise FailedAllocationOnNode("invalid resource pools were encountered")
            return None
        found = zip(self._claims, self._tentative.results, strict=True)
        allocations = [Allocation(data.claim, tuple(devices)) for data, devices in found]
        for each in allocations:
            if any(_has_several_terms(device) for _, device, _ in each.devices):
                from kubectl_sched.plugins.dynamic_resources.allocator.allocation_result import (
                    node_selector,  # hardly ever
                )

                node_selector(each, self._node_name, self._shared)
        return allocations

    def _finds_all(self) -> bool:
        try:
            return self._next_claim(0)
        except _LimitExceeded:
            # No other choice of devices makes a request smaller.
            return False

    def _next_claim(self, index: int) -> bool:
        return index >= len(self._claims) or self._next_request(index, 0)

    def _next_request(self, claim: int, position: int) -> bool:
        requests = self._claims[claim].requests
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
        request = self._claims[claim].requests[position][alternative]
        if request.wants_all and not request.all_devices:
            return False
        if number >= request.count:
            return self._next_request(claim, position + 1)
        again = 0 if self._rules.device_limit_counts_twice else number
        if request.count - again > ALLOCATION_RESULTS_MAX_SIZE - len(self._tentative.results[claim]):
            raise _LimitExceeded
        if request.wants_all:
            return self._all_or_nothing(key, request, number)
        return self._one_of_many(key, request, number, start)

    def _all_or_nothing(self, key: tuple[int, int, int], request: RequestData, number: int) -> bool:
        pool, device = request.all_devices[number]
        undo = self._tentative.take(request, pool, device, number, must=True)
        if undo is None:
            return False
        following = (*key[:2], 0) if self._rules.all_devices_forget_alternative else key
        try:
            done = self._next_device(following, number + 1, (0, 0, 0))
        except _LimitExceeded:
            undo()
            raise
        if not done and not self._rules.all_devices_stay_taken:
            undo()
        return done

    def _one_of_many(
        self, key: tuple[int, int, int], request: RequestData, number: int, start: tuple[int, int, int]
    ) -> bool:
        for where, pool, device in self._from(start):
            if self._tentative.is_in_use(request, device.id) or not self._eligibility.is_selectable(
                request, device, key
            ):
                continue
            if not self._eligibility.has_capacity(request, device):
                continue
            undo = self._tentative.take(request, pool, device, number, must=False)
            if undo is None:
                continue
            following = (*where[:2], where[2] + 1) if self._shared.channel.tries_combinations else (0, 0, 0)
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
        for pool_index in range(start[0], len(self._pools)):
            pool = self._pools[pool_index]
            if pool.invalid_reason is not None and self._rules.invalid_pool_fails:
                raise AllocationFailed(f"pool {pool.id.pool} is invalid: {pool.invalid_reason}")
            if pool.invalid_reason is not None or (pool.is_incomplete and not self._rules.incomplete_pool_is_used):
                continue
            for slice_index in range(start[1] if pool_index == start[0] else 0, len(pool.slices)):
                devices = pool.slices[slice_index].devices
                begun = (pool_index, slice_index) == start[:2]
                for device_index in range(start[2] if begun else 0, len(devices)):
                    self._try()
                    yield (pool_index, slice_index, device_index), pool, devices[device_index]

    def _try(self) -> None:
        """Count one more device that is tried; raise BudgetEnded, or SearchTooLong when the node's time is over."""
        self._shared.budget.spend(_STEPS_A_DEVICE)
        self._tried += 1
        if self._tried % _DEVICES_A_LOOK == 0 and time.monotonic() > self._ends_at:
            raise SearchTooLong


def _has_several_terms(device: SliceDevice) -> bool:
    """Report whether the nodes of a device, or of its slice, are selected by several terms, which upstream refuses."""
    selectors = (device.slice.published.spec.node_selector, device.device.node_selector)
    return any(each is not None and len(each.node_selector_terms) > 1 for each in selectors)
