"""The claims that a pod takes, with their devices (Reserve, PreBind, bindClaim)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

from msgspec.structs import replace

from kubectl_sched.api.meta import Annotations, ObjectMeta, OwnerReference
from kubectl_sched.api.pod import PodExtendedResourceClaimStatus
from kubectl_sched.api.resource import (
    AllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
)
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.framework.reserved_object import Reservation, Write
from kubectl_sched.framework.status import Status
from kubectl_sched.plugins.dynamic_resources.allocator.allocation_result import allocation_result, chosen_classes
from kubectl_sched.plugins.dynamic_resources.claims import SPECIAL_NAME, is_reserved_for
from kubectl_sched.plugins.dynamic_resources.extended_resources import claimed_on, request_mappings
from kubectl_sched.record import Record, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.dynamic_resources.allocator.allocation import Allocation
    from kubectl_sched.plugins.dynamic_resources.filtering import Filtering
    from kubectl_sched.plugins.dynamic_resources.state import NodeOutcome, PreFilterState
    from kubectl_sched.snapshot import NodeInfo, Snapshot

FINALIZER = "resource.kubernetes.io/delete-protection"
_EXTENDED = "resource.kubernetes.io/extended-resource-claim"


class Reserving(Record, frozen=True, kw_only=True):
    """The state that all claims of the pod on one node share."""

    state: PreFilterState
    pod: Pod
    node: NodeInfo
    outcome: NodeOutcome
    filtering: Filtering
    nodes: Snapshot
    now: str | None

    def reservations(self) -> Iterator[Reservation]:
        """The claims in the pod's order, then the pod itself where its status tells of them."""
        allocations = {one.claim.metadata.uid: one for one in self.outcome.allocations}
        pod, writes = self.pod, list[Write]()
        for index, claim in enumerate(self.state.claims.claims):
            if is_reserved_for(pod, claim, groups_reserve=self.filtering.groups):
                continue
            allocation = allocations.get(claim.metadata.uid)
            if claim is self.state.claims.extended:
                if allocation is None or not allocation.devices:
                    continue
                made = self._made(allocation.claim)
                yield self._reservation(made, allocation, self._pod_reference(), _creation(made))
                pod = self._with_extended(pod, made)
                writes.append(
                    _pod_status(pod, "extendedResourceClaimStatus", pod.status.extended_resource_claim_status)
                )
            else:
                yield self._reservation(claim, allocation, self._reference(index), None)
        if self.outcome.node_allocatable:
            taken = self.outcome.node_allocatable
            pod = replace(pod, status=replace(pod.status, node_allocatable_resource_claim_statuses=taken))
            writes.append(_pod_status(pod, "nodeAllocatableResourceClaimStatuses", taken))
        if writes:
            yield Reservation(item=pod, writes=tuple(writes))

    def _reservation(
        self,
        claim: ResourceClaim,
        allocation: Allocation | None,
        reference: ResourceClaimConsumerReference,
        creation: Write | None,
    ) -> Reservation:
        """The claim with its devices, where it had none, and with one more user."""
        metadata, status = claim.metadata, claim.status
        writes = [creation] if creation is not None else []
        body: dict[str, object] = {}
        result = status.allocation
        if allocation is not None and self.state.allocator is not None:
            result = allocation_result(allocation, self.node.name, self.state.allocator)
            if FINALIZER not in metadata.finalizers:
                metadata = replace(metadata, finalizers=(*metadata.finalizers, FINALIZER))
                writes.append(_patch(claim, {"metadata": {"finalizers": list(metadata.finalizers)}}))
        if result is not None and self._is_stamped(result):
            result = replace(result, allocation_timestamp=self.now)
        if result is not None and result is not status.allocation:
            body["allocation"] = (
                plain(result) if status.allocation is None else {"allocationTimestamp": result.allocation_timestamp}
            )
        users = (*status.reserved_for, reference)
        body["reservedFor"] = plain(users)
        writes.append(_patch(claim, {"status": body}, "status"))
        assumed = replace(claim, metadata=metadata, status=replace(status, allocation=result))
        return Reservation(
            item=replace(assumed, status=replace(assumed.status, reserved_for=users)),
            assumed=assumed,
            writes=tuple(writes),
            chosen=tuple(chosen_classes(allocation)) if allocation is not None else (),
        )

    def _is_stamped(self, result: AllocationResult) -> bool:
        return self.filtering.binding_conditions and self.now is not None and result.allocation_timestamp is None

    def _pod_reference(self) -> ResourceClaimConsumerReference:
        return ResourceClaimConsumerReference(resource="pods", name=self.pod.name, uid=self.pod.metadata.uid)

    def _reference(self, index: int) -> ResourceClaimConsumerReference:
        """The pod, or its group where the group has the same claim (podResourceClaimBindings, BindTo)."""
        name = self.pod.group_name
        if not self.filtering.groups or name is None:
            return self._pod_reference()
        group = self.nodes.objects.get(PodGroup, name, self.pod.namespace)
        used = next(each for each in self.pod.spec.resource_claims if each.name == self.state.claims.names[index])
        if group is None or used not in group.spec.resource_claims:
            return self._pod_reference()
        return ResourceClaimConsumerReference(
            api_group="scheduling.k8s.io", resource="podgroups", name=group.name, uid=group.metadata.uid
        )

    def _made(self, claim: ResourceClaim) -> ResourceClaim:
        """The claim for extended resources, as the server would store it but for what it draws."""
        if claim.name != SPECIAL_NAME:
            return claim
        pod = self.pod
        base = f"{pod.name}-extended-resources-"
        owner = OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.metadata.uid, controller=True)
        metadata = ObjectMeta(
            name=f"{base}{crc32(pod.metadata.uid.encode()) % 10**5:05d}",
            generate_name=base,
            namespace=pod.namespace,
            uid=f"{base}{pod.metadata.uid}",
            owner_references=(owner,),
            annotations=Annotations(extended_resource_claim="true"),
        )
        return ResourceClaim(
            api_version=claim.api_version, metadata=metadata, spec=claim.spec, status=ResourceClaimStatus()
        )

    def _with_extended(self, pod: Pod, made: ResourceClaim) -> Pod:
        extended, rules = self.state.extended, self.filtering.rules
        claimed = claimed_on(extended, self.node, rules) if extended is not None else {}
        if extended is None or isinstance(claimed, Status):
            return pod
        told = PodExtendedResourceClaimStatus(
            request_mappings=tuple(request_mappings(pod, claimed, extended.classes, rules)),
            resource_claim_name=made.name,
        )
        return replace(pod, status=replace(pod.status, extended_resource_claim_status=told))


def _creation(claim: ResourceClaim) -> Write:
    owner = plain(claim.metadata.owner_references)
    metadata = {
        "generateName": claim.metadata.generate_name,
        "namespace": claim.namespace,
        "ownerReferences": owner,
        "annotations": {_EXTENDED: "true"},
    }
    body = {"metadata": metadata, "spec": plain(claim.spec)}
    return Write(verb="create", kind="ResourceClaim", namespace=claim.namespace, name="", body=body)


def _patch(claim: ResourceClaim, body: dict[str, object], subresource: str = "") -> Write:
    return Write(
        verb="patch",
        kind="ResourceClaim",
        namespace=claim.namespace,
        name=claim.name,
        body=body,
        subresource=subresource,
    )


def _pod_status(pod: Pod, field: str, value: object) -> Write:
    body = {"status": {field: plain(value)}}
    return Write(verb="patch", kind="Pod", namespace=pod.namespace, name=pod.name, body=body, subresource="status")
