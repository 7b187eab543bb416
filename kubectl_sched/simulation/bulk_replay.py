"""Judges many equal bound pods, each as if removed from its node. All nodes but that one are judged only once.

Each of them meets the same cluster with one pod less on one node. A plugin that looks at each node by itself therefore
has the same verdict on all other nodes for every pod, and judges the pod's own node with one such pod less. A plugin
that looks further (PodTopologySpread, InterPodAffinity) takes the pod off its counts of the whole cluster. Every
decision equals a cycle from scratch; where that is not so simple (volumes, devices, nominated pods, nodes that
PreFilter chose), there is no BulkReplay and each pod has its whole cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kubectl_sched.framework.cycle_budget import UNLIMITED, CycleBudget
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.interface import PreFilterExtensions, ScorePlugin
from kubectl_sched.framework.plugin_scores import normalized_scores
from kubectl_sched.framework.replicas import CountingHelp, DependsOn
from kubectl_sched.framework.status import SUCCESS, Code, passing
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.likeness import filters_of, is_plain, may_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows


_LOOKING_FURTHER = frozenset({DependsOn.CLUSTER, DependsOn.CLAIMS})


class Judged(NamedTuple):
    """The outcome for one pod that fits: the feasible rows, int64 totals there, and what they are made of."""

    rows: Rows
    totals: Integers
    parts: tuple[_Points, ...]

    def points(self, row: int) -> dict[str, int]:
        """Each plugin's points times its weight on one of the feasible nodes."""
        position = int(np.searchsorted(self.rows, row))
        return {part.plugin: int(part.weighted[position]) for part in self.parts}


class _Points(NamedTuple):
    """int64[len(rows)] of one plugin: its points times its weight on the feasible nodes."""

    plugin: str
    weighted: Integers


class BulkReplay:
    """The shared part of the cycles of pods like `pod`; `without` replays one of them off its own node."""

    def __init__(self, whole: CycleResult) -> None:
        """`whole` is the cycle of one more such pod; raises PluginError where a plugin fails."""
        self.whole = whole
        self._pod, self._nodes, self._framework = whole.pod, whole.nodes, whole.framework
        self._state = whole.state.clone(CycleBudget(UNLIMITED))
        less = whole.nodes.with_usage_everywhere(whole.pod, -1)
        filters = filters_of(whole)
        self._around = [each for each in filters if isinstance(each, PreFilterExtensions)]
        self._of_pods = [each for each in filters if each.depends_on is DependsOn.PODS_OF_NODE]
        by_node = [each for each in filters if each.depends_on in {DependsOn.NODE, DependsOn.USAGE_OF_NODE}]
        self._passes = self._all_pass(whole.verdicts[each.name] for each in (*by_node, *self._of_pods))
        self._passes_less = self._all_pass(
            each.filter(self._state, self._pod, less)
            if each.depends_on is DependsOn.USAGE_OF_NODE
            else whole.verdicts[each.name]
            for each in by_node
        )
        self._passes_around = {each.name: _passing(whole.verdicts[each.name]) for each in self._around}
        self._feasible = self._passes.copy()
        for mask in self._passes_around.values():
            self._feasible &= mask
        self._rows = np.flatnonzero(self._feasible)
        scorers = [
            _Scorer(each, self._pod, whole.nodes, less, self._state, self._framework)
            for each in self._framework.score_plugins
        ]
        self._scorers = [each for each in scorers if not each.is_skipped]
        self._settled = self._settled_on(self._rows)

    @classmethod
    def of(cls, whole: ScheduleResult) -> BulkReplay | None:
        """Prepare the replays after a cycle of one more such pod; None if each pod needs a whole cycle."""
        if not isinstance(whole, CycleResult) or not _is_simple(whole):
            return None
        try:
            return cls(whole)
        except PluginError:
            return None

    def _all_pass(self, columns: Iterable[NodeToStatus]) -> Mask:
        passes = np.ones(len(self._nodes), dtype=np.bool_)
        for column in columns:
            passes &= _passing(column)
        return passes

    def without(self, pod: Pod) -> Judged | None:
        """Replay one of the pods, which is on a node; None if it fits nowhere or a plugin fails."""
        row = self._nodes.row_of[pod.spec.node_name]
        state = self._state.clone()
        try:
            rows = self._feasible_rows(state, pod, row)
            return self._judged(state, pod, rows, row) if len(rows) else None
        except PluginError:
            return None

    def _feasible_rows(self, state: CycleState, pod: Pod, row: int) -> Rows:
        """Return the feasible rows with the pod off this one: those of all replays alike wherever nothing changes."""
        around = [each for each in self._around if each.concerns(state, self._pod, pod)]
        is_feasible = bool(self._passes_less[row])
        if not around and not self._of_pods and is_feasible == self._passes[row]:
            return self._rows
        passes = self._passes.copy()
        nodes = self._nodes.remove_pod(pod.metadata.namespace, pod.metadata.name)
        for plugin in self._of_pods:
            own = plugin.filter(state, self._pod, nodes.take(np.array([row], dtype=np.intp)))
            is_feasible &= bool(_passing(own)[0])
        passes[row] = is_feasible
        for extended in self._around:
            if extended in around:
                extended.remove_pod(state, self._pod, pod, row, nodes)
                passes &= _passing(extended.filter(state, self._pod, nodes))
            else:
                passes &= self._passes_around[extended.name]
        return self._rows if np.array_equal(passes, self._feasible) else np.flatnonzero(passes)

    def _settled_on(self, rows: Rows) -> Sequence[_Points]:
        """The points of the plugins that look at each node by itself, as long as the pod's own node is left out."""
        settled = (each for each in self._scorers if each.counting is None)
        return [_Points(each.plugin.name, each.weighted(self._state, rows, each.raw.take(rows))) for each in settled]

    def _judged(self, state: CycleState, pod: Pod, rows: Rows, row: int) -> Judged:
        parts = list(self._settled if rows is self._rows else self._settled_on(rows))
        position = int(np.searchsorted(rows, row))
        if position < len(rows) and rows[position] == row:
            settled = (each for each in self._scorers if each.counting is None)
            parts = [
                _Points(part.plugin, each.weighted_less(state, rows, part.weighted, position))
                for each, part in zip(settled, parts, strict=True)
            ]
        for scorer in self._scorers:
            if scorer.counting is not None and scorer.takes_off(state, pod, row, rows):
                raw = scorer.plugin.score(state, self._pod, self._nodes, rows)
                parts.append(_Points(scorer.plugin.name, scorer.weighted(state, rows, raw)))
        totals = np.zeros(len(rows), dtype=np.int64)
        if not self._framework.score_plugins:
            totals[:] = 1
        for part in parts:
            totals += part.weighted
        return Judged(rows, totals, tuple(parts))


class _Scorer:
    """A score plugin, with its raw scores of all nodes as they are and with one of the pods less."""

    def __init__(
        self, plugin: ScorePlugin, pod: Pod, nodes: Snapshot, less: Snapshot, state: CycleState, framework: Framework
    ) -> None:
        """Asks the plugin about all nodes; raises PluginError where it fails, or cannot tell what one pod less does."""
        self.plugin = plugin
        counting = plugin.replica_help
        self.counting = counting if isinstance(counting, CountingHelp) else None
        self._pod, self._nodes = pod, nodes
        self._weight = framework.weights[plugin.name]
        self._normalizes = type(plugin).normalize_score is not ScorePlugin.normalize_score
        preparing = next((each for each in framework.pre_score_plugins if each.name == plugin.name), None)
        rows = np.arange(len(nodes), dtype=np.intp)
        status = preparing.pre_score(state, pod, nodes, rows) if preparing is not None else SUCCESS
        # One that looks around and has nothing to filter has nothing to score either, unless it has extensions.
        is_idle = plugin.depends_on in _LOOKING_FURTHER and plugin.name in state.skip_filter_plugins
        self.is_skipped = status.code is Code.SKIP or (is_idle and self.counting is None)
        if self.is_skipped:
            return
        if not status.is_success or plugin.depends_on is DependsOn.PODS_OF_NODE:
            raise PluginError(plugin.name)
        if self.counting is not None:
            self.counting.pre_score_with(state, pod, pod, 0, nodes, rows, 0)
            return
        if plugin.depends_on in _LOOKING_FURTHER:
            raise PluginError(plugin.name)
        self.raw = plugin.score(state, pod, nodes, rows)
        is_less = plugin.depends_on is DependsOn.USAGE_OF_NODE
        self._raw_less = plugin.score(state, pod, less, rows) if is_less else self.raw

    def takes_off(self, state: CycleState, pod: Pod, row: int, rows: Rows) -> bool:
        """Take the pod off the counts in `state`; False if the plugin then skips."""
        assert self.counting is not None  # noqa: S101 - the caller asks
        status = self.counting.pre_score_with(state, self._pod, pod, row, self._nodes, rows, -1)
        return status.code is not Code.SKIP

    def weighted(self, state: CycleState, rows: Rows, raw: Integers) -> Integers:
        """int64[len(rows)]: the points of these rows times the weight, from raw scores."""
        return normalized_scores(self.plugin, state, self._pod, self._nodes, rows, raw) * self._weight

    def weighted_less(self, state: CycleState, rows: Rows, weighted: Integers, position: int) -> Integers:
        """Return `weighted` with one pod less on the node at this position."""
        row = rows[position]
        if self._raw_less[row] == self.raw[row]:
            return weighted
        if self._normalizes:
            raw = self.raw.take(rows)
            raw[position] = self._raw_less[row]
            return self.weighted(state, rows, raw)
        changed = weighted.copy()
        changed[position] = self._raw_less[row] * self._weight
        return changed


def _passing(column: NodeToStatus) -> Mask:
    if any(not status.is_success and not status.is_rejected for status in column.values):
        raise PluginError("a filter fails")
    return passing(column)


def _is_simple(whole: ScheduleResult) -> bool:
    return whole.outcome in {Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE} and is_plain(whole.pod) and may_share(whole)
