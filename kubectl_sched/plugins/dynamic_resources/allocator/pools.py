"""The pools that a node can reach (structured/internal/*/pools_*.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.config.allocator_versions import COMPATIBILITY_GROUPS, PARTITIONABLE
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.dynamic_resource_allocation.devices import PoolID, node_matches
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.resource import CounterSet
    from kubectl_sched.config.allocator_versions import AllocatorChannel, DeviceRules
    from kubectl_sched.dynamic_resource_allocation.devices import PoolSlice, SliceIndex


class Pool(CachingRecord, frozen=True, kw_only=True):
    """The part of a pool that a node can reach; `elsewhere` are devices on other nodes that share its counters."""

    id: PoolID
    slices: tuple[PoolSlice, ...] = ()
    elsewhere: tuple[PoolSlice, ...] = ()
    counter_sets: tuple[CounterSet, ...] = ()
    is_incomplete: bool = False
    invalid_reason: str | None = None
    missing: str | None = None
    """The numbers of slices found and expected, if the pool is incomplete."""


def gather_pools(
    index: SliceIndex, node: Node, features: frozenset[str], rules: DeviceRules, channel: AllocatorChannel
) -> list[Pool]:
    """The pools in the order of their names, those with binding conditions last; raises AllocationFailed."""
    reached: dict[PoolID, list[PoolSlice]] = {}
    for one in index.for_node(node.metadata.name):
        if _is_known(one, features, channel) and _is_reached(one, node, channel):
            _add(reached, one)
    for slices in reached.values():
        slices.sort(key=_place_in_pool(channel.knows_capacity and rules.binding_slices_are_last))
    pools = [
        pool
        for pool_id, slices in sorted(reached.items())
        if (pool := _pool(pool_id, slices, index, features, rules, channel)) is not None
    ]
    if not channel.knows_capacity:
        return pools
    return sorted(pools, key=_has_binding_conditions)


def _place_in_pool(binding_conditions_last: bool) -> Callable[[PoolSlice], tuple[bool, str]]:
    return lambda one: (binding_conditions_last and _needs_binding(one), one.name)


def _is_known(one: PoolSlice, features: frozenset[str], channel: AllocatorChannel) -> bool:
    """Slices of features that are off are passed over."""
    if PARTITIONABLE not in features:
        if one.published.spec.per_device_node_selection is not None:
            return False
        if one.has_counters and not channel.knows_all_slices:
            return False
    return COMPATIBILITY_GROUPS in features or not _has_compatibility_groups(one)


def _has_compatibility_groups(one: PoolSlice) -> bool:
    return any(counters.compatibility_groups for device in one.devices for counters in device.device.consumes_counters)


def _is_reached(one: PoolSlice, node: Node, channel: AllocatorChannel) -> bool:
    spec = one.published.spec
    if one.has_counters and channel.reaches_all_counters:
        return True
    if spec.node_name or spec.all_nodes or spec.node_selector is not None:
        try:
            return node_matches(node, spec.node_name, spec.all_nodes, spec.node_selector)
        except InvalidSelector as wrong:
            message = f"gather pool information: failed to perform node selection for slice {one.name}: {wrong.reason}"
            raise AllocationFailed(message) from wrong
    return bool(spec.per_device_node_selection) and any(_device_is_reached(one, node))


def _device_is_reached(one: PoolSlice, node: Node) -> Iterable[bool]:
    for device in one.devices:
        published = device.device
        try:
            yield node_matches(node, published.node_name, published.all_nodes, published.node_selector)
        except InvalidSelector as wrong:
            what = f"device {published.name} in slice {one.name}"
            message = f"gather pool information: failed to perform node selection for {what}: {wrong.reason}"
            raise AllocationFailed(message) from wrong


def _add(reached: dict[PoolID, list[PoolSlice]], one: PoolSlice) -> None:
    """Only the slices of the newest generation count."""
    slices = reached.get(one.pool_id)
    if slices is None or one.generation > slices[0].generation:
        reached[one.pool_id] = [one]
    elif one.generation == slices[0].generation:
        slices.append(one)


def _pool(
    pool_id: PoolID,
    slices: list[PoolSlice],
    index: SliceIndex,
    features: frozenset[str],
    rules: DeviceRules,
    channel: AllocatorChannel,
) -> Pool | None:
    """None if a newer generation, which this node does not reach, replaces the pool."""
    expected = slices[0].published.spec.pool.resource_slice_count
    missing = f"{len(slices)} of {expected}"
    if rules.incomplete_pool_is_used:
        counted = len(slices)
        reason = _duplicate_device(slices)
        incomplete = counted != expected
        return Pool(
            id=pool_id,
            slices=tuple(slices),
            is_incomplete=incomplete,
            invalid_reason=reason,
            missing=missing if incomplete else None,
        )
    others: list[PoolSlice] = []
    if len(slices) != expected:
        known = [
            one
            for one in index.by_pool[pool_id]
            if COMPATIBILITY_GROUPS in features or not _has_compatibility_groups(one)
        ]
        if any(one.generation > slices[0].generation for one in index.by_pool[pool_id]):
            return None
        present = [one for one in known if one.generation == slices[0].generation]
        if len(present) != expected:
            reason = _duplicate_device(slices) if channel.knows_all_slices else None
            return Pool(id=pool_id, is_incomplete=True, invalid_reason=reason, missing=f"{len(present)} of {expected}")
        others = [one for one in present if one not in slices]
    return _complete_pool(pool_id, slices, others, features)


def _complete_pool(
    pool_id: PoolID, slices: Sequence[PoolSlice], others: Sequence[PoolSlice], features: frozenset[str]
) -> Pool:
    partitionable = PARTITIONABLE in features
    with_devices = tuple(one for one in slices if not (partitionable and one.has_counters))
    reason = _duplicate_device(with_devices)
    if reason is not None:
        return Pool(id=pool_id, invalid_reason=reason)
    if not partitionable:
        return Pool(id=pool_id, slices=with_devices)
    counter_sets = tuple(
        counters for one in (*slices, *others) if one.has_counters for counters in one.published.spec.shared_counters
    )
    elsewhere = tuple(one for one in others if not one.has_counters)
    reason = _wrong_counters(counter_sets, (*with_devices, *elsewhere))
    if reason is not None:
        return Pool(id=pool_id, invalid_reason=reason)
    return Pool(id=pool_id, slices=with_devices, elsewhere=elsewhere, counter_sets=counter_sets)


def _duplicate_device(slices: Iterable[PoolSlice]) -> str | None:
    seen: set[str] = set()
    for one in slices:
        for device in one.devices:
            if device.id.device in seen:
                return f"duplicate device name {device.id.device}"
            seen.add(device.id.device)
    return None


def _wrong_counters(counter_sets: Sequence[CounterSet], slices: Iterable[PoolSlice]) -> str | None:
    known: dict[str, CounterSet] = {}
    for counters in counter_sets:
        if counters.name in known:
            return f"duplicate counter set name {counters.name}"
        known[counters.name] = counters
    for one in slices:
        for device in one.devices:
            for consumed in device.device.consumes_counters:
                if consumed.counter_set not in known:
                    return f"counter set {consumed.counter_set} not found"
                for name in consumed.counters:
                    if name not in known[consumed.counter_set].counters:
                        return f"counter {name} not found in counter set {consumed.counter_set}"
    return None


def _has_binding_conditions(pool: Pool) -> bool:
    return any(_needs_binding(one) for one in pool.slices)


def _needs_binding(one: PoolSlice) -> bool:
    return any(device.device.binding_conditions is not None for device in one.devices)
