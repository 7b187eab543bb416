"""The volumes and claims that a pod takes (binder.go, AssumePodVolumes and bindAPIUpdate)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.component_helpers.volume_claims import class_of_claim, is_bound_to
from kubectl_sched.api.core import ObjectReference
from kubectl_sched.framework.reserved_object import Reservation, Write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
    from kubectl_sched.plugins.volume_binding.binder import Binder
    from kubectl_sched.plugins.volume_binding.volume_outcome import PodVolumes


def reservations(volumes: PodVolumes, node_name: str) -> Iterator[Reservation]:
    """Volumes with their claims, as the persistent volume controller leaves them, then claims with the node selected.

    Only the volume of the former is written: its claim is the controller's to bind. A volume for the latter is the
    provisioner's to make, so that the claim stays unbound here.
    """
    for claim, volume in volumes.static_bindings:
        yield Reservation(item=taken_volume(volume, claim), writes=tuple(_writes_to(volume, claim)))
    for claim, _ in volumes.dynamic_provisions:
        yield Reservation(item=claim_with_node(claim, node_name), writes=(_selects(node_name, claim),))
    for claim, volume in volumes.static_bindings:
        # Until the controller has bound it, other pods find the claim unbound, with a volume that is set aside for it.
        yield Reservation(item=bound_claim(claim, volume), assumed=claim)


def taken_volume(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """The volume once it is the claim's."""
    annotations = volume.metadata.annotations
    if not is_bound_to(volume, claim):
        annotations = replace(annotations, bound_by_controller=annotations.bound_by_controller or "yes")
    return replace(
        volume,
        metadata=replace(volume.metadata, annotations=annotations),
        spec=replace(volume.spec, claim_ref=_reference(claim)),
        status=replace(volume.status, phase="Bound"),
    )


def _reference(claim: PersistentVolumeClaim) -> ObjectReference:
    return ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.metadata.uid,
    )


def _writes_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> Iterator[Write]:
    """GetBindVolumeToClaim; nothing where the volume names the claim already."""
    kept = volume.spec.claim_ref
    body: dict[str, object] = {}
    if kept is None or (kept.namespace, kept.name, kept.uid) != (claim.namespace, claim.name, claim.metadata.uid):
        reference = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": claim.namespace,
            "name": claim.name,
            "uid": claim.metadata.uid,
            "resourceVersion": claim.metadata.resource_version,
        }
        body["spec"] = {"claimRef": {key: text for key, text in reference.items() if text}}
    if not is_bound_to(volume, claim) and volume.metadata.annotations.bound_by_controller is None:
        body["metadata"] = {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}}
    if body:
        yield Write(verb="patch", kind="PersistentVolume", namespace="", name=volume.name, body=body)


def claim_with_node(claim: PersistentVolumeClaim, node_name: str) -> PersistentVolumeClaim:
    """The claim once a node is selected for it."""
    annotations = replace(claim.metadata.annotations, selected_node=node_name)
    return replace(claim, metadata=replace(claim.metadata, annotations=annotations))


def _selects(node_name: str, claim: PersistentVolumeClaim) -> Write:
    body = {"metadata": {"annotations": {"volume.kubernetes.io/selected-node": node_name}}}
    return Write(verb="patch", kind="PersistentVolumeClaim", namespace=claim.namespace, name=claim.name, body=body)


def bound_claim(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PersistentVolumeClaim:
    """The claim once it has the volume."""
    annotations = replace(claim.metadata.annotations, bind_completed="yes", bound_by_controller="yes")
    return replace(
        claim,
        metadata=replace(claim.metadata, annotations=annotations),
        spec=replace(claim.spec, volume_name=volume.name),
        status=replace(claim.status, phase="Bound", capacity=volume.spec.capacity),
    )


def actions(binder: Binder, volumes: PodVolumes, node_name: str, timeout_seconds: int) -> Iterator[tuple[str, str]]:
    """Yield each action with its extension point, in order; none if all claims are bound."""
    for claim, volume in volumes.static_bindings:
        yield "reserve", f"assume volume {volume.name} bound to claim {claim.key}"
    for claim, _ in volumes.dynamic_provisions:
        yield "reserve", f"assume node {node_name} selected for claim {claim.key}"
    for claim, volume in volumes.static_bindings:
        yield "preBind", f"bind volume {volume.name} to claim {claim.key}"
    for claim, capacity in volumes.dynamic_provisions:
        storage_class = binder.provisioner(claim).storage_class
        by_whom = storage_class.provisioner if storage_class is not None else ""
        made = f"a volume of class {class_of_claim(claim)}"
        if capacity is not None:
            made += f" out of CSIStorageCapacity {capacity.key}"
        yield "preBind", f"select {node_name} for claim {claim.key}, for which {by_whom} provisions {made}"
    waited_for = [claim.key for claim, _ in (*volumes.static_bindings, *volumes.dynamic_provisions)]
    if waited_for:
        are = "is" if len(waited_for) == 1 else "are"
        yield "preBind", f"wait up to {timeout_seconds} s until {', '.join(waited_for)} {are} bound"
