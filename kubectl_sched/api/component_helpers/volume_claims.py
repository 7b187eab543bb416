"""The claims of a pod's volumes, and their classes, owners and nodes.

Answers to k8s.io/component-helpers/storage/volume and storage/ephemeral.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.validation import quoted

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import Volume
    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim

NOT_SUPPORTED_PROVISIONER = "kubernetes.io/no-provisioner"


class ClaimUse(NamedTuple):
    """A volume of a pod that is a claim; an ephemeral one was made for this pod and no other."""

    volume: str
    claim_name: str
    is_ephemeral: bool


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The name of the claim behind a volume, None if it is none; an ephemeral volume's claim has a computed name."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


def claim_use(pod: Pod, volume: Volume) -> ClaimUse | None:
    """The claim behind a volume, None if it is none."""
    name = claim_name(pod, volume)
    return None if name is None else ClaimUse(volume.name, name, is_ephemeral=volume.persistent_volume_claim is None)


def claim_uses(pod: Pod) -> tuple[ClaimUse, ...]:
    """All claims of a pod, in the order of its volumes."""
    return tuple([use for volume in pod.spec.volumes if (use := claim_use(pod, volume)) is not None])


def not_owner_error(pod: Pod, claim: PersistentVolumeClaim) -> str | None:
    """Return the error for an ephemeral volume's claim of another owner, else None (ephemeral.VolumeIsForPod)."""
    owner = claim.metadata.controller
    if claim.namespace == pod.namespace and owner is not None and owner.uid == pod.metadata.uid:
        return None
    return f"PVC {claim.namespace}/{claim.name} was not created for pod {pod.namespace}/{pod.name} (pod is not owner)"


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """The storage class that a claim asks for, empty where it asks for none; the beta annotation comes first."""
    beta = claim.metadata.annotations.beta_storage_class
    return beta if beta is not None else claim.spec.storage_class_name or ""


def class_of_volume(volume: PersistentVolume) -> str:
    """The storage class that a volume belongs to; the beta annotation comes first."""
    beta = volume.metadata.annotations.beta_storage_class
    return beta if beta is not None else volume.spec.storage_class_name


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Report whether the volume is bound to the claim, or set aside for it (IsVolumeBoundToClaim)."""
    reference, of_claim = volume.spec.claim_ref, claim.metadata
    if reference is None or reference.name != of_claim.name or reference.namespace != of_claim.namespace:
        return False
    return not reference.uid or reference.uid == of_claim.uid


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Report whether claim and volume have both been bound to each other."""
    return bool(claim.spec.volume_name) and claim.metadata.annotations.bind_completed is not None


@lru_cache(maxsize=1 << 12)
def zones_of_label(value: str) -> frozenset[str] | None:
    """The zones that a volume's zone label lists, None if it cannot be read (volumehelpers.LabelZonesToSet)."""
    zones = [zone.strip() for zone in value.split("__")]
    return frozenset(zones) if all(zones) else None


def claim_not_found(name: str) -> str:
    """Return a lister's error for a claim that does not exist."""
    return f"persistentvolumeclaim {quoted(name)} not found"


def volume_not_found(name: str) -> str:
    """Return a lister's error for a volume that does not exist."""
    return f"persistentvolume {quoted(name)} not found"


def class_not_found(name: str) -> str:
    """Return a lister's error for a storage class that does not exist."""
    return f"storageclass.storage.k8s.io {quoted(name)} not found"
