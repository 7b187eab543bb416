"""Normalized scores of a plugin."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.framework.plugin_scores import default_normalize_score
from kubectl_sched.plugins.inter_pod_affinity.scoring import normalized

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.snapshot.array_types import Integers


@pytest.mark.parametrize(
    "normalize", [default_normalize_score, partial(default_normalize_score, reverse=True), normalized]
)
@given(scores=st.lists(st.integers(0, 10**6), min_size=2), between=st.lists(st.floats(0, 1)))
def test_the_smallest_and_the_largest_score_decide_the_points_of_each(
    normalize: Callable[[Integers], Integers], scores: list[int], between: list[float]
) -> None:
    """Replicas are ranked by groups of nodes on this law."""
    least, most = min(scores), max(scores)
    more = [least + int(share * (most - least)) for share in between]
    alone = normalize(np.array(scores, dtype=np.int64))
    among = normalize(np.array([*scores, *more], dtype=np.int64))
    assert among[: len(scores)].tolist() == alone.tolist()
