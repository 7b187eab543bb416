"""Scores of a plugin: raw, normalized to 0..100 and weighted (RunScorePlugins and plugins/helper)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.errors import SchedError
from kubectl_sched.framework.cycle_budget import BudgetEnded
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.golang import truncated_division, truncated_divisions
from kubectl_sched.framework.plugin_error_boundary import Unjudged, unjudged_rows
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import ScorePlugin
    from kubectl_sched.framework.status import Status
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows

MAX_NODE_SCORE = 100
MIN_NODE_SCORE = 0


class PluginScores(Record, frozen=True, kw_only=True):
    """int64 per feasible node, raw, normalized to 0..100, and times the plugin's weight."""

    plugin: str
    weight: int
    raw: Integers
    normalized: Integers

    @property
    def weighted(self) -> Integers:
        """The weighted scores, which count towards the total."""
        return self.normalized * self.weight


def raw_scores(plugin: ScorePlugin, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
    """int64[len(rows)]: a plugin's scores; raises PluginError as kube-scheduler words it, and Unjudged for a bug."""
    try:
        state.budget.spend_on_arrays(1, len(rows))
        return plugin.score(state, pod, nodes, rows)
    except PluginError as failure:
        raise PluginError(f'running Score plugins: plugin "{plugin.name}" failed with: {failure}') from failure
    except SchedError:
        raise
    except Exception as failure:
        if len(rows) == 1 or isinstance(failure, BudgetEnded):
            raise unjudged_rows(rows.tolist(), plugin.name, failure) from failure
        return _scored_one_by_one(plugin, state, pod, nodes, rows)


def _scored_one_by_one(plugin: ScorePlugin, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
    """Return the scores of a plugin that failed on all rows together; raises Unjudged for those it fails on."""
    scores = np.zeros(len(rows), dtype=np.int64)
    unjudged: dict[int, Status] = {}
    for position in range(len(rows)):
        try:
            scores[position] = raw_scores(plugin, state, pod, nodes, rows[position : position + 1])[0]
        except Unjudged as found:
            unjudged.update(found.statuses)
    if unjudged:
        raise Unjudged(unjudged)
    return scores


def normalized_scores(
    plugin: ScorePlugin, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows, raw: Integers
) -> Integers:
    """int64[len(rows)]: a plugin's scores brought to 0..100; raises PluginError as kube-scheduler words it."""
    try:
        scores = plugin.normalize_score(state, pod, nodes, rows, raw)
    except PluginError as failure:
        raise PluginError(
            f'running Normalize on Score plugins: plugin "{plugin.name}" failed with: {failure}'
        ) from failure
    except SchedError:
        raise
    except Exception as failure:
        raise unjudged_rows(rows.tolist(), plugin.name, failure) from failure
    # MIN_NODE_SCORE is 0, and what is below lies far above as an unsigned number.
    if len(scores) and np.maximum.reduce(scores.view(np.uint64)) > MAX_NODE_SCORE:
        outside = (scores > MAX_NODE_SCORE) | (scores < MIN_NODE_SCORE)
        raise PluginError(
            f'applying score defaultWeights on Score plugins: plugin "{plugin.name}" returns an invalid score '
            f"{scores[outside][0]}, it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
        )
    return scores


def default_normalize_score(scores: Integers, *, reverse: bool = False) -> Integers:
    """int64[n]: the scores in proportion to the greatest of them; `reverse` gives the most to the least."""
    greatest = max(int(scores.max()), 0) if len(scores) else 0
    if greatest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    proportional = truncated_divisions(MAX_NODE_SCORE * scores, greatest)
    return MAX_NODE_SCORE - proportional if reverse else proportional


def broken_linear(points: Sequence[tuple[int, int]], position: int) -> int:
    """The value at a position between points given as (position, value), flat outside (BuildBrokenLinearFunction)."""
    for index, (right, value) in enumerate(points):
        if position <= right:
            if index == 0:
                return value
            left, before = points[index - 1]
            return before + truncated_division((value - before) * (position - left), right - left)
    return points[-1][1]
