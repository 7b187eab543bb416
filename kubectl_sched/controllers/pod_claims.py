"""Claims that come into being with a pod: for ephemeral volumes, for a StatefulSet's volumes, for devices.

Answers to pkg/controller/volume/ephemeral, pkg/controller/resourceclaim (where names end in random letters, which are
left out here), and to the persistent volume controller for claims that do not wait for a pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.component_helpers.volume_claims import NOT_SUPPORTED_PROVISIONER, class_of_claim, class_of_volume
from kubectl_sched.api.core import ObjectReference
from kubectl_sched.api.meta import Annotations, ObjectMeta, OwnerReference
from kubectl_sched.api.pod import PodResourceClaimStatus
from kubectl_sched.api.resource import ResourceClaim, ResourceClaimTemplate
from kubectl_sched.api.storage import (
    CSIPersistentVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    VolumeNodeAffinity,
)
from kubectl_sched.apiserver.applied_objects import with_default_class, with_device_defaults
from kubectl_sched.controllers.claims_after_deletion import owned_by

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import PersistentVolumeClaimTemplate
    from kubectl_sched.api.scheduling import PodGroup
    from kubectl_sched.snapshot import Objects


def ephemeral_claims(pod: Pod, objects: Objects) -> Iterator[PersistentVolumeClaim]:
    """The claims that its generic ephemeral volumes become, which the pod owns."""
    for volume in pod.spec.volumes:
        if volume.ephemeral is not None and volume.ephemeral.volume_claim_template is not None:
            template = volume.ephemeral.volume_claim_template
            metadata = structs.replace(template.metadata, owner_references=(owned_by(pod),))
            owned = structs.replace(template, metadata=metadata)
            yield new_claim(owned, f"{pod.name}-{volume.name}", pod.namespace, objects)


def new_claim(
    template: PersistentVolumeClaimTemplate, name: str, namespace: str, objects: Objects
) -> PersistentVolumeClaim:
    """A claim under this name, as it is stored first."""
    metadata = structs.replace(
        template.metadata, name=name, namespace=namespace, uid=f"whatif/PersistentVolumeClaim/{namespace}/{name}"
    )
    made = PersistentVolumeClaim(
        metadata=metadata, spec=template.spec, status=PersistentVolumeClaimStatus(phase="Pending")
    )
    return with_default_class(made, objects.all(StorageClass))


def with_device_claims(pod: Pod, objects: Objects, group: PodGroup | None) -> tuple[Pod, tuple[ResourceClaim, ...]]:
    """The pod whose status names the claims made for it from templates, and these claims.

    A claim that the pod's group has, too, is the group's, one for all of its pods.

    One whose template is missing is not made, so that the pod waits for it, as it would.
    """
    claims: list[ResourceClaim] = []
    statuses: list[PodResourceClaimStatus] = []
    for reference in pod.spec.resource_claims:
        if reference.resource_claim_name is not None or reference.resource_claim_template_name is None:
            continue
        template = objects.get(ResourceClaimTemplate, reference.resource_claim_template_name, pod.namespace)
        if template is None:
            continue
        shared = group if group is not None and reference in group.spec.resource_claims else None
        name = f"{pod.name if shared is None else shared.name}-{reference.name}"
        metadata = ObjectMeta(
            name=name,
            namespace=pod.namespace,
            uid=f"whatif/ResourceClaim/{pod.namespace}/{name}",
            labels=template.spec.metadata.labels,
            annotations=Annotations(pod_claim_name=reference.name),
            owner_references=(owned_by(pod) if shared is None else _owned_by_group(shared),),
        )
        claims.append(ResourceClaim(metadata=metadata, spec=with_device_defaults(template.spec.spec)))
        statuses.append(PodResourceClaimStatus(name=reference.name, resource_claim_name=name))
    if not claims:
        return pod, ()
    return structs.replace(pod, status=structs.replace(pod.status, resource_claim_statuses=tuple(statuses))), tuple(
        claims
    )


def _owned_by_group(group: PodGroup) -> OwnerReference:
    return OwnerReference(
        api_version="scheduling.k8s.io/v1beta1",
        kind="PodGroup",
        name=group.name,
        uid=group.metadata.uid,
        controller=True,
    )


def bound_at_once(claims: list[PersistentVolumeClaim], objects: Objects) -> tuple[list[KubernetesObject], set[str]]:
    """The claims, with volumes for those whose class does not wait for a pod; also the classes that made volumes.

    Such a volume is an existing one, the smallest that suits, else one that the class's provisioner makes where the
    class allows: within its allowedTopologies, else reachable from everywhere.
    """
    found: list[KubernetesObject] = []
    making: set[str] = set()
    free = [volume for volume in objects.all(PersistentVolume) if _is_free(volume)]
    for claim in claims:
        of_class = objects.get(StorageClass, class_of_claim(claim))
        if of_class is not None and of_class.volume_binding_mode != "Immediate":
            found.append(claim)
            continue
        volume = min((each for each in free if _suits(each, claim)), key=_size, default=None)
        if volume is not None:
            free.remove(volume)
        elif of_class is not None and of_class.provisioner not in {"", NOT_SUPPORTED_PROVISIONER}:
            making.add(of_class.name)
            volume = _provisioned(claim, of_class)
        if volume is None:
            found.append(claim)
        else:
            found += _pair(claim, volume)
    return found, making


def _is_free(volume: PersistentVolume) -> bool:
    return volume.spec.claim_ref is None and volume.status.phase == "Available"


def _size(volume: PersistentVolume) -> int:
    return parse_quantity(volume.spec.capacity.get("storage", 0)).value()


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    wanted = parse_quantity(claim.spec.resources.requests.get("storage", 0)).value()
    return (
        class_of_volume(volume) == class_of_claim(claim)
        and _size(volume) >= wanted
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
        and (claim.spec.volume_mode or "Filesystem") == (volume.spec.volume_mode or "Filesystem")
        and claim.spec.selector is None
    )


def _provisioned(claim: PersistentVolumeClaim, of_class: StorageClass) -> PersistentVolume:
    terms = tuple(
        NodeSelectorTerm(
            match_expressions=tuple(
                NodeSelectorRequirement(key=each.key, operator="In", values=each.values)
                for each in term.match_label_expressions
            )
        )
        for term in of_class.allowed_topologies
    )
    affinity = VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms)) if terms else None
    return PersistentVolume(
        metadata=ObjectMeta(name=f"pvc-{claim.namespace}-{claim.name}"),
        spec=PersistentVolumeSpec(
            capacity=claim.spec.resources.requests,
            access_modes=claim.spec.access_modes,
            storage_class_name=of_class.name,
            volume_mode=claim.spec.volume_mode,
            node_affinity=affinity,
            csi=CSIPersistentVolumeSource(driver=of_class.provisioner, volume_handle=f"{claim.namespace}/{claim.name}"),
        ),
    )


def _pair(claim: PersistentVolumeClaim, volume: PersistentVolume) -> tuple[PersistentVolume, PersistentVolumeClaim]:
    """Both bound to each other."""
    reference = ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.metadata.uid,
    )
    annotations = structs.replace(claim.metadata.annotations, bind_completed="yes", bound_by_controller="yes")
    return (
        structs.replace(
            volume,
            spec=structs.replace(volume.spec, claim_ref=reference),
            status=PersistentVolumeStatus(phase="Bound"),
        ),
        structs.replace(
            claim,
            metadata=structs.replace(claim.metadata, annotations=annotations),
            spec=structs.replace(claim.spec, volume_name=volume.name),
            status=PersistentVolumeClaimStatus(phase="Bound", capacity=volume.spec.capacity),
        ),
    )
