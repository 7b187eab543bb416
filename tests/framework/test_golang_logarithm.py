"""Go's math.Log and math.Round, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.framework.golang import natural_logarithm, round_half_away, rounds_half_away


@pytest.mark.parametrize(
    ("number", "logarithm"),
    [
        (3, "0x1.193ea7aad030ap+0"),
        (14, "0x1.51cca16d7bba8p+1"),
        (48, "0x1.ef8383c50bb74p+1"),
        (74, "0x1.1375cd6fcab1cp+2"),
        (176, "0x1.4ae935b3cb89ep+2"),
        (346, "0x1.762c0d8a3c1c4p+2"),
    ],
)
def test_logarithms_are_those_that_go_printed_on_amd64(number: int, logarithm: str) -> None:
    assert natural_logarithm(number).hex() == logarithm


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_logarithms_are_at_most_a_bit_away_from_the_c_librarys(number: float) -> None:
    expected = math.log(number)
    assert abs(natural_logarithm(number) - expected) <= 2 * math.ulp(expected)


@given(st.lists(st.floats(min_value=-1e15, max_value=1e15) | st.integers(-100, 100).map(lambda half: half / 2)))
def test_rounding_an_array_rounds_each_number(numbers: list[float]) -> None:
    assert rounds_half_away(np.array(numbers, dtype=np.float64)).tolist() == list(map(round_half_away, numbers))
