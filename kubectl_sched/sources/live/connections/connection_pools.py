"""Connections to one server: with its trust, and each for one request after another.

They are http.client's own: a library of pools takes as long to import as a thousand nodes to read.
"""

from __future__ import annotations

import io
import selectors
import socket
import ssl
import threading
import time
import weakref
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, parse_headers
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote

from kubectl_sched.sources.live.connections.tls import certified_name, distrust, may_pass_by, ssl_context
from kubectl_sched.sources.live.connections.ways import (
    LEAST_SECONDS,
    PORTS,
    SILENT,
    Way,
    authorization_for,
    proxy_before,
)
from kubectl_sched.sources.live.endpoint import host_of, split_address
from kubectl_sched.sources.live.live_errors import BrokenHandshakeError, UnconnectedError
from kubectl_sched.sources.live.request_deadline import Deadline
from kubectl_sched.sources.live.server_refusals import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import Buffer

    from kubectl_sched.sources.live.credentials import Shown
    from kubectl_sched.sources.live.endpoint import Endpoint

JSON = "application/json"

_UNQUOTED = "/?:@!$&'()*+,;=~%[]"
"""The characters of a request's target that stand as they are, besides letters and digits."""

_NO_DEADLINE = Deadline(None)
_LONGEST_IDLE_SECONDS = 90.0
"""As net/http."""

_MOST_INTERIM = 5
"""As net/http."""


class Request(NamedTuple):
    """One request, ready to be sent as often as need be."""

    path: str
    method: str = "GET"
    body: bytes | None = None
    content: str = ""
    accept: str = JSON


class Response(HTTPResponse):
    """An answer whose head has come. Its connection ends with it, unless it is released."""

    def __init__(self, sock: socket.socket, *args: Any, deadline: Deadline, **more: Any) -> None:
        super().__init__(sock, *args, **more)
        if deadline.seconds is not None:
            self.fp = io.BufferedReader(_ReadUntil(deadline, sock, self.fp.detach()))
        self._socket = sock
        self.connection: Connection | None = None

    def _read_status(self) -> tuple[str, int, str]:
        """Pass over what comes before the answer itself (RFC 9110, 15.2), of which http.client knows only 100."""
        for _ in range(_MOST_INTERIM):
            line: tuple[str, int, str] = super()._read_status()  # type: ignore[misc]
            if line[1] >= HTTPStatus.OK:
                return line
            parse_headers(self.fp)
        raise HTTPException(f"over {_MOST_INTERIM} interim answers")

    def allow_silence(self, seconds: float) -> None:
        """Let each read from now on wait so long."""
        self._socket.settimeout(seconds)

    def shutdown(self) -> None:
        """End a read that waits in another thread."""
        self._socket.shutdown(socket.SHUT_RD)

    def release(self) -> None:
        """Let the connection serve again: the whole body has been read."""
        connection, self.connection = self.connection, None
        self.close()
        if connection is not None:
            connection.give_back()

    def close(self) -> None:
        """End the reading."""
        connection, self.connection = self.connection, None
        super().close()
        if connection is not None:
            connection.close()


class _ReadUntil(io.RawIOBase):
    """Reads from a socket until a deadline, however slowly something comes."""

    def __init__(self, deadline: Deadline, sock: socket.socket, raw: io.RawIOBase) -> None:
        super().__init__()
        self._deadline, self._socket, self._raw = deadline, sock, raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer, /) -> int | None:
        left = self._deadline.left
        if left == 0:
            raise TimeoutError
        self._socket.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class Connections:
    """The connections to one endpoint, made as they are needed, by whatever thread."""

    def __init__(self, endpoint: Endpoint, environment: Mapping[str, str]) -> None:
        self._endpoint = endpoint
        self._environment = environment
        self._pools: dict[Shown, _Pool] = {}
        self._lock = threading.Lock()
        weakref.finalize(self, _close, self._pools)

    def take(self, shown: Shown, seconds: float) -> Connection:
        """Return an open connection that shows this certificate, within so many seconds; nothing is under way on it.

        Raises UnconnectedError, KubeconfigError for a certificate or a proxy that makes no sense, ssl.SSLError where
        one side does not trust the other, and TimeoutError or another OSError where the server does not go on.
        """
        with self._lock:
            pool = self._pools.get(shown)
            if pool is None:
                pool = _Pool.of(self._endpoint, shown, self._environment)
                _close(self._pools)  # those of credentials that were shown before
                self._pools.clear()
                self._pools[shown] = pool
        return pool.take(seconds)


class _Pool(NamedTuple):
    """The connections that show one certificate, and what a new one needs."""

    way: Way
    name: str
    """The host that the server's certificate must be for."""

    prefix: str
    """The beginning of every target: the path of the server's address, or all of it for a proxy that passes on."""

    context: ssl.SSLContext | None
    """None for a server without TLS."""

    idle: list[Connection]
    """The one that was used last at the end."""

    @classmethod
    def of(cls, endpoint: Endpoint, shown: Shown, environment: Mapping[str, str]) -> _Pool:
        server = split_address(endpoint.server)
        if server is None or server.scheme not in {"http", "https"}:
            raise UnconnectedError("its address names no host that there can be")
        host = host_of(server)
        context = ssl_context(endpoint, shown) if server.scheme == "https" else None
        proxy = proxy_before(endpoint, environment)
        way = Way(host, server.port or PORTS[server.scheme], proxy, is_for_tls=context is not None)
        before = f"http://{server.netloc.rpartition('@')[2]}" if way.passes_on else ""
        return cls(
            way=way,
            name=certified_name(endpoint),
            prefix=before + server.path.rstrip("/"),
            context=context,
            idle=[],
        )

    def take(self, seconds: float) -> Connection:
        while self.idle:
            with suppress(IndexError):  # another thread was faster
                connection = self.idle.pop()
                if connection.is_fresh and connection.is_open:
                    return connection
                connection.close()
        connection = Connection(self, seconds)
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        return connection


class Connection(HTTPConnection):
    """A connection to the server, by whatever way."""

    response_class: Any
    """Makes the next Response."""

    def __init__(self, pool: _Pool, seconds: float) -> None:
        super().__init__(pool.way.host, pool.way.port)
        self.default_port = PORTS["http" if pool.context is None else "https"]
        self._pool = pool
        self._seconds = seconds
        self._idle_since = 0.0

    @property
    def is_fresh(self) -> bool:
        """Report whether it was idle for no longer than what lies between us and the server may remember it."""
        return time.monotonic() - self._idle_since < _LONGEST_IDLE_SECONDS

    @property
    def is_open(self) -> bool:
        """Report whether the server keeps it open: whatever comes without being asked for is its end."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.sock, selectors.EVENT_READ)
            return not selector.select(0)

    def give_back(self) -> None:
        """Serve again, unless the server wanted to close after its answer."""
        if self.sock is not None:
            self._idle_since = time.monotonic()
            self._pool.idle.append(self)

    def connect(self) -> None:
        """As Connections.take."""
        try:
            self._connect()
        except TimeoutError:
            raise UnconnectedError(SILENT) from None
        except ssl.SSLError as error:
            if not may_pass_by(error):
                raise
            raise BrokenHandshakeError(distrust(error, self._pool.name)) from None
        except OSError as error:
            raise BrokenHandshakeError(plain(error)) from None

    def _connect(self) -> None:
        pool = self._pool
        self.sock = pool.way.opened(self._seconds)
        if pool.context is None:
            return
        if pool.way.proxy is not None and pool.way.proxy.scheme == "https":
            from urllib3.util.ssltransport import SSLTransport  # TLS within TLS

            self.sock = SSLTransport(self.sock, pool.context, pool.name, suppress_ragged_eofs=False)
        else:
            # An end that is not announced may be anybody's: what came before it is not whole.
            self.sock = pool.context.wrap_socket(self.sock, server_hostname=pool.name, suppress_ragged_eofs=False)

    def ask(
        self,
        request: Request,
        headers: Sequence[tuple[str, str]],
        silence_seconds: float,
        deadline: Deadline = _NO_DEADLINE,
    ) -> Response:
        """Send the request; the head of its answer. No read may wait for longer than that, or beyond the deadline.

        Raises OSError, ssl.SSLError among them, or HTTPException.
        """
        self.sock.settimeout(max(deadline.left, LEAST_SECONDS) if deadline.left is not None else silence_seconds)
        self.response_class = partial(Response, deadline=deadline)
        takes_gzip = any(name == "Accept-Encoding" for name, _ in headers)
        target = quote(self._pool.prefix + request.path, _UNQUOTED)
        try:
            self.putrequest(request.method, target, skip_accept_encoding=takes_gzip)
            for name, value in (*headers, *(authorization_for(self._pool.way.proxy) if target[:1] != "/" else ())):
                self.putheader(name, value)
            if request.body is not None:
                self.putheader("Content-Length", str(len(request.body)))
            with suppress(BrokenPipeError):  # a server may answer before it has read everything
                self.endheaders(request.body)
            response = cast("Response", self.getresponse())
        except BaseException:
            self.close()
            raise
        response.connection = self
        return response


def _close(pools: dict[Shown, _Pool]) -> None:
    for pool in pools.values():
        for connection in pool.idle:
            connection.close()
