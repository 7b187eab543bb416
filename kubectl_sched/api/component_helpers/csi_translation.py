"""In-tree volumes as the CSI drivers that have taken their place know them (k8s.io/csi-translation-lib)."""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubectl_sched.api.core import ZONE
from kubectl_sched.api.storage import CSIPersistentVolumeSource, PersistentVolumeSpec, VolumeNodeAffinity

if TYPE_CHECKING:
    from kubectl_sched.api.pod_volumes import AzureDisk, Volume
    from kubectl_sched.api.storage import PersistentVolume

_REGION: Final = "topology.kubernetes.io/region"
_BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
_BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
_ZONE_DELIMITER: Final = "__"
_UNSPECIFIED: Final = "UNSPECIFIED"


class TranslationError(Exception):
    """A volume that has no CSI form; the text is upstream's."""


class InTreePlugin(NamedTuple):
    """A former in-tree plugin: its field in volumes, its name and its driver's.

    `migrates` says whether the scheduler counts and translates its volumes; `topology_key` is the driver's own label
    for zones, empty where it keeps the affinity as it is.
    """

    field: str
    name: str
    driver: str
    migrates: bool = True
    topology_key: str = ""


IN_TREE_PLUGINS: Final = (
    InTreePlugin(
        "gce_persistent_disk", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", topology_key="topology.gke.io/zone"
    ),
    InTreePlugin(
        "aws_elastic_block_store",
        "kubernetes.io/aws-ebs",
        "ebs.csi.aws.com",
        topology_key="topology.ebs.csi.aws.com/zone",
    ),
    InTreePlugin(
        "cinder",
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        topology_key="topology.cinder.csi.openstack.org/zone",
    ),
    InTreePlugin("azure_disk", "kubernetes.io/azure-disk", "disk.csi.azure.com"),
    InTreePlugin("azure_file", "kubernetes.io/azure-file", "file.csi.azure.com", migrates=False),
    InTreePlugin("vsphere_volume", "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", migrates=False),
    InTreePlugin("portworx_volume", "kubernetes.io/portworx-volume", "pxd.portworx.com"),
)


_sources = attrgetter(*[plugin.field for plugin in IN_TREE_PLUGINS])
_NO_SOURCES: Final = (None,) * len(IN_TREE_PLUGINS)


def in_tree_plugin(source: Volume | PersistentVolumeSpec) -> InTreePlugin | None:
    """The plugin that a pod's volume or a persistent one belongs to, None if it has no driver in its place."""
    sources = _sources(source)
    if sources == _NO_SOURCES:
        return None
    return next(plugin for plugin, of_plugin in zip(IN_TREE_PLUGINS, sources, strict=True) if of_plugin is not None)


def in_tree_plugin_named(name: str) -> InTreePlugin | None:
    """The plugin of that name, as storage classes give it for a provisioner."""
    return next((plugin for plugin in IN_TREE_PLUGINS if plugin.name == name), None)


def handle_of_inline(volume: Volume) -> str:
    """The driver's handle of a disk that a pod names itself; raise TranslationError."""
    if volume.gce_persistent_disk is not None:
        return f"projects/{_UNSPECIFIED}/zones/{_UNSPECIFIED}/disks/{volume.gce_persistent_disk.pd_name}"
    return _handle(volume)


def translated(volume: PersistentVolume, plugin: InTreePlugin) -> PersistentVolume:
    """The volume as its CSI driver knows it, its node affinity in the driver's own terms; raise TranslationError."""
    spec = volume.spec
    if spec.gce_persistent_disk is not None:
        labels = volume.metadata.labels
        handle = _gce_handle(spec.gce_persistent_disk.pd_name, labels.get(_BETA_ZONE) or labels.get(ZONE, ""))
    else:
        handle = _handle(spec)
    affinity = _translated_affinity(volume, plugin.topology_key) if plugin.topology_key else spec.node_affinity
    source = CSIPersistentVolumeSource(driver=plugin.driver, volume_handle=handle)
    return replace(volume, spec=replace(spec, **{plugin.field: None}, csi=source, node_affinity=affinity))


def _handle(source: Volume | PersistentVolumeSpec) -> str:
    if source.aws_elastic_block_store is not None:
        return _ebs_handle(source.aws_elastic_block_store.volume_id)
    if source.cinder is not None:
        return source.cinder.volume_id
    if source.azure_disk is not None:
        return _azure_handle(source.azure_disk)
    return source.portworx_volume.volume_id if source.portworx_volume is not None else ""


def _azure_handle(disk: AzureDisk) -> str:
    if disk.kind is not None and disk.kind.casefold() != "managed":
        raise TranslationError(f"kind({disk.kind}) is not supported in csi migration")
    return disk.disk_uri


def _ebs_handle(volume_id: str) -> str:
    """`vol-...` of an ID that may be written aws://<zone>/vol-... (KubernetesVolumeIDToEBSVolumeID)."""
    if not volume_id.startswith("aws://"):
        return volume_id
    from urllib.parse import unquote

    path = re.split(r"[?#]", volume_id.removeprefix("aws://"), maxsplit=1)[0].partition("/")[2]
    handle = unquote(path).strip("/")
    if re.fullmatch(r"vol-[^/]*", handle) is None:
        raise TranslationError(
            f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({volume_id})"
        )
    return handle


def _gce_handle(disk: str, zones_label: str) -> str:
    zones = zones_label.split(_ZONE_DELIMITER)
    if len(zones) == 1:
        return f"projects/{_UNSPECIFIED}/zones/{zones[0] or _UNSPECIFIED}/disks/{disk}"
    return f"projects/{_UNSPECIFIED}/regions/{_gce_region(zones)}/disks/{disk}"


def _gce_region(zones: list[str]) -> str:
    regions: set[str] = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            raise TranslationError(
                "failed to get region from zones: "
                f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            )
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        found = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise TranslationError(
            f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{found}]"
        )
    return regions.pop()


def _translated_affinity(volume: PersistentVolume, key: str) -> VolumeNodeAffinity | None:
    """The node affinity with the driver's key for zones (translateTopologyFromInTreeToCSI).

    Without a zone in it, the zones of the volume's label are added to every term.
    """
    affinity = volume.spec.node_affinity
    terms = affinity.required.node_selector_terms if affinity is not None and affinity.required is not None else ()
    zone_label, region_label = _topology_labels(volume, terms)
    if _has_values(terms, zone_label):
        terms = _renamed(terms, zone_label, key)
    else:
        zones = {zone.strip() for zone in volume.metadata.labels.get(zone_label, "").split(_ZONE_DELIMITER)} - {""}
        if zones:
            added = NodeSelectorRequirement(key=key, operator="In", values=tuple(sorted(zones)))
            terms = tuple(
                replace(term, match_expressions=(*term.match_expressions, added))
                for term in terms or (NodeSelectorTerm(),)
            )
    if region_label == _BETA_REGION and _has_values(terms, region_label):
        terms = _renamed(terms, region_label, _REGION)
    if not terms:
        return affinity
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))


def _topology_labels(volume: PersistentVolume, terms: tuple[NodeSelectorTerm, ...]) -> tuple[str, str]:
    """The zone and region labels that a volume uses: those of today or the beta ones (getTopologyLabel)."""
    in_terms = {requirement.key for term in terms for requirement in term.match_expressions}
    for keys in (in_terms, volume.metadata.labels.keys()):
        if ZONE in keys:
            break
        if _BETA_ZONE in keys:
            return _BETA_ZONE, _BETA_REGION
    return ZONE, _REGION


def _has_values(terms: tuple[NodeSelectorTerm, ...], key: str) -> bool:
    return any(requirement.values for term in terms for requirement in term.match_expressions if requirement.key == key)


def _renamed(terms: tuple[NodeSelectorTerm, ...], old: str, new: str) -> tuple[NodeSelectorTerm, ...]:
    return tuple(
        replace(
            term,
            match_expressions=tuple(
                replace(requirement, key=new) if requirement.key == old else requirement
                for requirement in term.match_expressions
            ),
        )
        for term in terms
    )
