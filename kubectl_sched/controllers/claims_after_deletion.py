"""Changes to claims when a pod is deleted, and when a pod of the same name is created again.

Answers to pkg/controller/resourceclaim (handleClaim), the garbage collector and the persistent volume controller:
claims that were made for the pod go with it, other claims lose a user and, without any, their devices.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.api.meta import Annotations, KubernetesObject, OwnerReference
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.resource import ResourceClaim, ResourceClaimStatus
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus
from kubectl_sched.plugins.dynamic_resources.claims import ClaimProblem, claim_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.snapshot import Objects

Changes: TypeAlias = "dict[tuple[type[KubernetesObject], str, str], KubernetesObject | None]"
"""(kind, namespace, name) -> the object as it is then, None for one that is gone."""


def recreated(pod: Pod) -> Pod:
    """The pod that its controller makes in place of one that was evicted: pending, new, under the same name.

    The claims made for it from templates have the same names again.
    """
    metadata = structs.replace(
        pod.metadata, uid=f"{pod.metadata.uid}-again", creation_timestamp=None, deletion_timestamp=None
    )
    spec = structs.replace(pod.spec, node_name="")
    claims = pod.status.resource_claim_statuses
    return Pod(
        api_version=pod.api_version,
        metadata=metadata,
        spec=spec,
        status=type(pod.status)(phase="Pending", resource_claim_statuses=claims),
    )


def left_behind(pod: Pod, objects: Objects, again: Pod | None) -> Changes:
    """Return the changes after the pod is deleted; `again` is the pod that replaces it and gets new claims."""
    changes: Changes = {}
    for name in _claims_of(pod):
        claim = objects.get(ResourceClaim, name, pod.namespace)
        if claim is not None:
            key = (ResourceClaim, claim.namespace, claim.name)
            changes[key] = _renewed(claim, again) if _is_owned(claim, pod) else _unreserved(claim, pod)
    extended = pod.status.extended_resource_claim_status
    if extended is not None:
        changes[ResourceClaim, pod.namespace, extended.resource_claim_name] = None
    for use in claim_uses(pod):
        made = objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace) if use.is_ephemeral else None
        if made is not None and _is_owned(made, pod):
            changes[PersistentVolumeClaim, made.namespace, made.name] = _unbound(made, again)
            volume = objects.get(PersistentVolume, made.spec.volume_name)
            if volume is not None:
                status = structs.replace(volume.status, phase="Released")
                changes[PersistentVolume, "", volume.name] = structs.replace(volume, status=status)
    return changes


def changed(objects: Objects, changes: Changes) -> Objects:
    """The objects with the changes."""
    gone: dict[type[KubernetesObject], list[tuple[str, str]]] = defaultdict(list)
    there: dict[type[KubernetesObject], list[KubernetesObject]] = defaultdict(list)
    for (kind, namespace, name), item in changes.items():
        if item is None:
            gone[kind].append((namespace, name))
        else:
            there[kind].append(item)
    for kind, items in there.items():
        objects = objects.with_these(kind, items)
    for kind, keys in gone.items():
        objects = objects.without(kind, keys)
    return objects


def all_changed(items: list[KubernetesObject], changes: Changes) -> list[KubernetesObject]:
    """Return the objects of all kinds, in one list, with the changes."""
    after = (changes.get((type(item), item.namespace, item.name), item) for item in items)
    return [item for item in after if item is not None]


def _claims_of(pod: Pod) -> Iterator[str]:
    for reference in pod.spec.resource_claims:
        try:
            name, _ = claim_name(pod, reference)
        except ClaimProblem:
            continue
        if name is not None:
            yield name


def _is_owned(item: KubernetesObject, pod: Pod) -> bool:
    return any(owner.uid == pod.metadata.uid for owner in item.metadata.owner_references)


def _unreserved(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    users = tuple(user for user in claim.status.reserved_for if user.uid != pod.metadata.uid)
    if users == claim.status.reserved_for:
        return claim
    status = structs.replace(claim.status, reserved_for=users) if users else ResourceClaimStatus()
    return structs.replace(claim, status=status)


def _renewed(claim: ResourceClaim, pod: Pod | None) -> ResourceClaim | None:
    if pod is None:
        return None
    return ResourceClaim(
        api_version=claim.api_version,
        metadata=structs.replace(
            claim.metadata,
            uid=f"{claim.metadata.uid}-again",
            owner_references=(owned_by(pod),),
            finalizers=(),
            deletion_timestamp=None,
        ),
        spec=claim.spec,
    )


def _unbound(claim: PersistentVolumeClaim, pod: Pod | None) -> PersistentVolumeClaim | None:
    if pod is None:
        return None
    kept = claim.metadata.annotations
    return structs.replace(
        claim,
        metadata=structs.replace(
            claim.metadata,
            uid=f"{claim.metadata.uid}-again",
            annotations=Annotations(beta_storage_class=kept.beta_storage_class),
            owner_references=(owned_by(pod),),
            deletion_timestamp=None,
        ),
        spec=structs.replace(claim.spec, volume_name=""),
        status=PersistentVolumeClaimStatus(phase="Pending"),
    )


def owned_by(pod: Pod) -> OwnerReference:
    """Return the owner reference of an object that belongs to the pod and is deleted with it."""
    return OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.metadata.uid, controller=True)
