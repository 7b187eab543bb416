"""A line on stderr with the placements so far and how many there are a second, on a terminal only."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kubectl_sched.safe_output import can_draw, write_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PATIENCE_SECONDS = 1.0
_BETWEEN_SECONDS = 0.1


@contextmanager
def placing() -> Iterator[Callable[[int, int], None] | None]:
    """Yield a callback that shows progress (done, known of); None where nobody would see it."""
    if not can_draw(sys.stderr):
        yield None
        return
    started = shown = time.monotonic()

    def tell(done: int, known: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - started < _PATIENCE_SECONDS or now - shown < _BETWEEN_SECONDS:
            return
        shown = now
        write_progress(f"{done:,} of {known:,} placed, {done / (now - started):,.0f} a second")

    try:
        yield tell
    finally:
        if shown != started:
            write_progress("")
