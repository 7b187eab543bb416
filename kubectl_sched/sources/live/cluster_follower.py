"""A running cluster that is read again whenever something of it may have changed."""

from __future__ import annotations

import threading
import time
from contextlib import closing, suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.cluster_reader import read_live
from kubectl_sched.sources.live.credentials import Credentials
from kubectl_sched.sources.live.list_paths import list_paths
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable

    from urllib3.response import BaseHTTPResponse

    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.live.endpoint import Endpoint
    from kubectl_sched.sources.pod_selection import Selection

WATCHED = ("Pod", "Node")
"""Nearly all that changes an answer changes one of these as well."""

LONGEST_SECONDS = 30.0
"""After which it is read again whatever the watches say: other kinds may have changed."""

UNWATCHED_SECONDS = 5.0
"""Seconds between two reads where watching is not allowed."""

CALM_SECONDS = 0.5
"""Changes that come together are answered together."""

_LOOK_SECONDS = 0.1
_RESTS = 2


class Following:
    """Reads with the same credentials each time. On a large cluster it rests twice as long as it reads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._credentials = Credentials(endpoint)
        self._took = 0.0

    def read(self, selection: Selection, progress: Callable[[str, int, int | None], None] | None = None) -> Dump:
        """Read the cluster as `read_live` does."""
        began = time.monotonic()
        dump = read_live(self._endpoint, selection, progress, self._credentials)
        self._took = time.monotonic() - began
        return dump

    def wait(self, versions: dict[str, str]) -> None:
        """Return once something has changed since these resourceVersions (by kind), or may well have."""
        server = Server(self._endpoint, credentials=self._credentials)
        bells = [_Bell(server, kind, versions[kind]) for kind in WATCHED if versions.get(kind)]
        began = time.monotonic()
        try:
            while not any(bell.rang.is_set() for bell in bells):
                limit = LONGEST_SECONDS if any(bell.listens for bell in bells) else UNWATCHED_SECONDS
                if time.monotonic() - began > limit:
                    return
                time.sleep(_LOOK_SECONDS)
            time.sleep(max(CALM_SECONDS, self._took * _RESTS))
        finally:
            server.stop()
            for bell in bells:
                bell.close()


class _Bell:
    """Rings at the first change of one kind after a resourceVersion."""

    def __init__(self, server: Server, kind: str, version: str) -> None:
        self.rang = threading.Event()
        self.listens = True
        """Not where watching is not allowed."""

        self._closed = threading.Event()
        self._response: BaseHTTPResponse | None = None
        self._query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": str(round(LONGEST_SECONDS))}
        self._path = list_paths(BY_NAME[kind])[0]
        threading.Thread(target=self._listen, args=(server,), name=f"bell-{kind}", daemon=True).start()

    def _listen(self, server: Server) -> None:
        try:
            with closing(server.stream(self._path, self._query)) as response:
                self._response = response
                if not self._closed.is_set() and response.read1(1):
                    self.rang.set()
        except ResponseError as error:
            self.listens = False
            if error.status == HTTPStatus.GONE:
                self.rang.set()
        except Exception:  # noqa: BLE001 - the line may break or be closed in any way; the next reading will tell
            self.listens = False

    def close(self) -> None:
        """End the watch, and the read that waits in the other thread."""
        self._closed.set()
        response = self._response
        if response is not None:
            with suppress(OSError, ValueError, RuntimeError, AttributeError, ClusterError):
                response.shutdown()
