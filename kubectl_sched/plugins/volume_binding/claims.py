"""The claims of a pod, by what the scheduler has to do for them (binder.go, GetPodVolumeClaims)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.validation import quoted
from kubectl_sched.api.component_helpers.volume_claims import (
    claim_not_found,
    claim_uses,
    class_of_claim,
    is_fully_bound,
    not_owner_error,
)
from kubectl_sched.api.storage import WAIT_FOR_FIRST_CONSUMER, PersistentVolumeClaim, StorageClass
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.api.component_helpers.volume_claims import ClaimUse
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot.objects import Objects


class PodVolumeClaims(Record, frozen=True, kw_only=True):
    """`bound` have a volume, `delayed` wait for the scheduler's choice, `immediate` should have had a volume before."""

    bound: tuple[PersistentVolumeClaim, ...] = ()
    delayed: tuple[PersistentVolumeClaim, ...] = ()
    immediate: tuple[PersistentVolumeClaim, ...] = ()


def refusal(pod: Pod, use: ClaimUse, objects: Objects) -> str | None:
    """Return the error for which the pod cannot run with a claim on any node (podHasPVCs), else None."""
    claim = objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)
    if claim is None:
        if use.is_ephemeral:
            name = quoted(use.claim_name)
            return f"waiting for ephemeral volume controller to create the persistentvolumeclaim {name}"
        return claim_not_found(use.claim_name)
    name = quoted(claim.name)
    if claim.status.phase == "Lost":
        volume = quoted(claim.spec.volume_name)
        return f"persistentvolumeclaim {name} bound to non-existent persistentvolume {volume}"
    if claim.metadata.deletion_timestamp is not None:
        return f"persistentvolumeclaim {name} is being deleted"
    return not_owner_error(pod, claim) if use.is_ephemeral else None


def pod_volume_claims(pod: Pod, objects: Objects) -> PodVolumeClaims:
    """The pod's claims, all of which exist, in the order of its volumes; raise PluginError for a class without mode."""
    claims = PodVolumeClaims()
    for use in claim_uses(pod):
        claim = objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)
        if claim is None:
            continue
        if is_fully_bound(claim):
            claims = replace(claims, bound=(*claims.bound, claim))
        elif is_delayed(claim, objects) and not claim.spec.volume_name:
            claims = replace(claims, delayed=(*claims.delayed, claim))
        else:
            claims = replace(claims, immediate=(*claims.immediate, claim))
    return claims


def is_delayed(claim: PersistentVolumeClaim, objects: Objects) -> bool:
    """Report whether the claim's class waits for the first consumer (IsDelayBindingMode)."""
    name = class_of_claim(claim)
    storage_class = objects.get(StorageClass, name) if name else None
    if storage_class is None:
        return False
    if storage_class.volume_binding_mode is None:
        raise PluginError(f"VolumeBindingMode not set for StorageClass {quoted(name)}")
    return storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
