"""Totals of all nodes for one more of many equal pods, brought up to date after each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.interface import DependsOn, PreScoreExtensions, ScorePlugin
from kubectl_sched.simulation.replicas.replica_scorer import Feasible, GroupScorer, ReplicaScorer
from kubectl_sched.simulation.replicas.score_groups import ScoreGroups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers


def can_be_followed(plugin: ScorePlugin) -> bool:
    """Report whether the plugin's points can be brought up to date without asking it about all nodes."""
    if plugin.depends_on in {DependsOn.USAGE_OF_NODE, DependsOn.CLAIMS}:
        return type(plugin).normalize_score is ScorePlugin.normalize_score
    return plugin.depends_on is DependsOn.NODE or isinstance(plugin, PreScoreExtensions)


class ReplicaScores:
    """The score plugins of a profile, and the totals of all nodes."""

    def __init__(
        self,
        result: ScheduleResult,
        framework: Framework,
        state: CycleState,
        feasible: Feasible,
        left_out: frozenset[str] = frozenset(),
    ) -> None:
        """`left_out` are plugins that somebody else adds to the totals."""
        nodes, pod = result.nodes, result.pod
        scored = {each.plugin: each.raw for each in result.scores if each.plugin not in left_out}
        self._state = state
        self._pod = pod
        self._totals: Integers = np.zeros(len(nodes), dtype=np.int64)
        """The totals without the points of groups."""
        scorers = [
            ReplicaScorer(plugin, framework.weights[plugin.name], state, pod, self._totals)
            for plugin in framework.score_plugins
            if plugin.name in scored or isinstance(plugin, PreScoreExtensions)
        ]
        self._counting = [each for each in scorers if each.extensions is not None]
        others = [each for each in scorers if each.extensions is None]
        of_usage = [each for each in others if each.plugin.depends_on is DependsOn.USAGE_OF_NODE]
        self.of_usage = [(each.plugin, each.weight) for each in of_usage]
        """The plugins that look at sums of requests, with their weights."""
        self._of_nodes = [each for each in others if each not in of_usage]
        self._unsettled = self._of_nodes
        for scorer in of_usage:
            scorer.score_all(nodes, feasible, scored[scorer.plugin.name])
        self._of_usage: list[int] = self._totals.tolist()
        self._totals += 0 if framework.score_plugins else 1
        for scorer in self._of_nodes:
            scorer.score_all(nodes, feasible, scored[scorer.plugin.name])
        for scorer in self._counting:
            if scorer.plugin.name in scored:
                scorer.count(pod, 0, nodes, feasible, 0)
        self._grouped = [each for each in self._counting if not each.is_skipped]
        self._groups: ScoreGroups | None = None
        self._of_groups: Integers = np.zeros(0, dtype=np.int64)
        self._group(nodes, feasible)
        self.counts_pods = bool(self._grouped)
        """Report whether a plugin of this cycle looks at pods on other nodes."""

        self.counts_replicas: bool | None = None if self._grouped else False
        """Report whether such a plugin counts the pods themselves; None until one of them has come."""

    def totals(self) -> Integers:
        """int64[n]: the totals of the feasible nodes; those of others mean nothing."""
        return self._totals if self._groups is None else self._totals + self._of_groups.take(self._groups.codes)

    def with_usage(self, row: int, points: int) -> int:
        """The total of one node now that the points of `of_usage` are these, and as long as no pod is counted."""
        total = int(self._totals[row]) + points - self._of_usage[row]
        self._totals[row], self._of_usage[row] = total, points
        return total if self._groups is None else total + int(self._of_groups[self._groups.codes[row]])

    def update(self, added: Pod, row: int, nodes: Snapshot, feasible: Feasible, points: int, *, moved: bool) -> None:
        """One of the pods runs on the row's node. `points` are those of `of_usage`; `moved`: others are feasible."""
        for scorer in self._counting:
            scorer.count(added, row, nodes, feasible)
        if self.counts_replicas is None:
            self.counts_replicas = any(scorer.counts(added, row, nodes) for scorer in self._counting)
        self.with_usage(row, points)
        if moved:
            self._weigh_again(nodes, feasible)
        if self._groups is None:
            for scorer in self._counting:
                scorer.score_changed(added, row, nodes, feasible, moved=moved)
        elif self._move(self._groups, nodes, row):
            self._of_groups = self._groups.weighted(self._state, self._pod, nodes, feasible)
        else:
            self._grouped = [each for each in self._counting if not each.is_skipped]
            self._group(nodes, feasible)

    def leave_out(self, nodes: Snapshot) -> list[GroupScorer] | None:
        """Leave the points that depend on other nodes to somebody else; None if they cannot be left."""
        scorers = []
        for scorer in self._counting:
            raw = scorer.replica_raw_scores(nodes)
            if raw is None:
                return None
            if raw.counts:
                scorers.append((scorer, raw))
        scorers += [(scorer, scorer.constant_raw_scores()) for scorer in self._unsettled if not scorer.is_settled]
        if not all(scorer.plugin.normalizes_by_value(self._state, nodes) for scorer, _ in scorers):
            return None
        for scorer, _ in scorers:
            scorer.leave_out()
        self._groups, self._grouped, self._unsettled = None, [], []
        return [GroupScorer(scorer.plugin, scorer.weight, raw) for scorer, raw in scorers]

    def take_back(self, rows: Sequence[int], nodes: Snapshot, feasible: Feasible) -> None:
        """Have all points here again. Meanwhile one more of the pods has come to each of these rows' nodes."""
        for row in rows:
            for scorer in self._counting:
                scorer.count(self._pod, row, nodes, feasible)
        self._unsettled = self._of_nodes
        self._weigh_again(nodes, feasible)
        self._grouped = [each for each in self._counting if not each.is_skipped]
        self._group(nodes, feasible)

    @property
    def are_settled(self) -> bool:
        """Report whether no node's total depends on which others are feasible."""
        return not self._grouped and all(scorer.is_settled for scorer in self._unsettled)

    def change_with(self, nodes: Snapshot, feasible: Feasible) -> bool:
        """Report whether totals change as other nodes are feasible."""
        before = self.totals().copy()
        self.move(nodes, feasible)
        return not np.array_equal(before, self.totals())

    def move(self, nodes: Snapshot, feasible: Feasible) -> None:
        """Other nodes are feasible, and no pod has come."""
        self._weigh_again(nodes, feasible)
        if self._groups is None:
            for scorer in self._counting:
                scorer.weigh_among(nodes, feasible)
        else:
            for scorer in self._grouped:
                scorer.plugin.pre_score_fewer(self._state, self._pod, nodes, feasible.rows)
            self._of_groups = self._groups.weighted(self._state, self._pod, nodes, feasible)

    def _weigh_again(self, nodes: Snapshot, feasible: Feasible) -> None:
        self._unsettled = [scorer for scorer in self._unsettled if not scorer.is_settled]
        for scorer in self._unsettled:
            scorer.weigh_again(nodes, feasible)

    def _group(self, nodes: Snapshot, feasible: Feasible) -> None:
        """Group all nodes anew, or score each of them."""
        self._groups = ScoreGroups.of(self._grouped, self._state, self._pod, nodes)
        if self._groups is not None:
            self._of_groups = self._groups.weighted(self._state, self._pod, nodes, feasible)
            return
        for scorer in self._grouped:
            scorer.score_all(nodes, feasible)

    def _move(self, groups: ScoreGroups, nodes: Snapshot, row: int) -> bool:
        """Take the row's node to its group; False if all have to be grouped anew."""
        if self._grouped != [each for each in self._counting if not each.is_skipped]:
            return False
        return groups.move(self._state, self._pod, nodes, row) and groups.are_worth_it
