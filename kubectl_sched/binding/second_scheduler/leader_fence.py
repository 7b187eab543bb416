"""Checks before every request that this process still leads, and limits how many requests run at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubectl_sched.sources.live.endpoint import Endpoint

_AT_ONCE: Final = 16
"""Requests under way at the same time; binding cycles that wait for volumes make none meanwhile."""


class NotLeadingError(ClusterError):
    """Another replica may lead by now, so nothing was asked."""


class FencedServer(Server):
    """An API server that only the leader asks anything, from many threads and a few of them at a time."""

    def __init__(self, endpoint: Endpoint, leads: Callable[[], bool]) -> None:
        super().__init__(endpoint)
        self._leads = leads
        self._slots = threading.BoundedSemaphore(_AT_ONCE)

    def get(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        tell: Callable[[bytes], None] | None = None,
        **how: Any,
    ) -> bytes:
        """Read as Server.get does. Raises NotLeadingError where we do not lead."""
        with self._slots:
            return super().get(path, query, tell, **how)

    def write(self, method: str, path: str, body: bytes, **how: Any) -> bytes:
        """Write as Server.write does. Raises NotLeadingError where we do not lead, also before it is sent again."""
        with self._slots:
            return super().write(method, path, body, **how)

    def _go_on(self) -> None:
        """Asked before a request is sent, each time that it is."""
        super()._go_on()
        if not self._leads():
            raise NotLeadingError("this replica no longer leads, so nothing more is written")
