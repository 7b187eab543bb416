"""The state that PreFilter writes and the later extension points read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import field

from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.plugins.dynamic_resources.claims import ClaimStore
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.api.component_helpers.node_affinity import NodeSelector
    from kubectl_sched.api.pod import NodeAllocatableResourceClaimStatus
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.framework.status import Status
    from kubectl_sched.plugins.dynamic_resources.allocator.allocation import Allocation
    from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator
    from kubectl_sched.plugins.dynamic_resources.extended_resources import ExtendedResources
    from kubectl_sched.plugins.dynamic_resources.node_allocatable import NodeAllocatable


class NodeOutcome(Record, frozen=True, kw_only=True):
    """A node's verdict: what would be allocated, and the claims that cannot be used there."""

    status: Status
    allocations: tuple[Allocation, ...] = ()
    unavailable: tuple[ResourceClaim, ...] = ()
    node_allocatable: tuple[NodeAllocatableResourceClaimStatus, ...] = ()
    """The entries of the pod's status for the node's own resources that its devices take."""


class PreFilterState(Record, frozen=True, kw_only=True):
    """`outcomes` fills up by node name as nodes are asked about; nothing else changes."""

    claims: ClaimStore = field(default_factory=ClaimStore)
    available_on: tuple[NodeSelector | None, ...] = ()
    """The nodes where each allocated claim can be used; None for everywhere."""
    pending: tuple[ResourceClaim, ...] = ()
    """Claims that got their devices in the present cycle of the pod's group."""
    allocator: Allocator | None = None
    extended: ExtendedResources | None = None
    node_allocatable: NodeAllocatable | None = None
    outcomes: dict[str, NodeOutcome] = field(default_factory=dict)


STATE: StateKey[PreFilterState] = StateKey(name="DynamicResources", absent="not found")

FILTERED: StateKey[bool] = StateKey(name="DynamicResources.nodeAllocations")
"""Written by Filter. Score and Reserve know only what Filter has allocated: nothing in a profile without it."""
