"""Pools of published devices, as far as a NodeClaim reaches them (pkg/scheduling/dynamicresources/pool.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec import field
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import Quantity, parse_quantity
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import (
    is_compatible,
    merged,
    selector_requirements,
)
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.dynamic_resource_allocation.devices import DeviceID, PoolID, PoolSlice, SliceDevice
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements

CounterName: TypeAlias = "tuple[str, str]"
"""A counter set and a counter in it."""


class Candidate(NamedTuple):
    """A device that may be allocated, and what its slice asks of the node."""

    device: SliceDevice
    requirements: Requirements | None = None
    is_expected: bool = False
    """A driver will publish the device once the node is there."""

    @property
    def key(self) -> tuple[bool, DeviceID]:
        """Return the device's name, which one that is expected may share with one that is published."""
        return self.is_expected, self.device.id


class Reach(NamedTuple):
    """The place of a node, which decides what devices it reaches."""

    requirements: Requirements
    node_name: str
    well_known: frozenset[str]

    def has(self, published: PoolSlice) -> bool:
        """Report whether the slice's devices can be reached (sliceMatchesRequirements)."""
        spec = published.published.spec
        if spec.all_nodes or published.has_counters:
            return True
        if spec.node_name:
            return spec.node_name == self.node_name
        if spec.node_selector is None:
            return False
        terms = (selector_requirements(each.match_expressions) for each in spec.node_selector.node_selector_terms)
        return any(is_compatible(self.requirements, each, self.well_known) for each in terms)


class PublishedPool(Record, frozen=True, kw_only=True):
    """Slices of one pool and generation that a NodeClaim reaches."""

    id: PoolID
    slices: tuple[PoolSlice, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    elsewhere: tuple[SliceDevice, ...] = ()
    """Devices out of reach that consume counters."""

    counters: dict[CounterName, Quantity] = field(default_factory=dict)
    is_incomplete: bool = False
    is_invalid: bool = False

    @property
    def is_empty(self) -> bool:
        """Report whether nothing of the pool is of interest."""
        return not (self.slices or self.elsewhere or self.is_invalid)


def gather_pools(slices: Iterable[PoolSlice], reach: Reach) -> list[PublishedPool]:
    """Return the pools with the slices of their newest generations that can be reached (GatherPools)."""
    newest: dict[PoolID, list[PoolSlice]] = {}
    for each in slices:
        known = newest.get(each.pool_id)
        if known is None or each.generation > known[0].generation:
            newest[each.pool_id] = [each]
        elif each.generation == known[0].generation:
            known.append(each)
    pools = (_pool(pool_id, members, reach) for pool_id, members in newest.items())
    return [each for each in pools if not each.is_empty]


def filter_pools(pools: Iterable[PublishedPool], reach: Reach) -> list[PublishedPool]:
    """Return what a NodeClaim with narrower requirements reaches of the pools (FilterPools)."""
    narrowed = (_narrowed(each, reach) for each in pools)
    return [each for each in narrowed if not each.is_empty]


def topology_of(published: PoolSlice) -> Requirements | None:
    """Return what a slice asks of the node: all of its terms together, as upstream adds them up."""
    spec = published.published.spec
    if spec.all_nodes or spec.node_selector is None:
        return None
    terms = spec.node_selector.node_selector_terms
    return merged(*(selector_requirements(each.match_expressions).values() for each in terms))


def _pool(pool_id: PoolID, members: Sequence[PoolSlice], reach: Reach) -> PublishedPool:
    incomplete = len(members) != members[0].published.spec.pool.resource_slice_count
    counters, are_valid = _counter_sets(each for each in members if each.has_counters)
    with_devices = [each for each in members if not each.has_counters]
    reached = tuple(each for each in with_devices if reach.has(each))
    others = _consumers(each for each in with_devices if not reach.has(each))
    names = [device.id.device for each in reached for device in each.devices]
    consumed = {
        (consumption.counter_set, name)
        for each in with_devices
        for device in each.devices
        for consumption in device.device.consumes_counters
        for name in consumption.counters
    }
    if not are_valid or len(set(names)) < len(names) or not consumed <= counters.keys():
        return PublishedPool(
            id=pool_id,
            elsewhere=(*others, *_consumers(reached)),
            counters=counters,
            is_incomplete=incomplete,
            is_invalid=True,
        )
    return PublishedPool(
        id=pool_id,
        slices=reached,
        candidates=_candidates(reached),
        elsewhere=others,
        counters=counters,
        is_incomplete=incomplete,
    )


def _narrowed(pool: PublishedPool, reach: Reach) -> PublishedPool:
    kept = tuple(each for each in pool.slices if reach.has(each))
    if len(kept) == len(pool.slices):
        return pool
    lost = _consumers(each for each in pool.slices if each not in kept)
    return replace(pool, slices=kept, candidates=_candidates(kept), elsewhere=(*pool.elsewhere, *lost))


def _candidates(slices: Iterable[PoolSlice]) -> tuple[Candidate, ...]:
    return tuple(
        Candidate(device, wanted) for each in slices for wanted in [topology_of(each)] for device in each.devices
    )


def _consumers(slices: Iterable[PoolSlice]) -> tuple[SliceDevice, ...]:
    return tuple(device for each in slices for device in each.devices if device.device.consumes_counters)


def _counter_sets(slices: Iterable[PoolSlice]) -> tuple[dict[CounterName, Quantity], bool]:
    """Return the counters, and whether each set is there once."""
    counters: dict[CounterName, Quantity] = {}
    seen: set[str] = set()
    are_valid = True
    for published in slices:
        for each in published.published.spec.shared_counters:
            are_valid = are_valid and each.name not in seen
            seen.add(each.name)
            counters |= {(each.name, name): parse_quantity(counter.value) for name, counter in each.counters.items()}
    return counters, are_valid
