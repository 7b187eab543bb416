"""Times as objects hold them (metav1.Time and MicroTime): RFC 3339, UTC."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import lru_cache


def time_now() -> str:
    """The present Time, in whole seconds."""
    return f"{_to_the_second(int(time.time()))}Z"


def micro_time_now() -> str:
    """The present MicroTime."""
    return micro_time(time.time_ns())


def micro_time(nanoseconds: int) -> str:
    """The MicroTime so long after 1970: `2026-01-02T03:04:05.678901Z`."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_to_the_second(seconds)}.{rest // 1000:06d}Z"


@lru_cache(maxsize=1)
def _to_the_second(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"
