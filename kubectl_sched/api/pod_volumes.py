"""The volumes that a pod names (k8s.io/api/core/v1/types.go)."""

import msgspec

from kubectl_sched.api.core import ResourceList
from kubectl_sched.api.meta import Int32, LabelSelector, ObjectMeta, Part


class PersistentVolumeClaimVolumeSource(Part, frozen=True):
    """A volume that is a claim."""

    claim_name: str = ""
    read_only: bool = False


class VolumeResourceRequirements(Part, frozen=True):
    """The storage that a claim requests."""

    requests: ResourceList = {}
    limits: ResourceList = {}


class PersistentVolumeClaimSpec(Part, frozen=True):
    """Defined here because a pod's generic ephemeral volume holds one."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Part, frozen=True):
    """The claim that a generic ephemeral volume becomes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Part, frozen=True):
    """A generic ephemeral volume."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class CSIVolumeSource(Part, frozen=True):
    """An inline volume of a CSI driver."""

    driver: str = ""
    read_only: bool | None = None


class ImageVolumeSource(Part, frozen=True):
    """A volume that is an image."""

    reference: str = ""
    pull_policy: str = ""


class GCEPersistentDisk(Part, frozen=True):
    """A legacy disk."""

    pd_name: str = ""
    read_only: bool = False
    partition: Int32 = 0


class _DiskWithID(Part, frozen=True):
    """A legacy disk, known by its ID."""

    volume_id: str = msgspec.field(name="volumeID", default="")
    read_only: bool = False


class AWSElasticBlockStore(_DiskWithID, frozen=True):
    """A legacy disk."""

    partition: Int32 = 0


class AzureDisk(Part, frozen=True):
    """A legacy disk."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(name="diskURI", default="")
    kind: str | None = None
    read_only: bool | None = None


class AzureFile(Part, frozen=True):
    """A share; only that it is one matters."""

    share_name: str = ""


class Cinder(_DiskWithID, frozen=True):
    """A legacy disk."""


class PortworxVolume(_DiskWithID, frozen=True):
    """A legacy disk."""


class VsphereVolume(Part, frozen=True):
    """A legacy disk."""

    volume_path: str = ""


class ISCSI(Part, frozen=True):
    """A legacy disk, known by its qualified name."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class RBD(Part, frozen=True):
    """A legacy disk, known by monitors, pool and image."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class EmptyDir(Part, frozen=True):
    """Scratch space; `kubectl drain` asks before it deletes it."""

    medium: str = ""


class HostPath(Part, frozen=True):
    """A path of the node itself."""

    path: str = ""


class KeyToPath(Part, frozen=True):
    """Under which name a key of a ConfigMap is a file."""

    key: str = ""
    path: str = ""


class ConfigMapVolumeSource(Part, frozen=True):
    """A ConfigMap as files; a scheduler may have its configuration from there."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()


class PodCertificateProjection(Part, frozen=True):
    """Read for the type of its key only."""

    key_type: str = ""


class VolumeProjection(Part, frozen=True):
    """One source of a projected volume."""

    pod_certificate: PodCertificateProjection | None = None


class ProjectedVolumeSource(Part, frozen=True):
    """Several sources in one directory."""

    sources: tuple[VolumeProjection, ...] = ()


class Volume(Part, frozen=True):
    """One volume of a pod; sources that the scheduler never looks at are dropped."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    vsphere_volume: VsphereVolume | None = None
    portworx_volume: PortworxVolume | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
    empty_dir: EmptyDir | None = None
    host_path: HostPath | None = None
    config_map: ConfigMapVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
