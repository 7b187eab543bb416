"""Go's integer and float semantics where Python's or numpy's differ."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kubectl_sched.snapshot.array_types import Floats, Integers


def crash_of(panic: str) -> str:
    """Return the error of a cycle in which the real scheduler ends with a panic of this text."""
    return f"kube-scheduler crashes here in this version: {panic}"


def truncated_division(dividend: int, divisor: int) -> int:
    """Go's `/` on integers, which rounds toward zero where Python's `//` rounds down."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def truncated_divisions(dividends: Integers, divisors: Integers | int) -> Integers:
    """Go's `/` on arrays of integers; a divisor of 0 gives 0."""
    divisors = np.asarray(divisors, dtype=np.int64)
    if dividends.min(initial=0) >= 0 and divisors.min(initial=1) > 0:
        return dividends // divisors
    divisors = np.broadcast_to(divisors, dividends.shape)
    quotients = np.zeros(dividends.shape, dtype=np.int64)
    np.floor_divide(dividends, divisors, out=quotients, where=divisors != 0)
    # No absolute values here: that of the smallest integer is negative.
    rounded_down = ((dividends < 0) != (divisors < 0)) & (quotients * divisors != dividends) & (divisors != 0)
    return np.where(rounded_down, quotients + 1, quotients)


_INT64_LIMIT = 2.0**63


def as_int64(number: float) -> int:
    """Go's `int64(f)` on amd64: it drops the fraction, and what int64 cannot hold becomes its smallest value."""
    return int(number) if -_INT64_LIMIT <= number < _INT64_LIMIT else -(2**63)


def round_half_away(number: float) -> float:
    """math.Round of Go: halves go away from zero, where Python's round goes to even."""
    if math.isnan(number) or math.isinf(number):
        return number
    whole = math.trunc(number)
    fraction = abs(number - whole)
    return float(whole + math.copysign(1, number)) if fraction >= 0.5 else float(whole)


def rounds_half_away(numbers: Floats) -> Floats:
    """math.Round of Go on arrays of finite numbers."""
    whole = np.trunc(numbers)
    return whole + np.trunc((numbers - whole) * 2)


_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_L1 = 6.666666666666735130e-01
_L2 = 3.999999999940941908e-01
_L3 = 2.857142874366239149e-01
_L4 = 2.222219843214978396e-01
_L5 = 1.818357216161805012e-01
_L6 = 1.531383769920937332e-01
_L7 = 1.479819860511658591e-01


@lru_cache(maxsize=64)
def natural_logarithm(number: float) -> float:
    """math.Log of Go for finite numbers above 0, to the last bit.

    Go has its own (FreeBSD's e_log.c), which differs by one bit here and there from the C library's that Python calls.
    """
    fraction, exponent = math.frexp(number)
    if fraction < math.sqrt(0.5):
        fraction, exponent = fraction * 2, exponent - 1
    f = fraction - 1
    s = f / (2 + f)
    s2 = s * s
    s4 = s2 * s2
    odd = s2 * (_L1 + s4 * (_L3 + s4 * (_L5 + s4 * _L7)))
    even = s4 * (_L2 + s4 * (_L4 + s4 * _L6))
    half_square = 0.5 * f * f
    return exponent * _LN2_HIGH - ((half_square - (s * (half_square + (odd + even)) + exponent * _LN2_LOW)) - f)
