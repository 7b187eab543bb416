"""Go's integer division of arrays is its division of each."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.framework.golang import truncated_division, truncated_divisions

NUMBERS = st.integers(-(2**40), 2**40)


@given(st.lists(NUMBERS, max_size=8), NUMBERS)
def test_an_array_is_divided_as_each_of_its_numbers(dividends: list[int], divisor: int) -> None:
    quotients = truncated_divisions(np.array(dividends, dtype=np.int64), divisor)
    assert quotients.dtype == np.int64
    assert quotients.tolist() == [truncated_division(each, divisor) if divisor else 0 for each in dividends]


@given(st.lists(st.integers(0, 2**40), max_size=8), st.integers(1, 2**20))
def test_so_is_one_without_negative_numbers(dividends: list[int], divisor: int) -> None:
    quotients = truncated_divisions(np.array(dividends, dtype=np.int64), divisor)
    assert quotients.tolist() == [truncated_division(each, divisor) for each in dividends]


@given(
    st.lists(st.tuples(NUMBERS, st.integers(-3, 2**20)) | st.tuples(st.integers(0, 99), st.integers(1, 9)), max_size=8)
)
def test_each_of_an_array_may_have_a_divisor_of_its_own(pairs: list[tuple[int, int]]) -> None:
    dividends, divisors = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    expected = [truncated_division(each, divisor) if divisor else 0 for each, divisor in pairs]
    assert truncated_divisions(dividends, divisors).tolist() == expected
