"""Keeps a pod off nodes that cannot attach more volumes (plugins/nodevolumelimits/csi.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from kubectl_sched.api.storage import CSIDriver
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.deferred_resizes import grows_in_place
from kubectl_sched.framework.interface import DependsOn, FilterPlugin, PreFilterPlugin, PreFilterResult
from kubectl_sched.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from kubectl_sched.plugins.node_volume_limits.attachable_volumes import (
    AttachableVolumes,
    MissingClaimError,
    attachable_count,
)
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.plugins.node_volume_limits.attachable_volumes import NodeDrivers, Volumes
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows
    from kubectl_sched.snapshot.objects import Objects

_ANY_NUMBER = 1 << 40
_LIMIT_EXCEEDED = unschedulable("node(s) exceed max volume count")


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin):
    """Compares the volumes of a node's pods, its attachments and the pod's own with the limits of its CSINode."""

    name: ClassVar[str] = "NodeVolumeLimits"
    depends_on: ClassVar[DependsOn] = DependsOn.PODS_OF_NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self._release = handle.release
        self._portworx_migrates = handle.features.enabled("CSIMigrationPortworx")
        self._scales_limits = handle.features.enabled("VolumeLimitScaling")
        self._grows_in_place = grows_in_place(handle)
        self._volumes: WeakKeyDictionary[Objects, AttachableVolumes] = WeakKeyDictionary()

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skip pods without volumes that are ever attached."""
        return PreFilterResult(status=SKIP if self._leaves_out(pod) or not attachable_count(pod) else SUCCESS)

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes where a driver would have more volumes than it takes."""
        if self._leaves_out(pod):
            return Column.filled(len(nodes), SUCCESS)
        volumes = self._volumes_in(nodes.objects)
        drivers = Column.of(map(volumes.drivers, nodes.names))
        answers = drivers.map(lambda each: self._before_counting(pod, each, nodes.objects))
        counts = answers.where(lambda answer: not isinstance(answer, Status))
        used = _used_by_pods(nodes, counts, drivers, volumes) if counts.any() else {}
        return Column.of(
            answer if isinstance(answer, Status) else _counted(answer, used.get(row, {}), drivers[row], volumes, name)
            for row, (answer, name) in enumerate(zip(answers, nodes.names, strict=True))
        )

    def spare(self, pod: Pod, nodes: Snapshot) -> Integers:
        """By the lowest limit of each node, as if all volumes there were of that driver and none were shared."""
        existing = nodes.existing_pods
        of_pods = existing.column("attachable_volumes", attachable_count).numbers(int)
        used = np.bincount(existing.rows, weights=of_pods, minlength=len(nodes)).astype(np.int64)
        volumes, added = self._volumes_in(nodes.objects), max(1, attachable_count(pod))
        free = [_free(volumes.drivers(name), len(volumes.attached_to(name))) for name in nodes.names]
        spare: Integers = (np.array(free, dtype=np.int64) - used) // added - 1
        return spare.clip(min=0)

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Each driver that has no room left: its limit, and who uses it up; or what is missing altogether."""
        if self._leaves_out(pod):
            return ()
        volumes = self._volumes_in(nodes.objects)
        drivers = volumes.drivers(nodes.names[row])

        from kubectl_sched.plugins.node_volume_limits.evidence import limit_evidence, missing_claims, missing_driver

        try:
            new = volumes.of_new(pod, drivers.migrated)
            missing = self._missing_drivers(new, drivers, nodes.objects)
            if missing:
                return tuple(missing_driver(driver, drivers) for driver in missing)
            users = [(other, volumes.of_existing(other, drivers.migrated)) for other in nodes.node(row).pods]
        except MissingClaimError:
            return missing_claims(pod, nodes.objects)
        except PluginError:
            return ()
        used = {name: driver for _, each in users for name, driver in each.items()}
        attached = volumes.attached_to(nodes.names[row])

        from kubectl_sched.plugins.node_volume_limits.count import exceeded

        counts = exceeded(new, used, attached, drivers.limits)
        return tuple(limit_evidence(count, users, attached) for count in counts)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """The drivers that none of these nodes has room for, or has at all."""
        taken = nodes.take(rows)
        statuses = {status for status, _ in self.filter(state, pod, taken).counts()}
        if statuses == {_LIMIT_EXCEEDED}:
            volumes = self._volumes_in(nodes.objects)
            new = volumes.of_new(pod, volumes.drivers(taken.names[0]).migrated)
            return f"have no room for more volumes of {' or '.join(sorted(set(new.values())))}"
        if len(statuses) == 1 and (found := self.explain_filter(state, pod, nodes, int(rows[0]))):
            driver = found[0].facts.get("driver")
            if driver is not None:
                return f"have no CSI driver {driver}"
        return super().summarize(state, pod, nodes, rows)

    def _leaves_out(self, pod: Pod) -> bool:
        return not pod.spec.volumes or self._grows_in_place(pod)

    def _volumes_in(self, objects: Objects) -> AttachableVolumes:
        volumes = self._volumes.get(objects)
        if volumes is None:
            volumes = self._volumes[objects] = AttachableVolumes(objects, self._release, self._portworx_migrates)
        return volumes

    def _before_counting(self, pod: Pod, drivers: NodeDrivers, objects: Objects) -> Status | Volumes:
        """The verdict where the node's pods do not matter, else the pod's own volumes."""
        try:
            new = self._volumes_in(objects).of_new(pod, drivers.migrated)
        except MissingClaimError as failure:
            return unresolvable(str(failure))
        except PluginError as failure:
            return error(str(failure))
        missing = self._missing_drivers(new, drivers, objects)
        if missing:
            return unschedulable(f"{missing[0]} CSI driver is not installed on the node")
        return new if new and drivers.limits else SUCCESS

    def _missing_drivers(self, new: Volumes, drivers: NodeDrivers, objects: Objects) -> list[str]:
        """With VolumeLimitScaling, the drivers that must be on the node and are not; upstream names any one of them."""
        if not self._scales_limits:
            return []
        needs_opt_in = self._release.missing_driver_needs_opt_in
        missing: list[str] = []
        for name in dict.fromkeys(new.values()):
            driver = objects.get(CSIDriver, name)
            if driver is None or name in drivers.installed:
                continue
            if driver.spec.prevent_pod_scheduling_if_missing or not needs_opt_in:
                missing.append(name)
        return missing


def _used_by_pods(
    nodes: Snapshot, counts: Mask, drivers: Column[NodeDrivers], volumes: AttachableVolumes
) -> dict[int, Volumes | Status]:
    """The volumes of the pods on each row that counts, or why they cannot be told."""
    existing = nodes.existing_pods
    has_volume = existing.column("attachable_volumes", attachable_count).where(bool)
    indices = np.flatnonzero(has_volume & counts[existing.rows])
    rows, pods = existing.rows[indices].tolist(), existing.pods
    used: dict[int, Volumes | Status] = {}
    for index, row in zip(indices.tolist(), rows, strict=True):
        found = used.setdefault(row, {})
        if isinstance(found, Status):
            continue
        try:
            found.update(volumes.of_existing(pods[index], drivers[row].migrated))
        except PluginError as failure:
            used[row] = error(str(failure))
    return used


def _free(drivers: NodeDrivers, attached: int) -> int:
    return drivers.lowest_limit - attached if drivers.limits else _ANY_NUMBER


def _counted(
    new: Volumes, used: Volumes | Status, drivers: NodeDrivers, volumes: AttachableVolumes, node_name: str
) -> Status:
    if isinstance(used, Status):
        return used
    attached = volumes.attached_to(node_name)
    if len(new) + len(used) + len(attached) <= drivers.lowest_limit:
        return SUCCESS

    from kubectl_sched.plugins.node_volume_limits.count import exceeded

    over = exceeded(new, used, attached, drivers.limits)
    return _LIMIT_EXCEEDED if over else SUCCESS
