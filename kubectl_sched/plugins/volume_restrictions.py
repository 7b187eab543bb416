"""Keeps a pod away from disks that only one pod may have (plugins/volumerestrictions/volume_restrictions.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.component_helpers.volume_claims import claim_not_found
from kubectl_sched.api.storage import READ_WRITE_ONCE_POD, PersistentVolumeClaim
from kubectl_sched.framework.cycle_state import PluginError, StateKey
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import FilterPlugin, PreFilterExtensions, PreFilterPlugin, PreFilterResult
from kubectl_sched.framework.signing.pod_signature import VolumesSigner
from kubectl_sched.framework.status import SKIP, SUCCESS, error, unresolvable, unschedulable
from kubectl_sched.record import Record
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import Volume
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows
    from kubectl_sched.snapshot.pod_table import PodTable

_DISK_CONFLICT = unschedulable("node(s) had no available disk")


_EBS, _RBD = "awsElasticBlockStore", "rbd"
_ALWAYS = ("",)
"""Stands for the monitors of a disk that has none."""


class Disk(NamedTuple):
    """A disk that a pod names itself, without a claim; equal kind and name mean the same disk."""

    kind: str
    name: str
    read_only: bool
    monitors: tuple[str, ...] = ()

    def conflicts_with(self, other: Disk) -> bool:
        """Report whether two pods of one node cannot share the disk (isVolumeConflict)."""
        if (self.kind, self.name) != (other.kind, other.name):
            return False
        if self.kind == "awsElasticBlockStore":
            return True
        if self.kind == "rbd" and set(self.monitors).isdisjoint(other.monitors):
            return False
        return not (self.read_only and other.read_only)


class WantedDisks:
    """The disks that a pod names, looked up by kind and name."""

    def __init__(self, wanted: Iterable[Disk]) -> None:
        self._monitors: dict[tuple[str, str], set[str]] = {}
        self._written: dict[tuple[str, str], set[str]] = {}
        for disk in wanted:
            key, monitors = (disk.kind, disk.name), disk.monitors if disk.kind == _RBD else _ALWAYS
            self._monitors.setdefault(key, set()).update(monitors)
            if not disk.read_only or disk.kind == _EBS:
                self._written.setdefault(key, set()).update(monitors)

    def conflicts_with(self, others: Iterable[Disk]) -> bool:
        """Report whether a pod of the same node that has one of the other disks keeps this one out."""
        return any(map(self._conflicts, others))

    def _conflicts(self, other: Disk) -> bool:
        shared = self._written if other.read_only else self._monitors
        monitors = shared.get((other.kind, other.name))
        return monitors is not None and not monitors.isdisjoint(other.monitors if other.kind == _RBD else _ALWAYS)


class PreFilterState(Record, frozen=True, kw_only=True):
    """The pod's claims that one pod alone may use, and how many uses of them by other pods are known."""

    read_write_once_pod_claims: frozenset[str]
    conflicting_references: int


PRE_FILTER_STATE: StateKey[PreFilterState] = StateKey(
    name="PreFilterVolumeRestrictions", absent='cannot read "{}" from cycleState'
)


class VolumeRestrictions(PreFilterPlugin, FilterPlugin, PreFilterExtensions, VolumesSigner):
    """GCE, EBS, iSCSI and RBD disks per node, and ReadWriteOncePod claims in the whole cluster."""

    name: ClassVar[str] = "VolumeRestrictions"

    def __init__(self, args: None, handle: Handle) -> None:
        self._in_use = unschedulable(handle.release.read_write_once_pod_reason)
        self._lists_lag = not handle.release.assumed_members_are_listed
        self._grows_in_place = handle.grows_in_place

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Count the pods that use a ReadWriteOncePod claim; skip pods that nothing can conflict with."""
        if not pod.spec.volumes or self._grows_in_place(pod):
            return PreFilterResult(status=SKIP)
        state.budget.spend(2 * len(pod.spec.volumes))
        claims: set[str] = set()
        for name in claim_names(pod):
            claim = nodes.objects.get(PersistentVolumeClaim, name, pod.namespace)
            if claim is None:
                return PreFilterResult(status=unresolvable(claim_not_found(name)))
            if READ_WRITE_ONCE_POD in claim.spec.access_modes:
                claims.add(name)
        counted = nodes.before_group or nodes if self._lists_lag else nodes
        in_use = {key for _, key in _users(pod, claims, counted)}
        if not in_use and not disks(pod):
            return PreFilterResult(status=SKIP)
        state.write(
            PRE_FILTER_STATE,
            PreFilterState(read_write_once_pod_claims=frozenset(claims), conflicting_references=len(in_use)),
        )
        return PreFilterResult()

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> tuple[Evidence, ...]:
        """The claims that do not exist."""
        return tuple(
            Evidence(
                text=f"volume {volume} is claim {pod.namespace}/{name}, which "
                f"{nodes.objects.absence(PersistentVolumeClaim)}",
                facts={"volume": volume, "claim": name, "namespace": pod.namespace},
            )
            for volume, name in _claims_by_volume(pod)
            if nodes.objects.get(PersistentVolumeClaim, name, pod.namespace) is None
        )

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int, nodes: Snapshot) -> None:
        """Count its uses of the claims."""
        _count(state, added, 1)

    def concerns(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether it uses any claim."""
        return any(claim_names(other))

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int, nodes: Snapshot) -> None:
        """Count its uses of the claims no longer."""
        _count(state, removed, -1)

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes with a conflicting disk, and every node while a claim is in use."""
        if self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        codes = np.zeros(len(nodes), dtype=np.int32)
        state.budget.spend(len(pod.spec.volumes))
        wanted = disks(pod)
        if wanted:
            existing = nodes.existing_pods
            conflicts = _disks(existing).where(WantedDisks(wanted).conflicts_with)
            codes[existing.rows[conflicts]] = 1
        try:
            in_use = state.read(PRE_FILTER_STATE).conflicting_references > 0
        except PluginError as failure:
            return Column(codes, (error(str(failure)), _DISK_CONFLICT))
        return Column(codes, (self._in_use if in_use else SUCCESS, _DISK_CONFLICT))

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Name the pod that has the disk, or the pod that uses the claim."""
        if self._grows_in_place(pod):
            return ()
        conflicts = [
            _disk_evidence(disk, other, user)
            for disk in disks(pod)
            for user in nodes.node(row).pods
            for other in disks(user)
            if disk.conflicts_with(other)
        ]
        kept = state.get(PRE_FILTER_STATE)
        if conflicts or kept is None or kept.conflicting_references <= 0:
            return tuple(conflicts)
        claims = kept.read_write_once_pod_claims
        users = _users(pod, claims, nodes)
        if not users:
            names = ", ".join(sorted(claims))
            return (Evidence(text=f"another pod uses a claim named {names}, which only one pod may use"),)
        return tuple(_claim_evidence(nodes.whole, index, key) for index, key in users)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """The disk that pods of all these nodes have, or the claim that shuts them all out."""
        kept = state.get(PRE_FILTER_STATE)
        claims = kept.read_write_once_pod_claims if kept is not None else frozenset()
        return _summary(pod, nodes, rows, claims) or super().summarize(state, pod, nodes, rows)


def _summary(pod: Pod, nodes: Snapshot, rows: Rows, claims: frozenset[str]) -> str | None:
    """Name the conflict that all of these nodes have in common, if there is one."""
    wanted, existing = disks(pod), nodes.existing_pods
    shared = [disk for disk in wanted if set(rows.tolist()) <= set(_rows_with(disk, existing))]
    if shared:
        return f"have pods that mount {shared[0].kind} {shared[0].name}, too"
    if any(set(rows.tolist()) & set(_rows_with(disk, existing)) for disk in wanted):
        return None
    for index, claim in _users(pod, claims, nodes):
        everything = nodes.whole
        user, node = everything.existing_pods.pods[index], everything.names[everything.existing_pods.rows[index]]
        return f"are shut out by ReadWriteOncePod claim {user.namespace}/{claim}, which {user.key} on {node} uses"
    return None


def _rows_with(disk: Disk, existing: PodTable) -> list[int]:
    """The rows of pods that have the disk in a way that conflicts."""
    conflicts = _disks(existing).where(lambda others: any(disk.conflicts_with(other) for other in others))
    rows: list[int] = existing.rows[conflicts].tolist()
    return rows


def disks(pod: Pod) -> tuple[Disk, ...]:
    """The disks that a pod names itself."""
    return tuple(disk for volume in pod.spec.volumes for disk in _disks_of(volume)) if pod.spec.volumes else ()


def _disks_of(volume: Volume) -> list[Disk]:
    found: list[Disk] = []
    if (gce := volume.gce_persistent_disk) is not None:
        found.append(Disk("gcePersistentDisk", gce.pd_name, gce.read_only))
    if (ebs := volume.aws_elastic_block_store) is not None:
        found.append(Disk("awsElasticBlockStore", ebs.volume_id, ebs.read_only))
    if (iscsi := volume.iscsi) is not None:
        found.append(Disk("iscsi", iscsi.iqn, iscsi.read_only))
    if (rbd := volume.rbd) is not None:
        found.append(Disk("rbd", f"{rbd.pool}/{rbd.image}", rbd.read_only, rbd.monitors))
    return found


def _disks(existing: PodTable) -> Column[tuple[Disk, ...]]:
    return existing.column("disks", disks)


def _claims_by_volume(pod: Pod) -> list[tuple[str, str]]:
    """The claims that a pod names; those of ephemeral volumes do not count here."""
    volumes = pod.spec.volumes
    return [(each.name, each.persistent_volume_claim.claim_name) for each in volumes if each.persistent_volume_claim]


def claim_names(pod: Pod) -> list[str]:
    """The claims that a pod names; those of ephemeral volumes do not count here."""
    return [name for _, name in _claims_by_volume(pod)]


def _claim_keys(pod: Pod) -> tuple[tuple[str, str], ...]:
    return tuple((pod.namespace, name) for name in claim_names(pod)) if pod.spec.volumes else ()


def _users(pod: Pod, claims: set[str] | frozenset[str], nodes: Snapshot) -> list[tuple[int, str]]:
    """The existing pods, by index in the whole cluster, that use one of the claims, and which."""
    if not claims:
        return []
    wanted = {(pod.namespace, name) for name in claims}
    column = nodes.whole.existing_pods.column("claim_keys", _claim_keys)
    using = np.flatnonzero(column.where(lambda keys: not wanted.isdisjoint(keys))).tolist()
    return [(index, key[1]) for index in using for key in dict.fromkeys(column[index]) if key in wanted]


def _count(state: CycleState, pod: Pod, sign: int) -> None:
    """Count users of claims as upstream does: by the claim's name alone, whatever its namespace."""
    kept = state.read(PRE_FILTER_STATE)
    uses = sum(name in kept.read_write_once_pod_claims for name in claim_names(pod))
    if uses:
        count = kept.conflicting_references + sign * uses
        state.write(PRE_FILTER_STATE, replace(kept, conflicting_references=count))


def _disk_evidence(disk: Disk, other: Disk, user: Pod) -> Evidence:
    title = disk.name if disk.kind != "rbd" else f"{disk.name} of {', '.join(disk.monitors)}"
    if disk.kind == "awsElasticBlockStore":
        hints: tuple[str, ...] = ("an EBS volume can be in one pod of a node only, even when all mount it read-only",)
    else:
        writers = [who for who, each in (("the pod", disk), (user.key, other)) if not each.read_only]
        hints = (f"pods of one node share such a disk only read-only; {' and '.join(writers)} would write",)
    return Evidence(
        text=f"has {user.key}, which mounts {disk.kind} {title}, too",
        facts={"kind": disk.kind, "disk": disk.name, "readOnly": disk.read_only, "usedBy": user.key},
        hints=(*hints, *_leaving(user)),
        distance=0.5,
    )


def _claim_evidence(nodes: Snapshot, index: int, claim: str) -> Evidence:
    user, node = nodes.existing_pods.pods[index], nodes.names[nodes.existing_pods.rows[index]]
    return Evidence(
        text=f"claim {user.namespace}/{claim} is ReadWriteOncePod, and {user.key} on {node} uses it",
        facts={"claim": claim, "namespace": user.namespace, "usedBy": user.key, "node": node},
        hints=("with ReadWriteOnce, pods of the same node could share it", *_leaving(user)),
        distance=0.5,
    )


def _leaving(user: Pod) -> tuple[str, ...]:
    since = user.metadata.deletion_timestamp
    return (f"{user.key} is terminating since {since}",) if since is not None else ()
