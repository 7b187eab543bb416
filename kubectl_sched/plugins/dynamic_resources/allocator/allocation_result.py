"""The allocation result that kube-scheduler writes into a claim.

It answers to structured/internal/*/allocator_*.go, from the end of Allocate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import NAMESPACE_OID, uuid5

from kubectl_sched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_sched.api.resource import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from kubectl_sched.config.allocator_versions import BINDING_CONDITIONS, CONSUMABLE_CAPACITY
from kubectl_sched.dynamic_resource_allocation.allocation_errors import AllocationFailed
from kubectl_sched.framework.reserved_object import DevicesOfClass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.plugins.dynamic_resources.allocator.allocation import AllocatedDevice, Allocation
    from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator


def allocation_result(allocation: Allocation, node_name: str, allocator: Allocator) -> AllocationResult:
    """The devices of one claim, and the nodes from which they can all be reached."""
    results = tuple(_result(allocation, place, device, allocator) for place, device in enumerate(allocation.devices))
    return AllocationResult(
        devices=DeviceAllocationResult(results=results),
        node_selector=node_selector(allocation, node_name, allocator),
    )


def chosen_classes(allocation: Allocation) -> Iterator[DevicesOfClass]:
    """For each request of the claim the class that it got devices of."""
    by_request = {device.request.base_name: device.request for device in allocation.devices}
    for request in allocation.claim.spec.devices.requests:
        got = by_request.get(request.name)
        if got is not None:
            yield DevicesOfClass(request=got.full_name, class_name=got.device_class.name)


def _result(
    allocation: Allocation, place: int, allocated: AllocatedDevice, allocator: Allocator
) -> DeviceRequestAllocationResult:
    request, device = allocated.request, allocated.device
    published = device.device
    has_conditions = BINDING_CONDITIONS in allocator.features
    shared = CONSUMABLE_CAPACITY in allocator.features and published.allow_multiple_allocations
    skips = allocator.channel.knows_skipped_operations
    consumed = allocated.consumed
    return DeviceRequestAllocationResult(
        request=request.full_name,
        driver=device.id.driver,
        pool=device.id.pool,
        device=device.id.device,
        admin_access=request.admin_access or None,
        tolerations=request.exact.tolerations,
        binding_conditions=(published.binding_conditions or ()) if has_conditions else (),
        binding_failure_conditions=published.binding_failure_conditions if has_conditions else (),
        share_id=_share_id(allocation, place) if shared else None,
        consumed_capacity={name: str(amount) for name, amount in consumed.items()} if consumed else None,
        skip_node_operations=device.slice.published.spec.skip_node_operations if skips else (),
    )


def _share_id(allocation: Allocation, place: int) -> str:
    """Some UUID; upstream's are drawn, this one is the same each time."""
    claim = allocation.claim
    return str(uuid5(NAMESPACE_OID, f"{claim.key}/{claim.metadata.uid}/{place}"))


def node_selector(allocation: Allocation, node_name: str, allocator: Allocator) -> NodeSelector | None:
    """The node's name where one device is only there, else what all devices' slices ask for (createNodeSelector).

    Raises AllocationFailed for a selector of several terms.
    """
    fields: dict[NodeSelectorRequirement, None] = {}
    expressions: dict[NodeSelectorRequirement, None] = {}
    for _, device, _ in allocation.devices:
        spec = device.slice.published.spec
        published = device.device if spec.per_device_node_selection else spec
        binds = allocator.channel.knows_capacity and device.device.binds_to_node
        if published.node_name is not None or binds:
            name = NodeSelectorRequirement(key="metadata.name", operator="In", values=(node_name,))
            return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),))
        terms = published.node_selector.node_selector_terms if published.node_selector is not None else ()
        if len(terms) > 1:
            said = f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms"
            raise AllocationFailed(f"create NodeSelector for claim {allocation.claim.name}: {said}")
        for term in terms:
            fields.update(dict.fromkeys(term.match_fields))
            expressions.update(dict.fromkeys(term.match_expressions))
    if not fields and not expressions:
        return None
    term = NodeSelectorTerm(match_fields=tuple(fields), match_expressions=tuple(expressions))
    return NodeSelector(node_selector_terms=(term,))
