"""Replicas as workloads make them, for what is measured after reading: with ordinals, and with claims of their own.

Volumes for these claims exist already (`bound`, `bound_to_nodes`, `open_volumes`), or are yet to be made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_sched.api.core import ObjectReference, Service, ServiceSpec
from kubectl_sched.api.meta import Annotations, ObjectMeta
from kubectl_sched.api.pod_volumes import (
    EphemeralVolumeSource,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimTemplate,
    PersistentVolumeClaimVolumeSource,
    Volume,
    VolumeResourceRequirements,
)
from kubectl_sched.api.storage import (
    WAIT_FOR_FIRST_CONSUMER,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    CSIPersistentVolumeSource,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    VolumeNodeAffinity,
    VolumeNodeResources,
)
from kubectl_sched.controllers.pod_claims import ephemeral_claims
from kubectl_sched.snapshot.objects import Objects
from tests.bench.clusters import HOSTNAME, ZONE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kubectl_sched.api.pod import Pod

ORDINAL = "statefulset.kubernetes.io/pod-name"
_DRIVER, _CLASS, _VOLUME = "disk.example.com", "disks", "data"
_MOST_ON_A_NODE = 25
_CLAIM = PersistentVolumeClaimSpec(
    access_modes=("ReadWriteOnce",),
    storage_class_name=_CLASS,
    resources=VolumeResourceRequirements(requests={"storage": "10Gi"}),
)


def plain(pod: Pod, count: int) -> Iterator[Pod]:
    """Pods that differ in name alone."""
    for index in range(count):
        name = f"new-{index}"
        yield replace(pod, metadata=replace(pod.metadata, name=name, uid=name))


def numbered(pod: Pod, count: int) -> Iterator[Pod]:
    """Pods of a StatefulSet, which have a label of their own."""
    for each in plain(pod, count):
        labels = {**each.metadata.labels, ORDINAL: each.metadata.name}
        yield replace(each, metadata=replace(each.metadata, labels=labels))


def claiming(pod: Pod, count: int) -> Iterator[Pod]:
    """Pods of a StatefulSet with a claim each."""
    for each in numbered(pod, count):
        source = PersistentVolumeClaimVolumeSource(claim_name=f"{_VOLUME}-{each.metadata.name}")
        yield _with_volume(each, Volume(name=_VOLUME, persistent_volume_claim=source))


def with_ephemeral_volume(pod: Pod, count: int) -> Iterator[Pod]:
    """Pods with a generic ephemeral volume."""
    source = EphemeralVolumeSource(volume_claim_template=PersistentVolumeClaimTemplate(spec=_CLAIM))
    yield from plain(_with_volume(pod, Volume(name=_VOLUME, ephemeral=source)), count)


def _with_volume(pod: Pod, volume: Volume) -> Pod:
    return replace(pod, spec=replace(pod.spec, volumes=(volume,)))


def service_of(pod: Pod) -> Service:
    """A Service that selects one pod of a StatefulSet by its ordinal's label."""
    metadata = ObjectMeta(name=pod.name, namespace=pod.namespace)
    return Service(metadata=metadata, spec=ServiceSpec(selector={ORDINAL: pod.metadata.labels[ORDINAL]}))


def with_storage(objects: Objects, nodes: Iterable[str], pods: Iterable[Pod]) -> Objects:
    """With the claims of these pods, a class that makes their volumes, and a limit of them on each node."""
    of_class = StorageClass(
        metadata=ObjectMeta(name=_CLASS), provisioner=_DRIVER, volume_binding_mode=WAIT_FOR_FIRST_CONSUMER
    )
    driver = CSINodeDriver(name=_DRIVER, allocatable=VolumeNodeResources(count=_MOST_ON_A_NODE))
    csi_nodes = [CSINode(metadata=ObjectMeta(name=name), spec=CSINodeSpec(drivers=(driver,))) for name in nodes]
    made = objects.with_these(StorageClass, [of_class]).with_these(CSINode, csi_nodes)
    return made.with_these(PersistentVolumeClaim, [claim for pod in pods for claim in _claims_of(pod)])


def _claims_of(pod: Pod) -> Iterator[PersistentVolumeClaim]:
    yield from ephemeral_claims(pod, Objects())
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            name = volume.persistent_volume_claim.claim_name
            metadata = ObjectMeta(name=name, namespace=pod.namespace, uid=name)
            yield PersistentVolumeClaim(
                metadata=metadata, spec=_CLAIM, status=PersistentVolumeClaimStatus(phase="Pending")
            )


def bound(objects: Objects, _: Sequence[str]) -> Objects:
    """With each claim bound to a volume of its own in one of three zones."""
    return _bound(objects, lambda index: (ZONE, f"zone-{index % 3}"))


def bound_to_nodes(objects: Objects, nodes: Sequence[str]) -> Objects:
    """With each claim bound to a volume that one node alone reaches."""
    return _bound(objects, lambda index: (HOSTNAME, nodes[index * 7 % len(nodes)]))


def open_volumes(objects: Objects, _: Sequence[str]) -> Objects:
    """With as many volumes as claims, in three zones, that nobody has claimed."""
    count = len(objects.all(PersistentVolumeClaim))
    volumes = [_volume(index, (ZONE, f"zone-{index % 3}"), None) for index in range(count)]
    return objects.with_these(PersistentVolume, volumes)


def _bound(objects: Objects, place: Callable[[int], tuple[str, str]]) -> Objects:
    claims = objects.all(PersistentVolumeClaim)
    volumes = [_volume(index, place(index), claim) for index, claim in enumerate(claims)]
    made = [_bound_to(volume, claim) for volume, claim in zip(volumes, claims, strict=True)]
    return objects.with_these(PersistentVolume, volumes).with_these(PersistentVolumeClaim, made)


def _bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    return replace(
        claim,
        metadata=replace(claim.metadata, annotations=Annotations(bind_completed="yes")),
        spec=replace(claim.spec, volume_name=volume.name),
        status=PersistentVolumeClaimStatus(phase="Bound"),
    )


def _volume(index: int, place: tuple[str, str], claim: PersistentVolumeClaim | None) -> PersistentVolume:
    """A volume of the class that the nodes with this label reach."""
    key, value = place
    term = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key=key, operator="In", values=(value,)),))
    of_claim = None if claim is None else ObjectReference(namespace=claim.namespace, name=claim.name, uid=claim.name)
    return PersistentVolume(
        metadata=ObjectMeta(name=f"pv-{index}", labels={key: value} if key == ZONE else {}),
        spec=PersistentVolumeSpec(
            capacity={"storage": "10Gi"},
            access_modes=_CLAIM.access_modes,
            claim_ref=of_claim,
            storage_class_name=_CLASS,
            node_affinity=VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,))),
            csi=CSIPersistentVolumeSource(driver=_DRIVER, volume_handle=f"vol-{index}"),
        ),
        status=PersistentVolumeStatus(phase="Available" if claim is None else "Bound"),
    )
