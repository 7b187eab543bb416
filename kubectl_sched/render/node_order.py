"""The order of nodes: the best first, then the rejected ones that came closest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult

_CLOSEST = 10
"""The number of rejected nodes that are ordered by their evidence; the others by how many plugins reject them."""

_COMPARED = 24
"""Of how many nodes the evidence is weighed; evidence is too slow to be asked of all."""


def best_first(result: ScheduleResult) -> list[int]:
    """All rows: the feasible ones by points, then the others from the closest on; names decide between equals."""
    return [*feasible_first(result), *rejected_rows(result)]


def feasible_first(result: ScheduleResult) -> list[int]:
    """The feasible rows, those of most points first."""
    names = result.nodes.names
    if not len(result.totals):
        return sorted(result.feasible.tolist(), key=names.__getitem__)
    return sorted(result.feasible.tolist(), key=lambda row: (-result.total_of[row], names[row]))


def own_first(result: ScheduleResult) -> list[int]:
    """The feasible rows, those of most points first, behind the pod's own node, be that feasible or not."""
    order, own = feasible_first(result), result.nodes.row_of.get(result.current_node or "")
    return order if own is None else [own, *(row for row in order if row != own)]


def rejected_rows(result: ScheduleResult) -> list[int]:
    """The rows that are not feasible, the closest first."""
    if result.verdict is None:
        return []

    from kubectl_sched.suggestions.nearest_nodes import rejections

    counts, _ = rejections(result)
    feasible = set(result.feasible.tolist())
    nearest = closest(result, _CLOSEST)
    names = result.nodes.names
    rest = {row for row in range(len(names)) if row not in feasible}.difference(nearest)
    return [*nearest, *sorted(rest, key=lambda row: (int(counts[row]), names[row]))]


def closest(result: ScheduleResult, most: int) -> list[int]:
    """The rejected rows, those first that the fewest plugins reject and whose evidence is nearest to passing.

    Among nodes with as many rejections, those that have too little even when empty come last.
    """
    from kubectl_sched.suggestions.nearest_nodes import has_room_when_empty, rejections

    counts, away = rejections(result)
    counts[result.feasible] = np.iinfo(np.int64).max
    is_small = ~has_room_when_empty(result)
    names = result.nodes.names
    order = np.lexsort((away, is_small, counts))[: len(names) - len(result.feasible)]
    compared = order[: max(_COMPARED, most)].tolist()
    return sorted(
        compared, key=lambda row: (int(counts[row]), bool(is_small[row]), _distance(result, row), names[row])
    )[:most]


def _distance(result: ScheduleResult, row: int) -> float:
    """Sum up how far each plugin is from passing: every resource that is short, else the nearest way to pass."""
    away = 0.0
    for status in result.rejections(row):
        facts = [fact.distance for fact in result.filter_evidence(status.plugin or "", row)] or [1.0]
        away += sum(facts) if status.plugin == NodeResourcesFit.name else min(facts)
    return away
