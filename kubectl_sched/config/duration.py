"""Go's durations: how `1h30m` is read and how it is written (src/time/format.go, time.go)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from kubectl_sched.api.apimachinery.int64 import MAX_INT64
from kubectl_sched.lazy_pattern import pattern

_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,
    "\u03bcs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_MOST_DIGITS: Final = 19
"""An int64 has no more, and Go reads no more of a fraction."""
_PART: Final = pattern(r"(\d*)(\.\d*)?([^.\d]*)")


class InvalidDuration(ValueError):  # noqa: N818 - it is Go's phrase
    """Not a duration; the text is Go's."""


def parse_duration(text: str) -> int:
    """Return the nanoseconds of `1h30m`, `-1.5s` or `0`; raise InvalidDuration."""
    invalid = InvalidDuration(f'time: invalid duration "{text}"')
    rest = text[1:] if text[:1] in {"-", "+"} else text
    if rest == "0":
        return 0
    if not rest:
        raise invalid
    total = 0
    while rest:
        found = _PART.match(rest)
        if found is None or not (found[1] or len(found[2] or "") > 1):
            raise invalid
        unit = found[3]
        if not unit:
            raise InvalidDuration(f'time: missing unit in duration "{text}"')
        if unit not in _UNITS:
            raise InvalidDuration(f'time: unknown unit "{unit}" in duration "{text}"')
        whole, fraction = found[1].lstrip("0"), (found[2] or ".")[1:]
        if len(whole) > _MOST_DIGITS:
            raise invalid
        total += int(Fraction(f"{whole or 0}.{fraction[:_MOST_DIGITS] or 0}") * _UNITS[unit])
        rest = rest[found.end() :]
    if total > MAX_INT64:
        raise invalid
    return -total if text[0] == "-" else total


def format_duration(nanoseconds: int) -> str:
    """Return a duration as Go prints it: `1h30m0s`, `1.5s`, `100ms`, `0s`."""
    sign, value = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if value == 0:
        return "0s"
    for unit, size in (("ns", 1), ("\u00b5s", 1_000), ("ms", 1_000_000)):
        if value < size * 1_000:
            return f"{sign}{_decimal(value, size)}{unit}"
    minutes, rest = divmod(value, _UNITS["m"])
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, _UNITS['s'])}s"
    if minutes or hours:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _decimal(value: int, size: int) -> str:
    whole, part = divmod(value, size)
    digits = str(part).rjust(len(str(size)) - 1, "0").rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)
