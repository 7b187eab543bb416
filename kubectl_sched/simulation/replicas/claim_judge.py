"""Judges claims of equal pods kind by kind, by the plugins that look at claims.

VolumeBinding asks by itself whether a node reaches a bound volume, so that where volumes are on one node each, the rest
is judged once for all of them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.component_helpers.csi_translation import in_tree_plugin
from kubectl_sched.api.component_helpers.node_affinity import parse_node_selector
from kubectl_sched.api.component_helpers.volume_claims import class_of_claim
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.status import Code, passing
from kubectl_sched.plugins.volume_binding.plugin import PRE_FILTER_STATE, VolumeBinding
from kubectl_sched.plugins.volume_binding.static_matching import (
    can_be_reached,
    label_requirements,
    labels_wanted,
    only_label,
)
from kubectl_sched.simulation.replicas.claim_kinds import ClaimKind, OpenKind
from kubectl_sched.simulation.replicas.latest_values import remember
from kubectl_sched.snapshot.pod_table import PodTable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kubectl_sched.api.affinity import NodeSelector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.simulation.replicas.own_claims import OwnClaim
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask

_MOST_KINDS = 64


class _Alike(NamedTuple):
    """The kinds of claims that differ in their volumes' affinities alone."""

    rest: Sequence[tuple[Any, ...]]
    """All that plugins read of the claims and volumes, but for names and affinities."""

    anywhere: ClaimKind | None
    """The kind of those that can be reached from everywhere; None if pods with them need whole cycles, or `is_open`."""

    is_open: bool
    """Existing volumes are open to them, which changes with each pod."""

    known: dict[tuple[NodeSelector | None, ...], ClaimKind]


class ClaimJudge:
    """The plugins of a profile that look at claims, with the kinds of claims that they have judged."""

    def __init__(
        self, pod: Pod, nodes: Snapshot, shared: Sequence[PersistentVolumeClaim], framework: Framework
    ) -> None:
        """`pod` has claims of nobody, and besides them those that all of the pods share."""
        self._pod = pod
        self._nodes = replace(nodes, existing_pods=PodTable.of((), ()))
        self._node_count = len(nodes)
        self._shared = shared
        volumes = (nodes.objects.get(PersistentVolume, claim.spec.volume_name) for claim in shared)
        self._shared_volumes = [volume for volume in volumes if volume is not None]
        self._pre_filters = [each for each in framework.pre_filter_plugins if each.depends_on is DependsOn.CLAIMS]
        self._filters = [each for each in framework.filter_plugins if each.depends_on is DependsOn.CLAIMS]
        self._pre_scores = [each for each in framework.pre_score_plugins if each.depends_on is DependsOn.CLAIMS]
        self._scores = [each for each in framework.score_plugins if each.depends_on is DependsOn.CLAIMS]
        self._weights = framework.weights
        self._volume_binding = next((each for each in self._filters if isinstance(each, VolumeBinding)), None)
        self._alike: list[_Alike] = []
        self._rows_by_label: dict[str, dict[str | None, dict[int, None]]] = {}
        self._drivers: list[str] | None = None

    def kind_of(self, own: Sequence[OwnClaim]) -> ClaimKind | None:
        """The kind of these claims; None if a pod with them needs a whole cycle."""
        rest = [each.decisive for each in own]
        for alike in self._alike:
            if alike.rest == rest:
                break
        else:
            alike = self._alike_with(own, rest)
        affinities = tuple([each.affinity for each in own])
        kind = alike.known.get(affinities)
        if kind is None:
            kind = self._new_kind(own, alike, affinities)
            if kind is not None and kind.few is None:
                remember(alike.known, affinities, kind)
        return kind

    def _alike_with(self, own: Sequence[OwnClaim], rest: Sequence[tuple[Any, ...]]) -> _Alike:
        is_open, are_counted = any(each.is_open for each in own), self._are_counted_alike(own)
        anywhere = self._judge(self._nodes_with(own)) if are_counted and not is_open else None
        self._alike = [*self._alike[1 - _MOST_KINDS :], _Alike(rest, anywhere, is_open and are_counted, {})]
        return self._alike[-1]

    def _new_kind(
        self, own: Sequence[OwnClaim], alike: _Alike, affinities: Sequence[NodeSelector | None]
    ) -> ClaimKind | None:
        asked = [affinity for affinity in affinities if affinity is not None]
        if alike.is_open:
            return self._judge_open(self._nodes_with(own), asked)
        kind = alike.anywhere
        if kind is None or not asked:
            return kind
        return ClaimKind(self._reaching(asked, kind.passes), self._node_count, kind.points)

    def _are_counted_alike(self, own: Sequence[OwnClaim]) -> bool:
        """Report whether NodeVolumeLimits counts the claims as those of the first pod, on all nodes."""
        if any(each.volume is not None and in_tree_plugin(each.volume.spec) is not None for each in own):
            return False
        drivers = list(map(self._driver, own))
        self._drivers = self._drivers or drivers
        return drivers == self._drivers

    def _driver(self, own: OwnClaim) -> str:
        """The driver by which NodeVolumeLimits counts the claim, or what stands for it: the same for all pods."""
        if own.volume is not None:
            return own.volume.spec.csi.driver if own.volume.spec.csi is not None else ""
        storage_class = self._nodes.objects.get(StorageClass, class_of_claim(own.claim))
        return storage_class.provisioner if storage_class is not None else ""

    @cached_property
    def _unclaimed(self) -> list[PersistentVolume]:
        return [volume for volume in self._nodes.objects.all(PersistentVolume) if volume.spec.claim_ref is None]

    def _nodes_with(self, own: Sequence[OwnClaim]) -> Snapshot:
        """The nodes in a cluster that has no other claims, and no other volumes that matter to these."""
        of_nobody = [each.of_nobody() for each in own]
        claims = [*self._shared, *(claim for claim, _ in of_nobody)]
        objects = self._nodes.objects.replacing(PersistentVolumeClaim, claims)
        volumes = [volume for _, volume in of_nobody if volume is not None]
        if volumes:
            unclaimed = self._unclaimed if any(each.is_open for each in own) else ()
            objects = objects.replacing(PersistentVolume, [*self._shared_volumes, *volumes, *unclaimed])
        return replace(self._nodes, objects=objects)

    def _reaching(self, affinities: Sequence[NodeSelector], passes: Mask) -> list[int]:
        """The rows that pass and reach all volumes, in their order."""
        rows = [row for row in self._reached(affinities[0]) if passes[row]]
        for each in affinities[1:]:
            reached = self._reached(each)
            rows = [row for row in rows if row in reached]
        return rows

    def _reached(self, required: NodeSelector) -> Collection[int]:
        """The rows that reach a volume, in their order."""
        label = only_label(required)
        if label is not None:
            return self._rows_with(*label)
        affinity = parse_node_selector(required)
        table, labels = self._nodes.table, labels_wanted(affinity)
        keys = [each.key for each in label_requirements(affinity)]
        rows = (
            range(len(table)) if labels is None else sorted({row for each in labels for row in self._rows_with(*each)})
        )
        known: dict[tuple[str | None, ...], bool] = {}
        reached: dict[int, None] = {}
        for row in rows:
            of_node = table.objects[row].metadata.labels
            values = tuple([of_node.get(key) for key in keys])
            if values not in known:
                known[values] = can_be_reached(affinity, of_node)
            if known[values]:
                reached[row] = None
        return reached

    def _rows_with(self, key: str, value: str) -> Collection[int]:
        """The rows whose label has this value, in their order."""
        rows_by_value = self._rows_by_label.get(key)
        if rows_by_value is None:
            column, rows_by_value = self._nodes.label(key), {}
            for row, code in enumerate(column.codes.tolist()):
                rows_by_value.setdefault(column.values[code], {})[row] = None
            self._rows_by_label[key] = rows_by_value
        return rows_by_value.get(value, ())

    def _judge(self, nodes: Snapshot) -> ClaimKind | None:
        """Ask the plugins; None where one has more to say than that it rejects some nodes."""
        state = CycleState()
        try:
            passes = self._passes(state, nodes)
            points = None if passes is None else self._points(state, nodes)
        except PluginError:
            return None
        if passes is None:
            return None
        rows: list[int] = self._all(passes.values()).nonzero()[0].tolist()
        return ClaimKind(rows, len(nodes), points)

    def _judge_open(self, nodes: Snapshot, affinities: Sequence[NodeSelector]) -> OpenKind | None:
        state, plugin = CycleState(), self._volume_binding
        try:
            passes = self._passes(state, nodes)
            if passes is None or plugin is None or (binder := state.read(PRE_FILTER_STATE).binder) is None:
                return None
            is_scored = self._points(state, nodes) is not None
        except PluginError:
            return None
        others = self._all(each for name, each in passes.items() if name != plugin.name)
        weight = self._weights.get(plugin.name, 0)
        points = (lambda volumes: weight * plugin.points(volumes)) if is_scored else None
        if affinities:
            others = ClaimKind(self._reaching(affinities, others), len(nodes), None).passes
        return OpenKind(binder, nodes, others, points)

    def _all(self, passes: Iterable[Mask]) -> Mask:
        everywhere: Mask = np.logical_and.reduce([np.ones(len(self._nodes), dtype=np.bool_), *passes])
        return everywhere

    def _passes(self, state: CycleState, nodes: Snapshot) -> dict[str, Mask] | None:
        """For each plugin bool[n], the nodes that pass; None where one does more than to reject nodes."""
        pod, skipped = self._pod, set()
        for each in self._pre_filters:
            result = each.pre_filter(state, pod, nodes)
            if result.status.code is Code.SKIP:
                skipped.add(each.name)
            elif not result.status.is_success or result.node_names is not None:
                return None
        verdicts = {each.name: each.filter(state, pod, nodes) for each in self._filters if each.name not in skipped}
        statuses = (status for verdict in verdicts.values() for status in verdict.values)
        if not all(status.is_success or status.is_rejected for status in statuses):
            return None
        return {name: passing(verdict) for name, verdict in verdicts.items()}

    def _points(self, state: CycleState, nodes: Snapshot) -> Integers | None:
        everywhere = np.arange(len(nodes), dtype=np.intp)
        statuses = {each.name: each.pre_score(state, self._pod, nodes, everywhere) for each in self._pre_scores}
        skipped = {name for name, status in statuses.items() if status.code is Code.SKIP}
        points = [
            each.score(state, self._pod, nodes, everywhere) * self._weights[each.name]
            for each in self._scores
            if each.name not in skipped
        ]
        return np.add.reduce(points) if points else None
