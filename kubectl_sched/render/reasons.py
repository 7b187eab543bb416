"""What stands against nodes, many at a time, in clauses with names and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.clauses import agreeing
from kubectl_sched.framework.extension_points import FilterPlugin
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.render.text import clipped, listed, safe

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.arrays import Mask, Rows

_CLAUSES_SHOWN = 4
_CLAUSE_LENGTH = 240
_OUTSIDE = "are outside "


def clauses(result: ScheduleResult) -> list[str]:
    """What each plugin says of the nodes that were left when its turn came, in run order, each with its subject."""
    left: Mask = np.ones(len(result.nodes), dtype=np.bool_)
    left[result.feasible] = False
    dropped_by: list[tuple[str, Rows, int]] = []
    for plugin, mask in result.rejection_masks.items():
        dropped = np.flatnonzero(left & mask)
        if len(dropped):
            dropped_by.append((plugin, dropped, int(left.sum())))
            left &= ~mask
    told: list[str] = []
    rest = "others"
    for plugin, dropped, before in _worth_telling(dropped_by):
        said = reason(result, plugin, dropped)
        told.append(f"{_subject(result, dropped, before, rest, first=not told)} {agreeing(len(dropped), said)}")
        rest = "inside" if said.startswith(_OUTSIDE) else "others"
    hidden = sum(len(rows) for _, rows, _ in dropped_by) - sum(len(rows) for _, rows, _ in _worth_telling(dropped_by))
    if hidden:
        told.append(f"other plugins reject {hidden:,} more")
    remaining = int(left.sum())
    for rows, said in _left_over(result, np.flatnonzero(left)):
        told.append(f"{_subject(result, rows, remaining, rest, first=not told)} {agreeing(len(rows), said)}")
        remaining -= len(rows)
    return told


def _worth_telling(dropped_by: list[tuple[str, Rows, int]]) -> list[tuple[str, Rows, int]]:
    """Those that drop the most nodes, and the last, which leaves none; in run order."""
    if len(dropped_by) <= _CLAUSES_SHOWN:
        return dropped_by
    most = sorted(dropped_by[:-1], key=lambda each: -len(each[1]))[: _CLAUSES_SHOWN - 1]
    return [each for each in dropped_by if each in most or each is dropped_by[-1]]


def _subject(result: ScheduleResult, dropped: Rows, before: int, rest: str, *, first: bool) -> str:
    count = len(dropped)
    if count == 1 and first and before == 1:
        return safe(result.nodes.names[int(dropped[0])])
    if count < before:
        if first:
            return f"{count:,}"
        return f"{count:,} inside" if rest == "inside" else f"{count:,} {'other' if count == 1 else 'others'}"
    if first:
        return "all"
    if count == 1:
        return f"the one inside, {safe(result.nodes.names[int(dropped[0])])}," if rest == "inside" else "the other"
    return f"both {rest}" if count == 2 and rest == "others" else f"all {count:,} {rest}"


def of_one(result: ScheduleResult, row: int) -> str:
    """What is said of one node that no filter plugin keeps out on its own."""
    return agreeing(1, _kept_out_otherwise(result, row))


def reason(result: ScheduleResult, plugin: str, rows: Rows) -> str:
    """What one plugin says of nodes that it rejects; its first verb is in the plural."""
    filter_plugin = result.framework.plugins.get(plugin) if result.framework else None
    if result.state is None or not isinstance(filter_plugin, FilterPlugin):
        return f"fail {plugin}"
    return clipped(safe(filter_plugin.summarize(result.state, result.pod, result.nodes, rows)), _CLAUSE_LENGTH)


def _left_over(result: ScheduleResult, rows: Rows) -> list[tuple[Rows, str]]:
    """What is said of nodes that no filter plugin keeps out on its own."""
    kinds: dict[str, list[int]] = {}
    for row in rows.tolist():
        kinds.setdefault(_kept_out_otherwise(result, row), []).append(row)
    return [(np.array(each, dtype=np.intp), said) for said, each in kinds.items()]


def _kept_out_otherwise(result: ScheduleResult, row: int) -> str:
    name = result.nodes.names[row]
    status = result.verdict[row] if result.verdict is not None else SUCCESS
    if status.is_success:
        return "are not reached before the search ends"
    if result.pre_filter_nodes is not None and name not in result.pre_filter_nodes:
        return f"are not among the nodes that {' and '.join(result.narrowed_by)} left"
    said = safe(", ".join(status.reasons))
    if status.plugin is None:
        return f"are rejected by an extender ({said})"
    nominated = listed([pod.key for pod in result.nodes.nominated.get(name, ())])
    return f"would not fit once {nominated or 'other pods'}, nominated to the node, ran there ({said})"


def main_reason(result: ScheduleResult, rows: Rows) -> str:
    """What is said of most of these rejected nodes: the first plugin against each of them counts."""
    left: Mask = np.zeros(len(result.nodes), dtype=np.bool_)
    left[rows] = True
    best: tuple[int, str, Rows] | None = None
    for plugin, mask in result.rejection_masks.items():
        dropped = np.flatnonzero(left & mask)
        if len(dropped) and (best is None or len(dropped) > best[0]):
            best = (len(dropped), plugin, dropped)
        left &= ~mask
    if best is None:
        some, said = max(_left_over(result, rows), key=lambda each: len(each[0]))
        said = agreeing(len(some), said)
        return said if len(some) == len(rows) else f"{len(some):,} {said}"
    count, plugin, dropped = best
    said = agreeing(count, reason(result, plugin, dropped))
    return said if count == len(rows) else f"{count:,} {said}"
