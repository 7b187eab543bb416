"""How most score plugins bring their points to 0..100 (pkg/scheduler/framework/plugins/helper/normalize_score.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.golang import truncated_divisions

if TYPE_CHECKING:
    from kubectl_sched.snapshot.arrays import Integers


def default_normalize_score(scores: Integers, *, reverse: bool = False, highest: int = 100) -> Integers:
    """int64[n]: the scores in proportion to the greatest of them; `reverse` gives the most to the least."""
    greatest = max(int(scores.max()), 0) if len(scores) else 0
    if greatest == 0:
        return np.full_like(scores, highest) if reverse else scores
    proportional = truncated_divisions(highest * scores, greatest)
    return highest - proportional if reverse else proportional
