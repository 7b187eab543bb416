"""Go's int64: its bounds, how a text is read as one, and what becomes of a number beyond them."""

from __future__ import annotations

from typing import Final

from kubectl_sched.lazy_pattern import pattern

MIN_INT64: Final = -(2**63)
MAX_INT64: Final = 2**63 - 1
MAX_UINT64: Final = 2**64 - 1

_INT64: Final = pattern("([+-]?)0*([0-9]{1,19})")
_UINT64: Final = pattern("0*([0-9]{1,20})")


def is_int64(number: int) -> bool:
    """Report whether an int64 holds the number."""
    return MIN_INT64 <= number <= MAX_INT64


def wrapped(number: int) -> int:
    """The low 64 bits of a number as an int64: what Go's arithmetic leaves of it."""
    return (number - MIN_INT64) % 2**64 + MIN_INT64


def saturated(number: int) -> int:
    """The int64 that is nearest to a number."""
    return max(MIN_INT64, min(number, MAX_INT64))


def parse_int64(text: str) -> int | None:
    """The number that strconv.ParseInt reads in base 10, None if it fails."""
    found = _INT64.fullmatch(text)
    number = int(found[1] + found[2]) if found is not None else None
    return number if number is not None and is_int64(number) else None


def parse_uint64(text: str) -> int | None:
    """The number that strconv.ParseUint reads in base 10, None if it fails."""
    found = _UINT64.fullmatch(text)
    number = int(found[1]) if found is not None else None
    return number if number is not None and number <= MAX_UINT64 else None
