"""The list of nodes as text: which columns there is room for, and one line for each node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.record import Record
from kubectl_sched.render.safe_text import safe
from kubectl_sched.suggestions.weight_margins import points_lost
from kubectl_sched.tui.explorer_state import RANK
from kubectl_sched.tui.lines import what_if_changes as changed
from kubectl_sched.tui.lines.line import Span, Tone, bar, name_in, padded
from kubectl_sched.tui.listing import NO_POINTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.tui.explorer_state import Sort, View
    from kubectl_sched.tui.lines.line import Line
    from kubectl_sched.tui.listing import Listing

_MARKS = 4
"""Cells before the name: the mark of a comparison, the verdict, and blanks."""

_LONGEST_NAME = 44
_LEAST_NAME = 5
_LEAST_SCORE, _LONGEST_SCORE = 5, 20
_WHOLE_NAMES = 80
"""From this width on, names of plugins are whole: a column that has no room for its own is left out."""

_LEAST_WHY = 26
_WHY_SHARE = 0.4
"""Of the width, at least so much is the reason's."""

_BAR = 10
_ROOMY = 130
_GAP = 2

LACKING = "lacking"
"""The column of the resource that lacks where no node is feasible."""


class Column(Record, frozen=True, kw_only=True):
    """One column: by what it sorts, its heading and its width in cells."""

    key: str
    heading: str
    width: int
    right: bool = False


def sort_keys(result: ScheduleResult, *, is_edited: bool) -> tuple[str, ...]:
    """All that the list can be sorted by, in the order in which a key goes through them."""
    moved = ("moved",) if is_edited else ()
    return (RANK, "node", *moved, "why", "cpu", "memory", *(each.plugin for each in result.scores))


def columns(view: View, listing: Listing, width: int) -> tuple[Column, ...]:
    """Name, points and reason always; of the others as many as fit, in the order in which they can be sorted by."""
    result = view.result
    _, longest = listing.names_within(min(_LONGEST_NAME, width // 3))
    first = [Column(key="node", heading="Node", width=max(_LEAST_NAME, longest))]
    if len(result.totals) or listing.lacking is None:
        first.append(Column(key=RANK, heading="Points", width=7, right=True))
    least = max(_LEAST_WHY, int(width * _WHY_SHARE)) if width < _ROOMY else _LEAST_WHY
    room = width - _MARKS - sum(column.width + _GAP for column in first) - least
    chosen: list[Column] = []
    for column in _optional(view, listing, _LONGEST_SCORE if width < _WHOLE_NAMES else width):
        if column.width + _GAP <= room or column.key in {view.sort.key, LACKING, *listing.deciding[:1]}:
            chosen.append(column)
            room -= column.width + _GAP
    order = {key: index for index, key in enumerate(sort_keys(result, is_edited=bool(view.edits)))}
    middle = sorted(chosen, key=lambda column: order.get(column.key, -1))
    return (*first, *middle, Column(key="why", heading="Why", width=max(least + room, 0)))


def _optional(view: View, listing: Listing, longest: int) -> list[Column]:
    """Return the columns that may stand there, the most wanted first; a plugin's name has at most `longest` cells."""
    result = view.result
    known = {
        "bar": Column(key="bar", heading="", width=_BAR),
        "moved": Column(key="moved", heading="Moved", width=6, right=True),
    }
    for resource, name in (("cpu", ""), ("memory", "Mem ")):
        told = f"{name}{listing.unit(resource).name} free"
        known[resource] = Column(key=resource, heading=told, width=len(told) + 1, right=True)
    for each in result.scores:
        width_of = min(max(len(each.plugin) + 1, _LEAST_SCORE), longest)
        known[each.plugin] = Column(key=each.plugin, heading=each.plugin, width=width_of, right=True)
    if listing.lacking is not None:
        name = f"{_with_unit(listing, listing.lacking)} free/wanted"
        known[LACKING] = Column(key=LACKING, heading=name, width=len(name), right=True)
    wanted = [LACKING, view.sort.key, "moved"] if listing.moved.any() else [LACKING, view.sort.key]
    wanted += [*listing.deciding[:1], *(["bar"] if len(listing.result.totals) else ())]
    wanted += [*listing.deciding[1:], "cpu", "memory"]
    return [known[key] for key in dict.fromkeys(wanted) if key in known]


def _with_unit(listing: Listing, resource: str) -> str:
    """`gpu`, `cores` or `memory GiB`: the resource without its domain, and the unit of its column."""
    unit = listing.unit(resource).name
    return unit if resource == "cpu" else f"{safe(resource.rpartition('/')[2])} {unit}".rstrip()


def heading(shown: Sequence[Column], sort: Sort) -> Line:
    """The columns' names, the sorted one with the direction."""
    cells = [" " * _MARKS]
    for column in shown:
        name = column.heading
        if column.key == sort.key:
            arrow = "▲" if sort.reverse != (column.key in {"node", "why"}) else "▼"
            name = f"{name}{arrow}" if len(name) < column.width else f"{name[: column.width - 1]}{arrow}"
        cells.append(padded(name, column.width, right=column.right) + " " * _GAP)
    return (Span("".join(cells).rstrip(), Tone.STRONG),)


def column_at(shown: Sequence[Column], x: int) -> str | None:
    """The key of the column at a place of the heading."""
    at = _MARKS
    for column in shown:
        at += column.width + _GAP
        if x < at:
            return column.key
    return None


class NodeLines:
    """Writes the lines of one view's list; made anew for each view, asked for those lines only that are seen."""

    def __init__(self, view: View, listing: Listing, shown: Sequence[Column]) -> None:
        self._view = view
        self._listing = listing
        self._shown = shown
        self._changes = changed.changes(view.base.result, view.result) if view.edits else None
        self._most = int(view.result.totals.max()) if len(view.result.totals) else 0
        self._best = frozenset(view.result.best)
        self._names, _ = listing.names_within(next(each.width for each in shown if each.key == "node"))

    def __call__(self, row: int) -> Line:
        """One node's line."""
        name = self._view.result.nodes.names[row]
        mark = Span("•", Tone.CHANGED) if name in self._view.marked else Span(" ")
        spans = [mark, Span(" "), Span(f"{self._symbol(row)} ", self._tone(row))]
        for column in self._shown:
            spans += (self._cell(column, row), Span(" " * _GAP))
        return tuple(spans[:-1])

    def _symbol(self, row: int) -> str:
        if self._listing.totals[row] == NO_POINTS:
            return "✗"
        return "★" if self._view.result.nodes.names[row] in self._best else "✓"

    def _tone(self, row: int) -> Tone:
        return Tone.BAD if self._listing.totals[row] == NO_POINTS else Tone.GOOD

    def _cell(self, column: Column, row: int) -> Span:
        width, total = column.width, int(self._listing.totals[row])
        match column.key:
            case "node":
                tone = Tone.STRONG if self._symbol(row) == "★" else Tone.PLAIN
                return Span(name_in(self._names[row], width), tone)
            case "bar":
                return Span(bar(total, self._most, width), Tone.BAR)
            case "moved":
                return self._moved(row, width)
            case "why":
                return self._why(row, width)
            case key:
                figure = self._figure(key, row)
                return Span(padded(figure, width, right=True), Tone.PLAIN if key == RANK else Tone.DIM)

    def _figure(self, key: str, row: int) -> str:
        """A number: the points of all plugins, of one, or what is free."""
        if key == LACKING:
            return self._free_and_wanted(row)
        if key in {"cpu", "memory"}:
            return self._listing.unit(key).text(int(self._listing.free(key)[row]))
        points = int((self._listing.totals if key == RANK else self._listing.points_of(key))[row])
        return "-" if points == NO_POINTS else f"{points:,}"

    def _free_and_wanted(self, row: int) -> str:
        resource, result = self._listing.lacking or "", self._view.result
        amounts = int(self._listing.free(resource)[row]), result.nodes.resource_of(result.pod).requested[resource]
        return "/".join(map(self._listing.unit(resource).text, amounts))

    def _moved(self, row: int, width: int) -> Span:
        moved = int(self._listing.moved[row])
        return Span(padded(f"{moved:+,}" if moved else "", width, right=True), Tone.CHANGED)

    def _why(self, row: int, width: int) -> Span:
        told = changed.of_row(self._changes, self._view.base.result, row) if self._changes is not None else ""
        why = _why_of(self._view.result, row)
        tone = Tone.CHANGED if told else Tone.PLAIN if self._listing.totals[row] != NO_POINTS else Tone.DIM
        status = self._view.result.verdict[row] if self._view.result.verdict is not None else SUCCESS
        reason = next(iter(status.reasons), "")
        return Span(padded(f"{told}; {why}" if told and why else told or why, width), tone, reason=reason)


def _why_of(result: ScheduleResult, row: int) -> str:
    """Return why this node lost: the plugins in which it is behind, or what keeps it out."""
    if row in result.total_of:
        return _behind(result, row)
    rejections = () if result.unjudged_by(row) else result.rejections(row)
    if rejections:
        return safe("; ".join(f"{each.plugin or ''}: {each.message}" for each in rejections))
    status = result.verdict[row] if result.verdict is not None else None
    if status is None or status.is_success:
        return ""
    return safe(f"{status.plugin or 'PreFilter'}: {status.message}")


def _behind(result: ScheduleResult, row: int) -> str:
    """`12 behind: ImageLocality -10, Fit -2`: against the first of the best."""
    behind = int(result.totals.max()) - result.total_of[row]
    if not behind:
        return "best" if len(result.best) == 1 else f"tied with {len(result.best) - 1:,} more"
    through = ", ".join(f"{plugin} {points:+}" for plugin, points in points_lost(result, row) if points < 0)
    return f"{behind:,} behind: {through}"
