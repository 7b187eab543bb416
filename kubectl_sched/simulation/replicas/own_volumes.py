"""Bound volumes that one claim alone has: no other claim names them, and no other volume is the same disk."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.csi_translation import IN_TREE_PLUGINS, in_tree_plugin, in_tree_plugin_named
from kubectl_sched.api.component_helpers.volume_claims import is_bound_to, is_fully_bound
from kubectl_sched.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim, VolumeAttachment
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.plugins.node_volume_limits.attachable_volumes import inline_volumes, unique_name, volumes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot.objects import Objects

_MIGRATED = frozenset(plugin.name for plugin in IN_TREE_PLUGINS)
"""With all of them migrated a disk has its driver's handle, whatever a node says."""


class OwnVolumes:
    """The volumes of a cluster by who has them."""

    def __init__(self, objects: Objects, running: Sequence[Pod]) -> None:
        """`running` are the pods with volumes."""
        self._objects = objects
        self._volume_named = objects.by_key(PersistentVolume)
        self._running = running

    @cached_property
    def _shared_disks(self) -> frozenset[str]:
        """The disks, by their drivers' names, that are several volumes; with those that pods name themselves."""
        volumes = self._objects.all(PersistentVolume)
        disks = [unique_name(csi.driver, csi.volume_handle) for each in volumes if (csi := each.spec.csi) is not None]
        disks += [disk for each in volumes if each.spec.csi is None for disk in volumes_of(each, _MIGRATED)]
        for pod in self._running:
            for volume in pod.spec.volumes:
                with suppress(PluginError):
                    disks += inline_volumes(volume, _MIGRATED)
        return _repeated(disks)

    @cached_property
    def _shared(self) -> frozenset[str]:
        """The volumes that several claims name."""
        return _repeated([claim.spec.volume_name for claim in self._objects.all(PersistentVolumeClaim)])

    def of(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """The claim's volume, None if others may have it, too."""
        name = claim.spec.volume_name
        volume = self._volume_named.get(("", name))
        if volume is None or not is_fully_bound(claim) or not is_bound_to(volume, claim) or name in self._shared:
            return None
        return volume if self.is_only_disk(volume) else None

    def are_counted_as(self, driver: str, volumes: Sequence[PersistentVolume]) -> bool:
        """Report whether each of the volumes counts on a node as one of this driver's that is yet to be made.

        So it does where neither driver has a limit on any node.
        """
        if in_tree_plugin_named(driver) or any(in_tree_plugin(each.spec) for each in volumes):
            return False
        drivers = {"" if (csi := each.spec.csi) is None else csi.driver for each in volumes}
        if self._limited.isdisjoint({driver, *drivers}):
            return True
        are_attached = not self._attached.isdisjoint([each.metadata.name for each in volumes])
        return drivers == {driver} and not are_attached and all(map(self.is_only_disk, volumes))

    @cached_property
    def _limited(self) -> frozenset[str]:
        nodes = self._objects.all(CSINode)
        return frozenset(each.name for node in nodes for each in node.spec.drivers if each.allocatable is not None)

    @cached_property
    def _attached(self) -> frozenset[str | None]:
        return frozenset(each.spec.source.persistent_volume_name for each in self._objects.all(VolumeAttachment))

    def is_only_disk(self, volume: PersistentVolume) -> bool:
        """Report whether the volume, if it is a disk of a driver's, is one that no other volume is."""
        csi = volume.spec.csi
        if csi is None:
            return in_tree_plugin(volume.spec) is None
        name = unique_name(csi.driver, csi.volume_handle)
        return name != "" and name not in self._shared_disks


def _repeated(names: Sequence[str]) -> frozenset[str]:
    if len(set(names)) == len(names):
        return frozenset()
    return frozenset([name for name, number in Counter(names).items() if number > 1])
