"""Outcomes of one pod from every node where kube-scheduler's search may start, or from one of them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from kubectl_sched.errors import SchedError
from kubectl_sched.framework.cycle_budget import UNLIMITED, CycleBudget
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.interface import ScorePlugin
from kubectl_sched.framework.plugin_scores import normalized_scores
from kubectl_sched.framework.replicas import CountingHelp
from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.node_search import heap_ranks, search
from kubectl_sched.scheduler.schedule_one import outcome_of, score_feasible

if TYPE_CHECKING:
    from collections.abc import Hashable

    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.node_search import Search
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Integers, Rows


class Sampling(Record, frozen=True, kw_only=True):
    """The share of search starts that each node wins; tied nodes share a win. Age stands in for the nodes' order."""

    starts: int
    """The number of search starts, which is the number of nodes; 1 if a single start was requested."""

    start_index: int | None
    stops_after: int
    """The number of feasible nodes that ends a search."""

    wins: tuple[tuple[str, float], ...]
    """Node and share of the starts (0 to 1), the most frequent winner first."""

    failure_share: float
    """The share of the starts from which the whole cycle fails."""


def from_every_start(result: ScheduleResult) -> Sampling | None:
    """Return how often each node wins over all starts; None if no node is searched for."""
    searches = search(result)
    if not isinstance(result, CycleResult) or searches is None:
        return None
    passing = ~searches.fails
    starts_of = np.bincount(searches.first[passing], minlength=len(searches.feasible))
    if len(searches.feasible) <= searches.stops_after:
        starts_of = np.array([int(passing.sum())])
    wins: defaultdict[int, float] = defaultdict(float)
    failing = int(searches.fails.sum())
    windows = _Windows(result, searches)
    for first in np.flatnonzero(starts_of).tolist():
        count = int(starts_of[first])
        winners = windows.winners(first)
        failing += 0 if winners else count
        for row in winners:
            wins[row] += count / len(winners)
    starts = len(searches.first)
    names = result.nodes.names
    shares = sorted(((names[row], won / starts) for row, won in wins.items()), key=lambda win: (-win[1], win[0]))
    return Sampling(
        starts=starts,
        start_index=None,
        stops_after=searches.stops_after,
        wins=tuple(shares),
        failure_share=failing / starts,
    )


def from_start(result: ScheduleResult, start_index: int) -> tuple[ScheduleResult, Sampling | None]:
    """Return the result of a search that begins at that node: only the nodes that it finds are scored.

    Raises SchedError if there is no such node.
    """
    if not 0 <= start_index < max(len(result.nodes), 1):
        last = len(result.nodes) - 1
        most = f"there are {last + 1} nodes, so it goes from 0 to {last}" if last > 0 else "it can only be 0 here"
        raise SchedError(f"--start-index {start_index}: {most}")
    searches = search(result)
    if not isinstance(result, CycleResult) or searches is None or searches.fails[start_index]:
        return result, None
    found = np.sort(searches.window(int(searches.first[start_index])))
    state = result.state.clone(CycleBudget(UNLIMITED))
    chosen = replace(
        result, feasible=found, state=state, error=None, score_error=None, event=None, scores=(), judged_as=None
    )
    chosen = score_feasible(chosen)
    fails = chosen.error is not None
    if isinstance(result, MemberResult) and not fails:
        chosen = replace(chosen, outcome=result.outcome, event=result.event, error=result.error)  # as its group ends
    else:
        chosen = replace(chosen, outcome=outcome_of(chosen))
    winners = _Windows(result, searches).winners(int(searches.first[start_index]))
    wins = tuple(sorted((result.nodes.names[row], 1 / len(winners)) for row in winners))
    sampling = Sampling(
        starts=1,
        start_index=start_index,
        stops_after=searches.stops_after,
        wins=wins,
        failure_share=float(fails),
    )
    return chosen, sampling


class _Windows:
    """Scores window after window of the feasible nodes; what is the same in all of them is computed once."""

    def __init__(self, result: CycleResult, searches: Search) -> None:
        self._result = result
        self._framework: Framework = result.framework
        self._searches = searches
        self._state: CycleState = result.state.clone(CycleBudget(UNLIMITED))
        self._twice = np.concatenate([searches.feasible, searches.feasible])
        self._raw: dict[tuple[str, Hashable], Integers] = {}
        self._fails = not self._prepare()
        handle = self._framework.handle
        # With more than one worker, chance decides in which order the nodes are found.
        ordered = handle.release.ties_fall_by_place and handle.parallelism == 1 and not handle.extenders
        self._ranks = heap_ranks(min(searches.stops_after, len(searches.feasible))) if ordered else None
        self._common = np.zeros(len(searches.feasible), dtype=np.int64)
        self._changing: list[ScorePlugin] = []
        if not self._fails:
            for plugin in self._framework.score_plugins:
                if plugin.name not in self._state.skip_score_plugins:
                    self._add(plugin)

    def _prepare(self) -> bool:
        """Run PreScore for all feasible nodes; False where it makes every cycle fail."""
        try:
            self._framework.run_pre_score(self._state, self._result.pod, self._result.nodes, self._searches.feasible)
        except PluginError:
            return False
        return True

    def _add(self, plugin: ScorePlugin) -> None:
        """Take the plugin's points for the same in every window, or keep it among those that are asked for each."""
        rows = self._searches.feasible
        normalizes = type(plugin).normalize_score is not ScorePlugin.normalize_score
        if not isinstance(plugin.replica_help, CountingHelp):
            try:
                raw = self._raw_of(plugin, None)
                if not normalizes or len(np.unique(raw)) == 1:
                    points = normalized_scores(plugin, self._state, self._result.pod, self._result.nodes, rows, raw)
                    self._common += points * self._framework.weights[plugin.name]
                    return
            except PluginError:
                pass
        self._changing.append(plugin)

    def _raw_of(self, plugin: ScorePlugin, key: Hashable) -> Integers:
        """The plugin's raw scores for all feasible nodes, while they depend on `key`."""
        known = self._raw.get((plugin.name, key))
        if known is None:
            known = plugin.score(self._state, self._result.pod, self._result.nodes, self._searches.feasible)
            self._raw[plugin.name, key] = known
        return known

    def winners(self, first: int) -> list[int]:
        """The rows tied at the highest total; none if the cycle fails."""
        count = min(self._searches.stops_after, len(self._searches.feasible))
        rows = self._twice[first : first + count]
        if count == 1:
            return [int(rows[0])]
        if self._fails:
            return []
        places = np.arange(first, first + count) % len(self._searches.feasible)
        totals = self._common[places]
        try:
            for plugin in self._changing:
                totals += self._points(plugin, rows, places)
        except PluginError:
            return []
        tied = np.flatnonzero(totals == totals.max())
        if self._ranks is not None:
            tied = tied[[self._ranks[tied].argmin()]]
        return [int(row) for row in rows[tied]]

    def _points(self, plugin: ScorePlugin, rows: Rows, places: Rows) -> Integers:
        state, pod, nodes = self._state, self._result.pod, self._result.nodes
        counting = plugin.replica_help
        key = counting.narrow(state, pod, nodes, rows) if isinstance(counting, CountingHelp) else None
        try:
            raw = self._raw_of(plugin, key)[places]
        except PluginError:
            raw = plugin.score(state, pod, nodes, rows)
        return normalized_scores(plugin, state, pod, nodes, rows, raw) * self._framework.weights[plugin.name]
