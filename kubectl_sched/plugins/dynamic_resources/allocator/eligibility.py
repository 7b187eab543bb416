"""The devices that a request may have on a node, and whether enough of them is left (isSelectable, capacity)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.config.allocator_versions import BINDING_CONDITIONS
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.dynamic_resource_allocation.devices import node_matches
from kubectl_sched.plugins.dynamic_resources.allocator.capacity import CapacityUnknown, fits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import DeviceID, SliceDevice
    from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator
    from kubectl_sched.plugins.dynamic_resources.allocator.requests import RequestData


class Eligibility:
    """Checks of one device at a time, for the claims of one search; `capacity` is what the search has taken."""

    def __init__(self, shared: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> None:
        self._shared = shared
        self._node = node
        self._claims = claims
        self.arithmetic = shared.arithmetic
        self.capacity: dict[DeviceID, dict[str, Quantity]] = {}
        self._matches: dict[tuple[int, int, int], dict[SliceDevice, bool]] = {}

    def forget(self) -> None:
        """Ask every selector again."""
        self._matches.clear()

    def is_selectable(self, request: RequestData, device: SliceDevice, key: tuple[int, int, int]) -> bool:
        """Report whether the device satisfies class and request (isSelectable)."""
        if (
            self._shared.rules.knows_binding_conditions
            and BINDING_CONDITIONS not in self._shared.features
            and device.device.binding_conditions
        ):
            return False
        known = self._matches.setdefault(key, {})
        if device not in known:
            known[device] = self._matches_now(request, device)
        return known[device]

    def _matches_now(self, request: RequestData, device: SliceDevice) -> bool:
        claim = self._claims[request.claim_index]
        selectors, of_class = self._shared.selectors, request.device_class
        if not selectors.match(f"class {of_class.name}", of_class.spec.selectors, device):
            return False
        if not selectors.match(f"claim {claim.key}", request.exact.selectors, device):
            return False
        if not device.slice.published.spec.per_device_node_selection:
            return True
        published = device.device
        try:
            return node_matches(self._node, published.node_name, published.all_nodes, published.node_selector)
        except InvalidSelector as wrong:
            raise AllocationFailed(wrong.reason) from wrong

    def has_capacity(self, request: RequestData, device: SliceDevice, *, empty: bool = False) -> bool:
        """Report whether as much of the device is left as the request takes; `empty` of one that nobody uses."""
        if not self._shared.knows_capacity:
            return True
        forget = empty and self.arithmetic.strict
        try:
            return fits(
                request.exact.capacity,
                device,
                {} if forget else self._shared.allocated.capacity.get(device.id, {}),
                {} if forget else self.capacity.get(device.id, {}),
                self.arithmetic,
            )
        except CapacityUnknown:
            return False
        except AllocationFailed as failure:
            claim = self._claims[request.claim_index]
            named = device.id.device if empty else device.id
            where = f"claim {claim.key}, request {request.name}"
            raise AllocationFailed(f"{where}: checking capacity for device {named}: {failure}") from failure
