"""Totals of all nodes for one more of many equal pods, brought up to date after each of them.

The points of most plugins are a node's own: they change with the pods on it, or never. Those of others depend on which
other nodes are feasible, or on pods elsewhere, and are computed again for all nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kubectl_sched.framework.interface import ScorePlugin
from kubectl_sched.framework.plugin_scores import normalized_scores
from kubectl_sched.framework.replicas import CountingHelp, DependsOn
from kubectl_sched.framework.status import Code
from kubectl_sched.snapshot.replica_counts import ReplicaCounts, ReplicaRawScores

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.replicas.placed_replicas import PlacedReplicas
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows


def can_be_followed(plugin: ScorePlugin) -> bool:
    """Report whether the plugin's points can be brought up to date without a whole cycle."""
    if plugin.depends_on in {DependsOn.USAGE_OF_NODE, DependsOn.CLAIMS}:
        return not _normalizes(plugin)
    return plugin.depends_on is DependsOn.NODE or isinstance(plugin.replica_help, CountingHelp)


def _normalizes(plugin: ScorePlugin) -> bool:
    return type(plugin).normalize_score is not ScorePlugin.normalize_score


class GroupScorer(NamedTuple):
    """A score plugin whose points depend on other nodes, with the raw scores of nodes."""

    plugin: ScorePlugin
    weight: int
    raw: ReplicaRawScores


_NEVER: Final = object()


class _Scorer:
    """A plugin whose points depend on other nodes, and int64[n], its raw scores."""

    def __init__(self, plugin: ScorePlugin, weight: int, raw: Integers) -> None:
        self.plugin = plugin
        self.weight = weight
        self.raw = raw


class _CountingScorer(_Scorer):
    """A plugin that counts pods; it may skip for as long as there is nothing to count."""

    def __init__(self, plugin: ScorePlugin, weight: int, raw: Integers, counting: CountingHelp) -> None:
        super().__init__(plugin, weight, raw)
        self.help = counting
        self.is_skipped = True
        self.scored_for: Hashable = _NEVER
        """The inputs of the raw scores besides the nodes."""


class ReplicaScores:
    """The score plugins of a profile, and the totals of all nodes, which mean nothing where a node is not feasible."""

    def __init__(
        self,
        result: ScheduleResult,
        framework: Framework,
        state: CycleState,
        pods: tuple[Pod, Pod],
        cluster: PlacedReplicas,
        left_out: frozenset[str],
    ) -> None:
        """`pods` are one more of them, and the first as others count it. `left_out`: points are added elsewhere."""
        pod, first = pods
        self._state, self._pod, self._cluster = state, pod, cluster
        nodes, weights = cluster.nodes, framework.weights
        everywhere: Rows = np.arange(len(nodes), dtype=np.intp)
        scored = {each.plugin for each in result.scores} - left_out
        own = np.full(len(nodes), 0 if framework.score_plugins else 1, dtype=np.int64)
        of_requests = np.zeros(len(nodes), dtype=np.int64)
        self.of_requests: list[tuple[ScorePlugin, int]] = []
        """The plugins that look at sums of requests, with their weights."""

        self._of_feasible: list[_Scorer] = []
        self._counting: list[_CountingScorer] = []
        for plugin in framework.score_plugins:
            weight, counting = weights[plugin.name], plugin.replica_help
            if isinstance(counting, CountingHelp):
                self._counting.append(_CountingScorer(plugin, weight, np.zeros_like(own), counting))
            elif plugin.name in scored:
                raw = plugin.score(state, pod, nodes, everywhere)
                if plugin.depends_on is DependsOn.USAGE_OF_NODE:
                    of_requests += raw * weight
                    self.of_requests.append((plugin, weight))
                elif not _normalizes(plugin):
                    own += raw * weight
                elif int(raw.min()) == int(raw.max()):
                    # Equal raw scores have the same points among any of these nodes.
                    own += normalized_scores(plugin, state, pod, nodes, everywhere, raw) * weight
                else:
                    self._of_feasible.append(_Scorer(plugin, weight, raw))
        self._own: Integers = own + of_requests
        self._of_requests: list[int] = of_requests.tolist()
        self._of_others: Integers = np.zeros_like(own)
        """The points that depend on other nodes."""

        for scorer in self._counting:
            if scorer.plugin.name in scored:
                self._count(scorer, first, 0, result.feasible, 0)
        will_count = [each for each in self._counting if each.help.counts_in_score(state, pod, first)]
        self._counting = [each for each in self._counting if not each.is_skipped or each in will_count]
        self.count_replicas = bool(will_count)
        """Report whether a plugin counts the pods themselves."""

        self.look_at_pods = bool(self._counting)
        """Report whether a plugin looks at pods on other nodes."""

    def _active(self) -> Iterator[_Scorer]:
        yield from self._of_feasible
        yield from (each for each in self._counting if not each.is_skipped)

    @property
    def look_at_others(self) -> bool:
        """Report whether a node's total depends on which others are feasible."""
        return next(self._active(), None) is not None

    def own(self) -> Integers:
        """int64[n]: the points that do not depend on other nodes."""
        return self._own

    def totals(self) -> Integers:
        """int64[n]: all points."""
        return self._own + self._of_others

    def with_requests(self, row: int, points: int) -> int:
        """Have these points of the plugins in `of_requests` on a node, and return by how much its total changes."""
        change = points - self._of_requests[row]
        if change:
            self._own[row] += change
            self._of_requests[row] = points
        return change

    def weigh(self, rows: Rows) -> bool:
        """Weigh the raw scores among these feasible nodes; report whether a total of theirs has changed."""
        before, self._of_others = self._of_others, np.zeros_like(self._of_others)
        for scorer in self._counting:
            self._score_among(scorer, rows)
        for each in self._active():
            raw = each.raw.take(rows)
            points = normalized_scores(each.plugin, self._state, self._pod, self._nodes, rows, raw)
            self._of_others[rows] += points * each.weight
        return not np.array_equal(before.take(rows), self._of_others.take(rows))

    def _score_among(self, scorer: _CountingScorer, rows: Rows) -> None:
        """Have the raw scores of all nodes, where these are the feasible ones."""
        if scorer.is_skipped:
            return
        inputs = scorer.help.narrow(self._state, self._pod, self._nodes, rows)
        if inputs != scorer.scored_for:
            everywhere: Rows = np.arange(len(self._own), dtype=np.intp)
            scorer.raw = scorer.plugin.score(self._state, self._pod, self._nodes, everywhere)
            scorer.scored_for = inputs

    def count(self, added: Pod, row: int, rows: Rows) -> None:
        """Count one more of the pods, which runs on the row's node by now; `rows` are feasible for the next."""
        for scorer in self._counting:
            self._count(scorer, added, row, rows, 1)

    def _count(self, scorer: _CountingScorer, added: Pod, row: int, rows: Rows, amount: int) -> None:
        status = scorer.help.pre_score_with(self._state, self._pod, added, row, self._nodes, rows, amount)
        scorer.is_skipped = status.code is Code.SKIP
        scorer.scored_for = _NEVER

    @property
    def _nodes(self) -> Snapshot:
        """The cluster; without the latest pods if no plugin counts them, as it takes long to put together."""
        return self._cluster.nodes if self._counting else self._cluster.known_nodes

    def as_counts(self) -> list[GroupScorer] | None:
        """The plugins whose points depend on other nodes, with counts of raw scores; None if one has no such counts."""
        scorers = []
        for scorer in self._counting:
            raw = scorer.help.raw_scores(self._state, self._pod, self._nodes)
            if raw is None:
                return None
            if raw.counts:
                scorers.append(GroupScorer(scorer.plugin, scorer.weight, raw))
        return [*scorers, *(GroupScorer(each.plugin, each.weight, _steady(each.raw)) for each in self._of_feasible)]


def _steady(raw: Integers) -> ReplicaRawScores:
    """Raw scores that never change, as counts."""
    return ReplicaRawScores([ReplicaCounts(np.arange(len(raw), dtype=np.int32), raw, np.zeros_like(raw))])
