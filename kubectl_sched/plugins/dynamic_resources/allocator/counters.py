"""Shared counters: what partitions of one device take from it (checkAvailableCounters)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity, parse_quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from kubectl_sched.api.resource import CounterSet, DeviceCounterConsumption
    from kubectl_sched.config.allocator_versions import DeviceRules
    from kubectl_sched.dynamic_resource_allocation.allocated_devices import AllocatedState
    from kubectl_sched.dynamic_resource_allocation.devices import DeviceID, PoolSlice, SliceDevice
    from kubectl_sched.plugins.dynamic_resources.allocator.pools import Pool

Amounts: TypeAlias = dict[str, dict[str, Quantity]]
"""By counter set and counter."""


class CounterLedger:
    """The rest of all counters. The nodes of a cycle share it, as in upstream's allocator."""

    def __init__(self, allocated: AllocatedState, rules: DeviceRules) -> None:
        self._allocated = allocated
        self._rules = rules
        self._available: dict[Hashable, Amounts] = {}

    def key(self, pool: Pool, device: SliceDevice) -> Hashable:
        """Return the pool that the device's counters belong to."""
        if self._rules.counters_by == "slice":
            return device.slice.name
        return pool.id.pool if self._rules.counters_by == "pool name" else pool.id

    def available(self, pool: Pool, device: SliceDevice) -> Amounts:
        """Return what allocated devices leave of the counters; it may be negative."""
        key = self.key(pool, device)
        if key not in self._available:
            by_slice = self._rules.counters_by == "slice"
            sets = device.slice.published.spec.shared_counters if by_slice else pool.counter_sets
            slices = (device.slice,) if by_slice else (*pool.slices, *pool.elsewhere)
            self._available[key] = left_over(sets, slices, self._is_allocated)
        return self._available[key]

    def _is_allocated(self, device: DeviceID) -> bool:
        if self._rules.shared_device_holds_counters:
            return self._allocated.is_allocated(device)
        return device in self._allocated.devices


def left_over(
    counter_sets: Iterable[CounterSet], slices: Iterable[PoolSlice], is_taken: Callable[[DeviceID], bool]
) -> Amounts:
    """The counters less what the devices that are taken consume; counters that no set has are passed over."""
    amounts: Amounts = {
        one.name: {name: parse_quantity(counter.value) for name, counter in one.counters.items()}
        for one in counter_sets
    }
    for consumed in _consumed(slices, is_taken):
        counters = amounts.get(consumed.counter_set, {})
        for name in consumed.counters.keys() & counters.keys():
            counters[name] -= parse_quantity(consumed.counters[name].value)
    return amounts


def _consumed(slices: Iterable[PoolSlice], is_taken: Callable[[DeviceID], bool]) -> Iterator[DeviceCounterConsumption]:
    """Return the sum of what the taken devices consume."""
    for one in slices:
        for device in one.devices:
            if device.device.consumes_counters and is_taken(device.id):
                yield from device.device.consumes_counters


class ConsumedCounters:
    """The counters that the devices being allocated on one node take."""

    def __init__(self) -> None:
        self._consumed: dict[Hashable, Amounts] = {}

    def take(self, key: Hashable, device: SliceDevice, available: Mapping[str, Mapping[str, Quantity]]) -> bool:
        """Report whether no counter of the pool is exceeded with the device; if so, its counters are taken."""
        self._add(key, device, 1)
        consumed = self._consumed[key]
        for set_name, counters in available.items():
            taken = consumed.get(set_name, {})
            if any(amount < taken.get(name, ZERO) for name, amount in counters.items()):
                self.give_back(key, device)
                return False
        return True

    def give_back(self, key: Hashable, device: SliceDevice) -> None:
        """Undo `take`."""
        self._add(key, device, -1)

    def _add(self, key: Hashable, device: SliceDevice, sign: int) -> None:
        sets = self._consumed.setdefault(key, {})
        for consumed in device.device.consumes_counters:
            counters = sets.setdefault(consumed.counter_set, {})
            for name, counter in consumed.counters.items():
                amount = parse_quantity(counter.value)
                before = counters.get(name, ZERO)
                counters[name] = before + amount if sign > 0 else before - amount


class CompatibilityGroups:
    """Devices that take from one counter set must have a compatibility group in common (compatibility_groups.go)."""

    def __init__(self, allocated: AllocatedState) -> None:
        self._allocated = allocated
        self._members: dict[tuple[Hashable, str], list[frozenset[str]]] = {}

    def admit(self, pool: Pool, device: SliceDevice) -> list[tuple[Hashable, str]] | None:
        """None if the device may not be added; else what to give to `forget`."""
        added: list[tuple[Hashable, str]] = []
        for consumed in device.device.consumes_counters:
            key = (pool.id, consumed.counter_set)
            members = self._members.setdefault(key, self._present(pool, consumed.counter_set))
            groups = frozenset(consumed.compatibility_groups)
            if not _admits(members, groups):
                self.forget(added)
                return None
            members.append(groups)
            added.append(key)
        return added

    def forget(self, added: Iterable[tuple[Hashable, str]]) -> None:
        """Undo `admit`."""
        for key in added:
            self._members[key].pop()

    def _present(self, pool: Pool, counter_set: str) -> list[frozenset[str]]:
        return [
            frozenset(consumed.compatibility_groups)
            for consumed in _consumed((*pool.slices, *pool.elsewhere), self._allocated.is_allocated)
            if consumed.counter_set == counter_set
        ]


def _admits(members: list[frozenset[str]], groups: frozenset[str]) -> bool:
    if not members:
        return True
    if not members[0]:
        return not groups
    if not groups:
        return False
    common = members[0]
    for other in members[1:]:
        common = common & other if other else common
    return bool(common & groups)
