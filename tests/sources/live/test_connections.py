"""A connection gives each request its own answer, whatever a server or what stands before it sends besides."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.connections import pooled_connection
from kubectl_sched.sources.live.connections.tls import ssl_context
from kubectl_sched.sources.live.credentials import Credentials, Shown
from kubectl_sched.sources.live.endpoint import Endpoint, Material, User
from kubectl_sched.sources.live.live_errors import ClusterError
from tests.e2e.live.proxies import TLSProxy
from tests.sources.live.silent_server import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import TypeAlias

    from urllib3.response import BaseHTTPResponse

    Proxied: TypeAlias = Callable[[int], AbstractContextManager[str]]

EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"
PROCESSING = b"HTTP/1.1 102 Processing\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"


@pytest.mark.parametrize("before", [b"", EARLY, CONTINUE, EARLY + PROCESSING + CONTINUE])
def test_interim_answers_are_passed_over(before: bytes) -> None:
    with serving(before + ANSWER) as address:
        server = Server(Endpoint(address), environment={})
        assert [server.get("/one"), server.write("POST", "/two", b"{}")] == [b"body"] * 2


def test_interim_answers_without_end_are_no_answer() -> None:
    with serving(EARLY * 9 + ANSWER) as address, pytest.raises(ClusterError, match="the answer is no HTTP"):
        Server(Endpoint(address), environment={}, attempts=1).get("/x")


@pytest.mark.parametrize(("longest", "made"), [(90.0, 1), (0.0, 2)])
def test_a_connection_serves_again_unless_it_was_idle_for_long(
    monkeypatch: pytest.MonkeyPatch, longest: float, made: int
) -> None:
    monkeypatch.setattr(pooled_connection, "_LONGEST_IDLE_SECONDS", longest)
    taken: list[socket.socket] = []
    with serving(ANSWER, taken) as address:
        server = Server(Endpoint(address), environment={})
        assert [server.get("/one"), server.get("/two")] == [b"body"] * 2
        assert len(taken) == made


def line_of(response: BaseHTTPResponse) -> socket.socket:
    connection: Any = response.connection
    assert isinstance(connection.sock, socket.socket)
    return connection.sock


def test_a_line_is_asked_now_and_then_whether_it_is_alive() -> None:
    with serving(ANSWER) as address:
        response = Server(Endpoint(address), environment={}).stream("/pods", {"watch": "true"})
        line = line_of(response)
        assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 45_000
        response.close()


def test_a_watch_may_be_silent_for_as_long_as_its_reader_says() -> None:
    with serving(ANSWER) as address:
        response = Server(Endpoint(address), environment={}).stream("/pods", {"watch": "true"}, 90.0)
        assert line_of(response).gettimeout() == 90.0
        response.close()


@pytest.fixture
def proxied(certificate: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Proxied:
    """A way to give the port of a server on this host the address of a proxy before it that speaks TLS."""
    for path, name in zip(certificate, ("apiserver.crt", "apiserver.key"), strict=True):
        (tmp_path / name).write_bytes(path.read_bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))

    @contextmanager
    def proxy(port: int) -> Iterator[str]:
        with TLSProxy(port, tmp_path) as between:
            yield f"https://localhost:{between.address.rpartition(':')[2]}"

    return proxy


@pytest.mark.parametrize("through_tls", [False, True])
@pytest.mark.parametrize("says_goodbye", [True, False])
def test_what_ends_without_a_word_of_tls_is_not_whole(
    certificate: tuple[Path, Path], proxied: Proxied, says_goodbye: bool, through_tls: bool
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            plain, _ = listening.accept()
            with context.wrap_socket(plain, server_side=True) as line:
                line.recv(1 << 16)
                line.sendall(b"HTTP/1.1 200 OK\r\n\r\nbody")
                if says_goodbye:
                    with suppress(OSError):
                        line.unwrap()

        thread = threading.Thread(target=answer)
        thread.start()
        trusted = Material(path=str(certificate[0]))
        port = listening.getsockname()[1]
        address = f"https://127.0.0.1:{port}"
        with proxied(port) if through_tls else nullcontext(None) as proxy:
            endpoint = Endpoint(address, authority=trusted, server_name="localhost", proxy=proxy)
            server = Server(endpoint, environment={}, attempts=1)
            if says_goodbye:
                assert server.get("/x") == b"body"
            else:
                with pytest.raises(ClusterError, match="the connection broke"):
                    server.get("/x")
            thread.join()


def test_the_first_address_that_answers_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = closed.getsockname()
    with serving(ANSWER) as address:
        somebody = ("127.0.0.1", int(address.rpartition(":")[2]))

        def both(*_: Any, **__: Any) -> list[tuple[Any, ...]]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", each) for each in (nobody, somebody)]

        monkeypatch.setattr(socket, "getaddrinfo", both)
        assert Server(Endpoint("http://api.test"), environment={}).get("/x") == b"body"


def test_a_certificate_that_is_refused_is_read_again(tmp_path: Path) -> None:
    paths = (Material(path=str(tmp_path / name)) for name in ("a.crt", "a.key"))
    credentials = Credentials(Endpoint("https://one", User("ann", certificate=next(paths), key=next(paths))))
    first = credentials.shown()
    assert credentials.renewable
    assert credentials.shown() == first
    second = credentials.shown(refused=first)
    assert second != first  # so that it does not go on with the connections of the first
    assert second.certificate == first.certificate


def test_a_server_at_an_ipv6_address_is_asked_through_a_proxy() -> None:
    with serving(ANSWER) as address:
        server = Server(Endpoint("http://[fd00::1]:8080/k8s", proxy=address), environment={})
        assert server.get("/version") == b"body"


def test_a_certificate_is_for_the_names_that_it_lists_and_not_for_its_common_name() -> None:
    context = ssl_context(Endpoint("https://one"), Shown())
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert not context.hostname_checks_common_name
