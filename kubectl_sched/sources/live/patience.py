"""The deadline of a whole request, and words for whoever waits for it."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kubectl_sched.output import write_error

if TYPE_CHECKING:
    from collections.abc import Iterator

SILENT_SECONDS: Final = 2.0
"""The longest that a user waits without being told for what."""


class Deadline:
    """The end of a request, with all its tries and pauses; without seconds there is none."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds if seconds else None

    @property
    def left(self) -> float | None:
        """The seconds that are left, 0 at the least; None without limit."""
        return None if self._at is None else max(self._at - time.monotonic(), 0.0)

    def allows(self, seconds: float) -> bool:
        """Report whether there is time for a pause, and for something after it."""
        left = self.left
        return left is None or seconds < left


def tell_waiting(what: str) -> None:
    """Say on stderr what the program waits for."""
    write_error(f"waiting for {what}\n")


@contextmanager
def told_if_slow(what: str) -> Iterator[None]:
    """Say what is waited for if it takes longer than the user should wait in silence."""
    timer = threading.Timer(SILENT_SECONDS, tell_waiting, (what,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
