"""Binding of a pod's claims on a node (plugins/volumebinding/binder.go).

A node matters to volumes only through a few labels, the plugins that its CSINode says are migrated and whether a claim
has selected it. So nodes are grouped by these, and each group is asked once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple
from weakref import WeakKeyDictionary

from kubectl_sched.api.component_helpers.csi_translation import TranslationError, in_tree_plugin, translated
from kubectl_sched.api.storage import CSINode, PersistentVolume
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.go_sort import go_sort
from kubectl_sched.plugins.volume_binding.asked_labels import AskedLabels
from kubectl_sched.plugins.volume_binding.provisioning import Provisioner
from kubectl_sched.plugins.volume_binding.static_matching import (
    Candidates,
    ClaimRequirements,
    VolumeIndex,
    VolumesOfNode,
    affinity_of,
    can_be_reached,
    label_requirements,
    requested_storage,
)
from kubectl_sched.plugins.volume_binding.volume_outcome import (
    BIND_CONFLICT,
    NODE_CONFLICT,
    NOT_ENOUGH_SPACE,
    VOLUME_NOT_EXIST,
    DynamicProvision,
    PodVolumes,
    StaticBinding,
)
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.apimachinery.labels import Requirement
    from kubectl_sched.api.component_helpers.csi_translation import InTreePlugin
    from kubectl_sched.api.storage import CSIStorageCapacity, PersistentVolumeClaim
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.plugins.volume_binding.claims import PodVolumeClaims
    from kubectl_sched.plugins.volume_binding.static_matching import FreeVolumes
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.node_table import NodeTable
    from kubectl_sched.snapshot.objects import Objects


_NONE: Final[frozenset[str]] = frozenset()


class NodeKind(NamedTuple):
    """All that matters of a node: labels as sorted pairs, migrated plugins, and its name if a claim has selected it."""

    labels: tuple[tuple[str, str], ...]
    migrated: frozenset[str] = frozenset()
    selected: str | None = None


class MigratedPlugins:
    """The in-tree plugins that CSINodes say are their drivers' now, by node and as a column of each table of nodes."""

    def __init__(self, csi_nodes: Sequence[CSINode]) -> None:
        annotations = ((node.name, node.metadata.annotations.migrated_plugins) for node in csi_nodes)
        self._by_node = {name: frozenset(names.split(",")) for name, names in annotations if names}
        self._columns: WeakKeyDictionary[NodeTable, Column[frozenset[str]]] = WeakKeyDictionary()

    def of(self, node_name: str) -> frozenset[str]:
        """The plugins on one node."""
        return self._by_node.get(node_name, _NONE)

    def on(self, table: NodeTable) -> Column[frozenset[str]]:
        """The plugins on each node."""
        column = self._columns.get(table)
        if column is None:
            column = self._columns[table] = Column.of(map(self.of, table.names))
        return column


class Binder:
    """The claims of one pod in one cluster, ready to be asked about nodes."""

    def __init__(
        self, claims: PodVolumeClaims, objects: Objects, has_attributes_classes: bool, *, compares_exactly: bool
    ) -> None:
        self._compares_exactly = compares_exactly
        self.claims = claims
        self._objects = objects
        self._migrated = objects.derived(CSINode, MigratedPlugins)
        self._has_attributes_classes = has_attributes_classes
        self.selected = {claim.name: node for claim in claims.delayed if (node := selected_node(claim)) is not None}
        self.to_match = go_sort(
            [claim for claim in claims.delayed if claim.name not in self.selected],
            lambda left, right: requested_storage(left) < requested_storage(right),
        )
        self.volumes = objects.derived(PersistentVolume, VolumeIndex)
        self._candidates: dict[str, Candidates | str] = {}
        self._provisioners: dict[str, Provisioner] = {}

    def find(self, nodes: Snapshot, budget: CycleBudget | None = None) -> Column[PodVolumes]:
        """The outcome on each node (FindPodVolumes). Raises BudgetEnded where the cycle may take no more."""
        known: dict[NodeKind, PodVolumes] = {}

        def outcome(kind: NodeKind) -> PodVolumes:
            found = known.get(kind)
            if found is None:
                found = known[kind] = self.on(kind, budget=budget)
            return found

        return self.kinds(nodes).map(outcome)

    def kinds(self, nodes: Snapshot) -> Column[NodeKind]:
        """Group the nodes by the labels, migrated plugins and selected node that matter to the claims."""
        rows: Column[NodeKind] = Column.filled(len(nodes), NodeKind(()))
        asked = AskedLabels(self._requirements())
        for key in sorted(asked.values):
            rows = _with_label(rows, key, asked.told_apart(nodes.label(key), key))
        if self._has_in_tree_volume():
            rows = rows.combined(self._migrated.on(nodes.table)).map(lambda pair: pair[0]._replace(migrated=pair[1]))
        if self.selected:
            wanted = set(self.selected.values())
            names = Column.of(name if name in wanted else None for name in nodes.names)
            rows = rows.combined(names).map(lambda pair: pair[0]._replace(selected=pair[1]))
        return rows

    def kind_of(self, nodes: Snapshot, row: int) -> NodeKind:
        """Return the kind of one node; it may hold more labels than matter."""
        name = nodes.names[row]
        labels = tuple(sorted(nodes.node(row).labels.items()))
        return NodeKind(labels, self._migrated.of(name), name)

    def _requirements(self) -> Iterator[Requirement]:
        """Yield all that volumes, classes and capacities ask of a node's labels."""
        for claim in self.claims.bound:
            yield from self._of_bound(claim)
        shared: set[FreeVolumes] = set()
        for claim in self.to_match:
            with suppress(PluginError):
                candidates = self.candidates(claim)
                for candidate in candidates.reserved:
                    yield from label_requirements(candidate.affinity)
                if candidates.open_to_all not in shared:
                    shared.add(candidates.open_to_all)
                    yield from candidates.open_to_all.requirements
        for claim in self.claims.delayed:
            yield from self.provisioner(claim).requirements()

    def _of_bound(self, claim: PersistentVolumeClaim) -> Iterator[Requirement]:
        """Yield the requirements of a bound volume, in its own terms and in its driver's."""
        volume = self._objects.get(PersistentVolume, claim.spec.volume_name)
        if volume is None:
            return
        yield from label_requirements(affinity_of(volume))
        plugin = in_tree_plugin(volume.spec)
        if plugin is not None:
            with suppress(TranslationError):
                yield from label_requirements(affinity_of(translated(volume, plugin)))

    def _has_in_tree_volume(self) -> bool:
        volumes = (self._objects.get(PersistentVolume, claim.spec.volume_name) for claim in self.claims.bound)
        return any(volume is not None and in_tree_plugin(volume.spec) is not None for volume in volumes)

    def provisioner(self, claim: PersistentVolumeClaim) -> Provisioner:
        """Return the provisioner that would make the claim's volume."""
        found = self._provisioners.get(claim.name)
        if found is None:
            found = self._provisioners[claim.name] = Provisioner(
                claim, self._objects, compares_exactly=self._compares_exactly
            )
        return found

    def candidates(self, claim: PersistentVolumeClaim) -> Candidates:
        """The existing volumes that the claim may be bound to; raise PluginError where it cannot be read."""
        found = self._candidates.get(claim.name)
        if found is None:
            try:
                found = Candidates(claim, self.volumes, self._has_attributes_classes)
            except PluginError as failure:
                found = str(failure)
            self._candidates[claim.name] = found
        if isinstance(found, str):
            raise PluginError(found)
        return found

    def leave_out(self, volume: PersistentVolume) -> None:
        """Judge from now on as if another claim had taken the volume."""
        for found in self._candidates.values():
            if not isinstance(found, str):
                found.leave_out(volume)

    def requirements(self, claim: PersistentVolumeClaim) -> ClaimRequirements:
        """Return the claim's requirements of a volume, apart from the node."""
        return ClaimRequirements(claim, self._has_attributes_classes)

    def on(self, kind: NodeKind, *, are_volumes_left: bool = True, budget: CycleBudget | None = None) -> PodVolumes:
        """The outcome on one kind of node; with no volumes left, it is judged as if none were open to any claim."""
        labels = dict(kind.labels)
        try:
            against_bound = self._check_bound(labels, kind.migrated)
            against_unbound, outcome = self._check_delayed(
                VolumesOfNode(labels) if are_volumes_left else None, labels, kind.selected, budget
            )
        except PluginError as failure:
            return PodVolumes(error=str(failure))
        if against_bound is None and against_unbound is None:
            return outcome
        reasons = [
            reason
            for reason in (NODE_CONFLICT, BIND_CONFLICT, NOT_ENOUGH_SPACE, VOLUME_NOT_EXIST)
            if reason in {against_bound, against_unbound}
        ]
        return PodVolumes(reasons=tuple(reasons))

    def _check_bound(self, labels: Mapping[str, str], migrated: frozenset[str]) -> str | None:
        """The reason against the node of the first bound claim that has one (checkBoundClaims)."""
        for claim in self.claims.bound:
            volume = self._objects.get(PersistentVolume, claim.spec.volume_name)
            if volume is None:
                return VOLUME_NOT_EXIST
            if not can_be_reached(affinity_of(as_driver_knows(volume, migrated)), labels):
                return NODE_CONFLICT
        return None

    def _check_delayed(
        self,
        volumes: VolumesOfNode | None,
        labels: Mapping[str, str],
        node_name: str | None,
        budget: CycleBudget | None,
    ) -> tuple[str | None, PodVolumes]:
        """The reason of the unbound claims, or what would be done for them."""
        to_provision: list[PersistentVolumeClaim] = []
        if self.selected:
            if any(node != node_name for node in self.selected.values()):
                return BIND_CONFLICT, PodVolumes()
            to_provision += [claim for claim in self.claims.delayed if claim.name in self.selected]
        bindings: list[StaticBinding] = []
        looked_at = 0
        for claim in self.to_match:
            volume = volumes.take_best(self.candidates(claim)) if volumes is not None else None
            if volume is None:
                to_provision.append(claim)
            else:
                bindings.append(StaticBinding(claim, volume))
            if volumes is not None and budget is not None:
                budget.spend_on_entries(volumes.looked_at - looked_at)
                looked_at = volumes.looked_at
        provisions: list[DynamicProvision] = []
        for claim in to_provision:
            reason, capacity = self._provision(claim, labels)
            if reason is not None:
                return reason, PodVolumes()
            provisions.append(DynamicProvision(claim, capacity))
        return None, PodVolumes((), None, tuple(bindings), tuple(provisions))

    def _provision(
        self, claim: PersistentVolumeClaim, labels: Mapping[str, str]
    ) -> tuple[str | None, CSIStorageCapacity | None]:
        provisioner = self.provisioner(claim)
        if not provisioner.can_provision or not provisioner.is_allowed(labels):
            return BIND_CONFLICT, None
        if not provisioner.tracks_capacity:
            return None, None
        capacity = provisioner.offer(labels)
        return (NOT_ENOUGH_SPACE if capacity is None else None), capacity


def selected_node(claim: PersistentVolumeClaim) -> str | None:
    """The node that an earlier cycle has chosen for the claim's volume."""
    return claim.metadata.annotations.selected_node


def as_driver_knows(volume: PersistentVolume, migrated: frozenset[str]) -> PersistentVolume:
    """An in-tree volume whose plugin is migrated on the node in its driver's terms (tryTranslatePVToCSI)."""
    plugin: InTreePlugin | None = in_tree_plugin(volume.spec)
    if plugin is None or not plugin.migrates or plugin.name not in migrated:
        return volume
    try:
        return translated(volume, plugin)
    except TranslationError as failure:
        raise PluginError(f"could not translate pv: {failure}") from failure


def _with_label(rows: Column[NodeKind], key: str, values: Column[str | None]) -> Column[NodeKind]:
    return rows.combined(values).map(lambda pair: _labelled(pair[0], key, pair[1]))


def _labelled(kind: NodeKind, key: str, value: str | None) -> NodeKind:
    return kind if value is None else kind._replace(labels=(*kind.labels, (key, value)))
