"""A request ends within --request-timeout, whatever the server does, and no long wait is silent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import pytest

from kubectl_sched.sources.live import client, request_deadline
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.credentials import Credentials
from kubectl_sched.sources.live.endpoint import Endpoint, User
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError
from tests.sources.live.silent_server import serving

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
BUSY = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses are counted, not waited."""
    waited: list[float] = []
    monkeypatch.setattr(client.Server, "_wait", lambda _, seconds: waited.append(seconds))
    return waited


@pytest.mark.parametrize("said", [b"", HEAD, HEAD + b"{"], ids=["nothing", "the head", "a part"])
def test_a_server_that_falls_silent_is_given_up(said: bytes) -> None:
    with serving(said) as address:
        server = Server(Endpoint(address, timeout=0.25), environment={})
        with pytest.raises(ClusterError, match=r"no complete answer within 0\.25 s \(--request-timeout"):
            server.get("/x")


def test_a_server_that_answers_by_and_by_is_given_up_too() -> None:
    with serving(HEAD + b"123456789", pause=0.05) as address:
        server = Server(Endpoint(address, timeout=0.25), environment={})
        with pytest.raises(ClusterError, match=r"no complete answer within 0\.25 s"):
            server.get("/x")


@pytest.mark.parametrize("method", ["get", "write"])
def test_a_pause_that_the_request_has_no_time_for_is_not_made(method: str, waits: list[float]) -> None:
    with serving(BUSY) as address:
        server = Server(Endpoint(address, timeout=5.0), environment={})
        with pytest.raises(ResponseError, match="429") as raised:
            server.get("/x") if method == "get" else server.write("POST", "/x", b"{}")
    assert (raised.value.status, waits) == (429, [])


def test_a_long_pause_says_what_it_waits_for(waits: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    with serving(BUSY) as address, pytest.raises(ResponseError):
        Server(Endpoint(address), environment={}, attempts=2).get("/x")
    assert waits == [7.0]
    name = f"the server {address.removeprefix('http://')}"
    assert capsys.readouterr().err == f"waiting for {name}, which is asked again in 7 s (answers 429)\n"


@pytest.mark.parametrize(("method", "said"), [("get", b""), ("get", HEAD + b"{"), ("write", b"")])
def test_a_silence_says_what_is_waited_for(method: str, said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    told: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(request_deadline, "SILENT_SECONDS", 0.0)
    monkeypatch.setattr(request_deadline, "tell_waiting", told.put)
    with ThreadPoolExecutor(1) as pool, serving(said) as address:
        server = Server(Endpoint(address), environment={}, attempts=1)
        asked = pool.submit(server.get, "/x") if method == "get" else pool.submit(server.write, "POST", "/x", b"{}")
        assert told.get(timeout=60) == f"the server {address.removeprefix('http://')}"
        assert not asked.done()


def test_a_credential_plugin_that_hangs_is_given_up() -> None:
    plugin = {"command": "sleep", "args": ["60"], "apiVersion": "client.authentication.k8s.io/v1"}
    endpoint = Endpoint("https://127.0.0.1:1", User(name="ann", plugin=plugin), timeout=0.25)
    with pytest.raises(ClusterError, match=r"the credential plugin sleep did not answer within 0\.25 s"):
        Credentials(endpoint).shown()
