"""The devices that are allocated, and the claims that hold them (allocateddevices.go, dra_manager.go)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import field

from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity, parse_quantity
from kubectl_sched.dynamic_resource_allocation.devices import DeviceID
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.resource import ResourceClaim


class AllocatedState(Record, frozen=True, kw_only=True):
    """Devices that have an owner, those of which parts are given away, and how much of their capacities."""

    devices: frozenset[DeviceID] = frozenset()
    shared: frozenset[DeviceID] = frozenset()
    capacity: dict[DeviceID, dict[str, Quantity]] = field(default_factory=dict)
    holders: dict[DeviceID, list[ResourceClaim]] = field(default_factory=dict)

    def is_allocated(self, device: DeviceID) -> bool:
        """Report whether anybody has the device or a part of it (IsDeviceAllocated)."""
        return device in self.devices or device in self.shared or device in self.capacity


class NegativeCapacity(Exception):  # noqa: N818 - becomes a status
    """An allocated claim takes less than nothing of a device."""


def gather(claims: Iterable[ResourceClaim], consumable_capacity: bool, *, qualified_capacities: bool) -> AllocatedState:
    """Return the devices that the claims hold. Devices for administrators' access are not held.

    With `qualified_capacities` each capacity has a domain in its name, and a negative one raises NegativeCapacity.
    """
    claims = tuple(claims)
    if consumable_capacity and qualified_capacities:
        _refuse_negative(claims)
    devices: set[DeviceID] = set()
    shared: set[DeviceID] = set()
    capacity: dict[DeviceID, dict[str, Quantity]] = {}
    holders: dict[DeviceID, list[ResourceClaim]] = defaultdict(list)
    for claim in claims:
        for result in claim.status.allocation.devices.results if claim.status.allocation else ():
            if result.admin_access:
                continue
            device = DeviceID(result.driver, result.pool, result.device)
            holders[device].append(claim)
            if not consumable_capacity or result.share_id is None:
                devices.add(device)
                continue
            shared.add(device)
            if result.consumed_capacity is not None:
                amounts = capacity.setdefault(device, {})
                for written, raw in result.consumed_capacity.items():
                    name = f"{device.driver}/{written}" if qualified_capacities and "/" not in written else written
                    if name != written and name in result.consumed_capacity:
                        continue
                    consumed = parse_quantity(raw)
                    amounts[name] = amounts[name] + consumed if name in amounts else consumed
    return AllocatedState(
        devices=frozenset(devices), shared=frozenset(shared), capacity=capacity, holders=dict(holders)
    )


def _refuse_negative(claims: Iterable[ResourceClaim]) -> None:
    problems = sorted(problem for claim in claims for problem in _first_negative(claim))
    if problems:
        more = f" (and {len(problems) - 1} more claims with invalid consumed capacity)" if len(problems) > 1 else ""
        raise NegativeCapacity(problems[0] + more)


def _first_negative(claim: ResourceClaim) -> Iterator[str]:
    for result in claim.status.allocation.devices.results if claim.status.allocation else ():
        for name, raw in sorted((result.consumed_capacity or {}).items()):
            amount = parse_quantity(raw)
            if amount < ZERO:
                yield (
                    f"claim {claim.key}, device {result.driver}/{result.pool}/{result.device}: consumed capacity "
                    f'"{name}" must not be negative, got {amount}'
                )
                return
