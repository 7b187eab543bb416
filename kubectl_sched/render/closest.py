"""Which of the rejected nodes came closest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.extension_points import FilterPlugin

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.arrays import Floats, Integers

_COMPARED = 24
"""Of how many nodes the evidence is weighed; evidence is too slow to be asked of all."""


def closest(result: ScheduleResult, most: int) -> list[int]:
    """The rejected rows, those first that the fewest plugins reject and whose evidence is nearest to passing."""
    rejections: Integers = np.zeros(len(result.nodes), dtype=np.int64)
    away: Floats = np.zeros(len(result.nodes), dtype=np.float64)
    for name, mask in result.rejection_masks.items():
        rejections += mask
        rows = np.flatnonzero(mask)
        plugin = result.framework.plugins.get(name) if result.framework else None
        if len(rows) and result.state is not None and isinstance(plugin, FilterPlugin):
            away[rows] += plugin.shortfall(result.state, result.pod, result.nodes, rows)
    rejections[result.feasible] = np.iinfo(np.int64).max
    names = result.nodes.names
    order = np.lexsort((away, rejections))[: len(names) - len(result.feasible)]
    compared = order[: max(_COMPARED, most)].tolist()
    return sorted(compared, key=lambda row: (int(rejections[row]), _distance(result, row), names[row]))[:most]


def _distance(result: ScheduleResult, row: int) -> float:
    return sum(
        min((fact.distance for fact in result.filter_evidence(status.plugin or "", row)), default=1.0)
        for status in result.rejections(row)
    )
