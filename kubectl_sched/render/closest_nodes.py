"""The rejected nodes that came closest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.suggestions.nearest_nodes import rejections

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult

_COMPARED = 24
"""Of how many nodes the evidence is weighed; evidence is too slow to be asked of all."""


def closest(result: ScheduleResult, most: int) -> list[int]:
    """The rejected rows, those first that the fewest plugins reject and whose evidence is nearest to passing."""
    counts, away = rejections(result)
    counts[result.feasible] = np.iinfo(np.int64).max
    names = result.nodes.names
    order = np.lexsort((away, counts))[: len(names) - len(result.feasible)]
    compared = order[: max(_COMPARED, most)].tolist()
    return sorted(compared, key=lambda row: (int(counts[row]), _distance(result, row), names[row]))[:most]


def _distance(result: ScheduleResult, row: int) -> float:
    return sum(
        min((fact.distance for fact in result.filter_evidence(status.plugin or "", row)), default=1.0)
        for status in result.rejections(row)
    )
