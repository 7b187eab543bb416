"""The age of a dump, and the refusal of one that is too old."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from kubectl_sched.sources.dump_errors import DumpError

if TYPE_CHECKING:
    from kubectl_sched.sources.dump.dump import Dump


def time_since(taken_at: str, now: datetime) -> timedelta | None:
    """Return the time since an RFC 3339 time; None if it is not one, or lies ahead."""
    try:
        then = datetime.fromisoformat(taken_at)
    except ValueError:
        return None
    if then.tzinfo is None or then > now:
        return None
    return now - then


def spoken_age(age: timedelta) -> str:
    """Return an age in its largest fitting unit: `90 s`, `90 min`, `30 h`, `12 days`."""
    seconds = int(age.total_seconds())
    if seconds < 120:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} days"


def parse_max_age(text: str) -> int:
    """Return the nanoseconds of `--max-age`. Raises DumpError for what is no duration above zero."""
    from kubectl_sched.config.duration import InvalidDuration, parse_duration

    try:
        nanoseconds = parse_duration(text)
    except InvalidDuration:
        nanoseconds = 0
    if nanoseconds <= 0:
        raise DumpError(f'--max-age "{text}" is no age: write one such as 24h or 90m')
    return nanoseconds


def refuse_older(dump: Dump, max_age: str, now: datetime | None = None) -> None:
    """Raise DumpError where the dump is older than `max_age`, or nothing in it tells its age."""
    from kubectl_sched.config.duration import format_duration

    allowed = parse_max_age(max_age)
    age = time_since(dump.taken_at, now or datetime.now(UTC)) if dump.taken_at is not None else None
    if age is None:
        raise DumpError("nothing in the dump tells when it was taken, which --max-age asks for: leave --max-age out")
    if age > timedelta(microseconds=allowed // 1000):
        raise DumpError(
            f"the dump is {spoken_age(age)} old, and --max-age allows {format_duration(allowed)}: "
            "take a new one with `kubectl sched snapshot FILE`"
        )
