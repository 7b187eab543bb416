"""Many pods that differ in name alone, one after the other: after each, only what it changed is judged again.

Most of a what-if is replicas. After one of them has a node, the verdicts and raw scores of most plugins change on that
node alone; PodTopologySpread and InterPodAffinity bring their counts up to date and judge all nodes again. Every
placement equals a cycle from scratch. Where that cannot be had so simply (volumes, devices, nominated pods, nodes that
PreFilter chose, a plugin that does not say what it depends on), there is no EqualPods and each pod has its whole cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.interface import DependsOn, PreFilterExtensions, PreScoreExtensions, ScorePlugin
from kubectl_sched.framework.runtime import normalized_scores
from kubectl_sched.framework.status import Code, passing
from kubectl_sched.scheduler.num_feasible_nodes import num_feasible_nodes_to_find
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.ordinal_labels import unasked_ordinals
from kubectl_sched.simulation.pods_without_claims import counts_nobody, is_plain
from kubectl_sched.simulation.verdicts_by_usage import UsageLevels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.verdicts_by_usage import UsageLevel
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows


def are_equal(one: Pod, other: Pod, unasked: frozenset[str] = frozenset()) -> bool:
    """Report whether no plugin can tell the pods apart: they differ in name, uid and creation time at most.

    And in labels that no selector asks for. Claims are called after their pods, which the reasons that tell of them
    then name.
    """
    mine, theirs = one.metadata, other.metadata
    return (
        not one.spec.resource_claims
        and not any(volume.ephemeral is not None for volume in one.spec.volumes)
        and (one.spec is other.spec or one.spec == other.spec)
        and (mine.labels == theirs.labels or _are_equal_but_for(unasked, mine.labels, theirs.labels))
        and mine.namespace == theirs.namespace
        and mine.owner_references == theirs.owner_references
        and mine.deletion_timestamp == theirs.deletion_timestamp
        and one.status == other.status
    )


def _are_equal_but_for(unasked: frozenset[str], mine: Labels, theirs: Labels) -> bool:
    if not unasked or mine.keys() != theirs.keys():
        return False
    return all(key in unasked or theirs[key] == value for key, value in mine.items())


class EqualPods:
    """The verdicts and scores of all nodes for one more of the pods; `assume` brings them up to date."""

    def __init__(self, result: ScheduleResult, framework: Framework, state: CycleState) -> None:
        self.pod = result.pod
        self.nodes = result.nodes
        self._framework = framework
        self._state = state.clone()
        self._unasked = unasked_ordinals(result.pod, result.nodes)
        self._in_name_order = _in_name_order(result.nodes.names)
        self._filters = [each for each in framework.filter_plugins if each.name in result.verdicts]
        self._passes = {name: passing(column) for name, column in result.verdicts.items()}
        feasible = np.zeros(len(self.nodes), dtype=np.bool_)
        feasible[result.feasible] = True
        self._set_feasible(feasible)
        self._everywhere = np.arange(len(self.nodes), dtype=np.intp)
        self._scorers = self._scorers_after(result)
        self._totals: Integers = np.zeros(len(self.nodes), dtype=np.int64)
        for scorer in self._scorers:
            self._totals += scorer.weighted
        scored = {each.plugin for each in result.scores}
        self.counts_pods = any(isinstance(each, PreFilterExtensions) for each in self._filters) or any(
            each.extensions is not None and each.plugin.name in scored for each in self._scorers
        )
        """Report whether a plugin of this cycle looks at pods on other nodes."""
        self._usage = UsageLevels(
            self.pod,
            self.nodes,
            state,
            [each for each in self._filters if each.depends_on is DependsOn.USAGE_OF_NODE],
            [each.plugin for each in self._scorers if each.plugin.depends_on is DependsOn.USAGE_OF_NODE],
        )

    @classmethod
    def after(cls, result: ScheduleResult) -> EqualPods | None:
        """Prepare the next pods after the first one's cycle; None if each needs a whole cycle."""
        framework, state = result.framework, result.state
        if framework is None or state is None or not _is_simple(result):
            return None
        filters = (each for each in framework.filter_plugins if each.name in result.verdicts)
        if any(each.depends_on is DependsOn.CLUSTER and not isinstance(each, PreFilterExtensions) for each in filters):
            return None
        scored = {each.plugin for each in result.scores} - state.skip_filter_plugins
        scorers = (each for each in framework.score_plugins if each.name in scored)
        # One that has nothing to filter has nothing to score either, unless it says so by PreScoreExtensions.
        if any(each.depends_on is DependsOn.CLUSTER and not isinstance(each, PreScoreExtensions) for each in scorers):
            return None
        return cls(result, framework, state)

    def _scorers_after(self, result: ScheduleResult) -> list[_Scorer]:
        raw_of = {each.plugin: each.raw for each in result.scores}
        scorers = []
        for plugin in self._framework.score_plugins:
            if plugin.name not in raw_of and not isinstance(plugin, PreScoreExtensions):
                continue
            scorer = _Scorer(plugin, self._framework.weights[plugin.name], len(self.nodes))
            if plugin.depends_on is not DependsOn.CLUSTER:
                # A node that is not feasible yet may become so.
                scorer.raw = plugin.score(self._state, self.pod, self.nodes, self._everywhere)
            elif plugin.name in raw_of:
                scorer.raw[self._rows] = raw_of[plugin.name]
            if plugin.name in raw_of:
                scorer.weigh(self._state, self.pod, self.nodes, self._rows)
            scorers.append(scorer)
        return scorers

    def stands_for(self, pod: Pod) -> bool:
        """Report whether the pod is one of them."""
        return are_equal(self.pod, pod, self._unasked)

    @property
    def has_feasible(self) -> bool:
        """Report whether one more of the pods fits anywhere."""
        return len(self._rows) > 0

    @property
    def is_sampled(self) -> bool:
        """Report whether more nodes are feasible than kube-scheduler would look at before it stops."""
        percentage = self._framework.profile.percentage_of_nodes_to_score
        return len(self._rows) > num_feasible_nodes_to_find(len(self.nodes), percentage)

    def best(self) -> tuple[Rows, int]:
        """The nodes tied at the highest total, in name order, and that total."""
        rows = self._rows_by_name
        totals = self._totals.take(rows)
        highest = int(totals.max())
        tied = rows.take(np.flatnonzero(totals == highest))
        return tied, highest if self._framework.score_plugins else 1

    def _set_feasible(self, feasible: Mask) -> None:
        self._mask = feasible.tobytes()
        self._rows = np.flatnonzero(feasible)
        order = self._in_name_order
        self._rows_by_name = self._rows if order is None else order.compress(feasible.take(order))

    def assume(self, pod: Pod, row: int) -> Snapshot:
        """Let one of the pods run on the row's node, and judge anew what depends on that. Gives the new snapshot."""
        self.nodes = self.nodes.assume(pod, row)
        self._judge_again(pod, row)
        return self.nodes

    def follow(self, nodes: Snapshot, added: Sequence[tuple[Pod, int]]) -> None:
        """Go on with a snapshot in which some of the pods run on these rows, unless `counts_pods`."""
        self.nodes = nodes
        for pod, row in added:
            self._judge_again(pod, row)

    def _judge_again(self, pod: Pod, row: int) -> None:
        level = self._usage.one_more_on(row)
        moved = self._filter_again(pod, row, level)
        if moved:
            feasible = np.ones(len(self.nodes), dtype=np.bool_)
            for passes in self._passes.values():
                feasible &= passes
            self._set_feasible(feasible)
        if len(self._rows):
            for scorer in self._scorers:
                self._score_again(scorer, pod, row, level, moved=moved)

    def _filter_again(self, added: Pod, row: int, level: UsageLevel) -> bool:
        """Report whether any verdict changed."""
        changed = False
        for plugin in self._filters:
            passes = self._passes[plugin.name]
            if isinstance(plugin, PreFilterExtensions):
                if plugin.concerns(self._state, self.pod, added):
                    plugin.add_pod(self._state, self.pod, added, row, self.nodes)
                    after = passing(plugin.filter(self._state, self.pod, self.nodes))
                    changed |= not np.array_equal(passes, after)
                    self._passes[plugin.name] = after
                continue
            if plugin.depends_on is DependsOn.USAGE_OF_NODE:
                verdict = level.passes[plugin.name]
            elif plugin.depends_on is DependsOn.PODS_OF_NODE:
                verdict = bool(passing(plugin.filter(self._state, self.pod, self.nodes.take(np.array([row]))))[0])
            else:
                continue
            changed |= verdict != passes[row]
            passes[row] = verdict
        return changed

    def _score_again(self, scorer: _Scorer, added: Pod, row: int, level: UsageLevel, *, moved: bool) -> None:
        plugin, state, rows = scorer.plugin, self._state, self._rows
        if scorer.extensions is not None:
            if scorer.extensions.pre_score_with(state, self.pod, added, row, self.nodes, rows).code is Code.SKIP:
                return
            scorer.replace_raw(rows, plugin.score(state, self.pod, self.nodes, rows))
        elif plugin.depends_on is DependsOn.USAGE_OF_NODE:
            scorer.raw[row] = level.raw[plugin.name]
        elif plugin.depends_on is DependsOn.PODS_OF_NODE:
            scorer.raw[row] = plugin.score(state, self.pod, self.nodes.take(np.array([row])), _FIRST)[0]
        elif not (moved and scorer.normalizes):
            return
        else:
            # Its raw scores stay as they are, and the feasible nodes are often those of a moment ago.
            self._totals -= scorer.weighted
            scorer.weigh_as_before(state, self.pod, self.nodes, rows, self._mask)
            self._totals += scorer.weighted
            return
        if scorer.normalizes:
            self._totals -= scorer.weighted
            scorer.weigh(state, self.pod, self.nodes, rows)
            self._totals += scorer.weighted
        else:
            weighted = scorer.raw[row] * scorer.weight
            self._totals[row] += weighted - scorer.weighted[row]
            scorer.weighted[row] = weighted


_FIRST = np.zeros(1, dtype=np.intp)


def _in_name_order(names: Sequence[str]) -> Rows | None:
    """The rows by name, None if they stand so already."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return None if order == list(range(len(names))) else np.array(order, dtype=np.intp)


class _Scorer:
    """A score plugin with int64[n] each: its raw scores, and its points times its weight where a node is feasible."""

    def __init__(self, plugin: ScorePlugin, weight: int, node_count: int) -> None:
        self.plugin = plugin
        self.extensions = plugin if isinstance(plugin, PreScoreExtensions) else None
        self.weight = weight
        self.normalizes = type(plugin).normalize_score is not ScorePlugin.normalize_score
        self.raw: Integers = np.zeros(node_count, dtype=np.int64)
        self.weighted: Integers = np.zeros(node_count, dtype=np.int64)
        self._known: dict[bytes, Integers] = {}

    def weigh_as_before(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, mask: bytes) -> None:
        """The same where raw scores never change, so that `mask`, the feasible nodes, decides all."""
        known = self._known.get(mask)
        if known is None:
            self.weighted = self.weighted.copy()
            self.weigh(state, pod, nodes, rows)
            while len(self._known) >= _MASKS_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[mask] = self.weighted
        else:
            self.weighted = known

    def weigh(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> None:
        """Normalize the raw scores of the feasible nodes."""
        if not self.normalizes:
            self.weighted = self.raw * self.weight
        elif len(rows) == len(self.raw):
            self.weighted = normalized_scores(self.plugin, state, pod, nodes, rows, self.raw) * self.weight
        else:
            points = normalized_scores(self.plugin, state, pod, nodes, rows, self.raw.take(rows))
            self.weighted[rows] = points * self.weight

    def replace_raw(self, rows: Rows, raw: Integers) -> None:
        """Other raw scores of the feasible nodes."""
        if len(rows) == len(self.raw):
            self.raw = raw
        else:
            self.raw[rows] = raw


_MASKS_KNOWN = 8
"""For how many sets of feasible nodes a scorer keeps its points."""


def _is_simple(result: ScheduleResult) -> bool:
    spec = result.pod.spec
    return (
        result.outcome is Outcome.SCHEDULABLE
        and result.pre_filter_nodes is None
        and result.nominated_first is None
        and result.score_error is None
        and not result.nodes.nominated
        and is_plain(result.pod)
        and spec.scheduling_group is None
        and spec.workload_ref is None
        and not counts_nobody(result.pod)
    )
