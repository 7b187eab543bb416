"""Replicas as workloads make them, for what is measured after reading: with ordinals, and with claims of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.core import Service, ServiceSpec
from kubectl_sched.api.meta import ObjectMeta
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
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    StorageClass,
    VolumeNodeResources,
)
from kubectl_sched.controllers.pod_claims import ephemeral_claims
from kubectl_sched.snapshot.objects import Objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
