"""Ages as kubectl writes them (`45s`, `12m`, `5h`, `3d`), and moments with their age."""

from __future__ import annotations

from kubectl_sched.api.apimachinery.timestamps import seconds_between, to_the_second

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_TWICE = 2
"""A unit is taken once there are two of it."""


def age(earlier: str | None, later: str | None) -> str | None:
    """Return the time between two moments in one unit; None if one is unknown."""
    seconds = seconds_between(earlier, later)
    if seconds is None:
        return None
    whole = max(int(seconds), 0)
    for unit, letter in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if whole >= _TWICE * unit:
            return f"{whole // unit}{letter}"
    return f"{whole}s"


def at_moment(moment: str | None, now: str | None) -> str:
    """Return ` at 2026-06-01T03:00:00Z (12m ago)`; without the age where `now` is unknown, empty without the moment."""
    if not moment:
        return ""
    old = age(moment, now)
    return f" at {to_the_second(moment)} ({old} ago)" if old is not None else f" at {to_the_second(moment)}"
