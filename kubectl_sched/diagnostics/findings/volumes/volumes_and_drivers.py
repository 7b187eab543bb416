"""The volumes of a pod, each with the CSI driver that serves it on a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.component_helpers.csi_translation import in_tree_plugin, in_tree_plugin_named
from kubectl_sched.api.component_helpers.volume_claims import claim_uses, class_of_claim, zones_of_label
from kubectl_sched.api.core import HOSTNAME, ZONE
from kubectl_sched.api.storage import CSIDriver, CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.objects import Objects


_ZONES: Final = (ZONE, "failure-domain.beta.kubernetes.io/zone")


class PodVolume(Record, frozen=True, kw_only=True):
    """A claim of the pod, its volume or else its class, and its CSI driver; None where no driver is known."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume | None
    driver: str | None
    in_tree: str = ""
    """The former in-tree plugin whose volumes the driver serves now."""

    @property
    def subject(self) -> str:
        """The volume and its claim in words."""
        if self.volume is None:
            return f"the volume of claim {self.claim.name}, which class {class_of_claim(self.claim)} makes,"
        return f"volume {self.volume.name} of claim {self.claim.name}"

    @property
    def served(self) -> str:
        """The driver, as a clause: `is served by CSI driver ebs.csi.aws.com`."""
        migrated = f" (in place of in-tree {self.in_tree}, which is migrated)" if self.in_tree else ""
        return f"is served by CSI driver {self.driver}{migrated}"


def pod_volumes(result: ScheduleResult) -> Iterator[PodVolume]:
    """Yield the pod's claims that exist, in the order of its volumes."""
    objects, namespace = result.nodes.objects, result.pod.namespace
    for use in claim_uses(result.pod):
        claim = objects.get(PersistentVolumeClaim, use.claim_name, namespace)
        if claim is None:
            continue
        name = claim.spec.volume_name
        volume = objects.get(PersistentVolume, name) if name else None
        if volume is not None:
            yield _of_volume(claim, volume)
        elif not name:
            yield _of_class(claim, objects)


def _of_volume(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PodVolume:
    if volume.spec.csi is not None:
        return PodVolume(claim=claim, volume=volume, driver=volume.spec.csi.driver)
    plugin = in_tree_plugin(volume.spec)
    if plugin is None:
        return PodVolume(claim=claim, volume=volume, driver=None)
    return PodVolume(claim=claim, volume=volume, driver=plugin.driver, in_tree=plugin.name)


def _of_class(claim: PersistentVolumeClaim, objects: Objects) -> PodVolume:
    """Return the driver of the class, if its provisioner is one: others make volumes that need no driver on a node."""
    storage_class = objects.get(StorageClass, class_of_claim(claim))
    provisioner = storage_class.provisioner if storage_class is not None else ""
    plugin = in_tree_plugin_named(provisioner)
    if plugin is not None:
        return PodVolume(claim=claim, volume=None, driver=plugin.driver, in_tree=plugin.name)
    is_driver = objects.get(CSIDriver, provisioner) is not None
    return PodVolume(claim=claim, volume=None, driver=provisioner if is_driver else None)


def wanted_labels(volume: PersistentVolume) -> dict[str, list[str]]:
    """Return the values of each label that the volume's node affinity names."""
    required = volume.spec.node_affinity.required if volume.spec.node_affinity is not None else None
    wanted: dict[str, list[str]] = {}
    for term in required.node_selector_terms if required is not None else ():
        for found in term.match_expressions:
            if found.operator == "In":
                wanted.setdefault(found.key, []).extend(found.values)
    return wanted


def zone_label(volume: PersistentVolume) -> str | None:
    """Return the volume's own label of its zone."""
    return next((volume.metadata.labels[key] for key in _ZONES if key in volume.metadata.labels), None)


def place_of(volume: PersistentVolume) -> str:
    """Return `on node n3` or `in zone a`, where the volume says so; else nothing."""
    wanted = wanted_labels(volume)
    hosts = list(dict.fromkeys(wanted.get(HOSTNAME, ())))
    if hosts:
        return f"on {'node' if len(hosts) == 1 else 'nodes'} {first_few(hosts)}"
    zones = list(dict.fromkeys(value for key, values in wanted.items() if key.endswith("/zone") for value in values))
    label = zone_label(volume)
    if not zones and label is not None:
        zones = sorted(zones_of_label(label) or ())
    return f"in {'zone' if len(zones) == 1 else 'zones'} {first_few(zones)}" if any(zones) else ""


def lacks_driver(objects: Objects, node: str, driver: str) -> bool:
    """Report whether the node is known not to have the driver: its CSINode lists others or none."""
    csi_node = objects.get(CSINode, node)
    return csi_node is not None and all(each.name != driver for each in csi_node.spec.drivers or ())
