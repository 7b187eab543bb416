"""Go's int64: its bounds, and what becomes of a number beyond them."""

from __future__ import annotations

from typing import Final

MIN_INT64: Final = -(2**63)
MAX_INT64: Final = 2**63 - 1


def is_int64(number: int) -> bool:
    """Whether an int64 holds the number."""
    return MIN_INT64 <= number <= MAX_INT64


def wrapped(number: int) -> int:
    """The low 64 bits of a number as an int64: what Go's arithmetic leaves of it."""
    return (number - MIN_INT64) % 2**64 + MIN_INT64
