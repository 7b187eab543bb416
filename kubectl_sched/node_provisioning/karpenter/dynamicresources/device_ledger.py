"""The devices, counters and capacities that are taken, by node and instance type (allocationtracker.go).

A NodeClaim becomes a node of one of its instance types. What is taken of published devices is therefore the most that
any of the types takes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity, parse_quantity
from kubectl_sched.dynamic_resource_allocation.devices import DeviceID, PoolID
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.held_devices import HeldDevices
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.published_pools import Candidate, PublishedPool

CounterKey: TypeAlias = tuple[PoolID, str, str]
"""A pool, a counter set and a counter in it."""

CapacityKey: TypeAlias = tuple[DeviceID, str]
Place: TypeAlias = tuple[str, str]
"""A node or NodeClaim and an instance type."""

K = TypeVar("K")


class Taken(Record, frozen=True, kw_only=True):
    """The devices that a pod's claims take of a node of one instance type."""

    candidates: tuple[Candidate, ...]
    counters: dict[CounterKey, Quantity]
    """Of published pools; `expected_counters` are of pools that are expected of the node."""

    capacity: dict[CapacityKey, Quantity]
    expected_counters: dict[CounterKey, Quantity]
    expected_capacity: dict[CapacityKey, Quantity]


class _Holder(NamedTuple):
    node: str
    types: set[str]


class DeviceLedger:
    """Everything that is taken in one simulation."""

    def __init__(self, held: HeldDevices, pools: Iterable[PublishedPool]) -> None:
        self._held = held
        self._holders: dict[DeviceID, _Holder] = {}
        self._expected: dict[Place, set[DeviceID]] = defaultdict(set)
        self._counters: dict[str, dict[str, dict[CounterKey, Quantity]]] = defaultdict(dict)
        self._capacity: dict[str, dict[str, dict[CapacityKey, Quantity]]] = defaultdict(dict)
        self._capacity_in_use: dict[CapacityKey, Quantity] = {}
        self._expected_counters: dict[Place, dict[CounterKey, Quantity]] = {}
        self._expected_capacity: dict[Place, dict[CapacityKey, Quantity]] = defaultdict(dict)
        self.counters_left: dict[CounterKey, Quantity] = {}
        for pool in pools:
            self._open(pool)

    def _open(self, pool: PublishedPool) -> None:
        """Count what the pool's counters have besides devices that are held (InitRemainingCounters)."""
        left = {(pool.id, *name): amount for name, amount in pool.counters.items()}
        for device in (*(each.device for each in pool.candidates), *pool.elsewhere):
            if device.id in self._held.devices or device.id in self._held.shared:
                subtract(left, consumption(device))
        self.counters_left |= left

    def is_taken(self, candidate: Candidate, node: str, instance_type: str) -> bool:
        """Report whether a device has an owner, as seen from a node of this type (IsAllocated)."""
        device = candidate.device.id
        if candidate.is_expected:
            return device in self._expected.get((node, instance_type), ())
        holder = self._holders.get(device)
        if device in self._held.devices:
            return True
        return holder is not None and (holder.node != node or instance_type in holder.types)

    def capacity_in_use(self, candidate: Candidate, name: str, node: str, instance_type: str) -> Quantity:
        """Return how much of a shared device's capacity is taken."""
        key = candidate.device.id, name
        if candidate.is_expected:
            return self._expected_capacity.get((node, instance_type), {}).get(key, ZERO)
        held = self._held.shared.get(candidate.device.id, {}).get(name, ZERO)
        return held + self._capacity_in_use.get(key, ZERO)

    def expected_counters_left(self, node: str, instance_type: str) -> Mapping[CounterKey, Quantity] | None:
        """Return what counters of expected pools have left; None if nothing was taken of them yet."""
        return self._expected_counters.get((node, instance_type))

    def commit(self, node: str, taken: Mapping[str, Taken], budgets: Mapping[str, dict[CounterKey, Quantity]]) -> None:
        """Take the devices; `budgets` are the counters of expected pools by instance type (Commit)."""
        for kind, each in taken.items():
            for candidate in each.candidates:
                if candidate.device.device.allow_multiple_allocations:
                    continue
                if candidate.is_expected:
                    self._expected[node, kind].add(candidate.device.id)
                else:
                    self._holders.setdefault(candidate.device.id, _Holder(node, set())).types.add(kind)
            left = self._expected_counters.setdefault((node, kind), dict(budgets.get(kind, {})))
            subtract(left, each.expected_counters)
            add(self._expected_capacity[node, kind], each.expected_capacity)
        self._change(node, {kind: (each.counters, each.capacity) for kind, each in taken.items()}, ())

    def release(self, node: str, kinds: Iterable[str]) -> None:
        """Give back what instance types took that the NodeClaim no longer has (ReleaseInstanceTypes)."""
        gone = tuple(kinds)
        for device, holder in list(self._holders.items()):
            if holder.node == node:
                holder.types.difference_update(gone)
                if not holder.types:
                    del self._holders[device]
        for kind in gone:
            self._expected.pop((node, kind), None)
            self._expected_counters.pop((node, kind), None)
            self._expected_capacity.pop((node, kind), None)
        self._change(node, {}, gone)

    def _change(
        self,
        node: str,
        more: Mapping[str, tuple[Mapping[CounterKey, Quantity], Mapping[CapacityKey, Quantity]]],
        gone: Iterable[str],
    ) -> None:
        """Bring what published pools have left to the most that any type takes now."""
        counters, capacity = self._counters[node], self._capacity[node]
        before, capacity_before = most(counters.values()), most(capacity.values())
        for kind, (of_counters, of_capacity) in more.items():
            add(counters.setdefault(kind, {}), of_counters)
            add(capacity.setdefault(kind, {}), of_capacity)
        for kind in gone:
            counters.pop(kind, None)
            capacity.pop(kind, None)
        after, capacity_after = most(counters.values()), most(capacity.values())
        subtract(self.counters_left, _growth(before, after))
        add(self.counters_left, _growth(after, before))
        add(self._capacity_in_use, _growth(capacity_before, capacity_after))
        subtract(self._capacity_in_use, _growth(capacity_after, capacity_before))


def consumption(device: SliceDevice) -> dict[CounterKey, Quantity]:
    """Return what a device takes of counters while it is allocated."""
    pool = PoolID(device.id.driver, device.id.pool)
    found: dict[CounterKey, Quantity] = {}
    for each in device.device.consumes_counters:
        add(found, {(pool, each.counter_set, name): parse_quantity(one.value) for name, one in each.counters.items()})
    return found


def add(amounts: dict[K, Quantity], more: Mapping[K, Quantity]) -> None:
    """Add to each amount."""
    for key, amount in more.items():
        amounts[key] = amounts[key] + amount if key in amounts else amount


def subtract(amounts: dict[K, Quantity], less: Mapping[K, Quantity]) -> None:
    """Subtract from the amounts that are there."""
    for key, amount in less.items():
        if key in amounts:
            amounts[key] -= amount


def most(several: Iterable[Mapping[K, Quantity]]) -> dict[K, Quantity]:
    """Return the largest amount of each kind."""
    found: dict[K, Quantity] = {}
    for amounts in several:
        for key, amount in amounts.items():
            found[key] = max(amount, found[key]) if key in found else amount
    return found


def _growth(before: Mapping[K, Quantity], after: Mapping[K, Quantity]) -> dict[K, Quantity]:
    grown = {key: amount - before.get(key, ZERO) for key, amount in after.items()}
    return {key: amount for key, amount in grown.items() if amount > ZERO}
