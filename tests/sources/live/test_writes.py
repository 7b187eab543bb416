"""Writes to a server that refuses, is busy, or hangs up before it has answered."""

import http.server
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from kubectl_sched.binding.writer import MERGE_PATCH
from kubectl_sched.sources.live import client
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.connections.connection_pools import Connections
from kubectl_sched.sources.live.endpoint import Endpoint
from kubectl_sched.sources.live.live_errors import ClusterError, LostResponseError, ResponseError, UnconnectedError

HANG_UP = 0
"""In the place of a status: the request is read, and the line closed without an answer."""


class Script:
    """What the server answers with, in turn, and then with 200; and what it was asked."""

    encoding = ""
    before_answers: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self) -> None:
        self._statuses: list[int] = []
        self.requests: list[tuple[str, str, Any, str | None]] = []

    def begin(self, *statuses: int) -> None:
        self._statuses = list(statuses)
        self.requests.clear()

    def next(self) -> int:
        return self._statuses.pop(0) if self._statuses else 200


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits are counted, not waited."""
    waited: list[float] = []
    monkeypatch.setattr(client.Server, "_wait", lambda _, seconds: waited.append(seconds))
    return waited


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def server(script: Script) -> Iterator[Server]:
    class Scripted(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            script.requests.append((self.command, self.path, json.loads(body or b"null"), self.headers["Content-Type"]))
            script.before_answers()
            status = script.next()
            if status == HANG_UP:
                self.close_connection = True
                return
            said = b'{"kind":"Status","reason":"Why","message":"because"}'
            self.send_response(status)
            if status == 307:
                self.send_header("Location", "/elsewhere")
            if status == 429:
                self.send_header("Retry-After", "7")
            if script.encoding:
                self.send_header("Content-Encoding", script.encoding)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield Server(Endpoint(f"http://127.0.0.1:{listening.server_address[1]}"), environment={})
        listening.shutdown()
        thread.join()


@pytest.mark.usefixtures("waits")
class TestWriting:
    def test_method_body_content_and_query_reach_the_server(self, server: Server, script: Script) -> None:
        server.write("PATCH", "/x", b'{"a":1}', content=MERGE_PATCH, query={"dryRun": "All"})
        assert script.requests == [("PATCH", "/x?dryRun=All", {"a": 1}, MERGE_PATCH)]

    def test_a_server_that_asks_for_patience_is_asked_again_when_it_says_so(
        self, server: Server, script: Script, waits: list[float]
    ) -> None:
        script.begin(429, 429)
        server.write("POST", "/x", b"{}")
        assert (len(script.requests), waits) == (3, [7.0, 7.0])

    def test_a_refusal_is_not_tried_again(self, server: Server, script: Script) -> None:
        script.begin(409)
        with pytest.raises(ResponseError) as raised:
            server.write("POST", "/x", b"{}", repeatable=True)
        assert (len(script.requests), raised.value.after_lost) == (1, False)

    @pytest.mark.parametrize("lost", [HANG_UP, 500, 503, 504])
    def test_a_write_that_may_have_been_done_is_repeated_only_where_that_is_harmless(
        self, server: Server, script: Script, lost: int
    ) -> None:
        script.begin(lost)
        with pytest.raises(ClusterError) as raised:
            server.write("POST", "/x", b"{}")
        assert len(script.requests) == 1
        assert isinstance(raised.value, LostResponseError) or (
            isinstance(raised.value, ResponseError) and raised.value.after_lost
        )
        script.begin(lost)
        server.write("POST", "/x", b"{}", repeatable=True)
        assert len(script.requests) == 2

    def test_the_refusal_of_a_repetition_says_that_the_first_may_have_been_done(
        self, server: Server, script: Script
    ) -> None:
        script.begin(HANG_UP, 409)
        with pytest.raises(ResponseError) as raised:
            server.write("POST", "/x", b"{}", repeatable=True)
        assert (raised.value.status, raised.value.after_lost) == (409, True)

    def test_a_server_that_never_answers_leaves_it_unknown(self, server: Server, script: Script) -> None:
        script.begin(*[HANG_UP] * 9)
        with pytest.raises(LostResponseError, match="so that it may have been done"):
            server.write("POST", "/x", b"{}", repeatable=True)
        assert len(script.requests) == client.ATTEMPTS

    def test_what_is_lost_on_a_line_that_has_served_before_was_sent_once(self, server: Server, script: Script) -> None:
        script.begin(200, HANG_UP, 200, HANG_UP)
        server.write("POST", "/x", b"{}")
        with pytest.raises(LostResponseError):
            server.write("POST", "/x", b"{}")
        server.write("POST", "/x", b"{}")
        with pytest.raises(ClusterError, match="the connection broke"):
            server.stream("/x", {"watch": "true"})
        assert [method for method, *_ in script.requests] == ["POST", "POST", "POST", "GET"]

    def test_no_redirect_is_followed(self, server: Server, script: Script) -> None:
        script.begin(*[307] * 2)
        with pytest.raises(ResponseError, match="redirects to another address"):
            server.write("POST", "/x", b"{}")
        with pytest.raises(ResponseError, match="redirects to another address"):
            server.get("/x")
        assert [path for _, path, *_ in script.requests] == ["/x", "/x"]

    def test_whoever_gives_up_meanwhile_learns_what_was_done(self, server: Server, script: Script) -> None:
        script.before_answers = server.stop
        assert b"because" in server.write("POST", "/x", b"{}")
        with pytest.raises(ClusterError, match="interrupted"):
            server.write("POST", "/x", b"{}")

    @pytest.mark.parametrize("may_come", [True, False])
    def test_a_lost_answer_stays_lost_if_there_is_no_connection_afterwards(
        self, server: Server, script: Script, monkeypatch: pytest.MonkeyPatch, may_come: bool
    ) -> None:
        def unconnected(*_: object) -> None:
            raise UnconnectedError("there is no such host", may_come=may_come)

        script.before_answers = lambda: monkeypatch.setattr(Connections, "ask", unconnected)
        script.begin(HANG_UP)
        with pytest.raises(LostResponseError, match="there is no such host"):
            server.write("POST", "/x", b"{}", repeatable=True)

    def test_an_answer_that_cannot_be_read_leaves_it_unknown(self, server: Server, script: Script) -> None:
        script.encoding = "br"
        with pytest.raises(LostResponseError, match="encoded in a way that was not asked for"):
            server.write("POST", "/x", b"{}")


@pytest.mark.parametrize("method", ["get", "write"])
def test_a_handshake_that_breaks_has_sent_nothing_and_is_tried_again(method: str, waits: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            with suppress(OSError):
                while True:
                    listening.accept()[0].close()

        threading.Thread(target=hang_up, daemon=True).start()
        server = Server(Endpoint(f"https://127.0.0.1:{listening.getsockname()[1]}", insecure=True), environment={})
        with pytest.raises(ClusterError) as raised:
            server.get("/x") if method == "get" else server.write("POST", "/x", b"{}")
        assert not isinstance(raised.value, LostResponseError)
        assert len(waits) == client.ATTEMPTS - 1
        listening.shutdown(socket.SHUT_RDWR)


def test_where_nobody_listens_nothing_was_sent_and_it_is_tried_again(waits: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(ClusterError, match=r"no connection \(connection refused\)") as raised:
        Server(Endpoint(f"http://127.0.0.1:{port}"), environment={}).write("POST", "/x", b"{}")
    assert not isinstance(raised.value, LostResponseError)
    assert len(waits) == client.ATTEMPTS - 1
