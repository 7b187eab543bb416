"""PreFilter and Filter: which claims the pod has, and whether a node can serve them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
from kubectl_sched.api.component_helpers.node_affinity import strict_node_selector
from kubectl_sched.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from kubectl_sched.config import allocator_versions as feature
from kubectl_sched.dynamic_resource_allocation.allocated_devices import NegativeCapacity, gather
from kubectl_sched.dynamic_resource_allocation.allocation_errors import (
    AllocationFailed,
    FailedAllocationOnNode,
    SchedulerCrashes,
    SearchTooLong,
)
from kubectl_sched.dynamic_resource_allocation.devices import (
    PoolSlice,
    SliceIndex,
)
from kubectl_sched.dynamic_resource_allocation.selectors import Selectors
from kubectl_sched.framework.status import SKIP, SUCCESS, Status, error, unresolvable
from kubectl_sched.plugins.dynamic_resources.allocator.allocator import Allocator
from kubectl_sched.plugins.dynamic_resources.allocator.counters import CounterLedger
from kubectl_sched.plugins.dynamic_resources.allocator.device_search import allocate
from kubectl_sched.plugins.dynamic_resources.binding_conditions import blocks_binding
from kubectl_sched.plugins.dynamic_resources.claims import (
    ClaimProblem,
    ClaimStore,
    check_bindings,
    is_pending,
    pod_claims,
)
from kubectl_sched.plugins.dynamic_resources.extended_resources import claim_on_node, extended_resources
from kubectl_sched.plugins.dynamic_resources.node_allocatable import HeldDevice, NodeAllocatable
from kubectl_sched.plugins.dynamic_resources.resource_slice_tracker import published
from kubectl_sched.plugins.dynamic_resources.state import NodeOutcome, PreFilterState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.component_helpers.node_affinity import NodeSelector
    from kubectl_sched.api.pod import NodeAllocatableResourceClaimStatus, Pod
    from kubectl_sched.api.resource import DeviceRequest
    from kubectl_sched.config import Release
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.plugins.dynamic_resources.allocator.allocation import AllocatedDevice, Allocation
    from kubectl_sched.snapshot import NodeInfo, Snapshot

_DEFAULT_BINDING_TIMEOUT = 600.0


class Filtering:
    """The rules for a pod's claims under the gates of a minor."""

    def __init__(
        self,
        enabled: Callable[[str], bool],
        release: Release,
        binding_timeout: float | None,
        filter_timeout: float | None = None,
    ) -> None:
        """`filter_timeout` is None where no clock counts."""
        self.release = release
        self._filter_timeout = filter_timeout
        self.rules = release.devices
        self._enabled = enabled
        self._binding_timeout = _DEFAULT_BINDING_TIMEOUT if binding_timeout is None else binding_timeout
        self.features = frozenset(
            gate
            for gate in (
                feature.ADMIN_ACCESS,
                feature.CONSUMABLE_CAPACITY,
                feature.DEVICE_BINDING,
                feature.DEVICE_STATUS,
                feature.DEVICE_TAINTS,
                feature.LIST_ATTRIBUTES,
                feature.PARTITIONABLE,
                feature.PRIORITIZED_LIST,
                feature.FRACTIONAL_RANGE,
                feature.OPTIONAL_NODE_OPERATIONS,
                feature.DERIVED_ATTRIBUTES,
                feature.COMPATIBILITY_GROUPS,
            )
            if enabled(gate) and gate in self._known
        ) | ({feature.BINDING_CONDITIONS} if self.binding_conditions else frozenset())

    @property
    def _known(self) -> frozenset[str]:
        return frozenset().union(*(channel.features for channel in self.rules.channels)) - (
            frozenset() if self.rules.capacity_errors_fail else {feature.LIST_ATTRIBUTES}
        )

    @property
    def binding_conditions(self) -> bool:
        """Report whether devices may have to be made ready."""
        return (
            self.rules.knows_binding_conditions
            and self._enabled("DRADeviceBindingConditions")
            and self._enabled("DRAResourceClaimDeviceStatus")
        )

    def blocks_binding(self, claim: ResourceClaim) -> str | None:
        """Return why the claim's devices are unusable; None if they are fine, or if that is not checked."""
        return blocks_binding(claim, self._binding_timeout) if self.binding_conditions else None

    @property
    def groups(self) -> bool:
        """Report whether groups of pods may own claims."""
        return self._enabled("DRAWorkloadResourceClaims")

    # PreFilter

    def prepare(self, pod: Pod, nodes: Snapshot, budget: CycleBudget) -> tuple[Status, PreFilterState]:
        """The state to write, and PreFilter's answer; amounts that no API server would store are an error."""
        try:
            return self._prepared(pod, nodes, budget)
        except InvalidQuantity as wrong:
            return error(str(wrong)), PreFilterState()

    def _prepared(self, pod: Pod, nodes: Snapshot, budget: CycleBudget) -> tuple[Status, PreFilterState]:
        try:
            named = list(pod_claims(pod, nodes, self.rules, groups_own=self.groups))
            extended = extended_resources(pod, nodes, self.rules) if self._enabled("DRAExtendedResource") else None
            if self.groups:
                check_bindings(pod, nodes)
        except ClaimProblem as problem:
            return unresolvable(str(problem)), PreFilterState()
        own = tuple(claim for _, claim in named)
        claims = ClaimStore(
            claims=own + ((extended.claim,) if extended is not None else ()),
            user_owned=len(own),
            names=tuple(name for name, _ in named),
        )
        if not claims.claims:
            return SKIP, PreFilterState()
        available_on: list[NodeSelector | None] = []
        for claim in claims.claims:
            refusal, selector = self._usable(claim, claims, nodes)
            if refusal is not None:
                return refusal, PreFilterState()
            available_on.append(selector)
        pending = tuple(claim for claim in claims.claims if is_pending(claim, nodes))
        try:
            allocator = self._allocator(nodes, budget) if claims.to_allocate or pending else None
        except SchedulerCrashes as crash:
            return error(str(crash)), PreFilterState()
        except NegativeCapacity as problem:
            return error(f"gather allocation state: {problem}"), PreFilterState()
        slices = allocator.slices.slices if allocator is not None else self._slices(nodes)
        return SUCCESS, PreFilterState(
            claims=claims,
            available_on=tuple(available_on),
            pending=pending,
            allocator=allocator,
            extended=extended,
            node_allocatable=self._node_allocatable(slices),
        )

    def _usable(
        self, claim: ResourceClaim, claims: ClaimStore, nodes: Snapshot
    ) -> tuple[Status | None, NodeSelector | None]:
        """Return why the claim ends the cycle, or the nodes where an allocated one can be used."""
        allocation = claim.status.allocation
        if allocation is not None:
            is_anywhere = is_pending(claim, nodes) and not self.rules.pending_claims_have_nodes
            if allocation.node_selector is None or is_anywhere:
                return None, None
            try:
                return None, strict_node_selector(allocation.node_selector)
            except InvalidSelector as wrong:
                return error(wrong.reason), None
        if claim is claims.extended:
            return None, None
        for request in claim.spec.devices.requests:
            problem = self._wrong_request(claim, request, nodes)
            if problem is not None:
                return problem, None
        return None, None

    def _wrong_request(self, claim: ResourceClaim, request: DeviceRequest, nodes: Snapshot) -> Status | None:
        exact = request.exact
        if exact is not None or (self.rules.exact_is_flat and not request.first_available):
            return _wrong_class(exact.device_class_name if exact is not None else "", request.name, nodes)
        where = f"resource claim {claim.key}, request {request.name}"
        if not request.first_available:
            return unresolvable(f"{where}: unknown request type")
        if not self._enabled("DRAPrioritizedList"):
            return unresolvable(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
        wrong = (
            _wrong_class(one.device_class_name, f"{request.name}/{one.name}", nodes) for one in request.first_available
        )
        return next(filter(None, wrong), None)

    def _slices(self, nodes: Snapshot) -> tuple[PoolSlice, ...]:
        if not self._enabled("DRANodeAllocatableResources"):
            return ()
        return SliceIndex(nodes.objects.all(ResourceSlice)).slices

    def _node_allocatable(self, slices: Sequence[PoolSlice]) -> NodeAllocatable | None:
        if not self._enabled("DRANodeAllocatableResources"):
            return None
        return NodeAllocatable(
            slices=slices,
            has_overhead=self.rules.capacity_errors_fail,
            are_qualified=self.rules.capacities_are_qualified,
            counted=PodResourcesOptions(
                use_dra_node_allocatable_resource_claim_status=True,
                sums_status_per_pod=self.rules.capacity_errors_fail,
                saturates=self.release.amounts_saturate,
                overhead_per_container=self.release.device_overhead_per_container,
            ),
            pod_level=self._enabled("PodLevelResources"),
            groups_reserve=self.groups,
        )

    def _allocator(self, nodes: Snapshot, budget: CycleBudget) -> Allocator:
        consumable = feature.CONSUMABLE_CAPACITY in self.features
        channel = next(channel for channel in self.rules.channels if channel.features >= self.features)
        lists = self._enabled("DRAListTypeAttributes")
        sees_sharing = channel.knows_capacity
        allocated = gather(
            nodes.objects.all(ResourceClaim), consumable, qualified_capacities=self.rules.capacities_are_qualified
        )
        return Allocator(
            channel=channel,
            rules=self.rules,
            features=self.features,
            allocated=allocated,
            classes=lambda name: nodes.objects.get(DeviceClass, name),
            slices=SliceIndex(published(nodes, self.rules, self._enabled)),
            selectors=Selectors(self.rules, list_attributes=lists, sees_sharing=sees_sharing, budget=budget),
            ledger=CounterLedger(allocated, self.rules),
            budget=budget,
            timeout=self._filter_timeout,
        )

    # Filter

    def outcome(self, state: PreFilterState, pod: Pod, node: NodeInfo) -> NodeOutcome:
        """The node's verdict; asked once a node, unless what other pods take of it matters."""
        if state.node_allocatable is not None or node.name not in state.outcomes:
            try:
                state.outcomes[node.name] = self._outcome(state, pod, node)
            except InvalidQuantity as wrong:
                state.outcomes[node.name] = NodeOutcome(status=error(str(wrong)))
        return state.outcomes[node.name]

    def _outcome(self, state: PreFilterState, pod: Pod, node: NodeInfo) -> NodeOutcome:
        on_node: ResourceClaim | None = None
        if state.extended is not None:
            made = claim_on_node(state.extended, pod, node, self.rules, other_claims=state.claims.user_owned > 0)
            if isinstance(made, Status):
                return NodeOutcome(status=made)
            if made is None and not state.claims.user_owned:
                return NodeOutcome(status=SUCCESS)
            on_node = made
        unavailable, refusal = self._unavailable(state, pod, node)
        if refusal is not None:
            return NodeOutcome(status=refusal)
        allocations = self._allocate(state, on_node, node)
        if isinstance(allocations, Status):
            return NodeOutcome(status=allocations, unavailable=unavailable)
        taken = self._taken_of_node(state, pod, node, allocations)
        if not isinstance(taken, Status) and unavailable:
            taken = unresolvable("resourceclaim not available on the node")
        if isinstance(taken, Status):
            return NodeOutcome(status=taken, unavailable=unavailable)
        return NodeOutcome(status=SUCCESS, allocations=allocations, node_allocatable=taken)

    def _unavailable(
        self, state: PreFilterState, pod: Pod, node: NodeInfo
    ) -> tuple[tuple[ResourceClaim, ...], Status | None]:
        """The claims allocated before that do not serve on this node."""
        found: list[ResourceClaim] = []
        for claim, selector in zip(state.claims.claims, state.available_on, strict=True):
            if selector is not None and not selector.matches(node.labels, node.name):
                found.append(claim)
                continue
            is_new = claim in state.pending
            if not is_new and self._wants_operations(claim, node):
                found.append(claim)
                continue
            if claim.status.allocation is None or (is_new and not self.rules.pending_claims_have_nodes):
                continue
            if not is_new and self.blocks_binding(claim) is not None:
                found.append(claim)
            if state.node_allocatable is not None:
                refusal = state.node_allocatable.sharing(pod, claim, node, is_new=is_new)
                if refusal is not None:
                    return (), refusal
        for claim in state.pending:
            if self._wants_operations(claim, node):
                text = f"resource claim {claim.key} allocation requires DRAOptionalNodeOperations feature on the node"
                return (), unresolvable(text)
        return tuple(found), None

    def _wants_operations(self, claim: ResourceClaim, node: NodeInfo) -> bool:
        """Report whether a device skips operations that the node insists on."""
        return self.rules.capacity_errors_fail and _skips_operations(claim) and not _can_skip(node)

    def _allocate(
        self, state: PreFilterState, extended: ResourceClaim | None, node: NodeInfo
    ) -> tuple[Allocation, ...] | Status:
        if state.allocator is None:
            return ()
        claims = [
            extended if claim is state.claims.extended and extended is not None else claim
            for claim in state.claims.to_allocate
        ]
        try:
            found = allocate(state.allocator, node.node, claims)
        except FailedAllocationOnNode as failure:
            return unresolvable(str(failure))
        except SearchTooLong:
            text = "timed out trying to allocate devices"
            return error(f"node {node.name}: {text}") if self.rules.filter_timeout_fails else unresolvable(text)
        except AllocationFailed as failure:
            return error(str(failure))
        return unresolvable("cannot allocate all claims") if found is None else tuple(found)

    def _taken_of_node(
        self, state: PreFilterState, pod: Pod, node: NodeInfo, allocations: Sequence[Allocation]
    ) -> Status | tuple[NodeAllocatableResourceClaimStatus, ...]:
        """Return what the devices take of the node's own resources, or why that is too much."""
        counting = state.node_allocatable
        if counting is None or (state.allocator is None and not counting.has_overhead):
            return ()
        found = {one.claim.metadata.uid: [_held(device) for device in one.devices] for one in allocations}
        held = [
            (claim, found.get(claim.metadata.uid) or _held_before(claim))
            for claim in state.claims.claims
            if counting.has_overhead or claim.status.allocation is None or claim in state.pending
        ]
        own = state.claims.claims[: state.claims.user_owned]
        names = dict(zip(state.claims.names, own, strict=True))
        return counting.check(pod, names, held, node)


def _wrong_class(name: str, request: str, nodes: Snapshot) -> Status | None:
    if not name:
        return error(f"request {request}: unsupported request type")
    if nodes.objects.get(DeviceClass, name) is None:
        return unresolvable(f"request {request}: device class {name} does not exist")
    return None


def _held(found: AllocatedDevice) -> HeldDevice:
    driver, pool, device = found.device.id
    return HeldDevice(driver=driver, pool=pool, device=device, consumed=found.consumed)


def _held_before(claim: ResourceClaim) -> list[HeldDevice]:
    allocation = claim.status.allocation
    if allocation is None:
        return []
    return [
        HeldDevice(
            driver=one.driver,
            pool=one.pool,
            device=one.device,
            consumed=None
            if one.consumed_capacity is None
            else {name: parse_quantity(raw) for name, raw in one.consumed_capacity.items()},
        )
        for one in allocation.devices.results
    ]


def _skips_operations(claim: ResourceClaim) -> bool:
    allocation = claim.status.allocation
    return allocation is not None and any(one.skip_node_operations for one in allocation.devices.results)


def _can_skip(node: NodeInfo) -> bool:
    return "DRAOptionalNodeOperations" in node.node.status.declared_features
