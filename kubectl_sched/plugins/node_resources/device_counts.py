"""Counts of the devices that back an extended resource on a node, and of those that are allocated.

Answers to calculateDRAResourceTotals of plugins/noderesources/resource_allocation.go. Devices are
read only where a class backs a resource that the profile scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.component_helpers.resource_names import is_dra_extended_resource_name
from kubectl_sched.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from kubectl_sched.framework.cycle_state import PluginError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.config.types import ResourceSpec
    from kubectl_sched.dynamic_resource_allocation.devices import PoolSlice, SliceDevice
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.snapshot import Snapshot


_CRASH: Final = "kube-scheduler crashes while it scores devices (invalid memory address or nil pointer dereference)"


def device_counts(
    resources: Sequence[ResourceSpec], nodes: Snapshot, handle: Handle, *, selects: bool = True
) -> DeviceCounts | None:
    """None where devices do not count: without the feature, before 1.35, or where no class backs a scored resource.

    `selects` says whether the plugin can evaluate selectors: NodeResourcesBalancedAllocation is made without the means.
    """
    if not handle.features.enabled("DRAExtendedResource") or handle.release.device_class_hides_missing_resource:
        return None
    names = [spec.name for spec in resources if is_dra_extended_resource_name(spec.name)]
    classes = nodes.whole.objects.all(DeviceClass)
    if not names or not classes:
        return None
    from kubectl_sched.dynamic_resource_allocation.extended_resource_class import class_of_resource

    class_name = class_of_resource(classes, handle.release.devices)
    backed = {name: class_name[name] for name in names if name in class_name}
    return DeviceCounts(backed, nodes.whole, handle, selects=selects) if backed else None


class DeviceCounts:
    """The devices of one cluster, by class and node."""

    def __init__(self, class_of: Mapping[str, str], nodes: Snapshot, handle: Handle, *, selects: bool) -> None:
        from kubectl_sched.dynamic_resource_allocation.allocated_devices import NegativeCapacity, gather
        from kubectl_sched.dynamic_resource_allocation.devices import SliceIndex
        from kubectl_sched.dynamic_resource_allocation.selectors import Selectors

        consumable = handle.features.enabled("DRAConsumableCapacity")
        self._classes = {name: nodes.objects.get(DeviceClass, one) for name, one in class_of.items()}
        self._index = SliceIndex(nodes.objects.all(ResourceSlice))
        qualified = handle.release.devices.capacities_are_qualified
        try:
            self._allocated = gather(nodes.objects.all(ResourceClaim), consumable, qualified_capacities=qualified)
        except NegativeCapacity as problem:
            raise PluginError(str(problem)) from problem
        self._selects = selects
        self._selectors = Selectors(
            handle.release.devices,
            list_attributes=handle.features.enabled("DRAListTypeAttributes"),
            sees_sharing=False,
        )

    def backs(self, resource: str) -> bool:
        """Report whether a class stands behind the resource."""
        return self._classes.get(resource) is not None

    def of(self, resource: str, node: Node) -> tuple[int, int]:
        """Count the devices of the resource's class that the node reaches, and those of them that are allocated.

        Both are 0 where a selector of a slice or of the class cannot be evaluated.
        """
        device_class = self._classes.get(resource)
        if device_class is None:
            return 0, 0
        capacity = allocated = 0
        try:
            for device in self._reached(node):
                matches = self._matches(device_class, device)
                if matches is None:
                    return 0, 0
                capacity += matches
                allocated += matches and self._allocated.is_allocated(device.id)
        except InvalidSelector:
            return 0, 0
        return capacity, allocated

    def _reached(self, node: Node) -> Iterator[SliceDevice]:
        for one in self._index.for_node(node.metadata.name):
            if one.published.spec.per_device_node_selection:
                yield from (device for device in one.devices if _reaches_device(device, node))
            elif _reaches_slice(one, node):
                yield from one.devices

    def _matches(self, device_class: DeviceClass, device: SliceDevice) -> bool | None:
        """Report whether all of the class' expressions hold, None if one fails."""
        for selector in device_class.spec.selectors:
            if selector.cel is None:
                continue
            if not self._selects:
                raise PluginError(f"{_CRASH}: DeviceClass {device_class.name} has a selector")
            answer = self._selectors.ask(selector.cel.expression, device)
            if answer.compile_error is not None or answer.error is not None:
                return None
            if not answer.matches:
                return False
        return True


def _reaches_device(device: SliceDevice, node: Node) -> bool:
    from kubectl_sched.dynamic_resource_allocation.devices import node_matches

    one = device.device
    if one.all_nodes:
        return True
    return node_matches(node, one.node_name, False, one.node_selector)


def _reaches_slice(one: PoolSlice, node: Node) -> bool:
    """A slice that says nothing of nodes counts on all of them here."""
    from kubectl_sched.dynamic_resource_allocation.devices import node_matches

    spec = one.published.spec
    if spec.all_nodes or (not spec.node_name and spec.node_selector is None):
        return True
    return node_matches(node, spec.node_name, False, spec.node_selector)
