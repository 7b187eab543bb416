"""The pods that Karpenter makes nodes for, and why it ignores others (Validate of provisioner.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import NODE_POOL
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import DOES_NOT_EXIST, IN
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement_validation import requirement_errors
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import of_key, pod_requirements
from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import MissingVolumeObject, driver_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import OwnerReference
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.storage import PersistentVolumeClaim
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import Storage

_AVOIDS_KARPENTER: Final = (
    f"configured to not run on a Karpenter provisioned node (requirement={NODE_POOL} {DOES_NOT_EXIST})"
)
_BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"


def failed_to_schedule(pod: Pod) -> bool:
    """Report whether kube-scheduler has said that the pod fits nowhere (FailedToSchedule)."""
    return any(each.type == "PodScheduled" and each.reason == "Unschedulable" for each in pod.status.conditions)


def is_provisionable(pod: Pod) -> bool:
    """Report whether Karpenter looks at a pod (IsProvisionable): kube-scheduler has said that it fits nowhere."""
    return failed_to_schedule(pod) and not pod.spec.node_name and not exclusion(pod)


def exclusion(pod: Pod) -> str:
    """Return the reason, which Karpenter never states, for which it passes over a pod that fits nowhere; else empty."""
    if pod.status.nominated_node_name:
        return f"the pod is nominated to {pod.status.nominated_node_name}"
    if is_owned_by(pod, "apps/v1", "DaemonSet"):
        return "a pod of a DaemonSet needs the node that it is for"
    return "the pod is static" if is_owned_by(pod, "v1", "Node") else ""


def is_reschedulable(pod: Pod) -> bool:
    """Report whether a pod of a node that goes away needs another place (IsReschedulable)."""
    is_terminating = pod.metadata.deletion_timestamp is not None
    moves = not is_terminating and not pod.has_ended
    returns = is_terminating and is_owned_by(pod, "apps/v1", "StatefulSet")
    return (moves or returns) and not is_owned_by(pod, "apps/v1", "DaemonSet") and not is_owned_by(pod, "v1", "Node")


def is_owned_by(pod: Pod, api_version: str, kind: str) -> bool:
    """Report whether any owner of the pod is of the kind."""

    def matches(owner: OwnerReference) -> bool:
        return owner.api_version == api_version and owner.kind == kind

    return any(map(matches, pod.metadata.owner_references))


def validation_error(pod: Pod, storage: Storage, options: Options) -> str:
    """Return why Karpenter ignores a pod, in its words; empty if it does not."""
    return "; ".join((*_selector_errors(pod, options), *_claim_errors(pod, storage)))


def _selector_errors(pod: Pod, options: Options) -> Iterator[str]:
    if of_key(pod_requirements(pod, strict=False), NODE_POOL).operator == DOES_NOT_EXIST:
        yield _AVOIDS_KARPENTER
    for key, value in sorted((pod.spec.node_selector or {}).items()):
        yield from requirement_errors(key, IN, (value,), options.well_known, options.restricted_domains)
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    if affinity is None or affinity.required is None:
        return
    for term in affinity.required.node_selector_terms:
        if term.match_fields:
            yield "node selector term with matchFields is not supported"
        for each in term.match_expressions:
            yield from requirement_errors(
                each.key, each.operator, each.values, options.well_known, options.restricted_domains
            )


def _claim_errors(pod: Pod, storage: Storage) -> Iterator[str]:
    """The first thing that keeps a claim from being used (ValidatePersistentVolumeClaims)."""
    for use in claim_uses(pod):
        try:
            claim = storage.claim(pod, use.claim_name)
        except MissingVolumeObject as missing:
            yield str(missing)
            return
        wrong = _claim_error(claim, storage)
        if wrong:
            yield wrong
            return


def _claim_error(claim: PersistentVolumeClaim, storage: Storage) -> str:
    named = f"PersistentVolumeClaim={claim.key}"
    volume, storage_class = claim.spec.volume_name, claim.spec.storage_class_name or ""
    if claim.metadata.deletion_timestamp is not None:
        return f"persistentvolumeclaim is being deleted ({named})"
    if claim.status.phase == "Lost":
        return f"persistentvolumeclaim bound to non-existent persistentvolume (PersistentVolume={volume}, {named})"
    if volume:
        wrong = _bound_claim_error(claim, volume, storage)
    else:
        wrong = _unbound_claim_error(storage_class, named, storage)
    if wrong:
        return wrong
    try:
        driver_of(claim, storage)
    except MissingVolumeObject as missing:
        return f"failed to validate pvc, {missing} ({named}, StorageClass={storage_class})"
    return ""


def _bound_claim_error(claim: PersistentVolumeClaim, volume: str, storage: Storage) -> str:
    try:
        leaving = storage.volume(volume).metadata.deletion_timestamp is not None
        wrong = "persistentvolume is being deleted" if leaving else ""
    except MissingVolumeObject as missing:
        wrong = str(missing)
    if wrong:
        return (
            f"failed to validate pvc, {wrong} (PersistentVolume={volume}, PersistentVolumeClaim={claim.key}, "
            f"StorageClass={claim.spec.storage_class_name or ''})"
        )
    if claim.metadata.annotations.bind_completed is None:
        return (
            "pvc is considered unbound because it does not contain annotation "
            f"(PersistentVolume={volume}, PersistentVolumeClaim={claim.name}, annotation={_BIND_COMPLETED})"
        )
    return ""


def _unbound_claim_error(storage_class: str, named: str, storage: Storage) -> str:
    where = f"({named}, StorageClass={storage_class})"
    if not storage_class:
        return f"unbound pvc must define a storage class {where}"
    try:
        found = storage.storage_class(storage_class)
    except MissingVolumeObject as missing:
        return f"failed to validate pvc, failed to get storage class, {missing} {where}"
    if found.volume_binding_mode == "Immediate":
        return f"failed to validate pvc, pvc with immediate volume binding mode must be bound {where}"
    return ""
