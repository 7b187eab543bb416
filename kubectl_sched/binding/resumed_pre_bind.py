"""Leftovers of an earlier attempt that was killed in its PreBind; the next one goes on from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.volume_claims import claim_uses, is_fully_bound
from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod


def leftovers(pod: Pod, objects: Iterable[KubernetesObject]) -> tuple[str, ...]:
    """A sentence for each object that is set aside for the pod, though the pod has no node."""
    if pod.spec.node_name:
        return ()
    objects = list(objects)
    return (*_nominated(pod), *_storage(pod, objects), *_devices(pod, objects))


def _nominated(pod: Pod) -> Iterator[str]:
    if pod.status.nominated_node_name:
        yield f"it is nominated to node {pod.status.nominated_node_name}"


def _storage(pod: Pod, objects: Iterable[KubernetesObject]) -> Iterator[str]:
    names = {use.claim_name for use in claim_uses(pod)}
    claims = {
        item.metadata.uid: item
        for item in objects
        if isinstance(item, PersistentVolumeClaim)
        and item.namespace == pod.namespace
        and item.name in names
        and not is_fully_bound(item)
    }
    for claim in claims.values():
        if claim.metadata.annotations.selected_node is not None:
            yield f"claim {claim.key} has node {claim.metadata.annotations.selected_node} selected"
    for item in objects:
        reference = item.spec.claim_ref if isinstance(item, PersistentVolume) else None
        if reference is not None and reference.uid in claims:
            yield f"volume {item.name} is set aside for claim {claims[reference.uid].key}"


def _devices(pod: Pod, objects: Iterable[KubernetesObject]) -> Iterator[str]:
    for item in objects:
        if not isinstance(item, ResourceClaim) or item.namespace != pod.namespace:
            continue
        if any(consumer.uid == pod.metadata.uid for consumer in item.status.reserved_for):
            yield f"ResourceClaim {item.key} is reserved for it"
        elif is_extended_claim_of(pod, item):
            yield f"ResourceClaim {item.key} was made for its extended resources"


def is_extended_claim_of(pod: Pod, claim: ResourceClaim) -> bool:
    """Report whether an earlier cycle made the claim for the pod's extended resources (findExtendedResourceClaim)."""
    owner = claim.metadata.controller
    return (
        claim.metadata.annotations.extended_resource_claim == "true"
        and owner is not None
        and owner.uid == pod.metadata.uid
    )
