"""Fair shares of the scheduling loop's time: events have a part of it, and no namespace has more than half for long.

The cache takes in at once what a watch tells. To ask every waiting pod whether an event helps it takes longer, so that
is done between decisions, a part at a time. No number of events or of waiting pods keeps a pod from its turn.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final

from kubectl_sched.binding.second_scheduler.cluster_events import EVERYTHING, Happened

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue

_MOST_EVENTS: Final = 1_000
"""With more events than these left, all pods that wait are tried again after their backoff, whatever has happened."""

_WINDOW_SECONDS: Final = 60
_LONG_SECONDS: Final = 0.1
"""The cycles of ordinary pods take a few milliseconds, also in large clusters."""

_MOST_SECONDS: Final = _WINDOW_SECONDS / 2
"""The seconds of a window that the pods of one namespace may use while others wait."""

OVERUSED: Final = (
    "the cycles of its namespace's pods used over half of the last minute, which pods of other namespaces need"
)


class EventBacklog:
    """Events in their order, until the queue has moved the pods that they help."""

    def __init__(self, queue: SchedulingQueue) -> None:
        self._queue = queue
        self._left: deque[Happened] = deque()

    def __bool__(self) -> bool:
        return bool(self._left)

    def add(self, happened: Happened) -> None:
        """Take in an event; too many of them become one that every pod takes for its own."""
        if len(self._left) >= _MOST_EVENTS:
            self._left.clear()
            happened = Happened(EVERYTHING)
        self._left.append(happened)

    def work_off(self, seconds: float, clock: Callable[[], float]) -> None:
        """Ask the waiting pods about one event after the other, until so many seconds have passed."""
        until = clock() + seconds
        while self._left:
            event, old, new = self._left.popleft()
            self._queue.move(event, clock(), old, new)
            if clock() > until:
                return


class NamespaceUse:
    """Seconds that cycles took, by the namespace of their pod, over a window of whole seconds."""

    def __init__(self) -> None:
        self._seconds: deque[tuple[int, Counter[str]]] = deque()
        """The use in each second that had any, the oldest first."""
        self._used: Counter[str] = Counter()
        self._cycles: deque[tuple[float, str]] = deque()
        """The time and the namespace of each cycle that took long."""

    def add(self, namespace: str, used: float, now: float) -> None:
        """Count a cycle that ends now."""
        if not self._seconds or self._seconds[-1][0] != int(now):
            self._seconds.append((int(now), Counter()))
        self._seconds[-1][1][namespace] += used  # type: ignore[assignment] # a Counter counts seconds as well
        self._used[namespace] += used  # type: ignore[assignment] # as above
        if used > _LONG_SECONDS:
            self._cycles.append((now, namespace))

    def is_slow(self, namespace: str, now: float) -> bool:
        """Report whether a cycle of the namespace took long in the window, which pods of others shared."""
        while self._cycles and self._cycles[0][0] <= now - _WINDOW_SECONDS:
            self._cycles.popleft()
        others = any(used > 0 for name, used in self._used.items() if name != namespace)
        return others and any(name == namespace for _, name in self._cycles)

    def is_over_half(self, namespace: str, now: float) -> bool:
        """Report whether the namespace's pods have used over half of the window that ends now."""
        while self._seconds and self._seconds[0][0] <= now - _WINDOW_SECONDS:
            self._used.subtract(self._seconds.popleft()[1])
        if not self._seconds:
            self._used.clear()
        return self._used[namespace] > _MOST_SECONDS
