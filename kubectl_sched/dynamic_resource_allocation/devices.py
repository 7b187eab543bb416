"""The devices that drivers publish, each slice read once (resourceslice/tracker, api/types.go)."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.component_helpers.node_affinity import strict_node_selector
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubectl_sched.api import affinity
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.resource import Device, DeviceTaintRule, ResourceSlice


class DeviceID(NamedTuple):
    """Names a device in the cluster."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class PoolID(NamedTuple):
    """Names a pool in the cluster."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class SliceDevice(CachingRecord, frozen=True, kw_only=True):
    """A device and the slice that it is in; each is one object, so that identity tells them apart."""

    id: DeviceID
    device: Device
    slice: PoolSlice


class PoolSlice(CachingRecord, frozen=True, kw_only=True):
    """A slice with its taint rules applied."""

    published: ResourceSlice

    @cached_property
    def pool_id(self) -> PoolID:
        """The pool that it is part of."""
        return PoolID(self.published.spec.driver, self.published.spec.pool.name)

    @cached_property
    def devices(self) -> tuple[SliceDevice, ...]:
        """Its devices, as v1 has them."""
        return tuple(
            SliceDevice(id=DeviceID(*self.pool_id, device.name), device=device.flat, slice=self)
            for device in self.published.spec.devices
        )

    @property
    def name(self) -> str:
        """The slice's name."""
        return self.published.metadata.name

    @property
    def generation(self) -> int:
        """The generation of the pool that it belongs to."""
        return self.published.spec.pool.generation

    @property
    def has_counters(self) -> bool:
        """Report whether it holds counter sets, and no devices."""
        return bool(self.published.spec.shared_counters)


class SliceIndex:
    """All slices, and which of them a node has to look at (NewAllocator)."""

    def __init__(self, slices: Iterable[ResourceSlice]) -> None:
        self.slices = tuple(sorted((PoolSlice(published=one) for one in slices), key=lambda one: one.name))
        self._on_node: dict[str, list[PoolSlice]] = defaultdict(list)
        self._shared: list[PoolSlice] = []
        self.by_pool: dict[PoolID, list[PoolSlice]] = defaultdict(list)
        for one in self.slices:
            self.by_pool[one.pool_id].append(one)
            if not one.published.spec.node_name or one.has_counters:
                self._shared.append(one)
            else:
                self._on_node[one.published.spec.node_name].append(one)

    def for_node(self, name: str) -> Sequence[PoolSlice]:
        """The node's own slices and those that are not a single node's."""
        return [*self._on_node.get(name, ()), *self._shared]


def node_matches(node: Node, node_name: str | None, all_nodes: bool, selector: affinity.NodeSelector | None) -> bool:
    """Report whether a slice or device can be reached from the node (NodeMatches); raises InvalidSelector."""
    if node_name:
        return node.metadata.name == node_name
    if all_nodes:
        return True
    if selector is None:
        return False
    try:
        return strict_node_selector(selector).matches(node.metadata.labels, node.metadata.name)
    except InvalidSelector as error:
        raise InvalidSelector(f"failed to parse node selector {_shown(selector)}: {error.reason}") from None


def _shown(selector: affinity.NodeSelector) -> str:
    """Return the selector as its generated String method writes it."""

    def listed(requirements: Iterable[affinity.NodeSelectorRequirement]) -> str:
        shown = (
            f"NodeSelectorRequirement{{Key:{each.key},Operator:{each.operator},Values:[{' '.join(each.values)}],}},"
            for each in requirements
        )
        return f"[]NodeSelectorRequirement{{{''.join(shown)}}}"

    terms = (
        f"NodeSelectorTerm{{MatchExpressions:{listed(each.match_expressions)},MatchFields:{listed(each.match_fields)},}},"
        for each in selector.node_selector_terms
    )
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{''.join(terms)}}},}}"


def with_taint_rules(
    slices: Sequence[ResourceSlice],
    rules: Sequence[DeviceTaintRule],
    selected: Callable[[DeviceTaintRule, str, Device], bool],
) -> Sequence[ResourceSlice]:
    """The slices with the rules' taints added to their devices; `selected` asks a rule's class and selectors.

    A slice is left out where a rule's own expression cannot be compiled, as the tracker never publishes it then.
    """
    return slices if not rules else [one for one in (_tainted(one, rules, selected) for one in slices) if one]


def _tainted(
    published: ResourceSlice,
    rules: Sequence[DeviceTaintRule],
    selected: Callable[[DeviceTaintRule, str, Device], bool],
) -> ResourceSlice | None:
    spec = published.spec
    devices = [device.flat for device in spec.devices]
    for rule in rules:
        where = rule.spec.device_selector
        if where and (where.driver not in {None, spec.driver} or where.pool not in {None, spec.pool.name}):
            continue
        for index, device in enumerate(devices):
            if where and where.device not in {None, device.name}:
                continue
            try:
                applies = selected(rule, spec.driver, device)
            except AllocationFailed:
                return None
            if applies:
                devices[index] = msgspec.structs.replace(device, taints=(*device.taints, rule.spec.taint))
    return msgspec.structs.replace(published, spec=msgspec.structs.replace(spec, devices=tuple(devices)))
