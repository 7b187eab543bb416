"""A former leader sends nothing, not even a retry."""

from __future__ import annotations

import http.server
import threading
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.binding.second_scheduler.leader_fence import FencedServer, NotLeadingError
from kubectl_sched.sources.live.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator


class Busy:
    """A server that is too busy for anything, and leadership that ends with its first answer."""

    def __init__(self) -> None:
        self.asked = 0
        self.leads = True


@pytest.fixture
def busy() -> Busy:
    return Busy()


@pytest.fixture
def url(busy: Busy) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            busy.asked += 1
            busy.leads = False
            self.send_response(429)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{serving.server_address[1]}"
    serving.shutdown()
    serving.server_close()
    thread.join()


def test_nothing_is_sent_again_once_the_leadership_is_lost(busy: Busy, url: str) -> None:
    server = FencedServer(Endpoint(url), lambda: busy.leads)
    with pytest.raises(NotLeadingError):
        server.write("POST", "/api/v1/namespaces/default/pods/a/binding", b"{}")
    assert busy.asked == 1


def test_who_never_led_sends_nothing(busy: Busy, url: str) -> None:
    busy.leads = False
    server = FencedServer(Endpoint(url), lambda: busy.leads)
    with pytest.raises(NotLeadingError):
        server.write("POST", "/api/v1/namespaces/default/pods/a/binding", b"{}")
    with pytest.raises(NotLeadingError):
        server.get("/api/v1/namespaces/default/pods/a")
    assert busy.asked == 0
