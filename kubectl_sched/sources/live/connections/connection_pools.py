"""Connections to one server: urllib3 pools them, leads them through proxies and speaks HTTP; the trust is kubectl's.

Nothing is asked twice here and no redirect is followed.
"""

from __future__ import annotations

import socket
import ssl
import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from urllib3 import HTTPHeaderDict, PoolManager, ProxyManager, Timeout, disable_warnings
from urllib3.exceptions import InsecureRequestWarning, LocationValueError

from kubectl_sched.sources.live.connections.pooled_connection import answered_by, with_our_connections
from kubectl_sched.sources.live.connections.proxies import PORTS, authorization_for, proxy_before, user_of
from kubectl_sched.sources.live.connections.tls import certified_name, ssl_context
from kubectl_sched.sources.live.connections.urllib3_errors import errors_of_the_line
from kubectl_sched.sources.live.endpoint import host_of, split_address
from kubectl_sched.sources.live.live_errors import KubeconfigError, UnconnectedError
from kubectl_sched.sources.live.request_deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from urllib.parse import SplitResult

    from urllib3 import HTTPConnectionPool
    from urllib3.response import BaseHTTPResponse

    from kubectl_sched.sources.live.credentials import Shown
    from kubectl_sched.sources.live.endpoint import Endpoint

JSON = "application/json"
CONNECT_SECONDS = 30.0

_UNQUOTED = "/?:@!$&'()*+,;=~%[]"
"""The characters of a request's target that stand as they are, besides letters and digits."""

LEAST_SECONDS = 0.001
"""The least time to wait: 0 would mean not to wait for a socket at all."""

_KEPT = 64
"""Idle connections; more than are ever used at once."""

_NO_DEADLINE = Deadline(None)
_PROBES = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 45_000}
"""A line that is dead is found out after 45 s, whether something was sent on it or not, as client-go's pings do."""


def socket_options() -> list[tuple[int, int, int]]:
    """Return the options of every socket to a server, as far as the platform has them."""
    probes = [(getattr(socket, name), value) for name, value in _PROBES.items() if hasattr(socket, name)]
    of_tcp = [(socket.IPPROTO_TCP, name, value) for name, value in ((socket.TCP_NODELAY, 1), *probes)]
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *of_tcp]


class Request(NamedTuple):
    """One request, ready to be sent as often as need be."""

    path: str
    method: str = "GET"
    body: bytes | None = None
    content: str = ""
    accept: str = JSON


class Connections:
    """The connections to one endpoint, made as they are needed, by whatever thread."""

    def __init__(self, endpoint: Endpoint, environment: Mapping[str, str]) -> None:
        self._endpoint = endpoint
        self._environment = environment
        self._route: _Route | None = None
        self._lock = threading.Lock()

    def ask(
        self,
        request: Request,
        headers: Sequence[tuple[str, str]],
        shown: Shown,
        silence_seconds: float,
        deadline: Deadline = _NO_DEADLINE,
    ) -> BaseHTTPResponse:
        """Send the request once and return the head of its answer, whose body has to be read to its end, or closed.

        No read may wait for longer than `silence_seconds`, or beyond the deadline if there is one. Raises
        UnconnectedError where nothing was sent, KubeconfigError for a certificate or a proxy that makes no sense, and
        OSError (ssl.SSLError and TimeoutError among them) or HTTPException where the answer does not come.
        """
        with self._lock:
            if self._route is None or self._route.shown != shown:
                self._route = _Route.to(self._endpoint, shown, self._environment)
            route = self._route
        connecting = deadline.left or self._endpoint.timeout or CONNECT_SECONDS
        timeout = Timeout(
            connect=max(connecting / route.addresses, LEAST_SECONDS),
            read=silence_seconds if deadline.left is None else max(deadline.left, LEAST_SECONDS),
        )
        with answered_by(deadline), errors_of_the_line():
            return route.pool.urlopen(
                request.method,
                route.prefix + quote(request.path, _UNQUOTED),
                request.body,
                HTTPHeaderDict(headers),
                retries=False,
                redirect=False,
                assert_same_host=False,
                timeout=timeout,
                preload_content=False,
                decode_content=False,
            )


class _Route(NamedTuple):
    """The way to a server for one who shows these credentials, and the connections that it has."""

    shown: Shown
    pool: HTTPConnectionPool

    prefix: str
    """The beginning of every target: the path of the server's address, or all of it for a proxy that passes on."""

    addresses: int
    """The number of addresses to try, each with its part of the time (Go's net: partialDeadline)."""

    @classmethod
    def to(cls, endpoint: Endpoint, shown: Shown, environment: Mapping[str, str]) -> _Route:
        server = split_address(endpoint.server)
        if server is None or server.scheme not in {"http", "https"}:
            raise UnconnectedError("its address names no host that there can be")
        how: dict[str, Any] = {"maxsize": _KEPT, "socket_options": socket_options()}
        if server.scheme == "https":
            how |= {"ssl_context": ssl_context(endpoint, shown), "server_hostname": certified_name(endpoint)}
            if endpoint.insecure:
                disable_warnings(InsecureRequestWarning)
        proxy = proxy_before(endpoint, environment)
        manager = pool_manager(proxy, how)
        host, port = host_of(server), server.port or PORTS[server.scheme]
        try:
            pool = manager.connection_from_host(host, port, server.scheme)
        except LocationValueError:
            raise UnconnectedError("its address names no host that there can be") from None
        passes_on = isinstance(manager, ProxyManager) and server.scheme == "http"
        before = f"http://{server.netloc.rpartition('@')[2]}" if passes_on else ""
        dialled = (host, port) if proxy is None else (proxy.hostname or "", proxy.port or PORTS[proxy.scheme])
        return cls(shown, pool, before + quote(server.path.rstrip("/"), _UNQUOTED), _addresses(*dialled))


def pool_manager(proxy: SplitResult | None, how: Mapping[str, Any]) -> PoolManager:
    """Return what makes pools of our connections straight to a server, or through a proxy."""
    manager = PoolManager(**how) if proxy is None else _proxy_manager(proxy, how)
    pools = manager.pool_classes_by_scheme.items()
    manager.pool_classes_by_scheme = {scheme: with_our_connections(pool) for scheme, pool in pools}
    return manager


def _proxy_manager(proxy: SplitResult, how: Mapping[str, Any]) -> PoolManager:
    if proxy.scheme.startswith("socks"):
        return _socks_manager(proxy, how)
    return ProxyManager(
        f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}",
        proxy_headers=authorization_for(proxy),
        proxy_ssl_context=ssl.create_default_context() if proxy.scheme == "https" else None,
        **how,
    )


def _socks_manager(proxy: SplitResult, how: Mapping[str, Any]) -> PoolManager:
    """Go through a SOCKS5 proxy, which looks up the name, as kubectl lets it."""
    try:
        import socks  # type: ignore[import-untyped] # noqa: F401 - without it the next import warns, and fails
    except ImportError:
        raise KubeconfigError("a socks5 proxy needs PySocks: pip install 'kubectl-sched[socks]'") from None
    from urllib3.contrib.socks import SOCKSProxyManager

    name, password = user_of(proxy)
    address = proxy.netloc.rpartition("@")[2] + ("" if proxy.port else f":{PORTS[proxy.scheme]}")
    return SOCKSProxyManager(f"socks5h://{address}", name or None, password or None, **how)


def _addresses(host: str, port: int) -> int:
    try:
        return max(len(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)), 1)
    except (OSError, UnicodeError):  # which connecting comes upon as well
        return 1
