"""The devices that claims hold, without those that are about to be free (gatherAllocatedDevices of provisioning)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity, parse_quantity
from kubectl_sched.dynamic_resource_allocation.devices import DeviceID

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kubectl_sched.api.resource import ResourceClaim


class HeldDevices(NamedTuple):
    """Devices that have an owner, and how much is taken of those that several share."""

    devices: frozenset[DeviceID]
    shared: Mapping[DeviceID, Mapping[str, Quantity]]


class _Hold(NamedTuple):
    claim: ResourceClaim
    consumed: dict[str, Quantity] | None


def held_devices(claims: Iterable[ResourceClaim], leaving: Collection[str]) -> HeldDevices:
    """Return what the claims hold; `leaving` are the UIDs of pods that move off their nodes."""
    holds: dict[DeviceID, list[_Hold]] = defaultdict(list)
    for claim in claims:
        found: dict[DeviceID, _Hold] = {}
        for each in claim.status.allocation.devices.results if claim.status.allocation is not None else ():
            stated = each.consumed_capacity
            consumed = {name: parse_quantity(raw) for name, raw in stated.items()} if stated is not None else None
            found[DeviceID(each.driver, each.pool, each.device)] = _Hold(claim, consumed)
        for device, hold in found.items():
            holds[device].append(hold)
    devices: set[DeviceID] = set()
    shared: dict[DeviceID, dict[str, Quantity]] = {}
    for device, each_hold in holds.items():
        users = [uid for hold in each_hold for uid in pods_of(hold.claim)]
        if users and all(uid in leaving for uid in users):
            continue
        if all(hold.consumed is None for hold in each_hold):
            devices.add(device)
            continue
        left = _left_in_use(each_hold, leaving)
        if left:
            shared[device] = left
    return HeldDevices(frozenset(devices), shared)


def pods_of(claim: ResourceClaim) -> list[str]:
    """Return the UIDs of the pods that the claim is reserved for."""
    return [each.uid for each in claim.status.reserved_for if each.resource == "pods" and not each.api_group]


def is_leaving(claim: ResourceClaim, leaving: Collection[str]) -> bool:
    """Report whether only pods that move off their nodes use the claim (claimReservedEntirelyByDeletingPods)."""
    users = pods_of(claim)
    reserved = claim.status.reserved_for
    return bool(reserved) and len(users) == len(reserved) and all(uid in leaving for uid in users)


def _left_in_use(holds: Iterable[_Hold], leaving: Collection[str]) -> dict[str, Quantity]:
    """Return the consumed capacity without what leaving pods consume (effectiveConsumedCapacity)."""
    total: dict[str, Quantity] = {}
    freed: dict[str, Quantity] = {}
    for hold in holds:
        users = pods_of(hold.claim)
        is_freed = bool(users) and all(uid in leaving for uid in users)
        for name, amount in (hold.consumed or {}).items():
            total[name] = total.get(name, ZERO) + amount
            if is_freed:
                freed[name] = freed.get(name, ZERO) + amount
    left = {name: amount - freed.get(name, ZERO) for name, amount in total.items()}
    return {name: amount for name, amount in left.items() if name not in freed or amount > ZERO}
