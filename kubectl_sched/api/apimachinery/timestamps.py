"""The times that objects carry (RFC 3339)."""

from __future__ import annotations

import re
from datetime import UTC, datetime


def moment(text: str | None) -> datetime | None:
    """The time, None if there is none or it cannot be read."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


def to_the_second(text: str) -> str:
    """Return the time, or a text with times, without fractions of seconds."""
    return text if "." not in text else re.sub(r"(?<=:\d\d)\.\d+(?=Z|[+-]\d\d)", "", text)


def seconds_between(earlier: str | None, later: str | None) -> float | None:
    """Return the seconds from one time to the other; None if one is unknown."""
    first, second = moment(earlier), moment(later)
    return None if first is None or second is None else (second - first).total_seconds()
