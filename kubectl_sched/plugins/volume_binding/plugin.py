"""The extension points of VolumeBinding."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.config.types import VolumeBindingArgs
from kubectl_sched.framework.cycle_state import PluginError, StateKey
from kubectl_sched.framework.interface import (
    BindingAction,
    BindingCyclePlugin,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import VolumesSigner
from kubectl_sched.framework.status import SKIP, SUCCESS, Status, error, unresolvable
from kubectl_sched.plugins.volume_binding.scoring import class_resources, points_of, score
from kubectl_sched.plugins.volume_binding.volume_outcome import (
    BIND_CONFLICT,
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    VOLUME_NOT_EXIST,
    PodVolumes,
)
from kubectl_sched.record import Record
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.evidence import Evidence
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.plugins.volume_binding.binder import Binder
    from kubectl_sched.plugins.volume_binding.scoring import StorageResource
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows
    from kubectl_sched.snapshot.node_table import NodeTable

_KINDS_COMPARED = 64
_UNBOUND_IMMEDIATE = unresolvable("pod has unbound immediate PersistentVolumeClaims")


class PreFilterState(Record, frozen=True, kw_only=True):
    """The pod's claims, ready to be asked about nodes; None for a pod that has none."""

    binder: Binder | None = None


class FilterState(Record, frozen=True, kw_only=True):
    """The outcome of Filter on the nodes of a table."""

    table: NodeTable
    volumes: Column[PodVolumes]


_STEPS_A_CLAIM = 10

PRE_FILTER_STATE: StateKey[PreFilterState] = StateKey(name="VolumeBinding", absent="not found")
FILTER_STATE: StateKey[FilterState] = StateKey(name="VolumeBinding/Filter")


class VolumeBinding(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, BindingCyclePlugin, VolumesSigner):
    """It scores only with StorageCapacityScoring, or its predecessor VolumeCapacityPriority."""

    name: ClassVar[str] = "VolumeBinding"
    depends_on: ClassVar[DependsOn] = DependsOn.CLAIMS

    def __init__(self, args: VolumeBindingArgs | None, handle: Handle) -> None:
        args = args or VolumeBindingArgs()
        self._timeout_seconds = args.bind_timeout_seconds
        self._scores_provisioning = handle.features.enabled("StorageCapacityScoring")
        self._scores = handle.features.enabled(handle.release.volume_scoring_gate)
        self._saturates = handle.release.amounts_saturate
        self._compares_exactly = handle.release.storage_capacity_is_exact
        self._conflict_reason = handle.release.volume_conflict_reason
        self._points = points_of(args.shape or ())
        self._has_attributes_classes = handle.features.enabled("VolumeAttributesClass")
        self._grows_in_place = handle.grows_in_place

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Refuse pods with a claim that no node can help; skip pods without claims."""
        if self._grows_in_place(pod):
            return PreFilterResult(status=SKIP)
        uses = claim_uses(pod) if pod.spec.volumes else ()
        if not uses:
            state.write(PRE_FILTER_STATE, PreFilterState())
            return PreFilterResult(status=SKIP)

        from kubectl_sched.api.storage import PersistentVolume
        from kubectl_sched.plugins.volume_binding.claims import pod_volume_claims, refusal

        state.budget.spend(_STEPS_A_CLAIM * len(uses))
        state.budget.spend_on_entries(len(uses) * len(nodes.objects.all(PersistentVolume)))
        reason = next((reason for use in uses if (reason := refusal(pod, use, nodes.objects)) is not None), None)
        if reason is not None:
            return PreFilterResult(status=unresolvable(reason))
        claims = pod_volume_claims(pod, nodes.objects)
        if claims.immediate:
            return PreFilterResult(status=_UNBOUND_IMMEDIATE)

        from kubectl_sched.plugins.volume_binding.binder import Binder

        binder = Binder(claims, nodes.objects, self._has_attributes_classes, compares_exactly=self._compares_exactly)
        state.write(PRE_FILTER_STATE, PreFilterState(binder=binder))
        return PreFilterResult()

    def explain_pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> tuple[Evidence, ...]:
        """The claims that stand in the way: lost, deleted, another's, or not bound by who should have bound them."""
        from kubectl_sched.plugins.volume_binding.claims import pod_volume_claims
        from kubectl_sched.plugins.volume_binding.evidence import immediate_claims, refused_claims

        return refused_claims(pod, nodes.objects) or immediate_claims(
            pod_volume_claims(pod, nodes.objects), nodes.objects
        )

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes that do not reach the bound volumes or have none for the others."""
        if self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        binder = state.read(PRE_FILTER_STATE).binder
        if binder is not None:
            state.budget.spend(_STEPS_A_CLAIM * len(pod.spec.volumes) * len(binder.kinds(nodes).values))
        volumes = binder.find(nodes, state.budget) if binder is not None else Column.filled(len(nodes), PodVolumes())
        state.write(FILTER_STATE, FilterState(table=nodes.table, volumes=volumes))
        return volumes.map(self._status)

    def _status(self, volumes: PodVolumes) -> Status:
        if volumes.error is not None:
            return error(volumes.error)
        reasons = (self._conflict_reason if each == NODE_CONFLICT else each for each in volumes.reasons)
        return unresolvable(*reasons) if volumes.reasons else SUCCESS

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """For each reason the claims behind it, with the volume, class or capacity that does not fit."""
        kept = state.get(PRE_FILTER_STATE)
        if kept is None or kept.binder is None or self._grows_in_place(pod):
            return ()
        binder, kind = kept.binder, kept.binder.kind_of(nodes, row)
        reasons, labels = binder.on(kind).reasons, dict(kind.labels)
        found: list[Evidence] = []

        from kubectl_sched.plugins.volume_binding.evidence import bound_elsewhere, unbound

        if NODE_CONFLICT in reasons or VOLUME_NOT_EXIST in reasons:
            found += bound_elsewhere(binder, nodes, labels, kind.migrated)
        if BIND_CONFLICT in reasons or NOT_ENOUGH_SPACE in reasons:
            found += unbound(binder, nodes, labels, nodes.names[row])
        return tuple(found)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """The claim that none of these nodes can serve, with the volume or class behind it."""
        kept = state.get(PRE_FILTER_STATE)
        if kept is not None and kept.binder is not None:
            kinds = kept.binder.kinds(nodes).take(rows)
            _, first = np.unique(kinds.codes, return_index=True)
            if len(first) <= _KINDS_COMPARED:
                from kubectl_sched.plugins.volume_binding.evidence import common_clause

                found = [self.explain_filter(state, pod, nodes, int(rows[place])) for place in first]
                clause = common_clause(found)
                if clause is not None:
                    return clause
        return super().summarize(state, pod, nodes, rows)

    def pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Status:
        """Skip unless volumes are scored at all and, without StorageCapacityScoring, some would be bound."""
        if not self._scores:
            return SKIP
        state.read(PRE_FILTER_STATE)
        if self._scores_provisioning:
            return SUCCESS
        found = self._found(state, nodes)
        binds = found is not None and any(volumes.static_bindings for volumes in found.take(rows))
        return SUCCESS if binds else SKIP

    def score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        """By how full the storage of the node's classes would be, along the profile's shape."""
        if self._scores:
            state.read(PRE_FILTER_STATE)
        found = self._found(state, nodes)
        if not self._scores or found is None:
            return np.zeros(len(rows), dtype=np.int64)
        state.budget.spend(len(pod.spec.volumes) * len(found.values))
        of_rows = found.take(rows)
        present = set(of_rows.codes.tolist())
        scores = [self.points(volumes) if code in present else 0 for code, volumes in enumerate(found.values)]
        return np.array(scores, dtype=np.int64)[of_rows.codes]

    def points(self, volumes: PodVolumes) -> int:
        """The raw score of a node with this outcome; raise PluginError where upstream fails."""
        return score(self._class_resources(volumes), self._points)

    def _class_resources(self, volumes: PodVolumes) -> dict[str, StorageResource]:
        return class_resources(volumes, scores_provisioning=self._scores_provisioning, saturates=self._saturates)

    def explain_score(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """For each storage class how much of it would be used."""
        found = self._found(state, nodes)
        if not self._scores or found is None:
            return ()
        try:
            resources = self._class_resources(found[row])
        except PluginError:
            return ()

        from kubectl_sched.plugins.volume_binding.evidence import storage_evidence

        return storage_evidence(resources, score(resources, self._points))

    def binding_actions(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[BindingAction, ...]:
        """Name the claims that would be bound or provisioned, and the conditions to wait for."""
        kept, found = state.get(PRE_FILTER_STATE), self._found(state, nodes)
        if kept is None or kept.binder is None or found is None:
            return ()

        from kubectl_sched.plugins.volume_binding.reserve import actions

        told = actions(kept.binder, found[row], nodes.names[row], self._timeout_seconds)
        return tuple(
            BindingAction(extension_point=extension_point, plugin=self.name, action=action)
            for extension_point, action in told
        )

    def reserve(
        self, state: CycleState, pod: Pod, nodes: Snapshot, row: int, now: str | None = None
    ) -> tuple[Reservation, ...]:
        """The volumes and claims that the pod takes on that node."""
        from kubectl_sched.plugins.volume_binding.reserve import reservations

        found = self._found(state, nodes)
        return tuple(reservations(found[row], nodes.names[row])) if found is not None else ()

    def _found(self, state: CycleState, nodes: Snapshot) -> Column[PodVolumes] | None:
        """Return the outcome of Filter on these nodes; None if it did not run."""
        kept = state.get(FILTER_STATE)
        if kept is None:
            return None
        if kept.table is nodes.table:
            return kept.volumes
        binder = state.read(PRE_FILTER_STATE).binder
        return binder.find(nodes) if binder is not None else Column.filled(len(nodes), PodVolumes())
