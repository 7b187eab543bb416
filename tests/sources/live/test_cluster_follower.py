"""A followed cluster is read again once something has changed, and no watch is left open."""

from __future__ import annotations

import http.server
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.sources.live.cluster_follower import Following
from kubectl_sched.sources.live.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator


class Watched:
    """A server of two watches, of which that of pods has something to say once both are open."""

    def __init__(self) -> None:
        self.url = ""
        self.open = threading.Barrier(2)
        self.ended = threading.Semaphore(0)


@pytest.fixture
def watched() -> Iterator[Watched]:
    state = Watched()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            state.open.wait(50)
            if "/pods" in self.path:
                self.wfile.write(b'{"type":"MODIFIED"}\n')
            with suppress(ConnectionError):
                self.rfile.read(1)  # until the other side closes
            state.ended.release()

        def log_message(self, *_: object) -> None:
            pass

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{serving.server_address[1]}"
    yield state
    serving.shutdown()
    serving.server_close()
    thread.join()


def test_a_change_of_a_pod_ends_the_wait_and_both_watches(watched: Watched) -> None:
    Following(Endpoint(watched.url)).wait({"Pod": "7", "Node": "7"})
    assert watched.ended.acquire(timeout=50)
    assert watched.ended.acquire(timeout=50)
