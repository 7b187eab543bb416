"""Ages as kubectl writes them: `45s`, `12m`, `5h`, `3d`."""

from __future__ import annotations

from kubectl_sched.api.apimachinery.timestamps import seconds_between

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
