"""Proxies as companies have them: one that knows CONNECT and plain HTTP, and one that speaks SOCKS5.

Whatever name they are asked for, they go to one API server on loopback: the names are those of no real host.
"""

import http.client
import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

REASON = "Authenticate yourself" + ", please" * 1000
"""Longer than anybody wants to read."""

_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


class Proxy:
    """Listens on loopback; `targets` are the addresses that it was asked for, `credentials` what it was shown."""

    def __init__(self, port: int, token: str = "") -> None:
        self.targets: set[str] = set()
        self.credentials: set[str] = set()
        self._port = port
        self._token = token

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        """CONNECT opens a tunnel; any other request is passed on as it is, with the token that it lacks."""
        head = _head(client)
        if head is None:
            client.close()
            return
        method, target, headers = head
        self.credentials.update(line for line in headers if line.lower().startswith("proxy-authorization:"))
        if method == "CONNECT":
            self.targets.add(target)
            client.sendall(_ESTABLISHED)
            self.join(client)
            return
        parts = urlsplit(target)
        self.targets.add(parts.netloc)
        with client:
            client.sendall(self._fetched(f"{parts.path}?{parts.query}"))

    def _fetched(self, path: str) -> bytes:
        context = ssl._create_unverified_context()  # noqa: S323, SLF001 - on loopback, to a server of our own
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, context=context, timeout=30)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self._token}"})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        head = f"HTTP/1.1 {response.status} OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        return head.encode() + body

    def join(self, client: socket.socket) -> None:
        """Carry bytes both ways between the client and the API server."""
        server = socket.create_connection(("127.0.0.1", self._port))
        for one, other in ((client, server), (server, client)):
            threading.Thread(target=_copy, args=(one, other), daemon=True).start()


class TLSProxy(Proxy):
    """It is spoken to over TLS, with TLS for the server within that."""

    def __init__(self, port: int, certificates: Path) -> None:
        super().__init__(port)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates / "apiserver.crt", certificates / "apiserver.key")

    def serve(self, client: socket.socket) -> None:
        """Serve the client as Proxy does."""
        with suppress(ssl.SSLError):  # of somebody who does not trust it
            super().serve(self._context.wrap_socket(client, server_side=True))


class RefusingProxy(Proxy):
    """It lets nobody through."""

    def serve(self, client: socket.socket) -> None:
        """Refuse."""
        _head(client)
        client.sendall(f"HTTP/1.1 407 {REASON}\r\nContent-Length: 0\r\n\r\n".encode())
        client.close()


class SocksProxy(Proxy):
    """SOCKS5 (RFC 1928), with a name and a password where it is shown them (RFC 1929)."""

    def serve(self, client: socket.socket) -> None:
        """One greeting, one request for a host by name, then bytes both ways."""
        _, count = client.recv(2)
        methods = client.recv(count)
        if 2 in methods:
            client.sendall(b"\x05\x02")
            client.recv(1)
            self.credentials.add(f"{_text(client)}:{_text(client)}")
            client.sendall(b"\x01\x00")
        else:
            client.sendall(b"\x05\x00")
        kind = client.recv(4)[3]
        host = _text(client) if kind == 3 else socket.inet_ntoa(client.recv(4))
        self.targets.add(f"{host}:{int.from_bytes(client.recv(2), 'big')}")
        client.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        self.join(client)


def _text(client: socket.socket) -> str:
    return client.recv(client.recv(1)[0]).decode()


def _head(client: socket.socket) -> tuple[str, str, list[str]] | None:
    """What is asked for, and the headers; None for somebody who only looks whether anybody listens on the port."""
    data = b""
    while b"\r\n\r\n" not in data and (more := client.recv(65536)):
        data += more
    if not data:
        return None
    request, *headers = data.decode().splitlines()
    method, target, _ = request.split()
    return method, target, headers


def _copy(one: socket.socket, other: socket.socket) -> None:
    with one, other:
        try:
            while data := one.recv(65536):
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass
