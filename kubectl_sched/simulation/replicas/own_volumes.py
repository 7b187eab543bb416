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
from kubectl_sched.plugins.node_volume_limits.attachable_volumes import inline_volumes, volumes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot.objects import Objects

_MIGRATED = frozenset(plugin.name for plugin in IN_TREE_PLUGINS)
"""With all of them migrated a disk has its driver's handle, whatever a node says."""


class OwnVolumes:
    """The volumes of a cluster by who has them."""

    def __init__(self, objects: Objects, running: Sequence[Pod]) -> None:
        """`running` are the pods with volumes."""
        self._objects = objects
        self._running = running

    @cached_property
    def _disk_of_each(self) -> list[tuple[str, str | None]]:
        """The names of the volumes, and each one as its driver knows it; None if it is no driver's."""
        volumes = self._objects.all(PersistentVolume)
        return [(each.name, next(iter(volumes_of(each, _MIGRATED)), None)) for each in volumes]

    @cached_property
    def _disk_of(self) -> dict[str, str | None]:
        return dict(self._disk_of_each)

    @cached_property
    def _disks(self) -> Counter[str | None]:
        """The number of volumes that are each disk, by its driver's name; with those that pods name themselves."""
        disks = Counter(disk for _, disk in self._disk_of_each)
        for pod in self._running:
            for volume in pod.spec.volumes:
                with suppress(PluginError):
                    disks.update(inline_volumes(volume, _MIGRATED).keys())
        return disks

    @cached_property
    def _sole(self) -> frozenset[str]:
        """The volumes that one claim names, and that are the same disk on all nodes, which no other volume is."""
        claimed = Counter(claim.spec.volume_name for claim in self._objects.all(PersistentVolumeClaim))
        return frozenset(
            volume.name
            for volume in self._objects.all(PersistentVolume)
            if claimed[volume.name] == 1 and self.is_only_disk(volume) and in_tree_plugin(volume.spec) is None
        )

    def of(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """The claim's volume, None if others may have it, too, or what it is differs between nodes."""
        volume = self._objects.get(PersistentVolume, claim.spec.volume_name)
        if volume is None or not is_fully_bound(claim) or not is_bound_to(volume, claim):
            return None
        return volume if volume.name in self._sole else None

    def are_counted_as(self, driver: str, volumes: Iterable[PersistentVolume]) -> bool:
        """Report whether each of the volumes counts on a node as one of this driver's that is yet to be made.

        So it does where neither driver has a limit on any node.
        """
        return in_tree_plugin_named(driver) is None and all(self._is_counted_as(driver, each) for each in volumes)

    def _is_counted_as(self, driver: str, volume: PersistentVolume) -> bool:
        if in_tree_plugin(volume.spec) is not None:
            return False
        of_volume = volume.spec.csi.driver if volume.spec.csi is not None else ""
        if self._limited.isdisjoint((driver, of_volume)):
            return True
        return driver == of_volume and self.is_only_disk(volume) and volume.name not in self._attached

    @cached_property
    def _limited(self) -> frozenset[str]:
        nodes = self._objects.all(CSINode)
        return frozenset(each.name for node in nodes for each in node.spec.drivers if each.allocatable is not None)

    @cached_property
    def _attached(self) -> frozenset[str | None]:
        return frozenset(each.spec.source.persistent_volume_name for each in self._objects.all(VolumeAttachment))

    def is_only_disk(self, volume: PersistentVolume) -> bool:
        """Report whether no other volume is the same disk."""
        disk, is_of_driver = self._disk_of[volume.name], volume.spec.csi is not None
        return self._disks[disk] == 1 if is_of_driver and disk is not None else not is_of_driver and disk is None
