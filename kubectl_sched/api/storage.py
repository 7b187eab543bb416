"""Volumes, the claims for them and the drivers behind them.

Answers to k8s.io/api/core/v1/types.go and k8s.io/api/storage/v1/types.go.
"""

import msgspec

from kubectl_sched.api.affinity import NodeSelector
from kubectl_sched.api.core import ObjectReference, RawQuantity, ResourceList
from kubectl_sched.api.meta import Int32, KubernetesObject, LabelSelector, Part
from kubectl_sched.api.pod_volumes import (
    AWSElasticBlockStore,
    AzureDisk,
    AzureFile,
    Cinder,
    GCEPersistentDisk,
    PersistentVolumeClaimSpec,
    PortworxVolume,
    VsphereVolume,
)

READ_WRITE_ONCE_POD = "ReadWriteOncePod"
WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"


class PersistentVolumeClaimStatus(Part, frozen=True):
    """Pending, Bound or Lost."""

    phase: str = ""
    capacity: ResourceList = {}


class PersistentVolumeClaim(KubernetesObject, frozen=True, tag_field="kind", tag="PersistentVolumeClaim"):
    """A request for storage in a namespace."""

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class CSIPersistentVolumeSource(Part, frozen=True):
    """A volume of a CSI driver; the handle is the driver's own name for it."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class VolumeNodeAffinity(Part, frozen=True):
    """From which nodes a volume can be reached."""

    required: NodeSelector | None = None


class NodeVolumeSource(Part, frozen=True):
    """A disk or a path of the node itself, which no other node has."""


class PersistentVolumeSpec(Part, frozen=True):
    """A volume; of its sources only local ones and those that have a CSI driver in their place today are kept."""

    capacity: ResourceList = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    csi: CSIPersistentVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    cinder: Cinder | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    vsphere_volume: VsphereVolume | None = None
    portworx_volume: PortworxVolume | None = None
    local: NodeVolumeSource | None = None
    host_path: NodeVolumeSource | None = None


class PersistentVolumeStatus(Part, frozen=True):
    """Available, Bound, Released, Pending or Failed."""

    phase: str = ""


class PersistentVolume(KubernetesObject, frozen=True, tag_field="kind", tag="PersistentVolume"):
    """A piece of storage of the cluster."""

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class TopologySelectorLabelRequirement(Part, frozen=True):
    """A label that must have one of the values."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Part, frozen=True):
    """All of its requirements must hold; an empty term matches nothing."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(KubernetesObject, frozen=True, tag_field="kind", tag="StorageClass"):
    """A class of volumes: provisioner and binding mode. The API server never stores None as the binding mode."""

    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(Part, frozen=True):
    """The number of a driver's volumes that a node takes; None: no limit."""

    count: Int32 | None = None


class CSINodeDriver(Part, frozen=True):
    """A driver on a node."""

    name: str = ""
    node_id: str = msgspec.field(name="nodeID", default="")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Part, frozen=True):
    """The drivers that have registered with the kubelet."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(KubernetesObject, frozen=True, tag_field="kind", tag="CSINode"):
    """The CSI drivers on the node of the same name."""

    spec: CSINodeSpec = CSINodeSpec()


class CSIDriverSpec(Part, frozen=True):
    """The features that a driver opts into; without `attach_required` volumes are mounted on any number of nodes."""

    attach_required: bool | None = None
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(KubernetesObject, frozen=True, tag_field="kind", tag="CSIDriver"):
    """A CSI driver that is deployed in the cluster."""

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(KubernetesObject, frozen=True, tag_field="kind", tag="CSIStorageCapacity"):
    """The free storage of a class on the nodes that the selector matches; without a selector it is on no node."""

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: RawQuantity | None = None
    maximum_volume_size: RawQuantity | None = None


class VolumeAttachmentSource(Part, frozen=True):
    """The volume that is attached, by name."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Part, frozen=True):
    """The volume, the node and the driver of an attachment."""

    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeAttachmentStatus(Part, frozen=True):
    """The driver's report: the volume is attached, or not yet."""

    attached: bool = False


class VolumeAttachment(KubernetesObject, frozen=True, tag_field="kind", tag="VolumeAttachment"):
    """The wish to have a volume attached to a node."""

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
