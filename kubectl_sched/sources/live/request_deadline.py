"""One deadline for a whole request, and the message for a user who waits."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from kubectl_sched.safe_output import write_error

if TYPE_CHECKING:
    from collections.abc import Iterator

SILENT_SECONDS: Final = 2.0
"""The longest that a user waits without being told for what."""

_LOOK_SECONDS: Final = 0.25


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


class Wait:
    """One wait for something, which may be heard of meanwhile."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.heard()

    def heard(self) -> None:
        """Something has come, so that the silence begins anew."""
        self.heard_at = time.monotonic()


_waits: Final[set[Wait]] = set()
_lock: Final = threading.Lock()
_looking = threading.Event()


@contextmanager
def told_if_slow(what: str) -> Iterator[Wait]:
    """Say what is waited for if it is silent for longer than the user should wait in silence, once for all who wait."""
    wait = Wait(what)
    with _lock:
        _waits.add(wait)
        if not _looking.is_set():
            _looking.set()
            threading.Thread(target=_look, name="patience", daemon=True).start()
    try:
        yield wait
    finally:
        with _lock:
            _waits.discard(wait)


def _look() -> None:
    """Look after all waits until there are none. One thread a request would cost more than many a request."""
    while True:
        time.sleep(_LOOK_SECONDS)
        with _lock:
            if not _waits:
                _looking.clear()
                return
            silent = {wait for wait in _waits if time.monotonic() - wait.heard_at >= SILENT_SECONDS}
            _waits.difference_update(silent)
        for what in {wait.what for wait in silent}:
            tell_waiting(what)
