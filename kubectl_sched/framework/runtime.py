"""Runs the plugins of one profile (pkg/scheduler/framework/runtime/framework.go).

Every plugin is run on every node, so that each node's whole story is known; what kube-scheduler would report, the first
rejection in run order, is derived from it.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from msgspec.structs import replace

from kubectl_sched.errors import SchedError
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.interface import (
    BindingCyclePlugin,
    FilterPlugin,
    PermitPlugin,
    PlacementFeasiblePlugin,
    PlacementGeneratePlugin,
    PlacementScorePlugin,
    Plugin,
    PodGroupPostFilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ScorePlugin,
)
from kubectl_sched.framework.plugin_error_boundary import (
    EXPECTED,
    Unjudged,
    filtered,
    pre_filtered,
    unjudged_rows,
    unknown,
)
from kubectl_sched.framework.plugin_scores import PluginScores, normalized_scores, raw_scores
from kubectl_sched.framework.status import SUCCESS, Code, NodeToStatus, Status, error, unresolvable
from kubectl_sched.record import Record
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import ResolvedProfile
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask, Rows

P = TypeVar("P", bound=Plugin)


def nominated_ahead(nominated: Iterable[Pod], pod: Pod) -> list[Pod]:
    """Return the nominated pods that count as running when a pod is judged (addGENominatedPods)."""
    return [each for each in nominated if each.priority >= pod.priority and each.metadata.uid != pod.metadata.uid]


class PreFilterOutcome(Record, frozen=True, kw_only=True):
    """The outcome of all PreFilter plugins; `node_names` are the nodes to search (None: all), `narrowed_by` why."""

    status: Status
    node_names: frozenset[str] | None
    narrowed_by: tuple[str, ...]


class Framework:
    """A profile with its plugins made and ready to run."""

    def __init__(self, profile: ResolvedProfile, plugins: Mapping[str, Plugin], handle: Handle) -> None:
        self.profile = profile
        self.plugins = plugins
        self.handle = handle
        self.pre_enqueue_plugins = self._at("preEnqueue", PreEnqueuePlugin)
        self.queue_sort_plugins = self._at("queueSort", QueueSortPlugin)
        self.pre_filter_plugins = self._at("preFilter", PreFilterPlugin)
        self.filter_plugins = self._at("filter", FilterPlugin)
        self.post_filter_plugins = self._at("postFilter", PostFilterPlugin)
        self.pre_score_plugins = self._at("preScore", PreScorePlugin)
        self.score_plugins = self._at("score", ScorePlugin)
        self.permit_plugins = self._at("permit", PermitPlugin)
        self.placement_generate_plugins = self._at("placementGenerate", PlacementGeneratePlugin)
        self.placement_score_plugins = self._at("placementScore", PlacementScorePlugin)
        self.pod_group_post_filter_plugins = self._at("podGroupPostFilter", PodGroupPostFilterPlugin)
        self.placement_weights = {ref.name: ref.weight for ref in profile.plugins.get("placementScore", ())}
        self.weights = {ref.name: ref.weight for ref in profile.plugins.get("score", ())}

    def _at(self, extension_point: str, kind: type[P]) -> tuple[P, ...]:
        refs = self.profile.plugins.get(extension_point, ())
        return tuple(cast("P", self.plugins[ref.name]) for ref in refs if isinstance(self.plugins.get(ref.name), kind))

    def is_enabled(self, plugin: str, extension_point: str) -> bool:
        """Report whether the profile has the plugin at this point."""
        return any(ref.name == plugin for ref in self.profile.plugins.get(extension_point, ()))

    def without_post_filter(self) -> Framework:
        """Return the framework without preemption."""
        changed = copy(self)
        changed.post_filter_plugins = ()
        return changed

    def weighing(self, plugin: str, weight: int) -> Framework:
        """Return the framework with another weight of a score plugin."""
        refs = tuple(
            replace(ref, weight=weight) if ref.name == plugin else ref for ref in self.profile.plugins.get("score", ())
        )
        changed = copy(self)
        changed.profile = replace(self.profile, plugins={**self.profile.plugins, "score": refs})
        changed.weights = {**self.weights, plugin: weight}
        return changed

    def binding_plugins(self, extension_point: str) -> tuple[BindingCyclePlugin, ...]:
        """The plugins enabled at reserve, permit, preBind, bind or postBind, in order."""
        return self._at(extension_point, BindingCyclePlugin)

    @property
    def placement_feasible_plugins(self) -> tuple[PlacementFeasiblePlugin, ...]:
        """The plugins that judge a group's progress: at a point of their own since 1.38, wherever enabled before."""
        if "placementFeasible" in self.profile.plugins:
            return self._at("placementFeasible", PlacementFeasiblePlugin)
        return tuple(plugin for plugin in self.plugins.values() if isinstance(plugin, PlacementFeasiblePlugin))

    def run_pre_enqueue(self, pod: Pod, nodes: Snapshot) -> Status:
        """The first rejection, or success."""
        for plugin in self.pre_enqueue_plugins:
            status = plugin.pre_enqueue(pod, nodes)
            if not status.is_success:
                return status.by(plugin.name)
        return SUCCESS

    def run_pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterOutcome:
        """Run every PreFilter plugin, stopping where upstream stops; skips are written to the state."""
        skipped: set[str] = set()
        narrowed_by: set[str] = set()
        names: frozenset[str] | None = None
        rejection = SUCCESS
        outcome: PreFilterOutcome | None = None
        for plugin in self.pre_filter_plugins:
            result = pre_filtered(plugin, state, pod, nodes)
            status = result.status.by(plugin.name)
            if status.code is Code.SKIP:
                skipped.add(plugin.name)
            elif status.code is Code.UNKNOWN:
                state.unjudged = {**state.unjudged, plugin.name: status}
            elif status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                # No preemption can follow, so upstream does not run the plugins after it.
                outcome = PreFilterOutcome(status=status, node_names=None, narrowed_by=())
            elif status.code is Code.UNSCHEDULABLE:
                # Preemption may follow and needs every plugin's state; the last such rejection is the one reported.
                rejection = status
            elif not status.is_success:
                failure = error(f'running PreFilter plugin "{plugin.name}": {status.message}').by(plugin.name)
                outcome = PreFilterOutcome(status=failure, node_names=None, narrowed_by=())
            else:
                if result.node_names is not None:
                    narrowed_by.add(plugin.name)
                    names = result.node_names if names is None else names & result.node_names
                if names is not None and not names:
                    outcome = _nothing_left(narrowed_by)
            if outcome is not None:
                break
        state.skip_filter_plugins = frozenset(skipped)
        return outcome or PreFilterOutcome(status=rejection, node_names=names, narrowed_by=tuple(sorted(narrowed_by)))

    def filter_each(self, state: CycleState, pod: Pod, nodes: Snapshot) -> dict[str, NodeToStatus]:
        """Every filter plugin's own verdict on every node, in run order, nominated pods left aside."""
        verdicts: dict[str, NodeToStatus] = {}
        for plugin in self.filter_plugins:
            if plugin.name in state.skip_filter_plugins:
                continue
            if plugin.name not in state.unjudged:
                verdicts[plugin.name] = filtered(plugin, state, pod, nodes)
        for name, status in state.unjudged.items():
            verdicts[name] = Column.filled(len(nodes), status)
        return verdicts

    def run_filters(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """The first rejection of each node in run order, nominated pods left aside."""
        return first_rejections(self.filter_each(state, pod, nodes), len(nodes))

    def run_filters_with_nominated_pods(
        self,
        state: CycleState,
        pod: Pod,
        nodes: Snapshot,
        verdict: NodeToStatus,
    ) -> NodeToStatus:
        """The verdicts as kube-scheduler reports them, given those without nominated pods.

        Where pods of equal or higher priority are nominated to a node, it must fit both with and without them.
        """
        changed = {
            row: status
            for name, pods in nodes.nominated.items()
            if (row := nodes.row_of.get(name)) is not None
            and (status := self._with_nominated(state, pod, nodes, row, pods)) is not None
            and not status.is_success
        }
        return verdict.with_each(changed) if changed else verdict

    def _with_nominated(
        self, state: CycleState, pod: Pod, nodes: Snapshot, row: int, nominated: Sequence[Pod]
    ) -> Status | None:
        """The first pass of two: with the nominated pods running; None if none of them counts."""
        respected = nominated_ahead(nominated, pod)
        if not respected:
            return None
        state = state.clone()
        for other in respected:
            nodes = nodes.assume(other, row)
            try:
                self.add_pod(state, pod, other, row, nodes)
            except PluginError as failure:
                return error(str(failure))
            except Unjudged as unjudged:
                return unjudged.statuses[row]
        return self.run_filters(state, pod, nodes.take(np.array([row], dtype=np.intp)))[0]

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int, nodes: Snapshot) -> None:
        """Run AddPod of every plugin that has it, into `state`."""
        for plugin in self._extended(state):
            try:
                plugin.add_pod(state, pod, added, row, nodes)
            except PluginError as failure:
                raise PluginError(f'running AddPod on PreFilter plugin "{plugin.name}": {failure}') from failure
            except SchedError:
                raise
            except Exception as failure:
                raise unjudged_rows((row,), plugin.name, failure) from failure

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, row: int, nodes: Snapshot) -> None:
        """Run RemovePod of every plugin that has it, into `state`."""
        for plugin in self._extended(state):
            try:
                plugin.remove_pod(state, pod, removed, row, nodes)
            except PluginError as failure:
                raise PluginError(f'running RemovePod on PreFilter plugin "{plugin.name}": {failure}') from failure

    def counts_other_pods(self, state: CycleState) -> bool:
        """Report whether any plugin of this cycle keeps a state that other pods change."""
        return bool(self._extended(state))

    def concerns_other_nodes(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether the other pod's coming or going may change a verdict on nodes other than its own."""
        return any(plugin.concerns(state, pod, other) for plugin in self._extended(state))

    def _extended(self, state: CycleState) -> list[PreFilterExtensions]:
        return [
            plugin
            for plugin in self.pre_filter_plugins
            if isinstance(plugin, PreFilterExtensions) and plugin.name not in state.skip_filter_plugins
        ]

    def run_post_filter(
        self, state: CycleState, pod: Pod, nodes: Snapshot, statuses: NodeToStatus
    ) -> PostFilterResult | None:
        """Run the PostFilter plugins; None if the profile has none."""
        if not self.post_filter_plugins:
            return None
        state = state.clone(state.budget.for_dry_run(len(nodes.existing_pods)))
        last: PostFilterResult | None = None
        reasons: tuple[str, ...] = ()
        for plugin in self.post_filter_plugins:
            try:
                result = plugin.post_filter(state, pod, nodes, statuses, self)
            except EXPECTED:
                raise
            except Exception as failure:  # noqa: BLE001 - a bug in preemption leaves the verdicts as they are
                return PostFilterResult(status=unknown(plugin.name, failure))
            status = result.status.by(plugin.name)
            if not status.is_rejected or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                return replace(result, status=status)
            if last is None or result.nominated_node is not None or result.dry_run is not None:
                last = result
            reasons += status.reasons
        assert last is not None  # noqa: S101 - there was at least one plugin, and each rejection is kept
        return replace(last, status=Status(Code.UNSCHEDULABLE, reasons, self.post_filter_plugins[0].name))

    def run_pre_score(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> None:
        """Run every PreScore plugin; raises PluginError as kube-scheduler words it, and Unjudged for a bug."""
        skipped: set[str] = set()
        for plugin in self.pre_score_plugins:
            try:
                state.budget.spend(1)
                status = plugin.pre_score(state, pod, nodes, rows)
            except PluginError as failure:
                status = error(str(failure))
            except SchedError:
                raise
            except Exception as failure:
                raise unjudged_rows(rows.tolist(), plugin.name, failure) from failure
            if status.code is Code.SKIP:
                skipped.add(plugin.name)
            elif not status.is_success:
                raise PluginError(f'running PreScore plugin "{plugin.name}": {status.message}')
        state.skip_score_plugins = frozenset(skipped)

    def run_scores(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> tuple[PluginScores, ...]:
        """Raw and normalized scores of each plugin not skipped; raises PluginError and Unjudged as PreScore does."""
        plugins = [plugin for plugin in self.score_plugins if plugin.name not in state.skip_score_plugins]
        raw = [(plugin, raw_scores(plugin, state, pod, nodes, rows)) for plugin in plugins]
        normalized = [normalized_scores(plugin, state, pod, nodes, rows, scores) for plugin, scores in raw]
        return tuple(
            PluginScores(plugin=plugin.name, weight=self.weights[plugin.name], raw=scores, normalized=points)
            for (plugin, scores), points in zip(raw, normalized, strict=True)
        )


def first_rejections(verdicts: Mapping[str, NodeToStatus], node_count: int) -> NodeToStatus:
    """The verdict of the first plugin, in the mapping's order, that does not pass each node; success where all do."""
    codes = np.zeros(node_count, dtype=np.int32)
    values: list[Status] = [SUCCESS]
    undecided = np.ones(node_count, dtype=np.bool_)
    for plugin, column in verdicts.items():
        rejects: Mask = undecided & column.where(lambda status: not status.is_success)
        if rejects.any():
            codes[rejects] = column.codes[rejects] + len(values)
            values.extend(_as_reported(status, plugin) for status in column.values)
            undecided &= ~rejects
    return Column(codes, values)


def _as_reported(status: Status, plugin: str) -> Status:
    if status.code is not Code.ERROR:
        return status.by(plugin)
    return error(f'running "{plugin}" filter plugin: {status.message}').by(plugin)


def _nothing_left(narrowed_by: set[str]) -> PreFilterOutcome:
    plugins = sorted(narrowed_by)
    if len(plugins) == 1:
        message = f"node(s) didn't satisfy plugin {plugins[0]}"
    else:
        message = f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously"
    return PreFilterOutcome(status=unresolvable(message), node_names=frozenset(), narrowed_by=tuple(plugins))
