"""A score that follows a curve over the utilization (plugins/helper/shape_score.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.golang import truncated_division

if TYPE_CHECKING:
    from collections.abc import Sequence


def broken_linear(points: Sequence[tuple[int, int]], position: int) -> int:
    """The value at a position between points given as (position, value), flat outside (BuildBrokenLinearFunction)."""
    for index, (right, value) in enumerate(points):
        if position <= right:
            if index == 0:
                return value
            left, before = points[index - 1]
            return before + truncated_division((value - before) * (position - left), right - left)
    return points[-1][1]
