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


@given(st.lists(st.sampled_from("ab"), min_size=1), st.dictionaries(st.integers(0, 9), st.sampled_from("xyz")))
def test_a_column_with_other_values_on_some_rows(values: list[str], others: dict[int, str]) -> None:
    column = Column.of(values)
    others = {row: value for row, value in others.items() if row < len(values)}
    expected = [others.get(row, value) for row, value in enumerate(values)]
    assert list(column.with_each(others)) == expected
    rows = np.array(list(others), dtype=np.intp)
    assert list(column.replacing(rows, "z")) == ["z" if row in others else each for row, each in enumerate(values)]
    assert list(column) == values
