"""The heat map: a row a node, a column for each plugin that rejects any node or scores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.framework.unjudged import is_unknown
from kubectl_sched.record import Record
from kubectl_sched.render.html.node_details import Details, details, examined
from kubectl_sched.render.node_order import best_first
from kubectl_sched.render.node_sentences import rejected_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.framework.status import Status
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.arrays import Mask

_LEVELS = 10
"""The number of shades of a score, from 0 to this."""

FEASIBLE = "feasible"
REJECTED = "rejected"
NOT_REACHED = "not reached"
NOT_JUDGED = "not judged"


class Verdict(Record, frozen=True):
    """The verdict on a node: `best`, `tied`, `feasible`, `rejected` by a plugin with its reasons, or `not ...`."""

    word: str
    plugin: str = ""
    reasons: str = ""

    @property
    def group(self) -> str:
        """The name of the verdict in the page's choice of verdicts."""
        if self.word == REJECTED:
            return f"{REJECTED} by {self.plugin}"
        return self.word if self.word in {NOT_REACHED, NOT_JUDGED} else FEASIBLE


class Cell(Record, frozen=True):
    """A score: its points, and the shade of its normalized score."""

    points: int
    level: int


class NodeRow(Record, frozen=True):
    """One node. `filters` says of each filter column whether the plugin rejects the node; `details` unfold."""

    name: str
    verdict: Verdict
    filters: tuple[bool, ...]
    total: int | None
    scores: tuple[Cell, ...]
    details: Details | None


class ScoreColumn(Record, frozen=True):
    """A score plugin and its weight."""

    plugin: str
    weight: int


class NodeTable(Record, frozen=True):
    """The rows, best first; `hidden` is how many nodes are left out.

    `groups` are the verdicts to choose from, with how many rows have them. `numbers` are for the script: the columns'
    raw and normalized scores, in the order of the feasible rows.
    """

    filters: tuple[str, ...]
    scores: tuple[ScoreColumn, ...]
    rows: tuple[NodeRow, ...]
    nodes: int
    groups: tuple[tuple[str, int], ...]
    numbers: Mapping[str, Any]
    passing: tuple[str, ...]
    skipped: tuple[str, ...]

    @property
    def hidden(self) -> int:
        """The number of nodes without a row."""
        return self.nodes - len(self.rows)

    @property
    def with_details(self) -> int:
        """The number of rows that unfold."""
        return sum(row.details is not None for row in self.rows)


class Room(Record, frozen=True):
    """The number of nodes that a table has rows for, and the number up to which all have details."""

    rows: int
    details: int


def node_table(result: ScheduleResult, room: Room, asked_for: Iterable[str] = ()) -> NodeTable | None:
    """None where the cycle did not get as far as filtering."""
    if result.verdict is None:
        return None
    order = best_first(result)
    with_details = examined(result, order, room.details, asked_for)
    shown = with_details.union(_best_and_closest(order, len(result.feasible), room.rows))
    filters = [plugin for plugin, mask in _not_passing(result).items() if mask.any()]
    positions = {row: position for position, row in enumerate(result.feasible.tolist())}
    verdicts = {row: _verdict(result, row, is_feasible=row in positions) for row in order if row in shown}
    return NodeTable(
        filters=tuple(filters),
        scores=tuple(ScoreColumn(each.plugin, each.weight) for each in result.scores),
        rows=tuple(_rows(result, verdicts, filters, positions, with_details)),
        nodes=len(order),
        groups=_groups(verdicts.values()),
        numbers=_numbers(result, [positions[row] for row in verdicts if row in positions]),
        passing=tuple(plugin for plugin, mask in _not_passing(result).items() if not mask.any()),
        skipped=_skipped(result),
    )


def _best_and_closest(order: Sequence[int], feasible: int, most: int) -> Sequence[int]:
    """As many of the rows as there is room for, half of it for the rejected ones where there are both."""
    rejected = min(len(order) - feasible, max(most // 2, most - feasible))
    return [*order[: min(feasible, most - rejected)], *order[feasible : feasible + rejected]]


def _rows(
    result: ScheduleResult,
    shown: Mapping[int, Verdict],
    filters: Sequence[str],
    positions: Mapping[int, int],
    with_details: frozenset[int],
) -> Iterator[NodeRow]:
    not_passing = _not_passing(result)
    masks = [not_passing[plugin].tolist() for plugin in filters]
    columns = [list(map(_cell, each.weighted.tolist(), each.normalized.tolist())) for each in result.scores]
    for row, verdict in shown.items():
        position = positions.get(row)
        yield NodeRow(
            name=result.nodes.names[row],
            verdict=verdict,
            filters=tuple(mask[row] for mask in masks),
            total=result.total_of.get(row),
            scores=() if position is None else tuple(column[position] for column in columns),
            details=details(result, row, position) if row in with_details else None,
        )


def _not_passing(result: ScheduleResult) -> dict[str, Mask]:
    """Return the nodes that each filter plugin rejects or could not judge."""
    unjudged = result.unjudged_masks
    return {plugin: mask | unjudged.get(plugin, False) for plugin, mask in result.rejection_masks.items()}


def _cell(points: int, normalized: int) -> Cell:
    return Cell(points, max(0, min(_LEVELS, normalized * _LEVELS // 100)))


def _verdict(result: ScheduleResult, row: int, *, is_feasible: bool) -> Verdict:
    status: Status = result.verdict[row] if result.verdict is not None else SUCCESS
    if is_unknown(status):
        return Verdict(NOT_JUDGED, ", ".join(result.unjudged_by(row)), status.message)
    if not status.is_success:
        return Verdict(REJECTED, rejected_by(result, row), status.message)
    if not is_feasible:
        return Verdict(NOT_REACHED, reasons="the search ends before it")
    if result.nodes.names[row] in result.best:
        return Verdict("best" if len(result.best) == 1 else "tied")
    return Verdict(FEASIBLE)


def _groups(verdicts: Iterable[Verdict]) -> tuple[tuple[str, int], ...]:
    sizes: dict[str, int] = {}
    for verdict in verdicts:
        sizes[verdict.group] = sizes.get(verdict.group, 0) + 1
    return tuple(sizes.items())


def _numbers(result: ScheduleResult, positions: list[int]) -> dict[str, Any]:
    return {
        "scores": [
            {
                "plugin": each.plugin,
                "weight": each.weight,
                "raw": each.raw[positions].tolist(),
                "normalized": each.normalized[positions].tolist(),
            }
            for each in result.scores
        ]
    }


def _skipped(result: ScheduleResult) -> tuple[str, ...]:
    """The plugins that nothing of the pod concerns."""
    if result.state is None:
        return ()
    return tuple(sorted(result.state.skip_filter_plugins | result.state.skip_score_plugins))
