"""The strategies over all nodes at once, held against upstream's formulas for one node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.config.types import ResourceSpec, UtilizationShapePoint
from kubectl_sched.framework.golang import round_half_away
from kubectl_sched.framework.plugin_scores import broken_linear
from kubectl_sched.plugins.node_resources.strategies import (
    LeastAllocated,
    MostAllocated,
    RequestedToCapacityRatio,
    ResourceAmounts,
    Strategy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

SPECS = (
    ResourceSpec(name="cpu", weight=1),
    ResourceSpec(name="memory", weight=3),
    ResourceSpec(name="x/y", weight=100),
)
AMOUNT = st.integers(0, 2**45)
SHAPE = st.lists(st.integers(0, 100), min_size=1, max_size=5, unique=True).flatmap(
    lambda at: st.lists(st.integers(0, 10), min_size=len(at), max_size=len(at)).map(
        lambda scores: tuple(
            UtilizationShapePoint(utilization=where, score=score)
            for where, score in zip(sorted(at), scores, strict=True)
        )
    )
)


def least(requested: int, capacity: int) -> int:
    return 0 if requested > capacity else (capacity - requested) * 100 // capacity


def most(requested: int, capacity: int) -> int:
    return min(requested, capacity) * 100 // capacity


def mean(points: Sequence[tuple[int, int]]) -> int:
    weights = sum(weight for _, weight in points)
    return sum(score * weight for score, weight in points) // weights if weights else 0


def at_once(strategy: Strategy, rows: list[tuple[tuple[int, int], ...]]) -> list[int]:
    columns = np.array(rows, dtype=np.int64)
    scores = strategy.score(
        [
            ResourceAmounts(
                spec=spec,
                allocated=columns[:, number, 0],
                requested=columns[:, number, 0],
                allocatable=columns[:, number, 1],
            )
            for number, spec in enumerate(SPECS)
        ]
    )
    result: list[int] = scores.tolist()
    return result


ROWS = st.lists(st.tuples(*[st.tuples(AMOUNT, st.one_of(st.just(0), AMOUNT))] * 3), min_size=1, max_size=6)


@given(ROWS)
def test_least_allocated(rows: list[tuple[tuple[int, int], ...]]) -> None:
    expected = [
        mean([(least(some, whole), spec.weight) for (some, whole), spec in zip(row, SPECS, strict=True) if whole])
        for row in rows
    ]
    assert at_once(LeastAllocated(), rows) == expected


@given(ROWS)
def test_most_allocated(rows: list[tuple[tuple[int, int], ...]]) -> None:
    expected = [
        mean([(most(some, whole), spec.weight) for (some, whole), spec in zip(row, SPECS, strict=True) if whole])
        for row in rows
    ]
    assert at_once(MostAllocated(), rows) == expected


@given(ROWS, SHAPE)
def test_requested_to_capacity_ratio(
    rows: list[tuple[tuple[int, int], ...]], shape: tuple[UtilizationShapePoint, ...]
) -> None:
    curve = [(point.utilization, point.score * 10) for point in shape]

    def one(row: tuple[tuple[int, int], ...]) -> int:
        total = weights = 0
        for (some, whole), spec in zip(row, SPECS, strict=True):
            points = broken_linear(curve, 100 if some > whole else some * 100 // whole) if whole else 0
            if points > 0:
                total += points * spec.weight
                weights += spec.weight
        return int(round_half_away(total / weights)) if weights else 0

    assert at_once(RequestedToCapacityRatio(shape), rows) == [one(row) for row in rows]


@given(SHAPE, st.integers(-10, 110))
def test_the_curve_meets_its_points_and_stays_between_them(
    shape: tuple[UtilizationShapePoint, ...], position: int
) -> None:
    curve = [(point.utilization, point.score) for point in shape]
    assert all(broken_linear(curve, at) == value for at, value in curve)
    values = [value for _, value in curve]
    assert min(values) <= broken_linear(curve, position) <= max(values)
