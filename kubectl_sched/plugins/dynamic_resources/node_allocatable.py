"""Devices that take some of the node's own cpu, memory or huge pages (nodeallocatabledynamicresources.go)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.apimachinery.labels import InvalidSelector
from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity, parse_quantity, parse_resource_list
from kubectl_sched.api.component_helpers.container_resources import (
    aggregate_container_limits,
    container_claims,
)
from kubectl_sched.api.component_helpers.pod_requests import in_scheduler_units, pod_requests
from kubectl_sched.api.component_helpers.resource_names import (
    is_huge_page_resource_name,
    is_supported_pod_level_resource,
)
from kubectl_sched.api.pod import NodeAllocatableMapping, NodeAllocatableOverhead, NodeAllocatableResourceClaimStatus
from kubectl_sched.dynamic_resource_allocation.devices import node_matches
from kubectl_sched.framework.status import Code, Status, error, unresolvable
from kubectl_sched.plugins.dynamic_resources.allocator.capacity import names_of
from kubectl_sched.plugins.dynamic_resources.claims import is_reserved_for
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import Device, NodeAllocatableResource, ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import PoolSlice, SliceDevice
    from kubectl_sched.snapshot import NodeInfo

_COUNTED = ("cpu", "memory", "ephemeral-storage")


class HeldDevice(Record, frozen=True, kw_only=True):
    """A device of a claim, whether held already or found in this cycle."""

    driver: str
    pool: str
    device: str
    consumed: Mapping[str, Quantity] | None


class NodeAllocatable(Record, frozen=True, kw_only=True):
    """The rules of a minor for counting them: since 1.37 with mappings, overhead and drivers."""

    slices: Sequence[PoolSlice]
    has_overhead: bool
    are_qualified: bool
    """Capacities are known by domain and name, and what is taken must not be negative."""
    counted: PodResourcesOptions
    pod_level: bool
    groups_reserve: bool

    def sharing(self, pod: Pod, claim: ResourceClaim, node: NodeInfo, *, is_new: bool) -> Status | None:
        """Return why this pod may not share a claim that is already allocated.

        `is_new` says that another pod of its group got the devices in the present cycle.
        """
        if self.has_overhead:
            return self._mapped_device_is_shared(pod, claim, is_new)
        consumers = {
            other.metadata.uid
            for other in node.pods
            if other.metadata.namespace == pod.metadata.namespace
            for status in other.status.node_allocatable_resource_claim_statuses
            if status.resource_claim_name == claim.name
        }
        if len(consumers) > 1:
            return unresolvable(f"node allocatable resource claim {claim.name} shared by multiple pods")
        if consumers and pod.metadata.uid not in consumers:
            return unresolvable(f"node allocatable resource claim {claim.name} is already used by another pod")
        return None

    def _mapped_device_is_shared(self, pod: Pod, claim: ResourceClaim, is_new: bool) -> Status | None:
        allocation = claim.status.allocation
        devices = (
            self._device(HeldDevice(driver=one.driver, pool=one.pool, device=one.device, consumed=None), None)
            for one in (allocation.devices.results if allocation is not None else ())
        )
        mapped = any(
            device is not None and any(one.mapping is not None for one in device.node_allocatable_resources.values())
            for device in devices
        )
        is_anothers = claim.status.reserved_for and not is_reserved_for(pod, claim, groups_reserve=self.groups_reserve)
        if not mapped or not (is_new or is_anothers):
            return None
        return unresolvable(
            f"node allocatable resource claim {claim.name} has a mapped device and cannot be shared across pods"
        )

    def check(
        self,
        pod: Pod,
        names: Mapping[str, ResourceClaim],
        held: Sequence[tuple[ResourceClaim, Sequence[HeldDevice]]],
        node: NodeInfo,
    ) -> Status | tuple[NodeAllocatableResourceClaimStatus, ...]:
        """Return why the node lacks what the pod and its devices take together, else the entries for the pod's status.

        `names` are the pod's for its claims.
        """
        taking = [(claim, devices) for claim, devices in held if any(self._takes(one, node) for one in devices)]
        if not taking:
            return ()
        try:
            statuses = tuple(self._statuses(pod, names, taking, node))
        except _Unusable as problem:
            return error(str(problem))
        if not self.has_overhead:
            for status in statuses:
                if not status.containers:
                    return unresolvable(
                        f"claim {status.resource_claim_name}: node-allocatable resource claim not referenced by any "
                        "container within the pod"
                    )
        with_claims = msgspec.structs.replace(
            pod, status=msgspec.structs.replace(pod.status, node_allocatable_resource_claim_statuses=statuses)
        )
        return self._exceeds_pod_level(with_claims) or _does_not_fit(self._demand(with_claims), node) or statuses

    def _takes(self, held: HeldDevice, node: NodeInfo) -> bool:
        try:
            device = self._device(held, node)
        except _DoesNotMatch:
            return False
        if device is None:
            return False
        return bool(
            device.node_allocatable_resources if self.has_overhead else device.node_allocatable_resource_mappings
        )

    def _device(self, held: HeldDevice, node: NodeInfo | None) -> Device | None:
        for one in self.slices:
            if one.pool_id.pool != held.pool or (self.has_overhead and one.pool_id.driver != held.driver):
                continue
            if self.has_overhead and node is not None and not _reaches(one, node):
                continue
            for device in one.devices:
                if device.id.device == held.device:
                    if self.has_overhead and node is not None and not _device_reaches(device, node):
                        raise _DoesNotMatch
                    return device.device
        return None

    def _statuses(
        self,
        pod: Pod,
        names: Mapping[str, ResourceClaim],
        taking: Iterable[tuple[ResourceClaim, Sequence[HeldDevice]]],
        node: NodeInfo,
    ) -> Iterable[NodeAllocatableResourceClaimStatus]:
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        for claim, devices in sorted(taking, key=lambda pair: pair[0].name):
            users = tuple(
                container.name
                for container in containers
                for used in container.resources.claims
                if used.name in names and names[used.name] is claim
            )
            made = (
                self._with_overhead(claim, devices, node) if self.has_overhead else self._mapped(claim, devices, node)
            )
            if made is not None:
                yield msgspec.structs.replace(made, resource_claim_name=claim.name, containers=users)

    def _mapped(
        self, claim: ResourceClaim, devices: Sequence[HeldDevice], node: NodeInfo
    ) -> NodeAllocatableResourceClaimStatus | None:
        total: dict[str, Quantity] = {}
        for held in devices:
            device = self._device(held, node)
            if device is None:
                raise _Unusable(
                    f"claim {claim.key}, device {held.device}: device {held.device} not found in pool {held.pool}"
                )
            for name, mapping in device.node_allocatable_resource_mappings.items():
                amount = ZERO
                if mapping.capacity_key:
                    consumed = _consumed(held, mapping.capacity_key, claim, name, "NodeAllocatableResourceMappings")
                    if consumed is None:
                        continue
                    amount = _times(consumed, mapping.allocation_multiplier)
                elif mapping.allocation_multiplier is not None:
                    amount = parse_quantity(mapping.allocation_multiplier)
                total[name] = total[name] + amount if name in total else amount
        if not total:
            return None
        return NodeAllocatableResourceClaimStatus(resources={name: str(amount) for name, amount in total.items()})

    def _with_overhead(
        self, claim: ResourceClaim, devices: Sequence[HeldDevice], node: NodeInfo
    ) -> NodeAllocatableResourceClaimStatus | None:
        mapped: dict[str, Quantity] = {}
        per_pod: dict[str, Quantity] = defaultdict(Quantity)
        per_container: dict[str, Quantity] = defaultdict(Quantity)
        for held in devices:
            where = f"claim {claim.key}, device {held.device}, driver {held.driver}"
            try:
                device = self._device(held, node)
            except _DoesNotMatch:
                raise _Unusable(f"{where}: device {held.device} does not match node") from None
            if device is None:
                raise _Unusable(f"{where}: device {held.device} not found in pool {held.pool} for driver {held.driver}")
            for name, taken in device.node_allocatable_resources.items():
                amount = self._amount_mapped(taken, held, claim, name)
                if amount is not None:
                    mapped[name] = mapped.get(name, ZERO) + amount
                if taken.overhead is not None and taken.overhead.per_pod is not None:
                    per_pod[name] += parse_quantity(taken.overhead.per_pod)
                if taken.overhead is not None and taken.overhead.per_container is not None:
                    per_container[name] += parse_quantity(taken.overhead.per_container)
        if not mapped and not per_pod and not per_container:
            return None
        overhead = (
            NodeAllocatableOverhead(
                name=name,
                per_pod=str(per_pod[name]) if name in per_pod else None,
                per_container=str(per_container[name]) if name in per_container else None,
            )
            for name in sorted({*per_pod, *per_container})
        )
        return NodeAllocatableResourceClaimStatus(
            mapping=tuple(
                NodeAllocatableMapping(name=name, quantity=str(amount)) for name, amount in sorted(mapped.items())
            ),
            overhead=tuple(overhead),
        )

    def _amount_mapped(
        self, taken: NodeAllocatableResource, held: HeldDevice, claim: ResourceClaim, name: str
    ) -> Quantity | None:
        mapping = taken.mapping
        if mapping is None:
            return None
        if not mapping.capacity_key:
            return None if mapping.device_multiplier is None else parse_quantity(mapping.device_multiplier)
        names = names_of(mapping.capacity_key, held.driver) if self.are_qualified else (mapping.capacity_key,)
        known = (_consumed(held, each, claim, name, "NodeAllocatableResources") for each in names)
        consumed = next((each for each in known if each is not None), None)
        if consumed is None:
            return None
        amount = _times(consumed, mapping.capacity_multiplier)
        if self.are_qualified and consumed < ZERO:
            what, wrong = f"ConsumedCapacity for capacity key '{mapping.capacity_key}'", consumed
        elif self.are_qualified and amount < ZERO:
            what, wrong = f"computed node-allocatable footprint for resource {name}", amount
        else:
            return amount
        raise _Unusable(f"claim {claim.key}, device {held.device}: {what} must not be negative, got {wrong}")

    def _options(self, *, skip_pod_level: bool) -> PodResourcesOptions:
        return msgspec.structs.replace(self.counted, skip_pod_level_resources=skip_pod_level)

    def _demand(self, pod: Pod) -> dict[str, int]:
        requests = pod_requests(pod, self._options(skip_pod_level=not self.pod_level))
        saturates = self.counted.saturates
        return {name: in_scheduler_units(name, amount, saturates=saturates) for name, amount in requests.items()}

    def _exceeds_pod_level(self, pod: Pod) -> Status | None:
        """Check that the pod's own requests, and since 1.37 its limits, cover its containers and their devices."""
        if not self.pod_level or pod.spec.resources is None:
            return None
        whole = pod_requests(pod, self._options(skip_pod_level=False)) if pod.spec.resources.requests else {}
        parts = pod_requests(pod, self._options(skip_pod_level=True))
        for name, amount in whole.items():
            if self.has_overhead and not is_supported_pod_level_resource(name):
                continue
            if name in parts and parts[name] > amount:
                return unresolvable(
                    f"pod level request for {name} is insufficient to cover the aggregated container and "
                    "node-allocatable DRA requests"
                )
        return self._exceeds_pod_level_limits(pod, parse_resource_list(pod.spec.resources.limits))

    def _exceeds_pod_level_limits(self, pod: Pod, limits: Mapping[str, Quantity]) -> Status | None:
        if not self.has_overhead or not pod.status.node_allocatable_resource_claim_statuses:
            return None
        for name, amount in aggregate_container_limits(pod, self._options(skip_pod_level=True)).items():
            if is_huge_page_resource_name(name) and name in limits and amount > limits[name]:
                return unresolvable(
                    f"pod level limit for {name} is insufficient to cover the aggregated container and "
                    "node-allocatable DRA limits"
                )
        for container in pod.spec.containers:
            claimed = container_claims(pod, container.name)
            for name, amount in parse_resource_list(container.resources.limits).items():
                if is_huge_page_resource_name(name) or name not in limits:
                    continue
                if amount + claimed.get(name, ZERO) > limits[name]:
                    return unresolvable(
                        f"pod level limit for {name} is insufficient to cover the limit and DRA overhead for "
                        f"container {container.name}"
                    )
        return None


class _DoesNotMatch(Exception):  # noqa: N818 - caught within
    """The device itself cannot be used on the node."""


class _Unusable(Exception):  # noqa: N818 - becomes a status
    """The claim's devices cannot be counted."""


def _consumed(held: HeldDevice, key: str, claim: ResourceClaim, name: str, field: str) -> Quantity | None:
    if held.consumed is None:
        raise _Unusable(
            f"claim {claim.key}, device {held.device}: ConsumedCapacity is nil, but Capacity key '{key}' is set in "
            f"{field} for resource {name}"
        )
    return held.consumed.get(key)


def _times(amount: Quantity, multiplier: str | float | None) -> Quantity:
    return amount if multiplier is None else amount.scaled_by(parse_quantity(multiplier))


def _reaches(one: PoolSlice, node: NodeInfo) -> bool:
    spec = one.published.spec
    if spec.per_device_node_selection:
        return True
    try:
        return node_matches(node.node, spec.node_name, spec.all_nodes, spec.node_selector)
    except InvalidSelector:
        return False


def _device_reaches(one: SliceDevice, node: NodeInfo) -> bool:
    """Report whether the device can be used on the node; what comes with a wrong node name may still match."""
    if not one.slice.published.spec.per_device_node_selection:
        return True
    device = one.device
    if device.node_name == node.name or device.all_nodes:
        return True
    try:
        return node_matches(node.node, None, False, device.node_selector)
    except InvalidSelector:
        return False


def _does_not_fit(demand: Mapping[str, int], node: NodeInfo) -> Status | None:
    short = [
        name
        for name, amount in demand.items()
        if (name in _COUNTED or is_huge_page_resource_name(name))
        and amount > (0 if name in _COUNTED else -1)
        and amount > node.allocatable(name) - node.requested(name)
    ]
    if not short:
        return None
    order = [*(name for name in _COUNTED if name in short), *sorted(name for name in short if name not in _COUNTED)]
    hopeless = any(demand[name] > node.allocatable(name) for name in short)
    code = Code.UNSCHEDULABLE_AND_UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE
    return Status(code, tuple(f"Insufficient {name}" for name in order))
