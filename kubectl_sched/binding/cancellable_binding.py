"""A binding cycle that can be cancelled at any time before Bind starts (framework/runtime/pods_in_prebind_map.go)."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Event


class PodInPreBind:
    """Ends the cycle's waits on `stop`, and when its pod is preempted."""

    def __init__(self, stop: Event) -> None:
        self._stop = stop
        self._lock = Lock()
        self._is_finished = False
        self.message = ""
        """The reason why this pod's cycle alone was given up."""

    def cancel(self, message: str) -> bool:
        """Cancel the cycle; False if Bind has started."""
        with self._lock:
            if not self._is_finished:
                self.message = self.message or message
            return not self._is_finished

    def finish(self) -> bool:
        """Rule out that the cycle is cancelled from now on; False if it has been already."""
        with self._lock:
            self._is_finished = not self.is_set()
            return self._is_finished

    def is_set(self) -> bool:
        """Report whether the cycle has to end."""
        return self._stop.is_set() or bool(self.message)

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than until the cycle has to end."""
        return self._stop.wait(seconds) or bool(self.message)
