"""The nodes on the page: their table, and what unfolds below each row."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kubectl_sched.record import Record
from kubectl_sched.render.answers.page.node_details import Details, details, examined
from kubectl_sched.render.node_order import best_first
from kubectl_sched.render.node_tables import chosen_scores, every_node, verdict_on, weighed
from kubectl_sched.render.sentences.node_sentences import rejected_by
from kubectl_sched.scheduler.cycle_result import CycleResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.framework.plugin_scores import PluginScores
    from kubectl_sched.render.reason_counts import Bar
    from kubectl_sched.render.table import Table
    from kubectl_sched.scheduler.result import ScheduleResult


class NodeRow(Record, frozen=True, kw_only=True):
    """One node: its row, its group of verdicts, where the points of each score begin and end, and what unfolds.

    `reason` is the place of the reason against it among those that the page explains, from 1; 0 if there is none.
    """

    row: int
    group: str
    reason: int
    stack: tuple[tuple[int, int], ...]
    details: Details | None


class NodeSection(Record, frozen=True, kw_only=True):
    """The rows, best first.

    `groups` are the verdicts to choose from, with how many rows have them; `numbers` are for the script: the columns'
    raw and normalized scores, in the order of the feasible rows. `passing` plugins have no column, nor have those that
    are `skipped` at an extension point.
    """

    table: Table[int]
    rows: tuple[NodeRow, ...]
    nodes: int
    score_headings: tuple[str, ...]
    numbers: dict[str, Any]
    passing: tuple[str, ...]
    skipped: dict[str, list[str]]

    @property
    def groups(self) -> dict[str, int]:
        """The distinct verdicts with their numbers of rows."""
        return Counter(row.group for row in self.rows)

    @property
    def widest(self) -> int:
        """The end of the longest stack of points."""
        return max((end for row in self.rows for _, end in row.stack), default=0)

    @property
    def hidden(self) -> int:
        """The number of nodes without a row."""
        return self.nodes - len(self.rows)

    @property
    def with_details(self) -> int:
        """The number of rows that unfold."""
        return sum(row.details is not None for row in self.rows)


class Room(Record, frozen=True, kw_only=True):
    """The number of nodes that a table has rows for, and the number up to which all have details."""

    rows: int
    details: int


def node_section(
    result: ScheduleResult, bars: Sequence[Bar], room: Room, asked_for: Iterable[str]
) -> NodeSection | None:
    """Return the nodes, with the place of their reason among the `bars`; None if the cycle ended before Filter."""
    if result.verdict is None:
        return None
    order = best_first(result)
    with_details = examined(result, order, room.details, asked_for)
    wanted = with_details.union(_best_and_closest(order, len(result.feasible), room.rows))
    shown = [row for row in order if row in wanted]
    scored = [row for row in shown if row in result.total_of]
    choice = chosen_scores(result, scored)
    place_of = {(bar.plugin, bar.reason): place for place, bar in enumerate(bars, start=1)}
    rows = (
        NodeRow(
            row=row,
            group=verdict_on(result, row).group,
            reason=place_of.get((rejected_by(result, row), next(iter(result.verdict[row].reasons), "")), 0),
            stack=_stack(result, choice.differing, row),
            details=details(result, row, result.position_of.get(row)) if row in with_details else None,
        )
        for row in shown
    )
    return NodeSection(
        table=every_node(result, shown, choice),
        rows=tuple(rows),
        nodes=len(order),
        score_headings=tuple(map(weighed, choice.differing)),
        numbers={"scores": [_numbers(each, [result.position_of[row] for row in scored]) for each in choice.differing]},
        passing=tuple(plugin for plugin, mask in result.rejection_masks.items() if not mask.any()),
        skipped=_skipped(result),
    )


def _best_and_closest(order: Sequence[int], feasible: int, most: int) -> Sequence[int]:
    """Return the rows that there is room for, half of it for rejected ones where there are both."""
    rejected = min(len(order) - feasible, max(most // 2, most - feasible))
    return [*order[: min(feasible, most - rejected)], *order[feasible : feasible + rejected]]


def _stack(result: ScheduleResult, scores: Sequence[PluginScores], row: int) -> tuple[tuple[int, int], ...]:
    """Return where the points of each plugin begin and end when they stand one after the other."""
    if row not in result.total_of:
        return ()
    ends = [0]
    for each in scores:
        ends.append(ends[-1] + int(each.weighted[result.position_of[row]]))
    return tuple(pairwise(ends))


def _numbers(scores: PluginScores, positions: list[int]) -> dict[str, Any]:
    return {
        "plugin": scores.plugin,
        "weight": scores.weight,
        "raw": scores.raw[positions].tolist(),
        "normalized": scores.normalized[positions].tolist(),
    }


def _skipped(result: ScheduleResult) -> dict[str, list[str]]:
    """The plugins that nothing of the pod concerns, by extension point: one may filter and give no points."""
    if not isinstance(result, CycleResult):
        return {}
    by_point = {"Filter": result.state.skip_filter_plugins, "Score": result.state.skip_score_plugins}
    return {point: sorted(plugins) for point, plugins in by_point.items() if plugins}
