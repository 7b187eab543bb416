"""The distance that a weight must go for another node to win: the same as trying every weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.framework.plugin_scores import PluginScores
from kubectl_sched.scheduler.result import Outcome, ScheduleResult
from kubectl_sched.suggestions.weight_margins import Flip, Turn, best_at, flips, weight_to_tie, weight_to_win
from tests.examples import examples
from tests.plugins.clusters import node, pod, snapshot
from tests.scheduler.cycles import explain

if TYPE_CHECKING:
    from collections.abc import Sequence

PLUGINS = ("NodeAffinity", "TaintToleration", "ImageLocality")
ALL_WEIGHTS = range(1, 700)
"""A difference of at most 300 points, of at least one a weight, is made up within these, from weights up to 5."""


def scored(points: Sequence[Sequence[int]], weights: Sequence[int]) -> ScheduleResult:
    """A result in which the nodes n0, n1, ... after an infeasible one have these points by plugin."""
    nodes = snapshot(*(node(f"n{index}" if index >= 0 else "out") for index in range(-1, len(points))))
    scores = tuple(
        PluginScores(plugin=plugin, weight=weight, raw=np.array(column), normalized=np.array(column))
        for plugin, weight, column in zip(PLUGINS, weights, zip(*points, strict=True), strict=False)
    )
    totals = np.sum([each.weighted for each in scores], axis=0)
    feasible = np.arange(1, len(points) + 1)
    return ScheduleResult(
        pod=pod(), nodes=nodes, outcome=Outcome.SCHEDULABLE, scores=scores, totals=totals, feasible=feasible
    )


@st.composite
def results(draw: st.DrawFn) -> ScheduleResult:
    few_points = st.sampled_from((0, 1, 2, 50, 99, 100)) | st.integers(0, 100)
    row = st.tuples(few_points, few_points, few_points)
    weights = draw(st.tuples(*[st.integers(1, 5)] * len(PLUGINS)))
    return scored(draw(st.lists(row, min_size=1, max_size=5)), weights)


@settings(max_examples=examples(40), deadline=None)
@given(results())
def test_the_nearest_weight_that_wins_is_found(result: ScheduleResult) -> None:
    for each in result.scores:
        by_weight = {weight: best_at(result, each.plugin, weight) for weight in ALL_WEIGHTS}
        for row in result.feasible.tolist():
            name = result.nodes.names[row]
            wins = [abs(weight - each.weight) for weight, best in by_weight.items() if best == (name,)]
            ties = [abs(weight - each.weight) for weight, best in by_weight.items() if name in best]
            to_win, to_tie = weight_to_win(result, row, each.plugin), weight_to_tie(result, row, each.plugin)
            assert (to_win is None) == (not wins)
            assert (to_tie is None) == (not ties)
            if to_win is not None:
                assert by_weight[to_win] == (name,)
                assert abs(to_win - each.weight) == min(wins)
            if to_tie is not None:
                assert name in by_weight[to_tie]
                assert abs(to_tie - each.weight) == min(ties)


@settings(max_examples=examples(40), deadline=None)
@given(results())
def test_a_flip_is_the_first_weight_at_which_others_win(result: ScheduleResult) -> None:
    for each, flip in zip(result.scores, flips(result), strict=True):
        lower, higher = range(each.weight - 1, 0, -1), range(each.weight + 1, ALL_WEIGHTS.stop)
        for turn, weights in ((flip.below, lower), (flip.above, higher)):
            others = ((weight, best_at(result, each.plugin, weight)) for weight in weights)
            assert turn == next((Turn(weight=at, best=best) for at, best in others if best != result.best), None)


def test_points_of_one_plugin_against_those_of_another() -> None:
    result = scored([(100, 0), (0, 40)], weights=(1, 1))
    assert result.best == ("n0",)
    assert weight_to_win(result, 2, "TaintToleration") == 3
    assert weight_to_win(result, 2, "NodeAffinity") is None
    assert flips(result) == (
        Flip(plugin="NodeAffinity", weight=1, below=None, above=None),
        Flip(plugin="TaintToleration", weight=1, below=None, above=Turn(weight=3, best=("n1",))),
    )


def test_a_tie_is_reached_before_a_victory() -> None:
    result = scored([(100, 0), (0, 50)], weights=(1, 1))
    assert weight_to_tie(result, 2, "TaintToleration") == 2
    assert weight_to_win(result, 2, "TaintToleration") == 3
    assert flips(result)[1].above == Turn(weight=2, best=("n0", "n1"))


def test_no_weight_lets_a_node_win_that_is_worse_or_the_same_in_everything() -> None:
    result = scored([(50, 50), (50, 50), (40, 0)], weights=(2, 3))
    for row in (1, 2, 3):
        assert [weight_to_win(result, row, plugin) for plugin in PLUGINS[:2]] == [None, None]


@pytest.mark.parametrize("plugin", ["NodeAffinity", "VolumeBinding"])
def test_what_is_not_scored_has_no_weight_to_win(plugin: str) -> None:
    assert weight_to_win(scored([(1,), (2,)], weights=(1,)), 0, plugin) is None


def test_the_weights_of_a_replay_are_found_in_it() -> None:
    prefers = {"preference": {"matchExpressions": [{"key": "ssd", "operator": "Exists"}]}, "weight": 1}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [prefers]}}
    empty, ssd = node("w1"), node("w2", labels={"ssd": ""})
    result = explain(pod(affinity=affinity), empty, ssd)
    assert result.best == ("w2",)
    assert weight_to_win(result, 1, "NodeAffinity") == 2
    assert weight_to_win(result, 0, "NodeAffinity") is None
