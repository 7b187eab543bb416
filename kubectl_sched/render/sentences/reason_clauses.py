"""The reasons against many nodes at a time, in clauses with names and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.clauses import OfRequests, agreeing
from kubectl_sched.framework.cycle_budget import BudgetEnded
from kubectl_sched.framework.interface import FilterPlugin
from kubectl_sched.framework.plugin_error_boundary import error_of, is_unknown
from kubectl_sched.framework.runtime import nominated_ahead
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.render.safe_text import clipped, listed, safe
from kubectl_sched.scheduler.cycle_result import CycleResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask, Rows

_CLAUSE_LENGTH = 1000


BY_REQUESTS = "free = allocatable minus requests"


def clauses(result: ScheduleResult) -> list[str]:
    """Return each plugin's clause about the nodes left at its turn, in run order, with its subject."""
    told: list[str] = []
    is_of_requests_said = False
    for rows, said in _told(result, ~result.feasible_mask):
        clause = f"{_subject(result, rows)} {agreeing(len(rows), said)}"
        if isinstance(said, OfRequests) and not is_of_requests_said:
            is_of_requests_said, clause = True, f"{clause} (requests, not usage)"
        told.append(clause)
    return told


def _told(result: ScheduleResult, left: Mask) -> list[tuple[Rows, str]]:
    """Return these rows with their clauses."""
    left = left.copy()
    told: list[tuple[Rows, str]] = []
    for plugin, rows in _dropped(result, left):
        told.append((rows, reason(result, plugin, rows)))
        left[rows] = False
    return [*told, *_left_over(result, np.flatnonzero(left))]


def _dropped(result: ScheduleResult, left: Mask) -> list[tuple[str, Rows]]:
    """Return the rows that each plugin drops at its turn. The nodes that PreFilter leaves out come first."""
    left = left.copy()
    dropped: list[tuple[str, Rows]] = []
    for plugin, mask in (*_narrowing(result), *result.rejection_masks.items()):
        rows = np.flatnonzero(left & mask)
        if len(rows):
            dropped.append((plugin, rows))
            left[rows] = False
    return dropped


def _narrowing(result: ScheduleResult) -> Iterator[tuple[str, Mask]]:
    """The nodes outside what PreFilter names, under the plugin that narrowed the search and rejects them as well."""
    if result.pre_filter_nodes is None:
        return
    outside = np.array([name not in result.pre_filter_nodes for name in result.nodes.names], dtype=np.bool_)
    for plugin in result.narrowed_by:
        if plugin in result.rejection_masks:
            yield plugin, outside & result.rejection_masks[plugin]


def _subject(result: ScheduleResult, dropped: Rows) -> str:
    """Return the node's name, how many nodes they are, or `all` for all that the pod does not fit."""
    if len(dropped) == 1:
        return safe(result.nodes.names[int(dropped[0])])
    return "all" if len(dropped) == len(result.nodes) - len(result.feasible) else f"{len(dropped):,} nodes"


def of_one(result: ScheduleResult, row: int) -> str:
    """Return the clause for one node that no filter plugin keeps out on its own."""
    return agreeing(1, _kept_out_otherwise(result, row))


def reason(result: ScheduleResult, plugin: str, rows: Rows) -> str:
    """Return one plugin's clause about nodes that it rejects. Its first verb is in the plural."""
    return of_reason(result, plugin, None, rows)


def of_reason(result: ScheduleResult, plugin: str, text: str | None, rows: Rows) -> str:
    """Return one plugin's clause about nodes that it rejects for this reason of kube-scheduler; None: for any."""
    if not isinstance(result, CycleResult) or not result.explaining.allows(len(result.nodes.existing_pods)):
        return f"fail {plugin}"
    filter_plugin = result.framework.plugins.get(plugin)
    if not isinstance(filter_plugin, FilterPlugin):
        return f"fail {plugin}"
    asked = result.explained_state, result.pod, result.nodes, rows
    try:
        clause = filter_plugin.summarize(*asked) if text is None else filter_plugin.summarize_reason(*asked, text)
    except BudgetEnded:
        return f"fail {plugin}"
    shown = clipped(safe(clause), _CLAUSE_LENGTH)
    return OfRequests(shown) if isinstance(clause, OfRequests) else shown


def _left_over(result: ScheduleResult, rows: Rows) -> list[tuple[Rows, str]]:
    """Return the clauses for nodes that no filter plugin keeps out on its own."""
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
    if is_unknown(status):
        failed = result.left_open or f"it failed with {safe(error_of(status))}"
        return f"are not judged by {status.plugin}, as {failed}"
    if not result.pre_filter.is_success:
        return f"are not looked at, as {result.pre_filter.plugin} rejects the pod as a whole ({said})"
    if status.plugin is None:
        return f"are rejected by an extender ({said})"
    return f"would not fit once {nominated_to(result, row)} ran there ({said})"


def nominated_to(result: ScheduleResult, row: int) -> str:
    """The pods whose nomination to the node counts against this one (addGENominatedPods)."""
    nominated = result.nodes.nominated.get(result.nodes.names[row], ())
    ahead = [each.key for each in nominated_ahead(nominated, result.pod)]
    return f"{listed(ahead) or 'other pods'}, nominated to the node,"
