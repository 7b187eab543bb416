"""Shifts of an amount by powers of ten, as quantities make them: into an int64, which may overflow.

Answers to k8s.io/apimachinery/pkg/api/resource (math.go, scale_int.go). `digits` and `shift` count decimal digits.
"""

from __future__ import annotations

from kubectl_sched.api.apimachinery.int64 import MAX_INT64, MIN_INT64, is_int64, wrapped


def ten_to(exponent: int) -> int:
    """A whole power of ten; the exponent is never negative."""
    return int(10**exponent)


def rounded_away(number: int, digits: int) -> int:
    """Drop decimal digits, rounding away from zero (negativeScaleInt64)."""
    quotient = -(-abs(number) // ten_to(digits))
    return quotient if number >= 0 else -quotient


def scaled_up(number: int, digits: int) -> int:
    """Append decimal zeros (positiveScaleInt64); past int64 it wraps when done in one step and is 0 when in several."""
    product = number * ten_to(digits)
    if is_int64(product):
        return product
    return wrapped(product) if digits in {1, 2, 3, 6, 9} and number != MIN_INT64 else 0


def fits_in_units(number: int, scale: int) -> bool:
    """Report whether whole units are an exact int64, without which int64Amount.Mul gives up."""
    return is_int64(number * ten_to(scale)) if scale >= 0 else number % ten_to(-scale) == 0


def decimal_scaled(unscaled: int, shift: int) -> int:
    """Shift an arbitrary decimal into an int64 (scaledValue), which wraps where it does not fit."""
    if shift >= 0:
        return wrapped(wrapped(unscaled) * (ten_to(shift) if shift < 19 else MIN_INT64))
    divisor = ten_to(-shift)
    if unscaled < MAX_INT64 and -shift < 19:
        number = wrapped(unscaled)
        quotient = abs(number) // divisor
        return (quotient if number >= 0 else -quotient) + (number % divisor != 0)
    quotient, rest = divmod(unscaled, divisor)
    return wrapped(wrapped(quotient) + (rest != 0))


def without_factors(number: int, factor: int) -> tuple[int, int]:
    """The number without all factors, and how often the factor was in it."""
    times = 0
    while number and number % factor == 0:
        number //= factor
        times += 1
    return number, times
