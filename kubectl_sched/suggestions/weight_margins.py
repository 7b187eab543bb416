"""The weight that a score plugin would need for another node to win.

A node's total is the sum of normalized * weight over the score plugins, so with every other weight left alone it is a
straight line over the weight of one plugin. All of it is exact integer arithmetic over arrays of the feasible nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.framework.plugin_scores import PluginScores
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Integers

MIN_WEIGHT = 1
"""A weight of 0 is no weight: kube-scheduler reads it as left unset, and so as 1."""

MAX_WEIGHT = 2**31 - 1
"""An int32 in KubeSchedulerConfiguration (kube-scheduler/config/v1, type Plugin)."""


class Turn(Record, frozen=True, kw_only=True):
    """A weight at which other nodes win than now, and which: all that are then tied at the highest total, sorted."""

    weight: int
    best: tuple[str, ...]


class Flip(Record, frozen=True, kw_only=True):
    """The nearest weights below and above a plugin's present one that change who wins; None if none does."""

    plugin: str
    weight: int
    below: Turn | None
    above: Turn | None


def weight_to_win(result: ScheduleResult, row: int, plugin: str) -> int | None:
    """The weight, nearest to the plugin's present one, at which the row's node alone has the highest total.

    The present weight where it has it already. None if no weight of this plugin does that, where the node is not
    feasible, and where the plugin does not score this pod.
    """
    return _nearest_weight(result, row, plugin, margin=1)


def weight_to_tie(result: ScheduleResult, row: int, plugin: str) -> int | None:
    """Return the weight, nearest to the present one, at which no total exceeds the node's; chance decides then."""
    return _nearest_weight(result, row, plugin, margin=0)


def best_at(result: ScheduleResult, plugin: str, weight: int) -> tuple[str, ...]:
    """The names of all nodes tied at the highest total if the plugin had that weight, sorted."""
    scores = scores_of(result, plugin)
    if scores is None:
        return result.best
    totals = result.totals + scores.normalized * (weight - scores.weight)
    rows = result.feasible[totals == totals.max()]
    return tuple(sorted(result.nodes.names[row] for row in rows))


def flips(result: ScheduleResult) -> tuple[Flip, ...]:
    """For each plugin that scored, in order, where the set of winners changes as its weight does."""
    return tuple(
        Flip(
            plugin=each.plugin,
            weight=each.weight,
            below=_turn(result, each, direction=-1),
            above=_turn(result, each, direction=1),
        )
        for each in result.scores
    )


def points_lost(result: ScheduleResult, row: int) -> list[tuple[str, int]]:
    """By plugin: the points of the row's node less those of the winner (the first by name), what it lost most first."""
    mine, winner = positions(result, row)
    differences = [(each.plugin, int(each.weighted[mine] - each.weighted[winner])) for each in result.scores]
    return sorted(differences, key=lambda each: each[1])


def positions(result: ScheduleResult, row: int) -> tuple[int, int]:
    """Return the positions of the row's node and of the winner in the arrays of scores. The row must be feasible."""
    return result.position_of[row], result.position_of[result.nodes.row_of[result.best[0]]]


def scores_of(result: ScheduleResult, plugin: str) -> PluginScores | None:
    """Return the plugin's scores of the feasible nodes; None if it did not score this pod."""
    return next((each for each in result.scores if each.plugin == plugin), None)


def _nearest_weight(result: ScheduleResult, row: int, plugin: str, margin: int) -> int | None:
    """The nearest weight at which the row's total is at least `margin` above every other."""
    scores = scores_of(result, plugin)
    mine = result.position_of.get(row)
    if scores is None or mine is None:
        return None
    others = np.delete(np.arange(len(result.feasible)), mine)
    rest = result.totals - scores.weighted
    gains: Integers = scores.normalized[mine] - scores.normalized[others]
    missing: Integers = rest[others] - rest[mine] + margin
    # Against each other node, weight * gain >= missing must hold: a bound from below, from above, or on nothing.
    if (missing[gains == 0] > 0).any():
        return None
    rising, falling = gains > 0, gains < 0
    least = int((-(-missing[rising] // gains[rising])).max(initial=MIN_WEIGHT))
    most = int((-missing[falling] // -gains[falling]).min(initial=MAX_WEIGHT))
    return min(max(scores.weight, least), most) if least <= most else None


def _turn(result: ScheduleResult, scores: PluginScores, direction: int) -> Turn | None:
    """The first weight in that direction at which the set of winners differs."""
    winning = result.totals == result.totals.max()
    slopes = scores.normalized * direction
    if len(np.unique(slopes[winning])) > 1:
        steps = 1  # those tied now part at once
    else:
        slope, total = slopes[winning][0], result.totals[winning][0]
        overtaking = slopes > slope
        if not overtaking.any():
            return None
        behind: Integers = total - result.totals[overtaking]
        steps = int((-(-behind // (slopes[overtaking] - slope))).min())
    weight = scores.weight + direction * steps
    if not MIN_WEIGHT <= weight <= MAX_WEIGHT:
        return None
    return Turn(weight=weight, best=best_at(result, scores.plugin, weight))
