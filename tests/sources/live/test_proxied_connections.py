"""Each way through a proxy leads to the server that was meant, and one that does not is told in a sentence."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint, Material
from kubectl_sched.sources.live.live_errors import ClusterError
from tests.e2e.live.proxies import REASON, Proxy, RefusingProxy, SocksProxy, TLSProxy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
HOST = "api.cluster.test"
"""No such host is known anywhere: whoever gets there was led by a proxy."""


@contextmanager
def speaking_tls(certificate: tuple[Path, Path]) -> Iterator[int]:
    """A server that answers whatever it is asked on each connection; gives its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)

    def answer(plain: socket.socket) -> None:
        with suppress(OSError), context.wrap_socket(plain, server_side=True) as line:
            while line.recv(1 << 16):
                line.sendall(ANSWER)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def asked_through(proxy: str, certificate: tuple[Path, Path], server: str = f"https://{HOST}:6443") -> Server:
    trusted = Material(path=str(certificate[0]))
    return Server(Endpoint(server, authority=trusted, server_name="localhost", proxy=proxy), environment={}, attempts=1)


@pytest.mark.parametrize(
    ("scheme", "kind", "target"),
    [
        ("http", Proxy, f"{HOST}:6443"),
        ("http", Proxy, "[fd00::1]:6443"),
        ("socks5", SocksProxy, f"{HOST}:6443"),
        ("socks5h", SocksProxy, f"{HOST}:6443"),
    ],
)
def test_one_tunnel_serves_two_requests(
    certificate: tuple[Path, Path], scheme: str, kind: type[Proxy], target: str
) -> None:
    with speaking_tls(certificate) as port, kind(port) as proxy:
        asked = asked_through(f"{scheme}://ann:a%40b@{proxy.address}", certificate, f"https://{target}")
        assert [asked.get("/one"), asked.get("/two")] == [b"body"] * 2
    assert proxy.targets == {target}
    assert proxy.credentials == {"ann:a@b" if kind is SocksProxy else "Proxy-Authorization: Basic YW5uOmFAYg=="}


def test_tls_goes_through_tls_with_a_proxy(
    certificate: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, name in zip(certificate, ("apiserver.crt", "apiserver.key"), strict=True):
        (tmp_path / name).write_bytes(path.read_bytes())
    with speaking_tls(certificate) as port, TLSProxy(port, tmp_path) as proxy:
        address = f"https://ann:word@localhost:{proxy.address.rpartition(':')[2]}"
        with pytest.raises(
            ClusterError, match=r"its proxy does not let us through \(certificate verify failed"
        ) as raised:
            asked_through(address, certificate).get("/one")
        assert "word" not in str(raised.value)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
        asked = asked_through(address, certificate)
        assert [asked.get("/one"), asked.get("/two")] == [b"body"] * 2
    assert proxy.targets == {f"{HOST}:6443"}


def test_a_server_behind_a_proxy_is_trusted_by_its_own_certificate(certificate: tuple[Path, Path]) -> None:
    with speaking_tls(certificate) as port, Proxy(port) as proxy:
        server = Server(Endpoint(f"https://{HOST}:6443", proxy=f"http://{proxy.address}"), environment={})
        with pytest.raises(ClusterError, match="its certificate is signed by an unknown authority"):
            server.get("/x")


def test_what_a_proxy_says_as_it_refuses_is_told_and_cut(certificate: tuple[Path, Path]) -> None:
    with RefusingProxy(1) as proxy, pytest.raises(ClusterError) as raised:
        asked_through(f"http://{proxy.address}", certificate).get("/x")
    assert str(raised.value).endswith(f": its proxy does not let us through (407 {REASON.lower()[:200]})")


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        ("http", "nothing comes through its proxy"),
        ("https", "its proxy does not let us through"),
        ("socks5", "no connection through its proxy"),
    ],
)
def test_a_proxy_that_says_nothing_is_given_up(certificate: tuple[Path, Path], scheme: str, said: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        proxy = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}"
        trusted = Material(path=str(certificate[0]))
        server = Server(Endpoint(f"https://{HOST}:6443", authority=trusted, proxy=proxy, timeout=0.25), environment={})
        with pytest.raises(ClusterError, match=rf"{said} \(timed out"):
            server.get("/x")
