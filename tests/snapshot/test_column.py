"""Columns of few distinct values."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.snapshot import Column
from kubectl_sched.snapshot.column import distinct_numbers


@given(numbers=st.lists(st.integers(-9, 9) | st.integers(-(2**62), 2**62)))
def test_numbers_that_lie_close_are_counted_like_others(numbers: list[int]) -> None:
    array = np.array(numbers, dtype=np.int64)
    distinct, places = distinct_numbers(array)
    assert distinct.tolist() == sorted(set(numbers))
    assert distinct.take(places).tolist() == numbers


@given(st.lists(st.integers(0, 4)), st.lists(st.text("ab", max_size=1), min_size=5, max_size=5))
def test_distinct_values_have_one_code_each(codes: list[int], values: list[str]) -> None:
    column = Column(np.array(codes, dtype=np.int32), values)
    distinct = column.distinct()
    assert list(distinct) == list(column)
    assert len(set(distinct.values)) == len(distinct.values)
