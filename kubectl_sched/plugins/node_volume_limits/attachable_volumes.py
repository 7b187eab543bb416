"""CSI volumes that a pod attaches to its node, by the names under which NodeVolumeLimits counts them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from kubectl_sched.api.component_helpers.csi_translation import (
    IN_TREE_PLUGINS,
    TranslationError,
    handle_of_inline,
    in_tree_plugin,
    in_tree_plugin_named,
    translated,
)
from kubectl_sched.api.component_helpers.volume_claims import (
    claim_not_found,
    claim_use,
    class_of_claim,
    not_owner_error,
)
from kubectl_sched.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment
from kubectl_sched.framework.cycle_state import PluginError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.component_helpers.csi_translation import InTreePlugin
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import Volume
    from kubectl_sched.api.storage import CSIPersistentVolumeSource
    from kubectl_sched.config.versions import Release
    from kubectl_sched.snapshot.array_types import Integers
    from kubectl_sched.snapshot.node_table import NodeTable
    from kubectl_sched.snapshot.objects import Objects

Volumes: TypeAlias = "dict[str, str]"
"""The driver of each volume, by a name that is the volume's only one in the cluster."""

_PORTWORX: Final = "kubernetes.io/portworx-volume"
_UNBOUND: Final = "\0"
"""Begins the handle of a volume that has none yet; upstream takes a random text."""


class MissingClaimError(Exception):
    """A pod's claim does not exist."""


class NodeDrivers(NamedTuple):
    """The limits of a CSINode, the drivers it has, and the in-tree plugins that are migrated."""

    limits: tuple[tuple[str, int], ...] = ()
    installed: frozenset[str] = frozenset()
    migrated: frozenset[str] = frozenset()

    @property
    def lowest_limit(self) -> int:
        """So many volumes are never too many, whichever their drivers."""
        return min((limit for _, limit in self.limits), default=0)


NO_CSI_NODE: Final = NodeDrivers()


def attachable_count(pod: Pod) -> int:
    """The number of the pod's volumes that may count."""
    return sum(
        volume.persistent_volume_claim is not None or volume.ephemeral is not None or in_tree_plugin(volume) is not None
        for volume in pod.spec.volumes
    )


def has_untold_volumes(pod: Pod) -> bool:
    """Report whether upstream may fail on the pod's volumes: all but those of claims that it names."""
    claims = [volume.persistent_volume_claim for volume in pod.spec.volumes]
    return sum(claim is not None and bool(claim.claim_name) for claim in claims) < attachable_count(pod)


def drivers_by_node(
    csi_nodes: Iterable[CSINode], release: Release, *, portworx_migrates: bool
) -> dict[str, NodeDrivers]:
    """The drivers of each CSINode, by its name."""
    migrating = frozenset(
        plugin.name for plugin in IN_TREE_PLUGINS if plugin.migrates and (portworx_migrates or plugin.name != _PORTWORX)
    )
    without_portworx = migrating - {_PORTWORX}

    def drivers_of(node: CSINode) -> NodeDrivers:
        limits = {
            driver.name: driver.allocatable.count
            for driver in node.spec.drivers
            if driver.allocatable is not None and driver.allocatable.count is not None
        }
        names = (node.metadata.annotations.migrated_plugins or "").split(",")
        is_left_out = release.portworx_limits_ask_csi_node and _PORTWORX not in names
        installed = frozenset([driver.name for driver in node.spec.drivers])
        return NodeDrivers(tuple(limits.items()), installed, without_portworx if is_left_out else migrating)

    return {node.name: drivers_of(node) for node in csi_nodes}


class AttachableVolumes:
    """The volumes of the pods of one cluster; each pod is looked at once for each set of migrated plugins."""

    def __init__(self, objects: Objects, drivers: Mapping[str, NodeDrivers]) -> None:
        """`drivers` are those of `drivers_by_node`."""
        self._objects = objects
        self._drivers = drivers
        self._attached_counts: WeakKeyDictionary[NodeTable, Integers] = WeakKeyDictionary()
        self._of_pod: dict[frozenset[str], dict[str, tuple[Pod, Volumes | str]]] = {}

    def drivers(self, node_name: str) -> NodeDrivers:
        """Return the facts known about the node's drivers."""
        return self._drivers.get(node_name, NO_CSI_NODE)

    def of_existing(self, pod: Pod, migrated: frozenset[str]) -> Volumes:
        """The volumes of a pod that runs; claims that do not exist are left out. Raises PluginError."""
        of_pod = self._of_pod.setdefault(migrated, {})
        known = of_pod.get(pod.key)
        if known is None or known[0] is not pod:
            try:
                known = pod, self.of_new(pod, migrated, is_new=False)
            except PluginError as failure:
                known = pod, str(failure)
            of_pod[pod.key] = known
        volumes = known[1]
        if isinstance(volumes, str):
            raise PluginError(volumes)
        return volumes

    def of_new(self, pod: Pod, migrated: frozenset[str], *, is_new: bool = True) -> Volumes:
        """The volumes of the pod to be scheduled (filterAttachableVolumes).

        Raises MissingClaimError where a claim does not exist, PluginError where upstream fails.
        """
        found: Volumes = {}
        for volume in pod.spec.volumes:
            use = claim_use(pod, volume)
            if use is None:
                found |= inline_volumes(volume, migrated)
                continue
            if not use.claim_name:
                raise PluginError("PersistentVolumeClaim had no name")
            claim = self._objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)
            if claim is None:
                if is_new:
                    missing = claim_not_found(use.claim_name)
                    raise MissingClaimError(f"looking up PVC {pod.namespace}/{use.claim_name}: {missing}")
                continue
            if use.is_ephemeral and (wrong := not_owner_error(pod, claim)) is not None:
                raise PluginError(wrong)
            found |= self.of_claim(claim, migrated)
        return found

    def of_claim(self, claim: PersistentVolumeClaim, migrated: frozenset[str]) -> Volumes:
        """The one volume of a claim, none if it is no driver's (getCSIDriverInfo)."""
        name = claim.spec.volume_name
        volume = self._objects.get(PersistentVolume, name) if name else None
        return self._of_class(claim, migrated) if volume is None else volumes_of(volume, migrated)

    def _of_class(self, claim: PersistentVolumeClaim, migrated: frozenset[str]) -> Volumes:
        """Return the volume that a claim without one will get from its class (getCSIDriverInfoFromSC)."""
        class_name = class_of_claim(claim)
        storage_class = self._objects.get(StorageClass, class_name) if class_name else None
        if storage_class is None:
            return {}
        driver = storage_class.provisioner
        plugin = in_tree_plugin_named(driver)
        if plugin is not None:
            driver = plugin.driver if plugin.name in migrated else ""
        return _named(driver, f"{_UNBOUND}-{claim.namespace}/{claim.name}")

    @cached_property
    def attached(self) -> Mapping[str, Volumes]:
        """By node name: the volumes that VolumeAttachments put there, whoever uses them."""
        attached: dict[str, Volumes] = {}
        for attachment in self._objects.all(VolumeAttachment):
            name = self._name_of_attached(attachment)
            if name is not None:
                attached.setdefault(attachment.spec.node_name, {})[name] = attachment.spec.attacher
        return attached

    def attached_counts(self, table: NodeTable) -> Integers:
        """int64[n]: the number of volumes that VolumeAttachments put on each node."""
        counts = self._attached_counts.get(table)
        if counts is None:
            counts = np.array([len(self.attached_to(name)) for name in table.names], dtype=np.int64)
            self._attached_counts[table] = counts
        return counts

    def attached_to(self, node_name: str) -> Mapping[str, str]:
        """The volumes that VolumeAttachments put on one node."""
        return self.attached.get(node_name, {})

    def _name_of_attached(self, attachment: VolumeAttachment) -> str | None:
        name = attachment.spec.source.persistent_volume_name
        if not attachment.spec.attacher or name is None:
            return None
        volume = self._objects.get(PersistentVolume, name)
        if volume is None or volume.spec.csi is None:
            return None
        return f"{attachment.spec.attacher}/{volume.spec.csi.volume_handle}"


def volumes_of(volume: PersistentVolume, migrated: frozenset[str]) -> Volumes:
    """The volume as its driver knows it, none if it is no driver's."""
    source = volume.spec.csi
    if source is None:
        plugin = in_tree_plugin(volume.spec)
        source = _translated_source(volume, plugin) if plugin and plugin.name in migrated else None
    return _named(source.driver, source.volume_handle) if source is not None else {}


def unique_name(driver: str, handle: str) -> str:
    """Return the name by which a volume is counted; empty if it is none of a driver's (getVolumeUniqueName)."""
    return f"{driver}/{handle}" if driver and handle else ""


def _named(driver: str, handle: str) -> Volumes:
    name = unique_name(driver, handle)
    return {name: driver} if name else {}


def _translated_source(volume: PersistentVolume, plugin: InTreePlugin) -> CSIPersistentVolumeSource | None:
    try:
        return translated(volume, plugin).spec.csi
    except TranslationError:
        return None


def inline_volumes(volume: Volume, migrated: frozenset[str]) -> Volumes:
    """A disk that the pod names itself (checkAttachableInlineVolume)."""
    plugin = in_tree_plugin(volume)
    if plugin is None or plugin.name not in migrated:
        return {}
    try:
        handle = handle_of_inline(volume)
    except TranslationError as failure:
        raise PluginError(f"converting volume({volume.name}) from inline to csi: {failure}") from failure
    return {f"{plugin.driver}/{handle}": plugin.driver}
