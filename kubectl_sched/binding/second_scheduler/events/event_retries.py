"""Tries events again that an API server did not get while it was away (attemptRecording in client-go: tools/events)."""

from __future__ import annotations

import random
import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.binding.event_recorder import may_be_written_later
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.live.live_errors import ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable

TRIES: Final = 12
"""The most times that one event is sent, the first time included."""

PAUSE_SECONDS: Final = 10.0
_SPREAD: Final = 1.25
"""Pauses are up to so many times as long, by chance, so that clients do not come back all at once."""

_MOST: Final = 1_000
"""With so many events waiting, another one is given up at once."""


class _Unwritten(NamedTuple):
    write: Callable[[], None]
    sentence: str
    """The sentence that is told once the event is given up, without the reason."""
    tries: int


class EventRetries:
    """Holds events that could not be written, and sends them again from a thread of its own; `tell` hears of losses."""

    def __init__(self, tell: Callable[[str], None], pause_seconds: float = PAUSE_SECONDS) -> None:
        self._tell = tell
        self._pause_seconds = pause_seconds
        self._lock = threading.Lock()
        self._unwritten: list[_Unwritten] = []
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def add(self, write: Callable[[], None], sentence: str) -> bool:
        """Have the event written later; False if too many wait, so that it is given up."""
        with self._lock:
            if len(self._unwritten) >= _MOST or self._closed.is_set():
                return False
            self._unwritten.append(_Unwritten(write, sentence, 1))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="event-retries", daemon=True)
                self._thread.start()
        return True

    def close(self) -> None:
        """Try nothing again from now on; whoever takes over writes the Scheduled events that are missing."""
        self._closed.set()

    def _run(self) -> None:
        spread = random.uniform(1.0, _SPREAD)  # noqa: S311 - no secret
        while not self._closed.wait(self._pause_seconds * spread):
            with self._lock:
                due, self._unwritten = self._unwritten, []
            again = [each._replace(tries=each.tries + 1) for each in due if not self._is_done(each)]
            with self._lock:
                self._unwritten = [*again, *self._unwritten]
                if not self._unwritten:
                    self._thread = None
                    return

    def _is_done(self, event: _Unwritten) -> bool:
        """Send the event; True if it is written, or given up."""
        if self._closed.is_set():
            return True
        try:
            event.write()
        except SchedError as error:
            if isinstance(error, ResponseError) and error.status == HTTPStatus.CONFLICT:
                return True  # an answer was lost, and the event is there
            if may_be_written_later(error) and event.tries + 1 < TRIES:
                return False
            self._tell(f"{event.sentence}: {error}")
        return True
