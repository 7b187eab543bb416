"""The extension points of NodeVolumeLimits."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from kubectl_sched.api.storage import CSIDriver, CSINode
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreFilterResult
from kubectl_sched.framework.replicas import DependsOn, ReplicaHelp
from kubectl_sched.framework.signing.pod_signature import VolumesSigner
from kubectl_sched.framework.status import SKIP, SUCCESS, Status, error, unresolvable, unschedulable
from kubectl_sched.plugins.node_volume_limits.attachable_volumes import (
    NO_CSI_NODE,
    AttachableVolumes,
    MissingClaimError,
    attachable_count,
    drivers_by_node,
    has_untold_volumes,
)
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.plugins.node_volume_limits.attachable_volumes import NodeDrivers, Volumes
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows
    from kubectl_sched.snapshot.node_table import NodeTable
    from kubectl_sched.snapshot.objects import Objects

_ANY_NUMBER = 1 << 40
_LIMIT_EXCEEDED = unschedulable("node(s) exceed max volume count")


class NodeVolumeLimits(PreFilterPlugin, FilterPlugin, VolumesSigner):
    """Compares the volumes of a node's pods, its attachments and the pod's own with the limits of its CSINode."""

    name: ClassVar[str] = "NodeVolumeLimits"
    depends_on: ClassVar[DependsOn] = DependsOn.PODS_OF_NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self._release = handle.release
        self._portworx_migrates = handle.features.enabled("CSIMigrationPortworx")
        self._scales_limits = handle.features.enabled("VolumeLimitScaling")
        self._grows_in_place = handle.grows_in_place
        self._volumes: WeakKeyDictionary[Objects, AttachableVolumes] = WeakKeyDictionary()
        self._drivers: _Drivers | None = None

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skip pods without volumes that are ever attached."""
        return PreFilterResult(status=SKIP if self._leaves_out(pod) or not attachable_count(pod) else SUCCESS)

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes where a driver would have more volumes than it takes."""
        if self._leaves_out(pod):
            return Column.filled(len(nodes), SUCCESS)
        volumes = self._volumes_in(nodes.objects)
        drivers = self._drivers_in(nodes.objects).on(nodes.table)
        state.budget.spend(2 * len(pod.spec.volumes) * len(drivers.values))
        answers = drivers.map(lambda each: self._before_counting(pod, each, nodes.objects))
        verdicts = [
            answer if isinstance(answer, Status) else _counted(answer, {}, {}, each)
            for answer, each in zip(answers.values, drivers.values, strict=True)
        ]
        counts = answers.where(lambda answer: not isinstance(answer, Status))
        if not counts.any():
            return Column(drivers.codes, verdicts)
        codes = drivers.codes.copy()
        counts &= (self.room(nodes) < attachable_count(pod)) | _may_fail(nodes)
        state.budget.spend(int(np.count_nonzero(counts)) * len(pod.spec.volumes))
        used = _used_by_pods(nodes, counts, drivers, volumes)
        for row in np.flatnonzero(counts).tolist():
            answer = answers[row]
            assert not isinstance(answer, Status)  # noqa: S101 - such rows do not count
            verdict = _counted(answer, used.get(row, {}), volumes.attached_to(nodes.names[row]), drivers[row])
            if verdict not in verdicts:
                verdicts.append(verdict)
            codes[row] = verdicts.index(verdict)
        return Column(codes, verdicts)

    @property
    def replica_help(self) -> ReplicaHelp:
        """Count the pods that each node still has room for."""
        return _RoomHelp(self)

    def room(self, nodes: Snapshot) -> Integers:
        """Return int64[n]: so many more volumes fit at the least, as if none were shared and all of one driver."""
        drivers = self._drivers_in(nodes.objects).on(nodes.table)
        free = drivers.numbers(lambda each: each.lowest_limit if each.limits else _ANY_NUMBER)
        existing = nodes.existing_pods
        of_pods = existing.column("attachable_volumes", attachable_count).numbers(int)
        used = np.bincount(existing.rows, weights=of_pods, minlength=len(nodes)).astype(np.int64)
        return free - used - self._volumes_in(nodes.objects).attached_counts(nodes.table)

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
            volumes = self._volumes[objects] = AttachableVolumes(objects, self._drivers_in(objects).by_node)
        return volumes

    def _drivers_in(self, objects: Objects) -> _Drivers:
        """The drivers of all nodes, kept as long as the CSINodes stay the same while other objects change."""
        csi_nodes = objects.all(CSINode)
        if self._drivers is None or self._drivers.csi_nodes is not csi_nodes:
            by_node = drivers_by_node(csi_nodes, self._release, portworx_migrates=self._portworx_migrates)
            self._drivers = _Drivers(csi_nodes, by_node)
        return self._drivers

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


class _Drivers:
    """The drivers of some CSINodes, by node name and as a column of each table of nodes."""

    def __init__(self, csi_nodes: Sequence[CSINode], by_node: Mapping[str, NodeDrivers]) -> None:
        self.csi_nodes = csi_nodes
        self.by_node = by_node
        self._columns: WeakKeyDictionary[NodeTable, Column[NodeDrivers]] = WeakKeyDictionary()

    def on(self, table: NodeTable) -> Column[NodeDrivers]:
        """The drivers of each node; none without a CSINode."""
        column = self._columns.get(table)
        if column is None:
            column = Column.of(self.by_node.get(name, NO_CSI_NODE) for name in table.names)
            self._columns[table] = column
        return column


def _may_fail(nodes: Snapshot) -> Mask:
    """bool[n]: the nodes with pods whose volumes may not be told."""
    existing = nodes.existing_pods
    mask = np.zeros(len(nodes), dtype=np.bool_)
    mask[existing.rows[existing.column("untold_volumes", has_untold_volumes).where(bool)]] = True
    return mask


def _used_by_pods(
    nodes: Snapshot, counts: Mask, drivers: Column[NodeDrivers], volumes: AttachableVolumes
) -> dict[int, Volumes | Status]:
    """The volumes of the pods on each row that counts, or why they cannot be told."""
    existing = nodes.existing_pods
    has_volume = existing.column("attachable_volumes", attachable_count).where(bool)
    indices = np.flatnonzero(has_volume & counts[existing.rows])
    used: dict[int, Volumes | Status] = {}
    for pod, row in zip(existing.those(indices), existing.rows[indices].tolist(), strict=True):
        found = used.setdefault(row, {})
        if isinstance(found, Status):
            continue
        try:
            found.update(volumes.of_existing(pod, drivers[row].migrated))
        except PluginError as failure:
            used[row] = error(str(failure))
    return used


def _counted(new: Volumes, used: Volumes | Status, attached: Mapping[str, str], drivers: NodeDrivers) -> Status:
    if isinstance(used, Status):
        return used
    if len(new) + len(used) + len(attached) <= drivers.lowest_limit:
        return SUCCESS

    from kubectl_sched.plugins.node_volume_limits.count import exceeded

    over = exceeded(new, used, attached, drivers.limits)
    return _LIMIT_EXCEEDED if over else SUCCESS


class _RoomHelp(ReplicaHelp):
    """Says after how many more pods a node may reach the limit of a driver."""

    def __init__(self, plugin: NodeVolumeLimits) -> None:
        self._plugin = plugin

    def spare(self, pod: Pod, nodes: Snapshot) -> Integers:
        """Divide the room of each node by the volumes of one pod."""
        spare: Integers = self._plugin.room(nodes) // max(1, attachable_count(pod)) - 1
        return spare.clip(min=0)
