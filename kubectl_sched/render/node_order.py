"""In which order nodes are shown where all of them are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.render.closest_nodes import closest

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.arrays import Integers

_CLOSEST = 10
"""The number of rejected nodes that are ordered by their evidence; the others by how many plugins reject them."""


def best_first(result: ScheduleResult) -> list[int]:
    """All rows: the feasible ones by points, then the others from the closest on; names decide between equals."""
    return [*feasible_first(result), *rejected_rows(result)]


def feasible_first(result: ScheduleResult) -> list[int]:
    """The feasible rows, those of most points first."""
    names = result.nodes.names
    if not len(result.totals):
        return sorted(result.feasible.tolist(), key=names.__getitem__)
    return sorted(result.feasible.tolist(), key=lambda row: (-result.total_of[row], names[row]))


def rejected_rows(result: ScheduleResult) -> list[int]:
    """The rows that are not feasible, the closest first."""
    if result.verdict is None:
        return []
    rejections: Integers = np.zeros(len(result.nodes), dtype=np.int64)
    for mask in result.rejection_masks.values():
        rejections += mask
    feasible = set(result.feasible.tolist())
    nearest = closest(result, _CLOSEST)
    names = result.nodes.names
    rest = {row for row in range(len(names)) if row not in feasible}.difference(nearest)
    return [*nearest, *sorted(rest, key=lambda row: (int(rejections[row]), names[row]))]
