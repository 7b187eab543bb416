"""Helpers of plugins that score: normalization to 0..100, and curves (pkg/scheduler/framework/plugins/helper)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.golang import truncated_division, truncated_divisions
from kubectl_sched.framework.runtime import MAX_NODE_SCORE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.snapshot.array_types import Integers


def default_normalize_score(scores: Integers, *, reverse: bool = False) -> Integers:
    """int64[n]: the scores in proportion to the greatest of them; `reverse` gives the most to the least."""
    greatest = max(int(scores.max()), 0) if len(scores) else 0
    if greatest == 0:
        return np.full_like(scores, MAX_NODE_SCORE) if reverse else scores
    proportional = truncated_divisions(MAX_NODE_SCORE * scores, greatest)
    return MAX_NODE_SCORE - proportional if reverse else proportional


def broken_linear(points: Sequence[tuple[int, int]], position: int) -> int:
    """The value at a position between points given as (position, value), flat outside (BuildBrokenLinearFunction)."""
    for index, (right, value) in enumerate(points):
        if position <= right:
            if index == 0:
                return value
            left, before = points[index - 1]
            return before + truncated_division((value - before) * (position - left), right - left)
    return points[-1][1]
