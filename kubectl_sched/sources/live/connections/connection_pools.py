"""Connections to one server: through its proxy, with its trust, and each for one request after another.

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
from base64 import b64encode
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, parse_headers
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote, unquote

from kubectl_sched.sources.live.connections.proxies import proxy_from_environment
from kubectl_sched.sources.live.connections.tls import certified_name, distrust, may_pass_by, ssl_context
from kubectl_sched.sources.live.endpoint import host_of, split_address
from kubectl_sched.sources.live.live_errors import BrokenHandshakeError, KubeconfigError, UnconnectedError
from kubectl_sched.sources.live.request_deadline import Deadline
from kubectl_sched.sources.live.server_refusals import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from urllib.parse import SplitResult

    from typing_extensions import Buffer

    from kubectl_sched.sources.live.credentials import Shown
    from kubectl_sched.sources.live.endpoint import Endpoint

JSON = "application/json"

_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
_UNQUOTED = "/?:@!$&'()*+,;=~%[]"
"""The characters of a request's target that stand as they are, besides letters and digits."""

_SILENT = "it does not answer; is it the right address, and is the network up?"
_LEAST_SECONDS = 0.001
"""As 0 would mean not to wait for a socket at all."""

_NO_DEADLINE = Deadline(None)
_LONGEST_IDLE_SECONDS = 90.0
"""As net/http."""

_ALIVE_SECONDS = 30
_SOCKET_OPTIONS = (
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), _ALIVE_SECONDS)
        for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL")
        if hasattr(socket, name)
    ),
)
"""A line that is dead is found out after some minutes, even where nobody asks anything on it."""

_MOST_INTERIM = 5
"""As net/http."""

_MOST_QUOTED = 200
"""Characters of what a proxy says."""


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

    host: str
    port: int
    name: str
    """The host that the server's certificate must be for."""

    prefix: str
    """The beginning of every target: the path of the server's address, or all of it for a proxy that passes on."""

    context: ssl.SSLContext | None
    """None for a server without TLS."""

    proxy: SplitResult | None
    idle: list[Connection]
    """The one that was used last at the end."""

    @classmethod
    def of(cls, endpoint: Endpoint, shown: Shown, environment: Mapping[str, str]) -> _Pool:
        server = split_address(endpoint.server)
        if server is None or server.scheme not in {"http", "https"}:
            raise UnconnectedError("its address names no host that there can be")
        host = host_of(server)
        context = ssl_context(endpoint, shown) if server.scheme == "https" else None
        proxy = _proxy(endpoint.proxy or proxy_from_environment(endpoint.server, environment))
        passes_on = proxy is not None and proxy.scheme in {"http", "https"} and context is None
        before = f"http://{server.netloc.rpartition('@')[2]}" if passes_on else ""
        return cls(
            host=host,
            port=server.port or _PORTS[server.scheme],
            name=certified_name(endpoint),
            prefix=before + server.path.rstrip("/"),
            context=context,
            proxy=proxy,
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
        super().__init__(pool.host, pool.port, seconds)
        self.default_port = _PORTS["http" if pool.context is None else "https"]
        self._pool = pool
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
            raise UnconnectedError(_SILENT) from None
        except ssl.SSLError as error:
            if not may_pass_by(error):
                raise
            raise BrokenHandshakeError(distrust(error, self._pool.name)) from None
        except OSError as error:
            raise BrokenHandshakeError(plain(error)) from None

    def _connect(self) -> None:
        pool = self._pool
        self.sock = _way(pool, self.timeout)
        if pool.context is not None and pool.proxy is not None and pool.proxy.scheme == "https":
            from urllib3.util.ssltransport import SSLTransport  # TLS within TLS

            self.sock = SSLTransport(self.sock, pool.context, pool.name, suppress_ragged_eofs=False)
        elif pool.context is not None:
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
        self.sock.settimeout(max(deadline.left, _LEAST_SECONDS) if deadline.left is not None else silence_seconds)
        self.response_class = partial(Response, deadline=deadline)
        takes_gzip = any(name == "Accept-Encoding" for name, _ in headers)
        target = quote(self._pool.prefix + request.path, _UNQUOTED)
        try:
            self.putrequest(request.method, target, skip_accept_encoding=takes_gzip)
            for name, value in (*headers, *(_authorization(self._pool.proxy) if target[:1] != "/" else ())):
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


def _proxy(address: str | None) -> SplitResult | None:
    parts = split_address(address) if address else None
    if address and (parts is None or parts.scheme not in _PORTS):
        # Without what it says of a user.
        named = f"{parts.scheme}://{parts.hostname}" if parts is not None else "that is set"
        raise KubeconfigError(f"the proxy {named} is no http, https or socks5 address")
    return parts


def _way(pool: _Pool, seconds: float | None) -> socket.socket:
    """Return a socket that leads to the server, or to a proxy that passes its requests on."""
    proxy = pool.proxy
    if proxy is None:
        return _direct(pool, seconds)
    if proxy.scheme.startswith("socks"):
        return _through_socks(pool, proxy, seconds)
    try:
        sock = _dialled(proxy.hostname or "", proxy.port or _PORTS[proxy.scheme], seconds)
    except (OSError, UnicodeError) as error:
        raise UnconnectedError(f"its proxy cannot be reached ({plain(error)})") from None
    try:
        if proxy.scheme == "https":
            sock = ssl.create_default_context().wrap_socket(sock, server_hostname=proxy.hostname)
        if pool.context is not None:
            _begin_tunnel(sock, pool, proxy)
    except (OSError, HTTPException) as error:
        sock.close()
        raise UnconnectedError(f"its proxy does not let us through ({plain(error)})") from None
    return sock


def _direct(pool: _Pool, seconds: float | None) -> socket.socket:
    try:
        return _dialled(pool.host, pool.port, seconds)
    except (socket.gaierror, UnicodeError):
        raise UnconnectedError("there is no such host") from None
    except TimeoutError:
        raise UnconnectedError(_SILENT) from None
    except OSError as error:
        raise UnconnectedError(f"no connection ({plain(error)})", may_come=True) from None


def _dialled(host: str, port: int, seconds: float | None) -> socket.socket:
    """The first of the host's addresses that answers, each having its part of the time (net/http: partialDeadline)."""
    deadline, failure = Deadline(seconds), OSError("it has no address")
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for tried, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            if deadline.left is not None:
                sock.settimeout(max(deadline.left / (len(addresses) - tried), _LEAST_SECONDS))
            sock.connect(address)
        except OSError as error:
            sock.close()
            failure = error
        else:
            for level, option, value in _SOCKET_OPTIONS:
                sock.setsockopt(level, option, value)
            sock.settimeout(seconds and max(deadline.left or 0.0, _LEAST_SECONDS))
            return sock
    raise failure


def _through_socks(pool: _Pool, proxy: SplitResult, seconds: float | None) -> socket.socket:
    """Go through a SOCKS5 proxy, which looks up the name, as kubectl lets it."""
    try:
        import socks  # type: ignore[import-untyped]
    except ImportError:
        raise KubeconfigError("a socks5 proxy needs PySocks: pip install 'kubectl-sched[socks]'") from None
    name, password = _user(proxy)
    try:
        sock = socks.create_connection(
            (pool.host, pool.port),
            seconds,
            proxy_type=socks.SOCKS5,
            proxy_addr=proxy.hostname,
            proxy_port=proxy.port or _PORTS[proxy.scheme],
            proxy_username=name,
            proxy_password=password,
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
        )
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "socket_err", None) or error
        raise UnconnectedError(f"no connection through its proxy ({plain(cause)})", may_come=True) from None
    return cast("socket.socket", sock)


def _begin_tunnel(sock: socket.socket, pool: _Pool, proxy: SplitResult) -> None:
    """Ask the proxy for a tunnel to the server (RFC 9110, 9.3.6). Raises OSError where it refuses."""
    host = pool.host.encode("idna").decode()
    target = f"[{host}]:{pool.port}" if ":" in host else f"{host}:{pool.port}"
    headers = (("Host", target), *_authorization(proxy))
    lines = (f"CONNECT {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", "")
    sock.sendall("\r\n".join(lines).encode())
    with HTTPResponse(sock, method="CONNECT") as answer:
        answer.begin()
        if not 200 <= answer.status < 300:
            raise OSError(f"{answer.status} {answer.reason[:_MOST_QUOTED]}".strip())


def _authorization(proxy: SplitResult | None) -> tuple[tuple[str, str], ...]:
    """Return the header that shows the proxy who asks."""
    if proxy is None or not proxy.username:
        return ()
    return (("Proxy-Authorization", f"Basic {b64encode(':'.join(_user(proxy)).encode()).decode()}"),)


def _user(proxy: SplitResult) -> tuple[str, str]:
    """Return the name and the password of the proxy's address."""
    return unquote(proxy.username or ""), unquote(proxy.password or "")
