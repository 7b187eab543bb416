"""The result of a search for devices (resourceapi.AllocationResult, before it is written)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.plugins.dynamic_resources.allocator.requests import RequestData


class AllocatedDevice(NamedTuple):
    """One device for one request, and what it takes of the device where several share it."""

    request: RequestData
    device: SliceDevice
    consumed: Mapping[str, Quantity] | None


class Allocation(NamedTuple):
    """The devices that a claim would get."""

    claim: ResourceClaim
    devices: tuple[AllocatedDevice, ...]
