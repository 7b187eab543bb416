"""The difference between the node that wins and another one, plugin by plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult


class PluginDifference(Record, frozen=True, kw_only=True):
    """The points by which a plugin prefers the winner to the other node; negative if it prefers the other."""

    plugin: str
    difference: int
    because: str
    """The evidence behind the points of the node that the plugin prefers."""


class Contrast(Record, frozen=True, kw_only=True):
    """The winner `node` against the `other`; the differences of the plugins, the largest first, sum to `lead`."""

    node: str
    other: str
    lead: int
    plugins: tuple[PluginDifference, ...]


def contrast_of(result: ScheduleResult, asked: str | None = None) -> Contrast | None:
    """Compare the first of the best nodes with the `asked` one, or with the runner-up.

    None if the pod does not fit, one node alone is feasible, the `asked` one is not, or points do not decide.
    """
    if not result.fits or not result.scores or len(result.feasible) < 2 or result.nominated_first or result.error:
        return None
    winner = result.best[0]
    other = asked if asked is not None and asked != winner else _runner_up(result, winner)
    row = result.nodes.row_of.get(other)
    if row is None or row not in result.total_of:
        return None

    from kubectl_sched.suggestions.weight_margins import points_lost

    differences = [(plugin, -points) for plugin, points in points_lost(result, row) if points]
    lead = result.total_of[result.nodes.row_of[winner]] - result.total_of[row]
    return Contrast(
        node=winner,
        other=other,
        lead=lead,
        plugins=tuple(
            PluginDifference(
                plugin=plugin, difference=points, because=_because(result, plugin, winner if points > 0 else other)
            )
            for plugin, points in sorted(differences, key=lambda each: (-abs(each[1]), each[0]))
        ),
    )


def _runner_up(result: ScheduleResult, winner: str) -> str:
    names = result.nodes.names
    return min((-total, names[row]) for row, total in result.total_of.items() if names[row] != winner)[1]


def _because(result: ScheduleResult, plugin: str, node: str) -> str:
    return "; ".join(each.text for each in result.score_evidence(plugin, result.nodes.row_of[node]))
