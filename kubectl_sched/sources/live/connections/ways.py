"""Ways to a server: straight, through a tunnel of an HTTP proxy, or through a SOCKS5 proxy."""

from __future__ import annotations

import socket
import ssl
from base64 import b64encode
from http.client import HTTPException, HTTPResponse
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import unquote

from kubectl_sched.sources.live.connections.proxies import proxy_from_environment
from kubectl_sched.sources.live.endpoint import split_address
from kubectl_sched.sources.live.live_errors import KubeconfigError, UnconnectedError
from kubectl_sched.sources.live.request_deadline import Deadline
from kubectl_sched.sources.live.server_refusals import plain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    from kubectl_sched.sources.live.endpoint import Endpoint

PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
SILENT = "it does not answer; is it the right address, and is the network up?"

LEAST_SECONDS = 0.001
"""As 0 would mean not to wait for a socket at all."""

_PROBES = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 45_000}
"""A line that is dead is found out after 45 s, whether something was sent on it or not, as client-go's pings do."""


def socket_options() -> list[tuple[int, int, int]]:
    """Return the options of every socket to a server, as far as the platform has them."""
    probes = [(getattr(socket, name), value) for name, value in _PROBES.items() if hasattr(socket, name)]
    of_tcp = [(socket.IPPROTO_TCP, name, value) for name, value in ((socket.TCP_NODELAY, 1), *probes)]
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *of_tcp]


_MOST_QUOTED = 200
"""Characters of what a proxy says."""


def proxy_before(endpoint: Endpoint, environment: Mapping[str, str]) -> SplitResult | None:
    """Return the proxy before the server, if any. Raises KubeconfigError for one that makes no sense."""
    address = endpoint.proxy or proxy_from_environment(endpoint.server, environment)
    parts = split_address(address) if address else None
    if address and (parts is None or parts.scheme not in PORTS):
        # Without what it says of a user.
        named = f"{parts.scheme}://{parts.hostname}" if parts is not None else "that is set"
        raise KubeconfigError(f"the proxy {named} is no http, https or socks5 address")
    return parts


class Way(NamedTuple):
    """The way to a server: straight, or through a proxy."""

    host: str
    port: int
    proxy: SplitResult | None
    is_for_tls: bool
    """The server speaks TLS, for which an HTTP proxy opens a tunnel; other requests it passes on."""

    @property
    def passes_on(self) -> bool:
        """Report whether a proxy is told each request, instead of opening a tunnel."""
        return self.proxy is not None and self.proxy.scheme in {"http", "https"} and not self.is_for_tls

    def opened(self, seconds: float) -> socket.socket:
        """Return a socket that leads to the server, or to a proxy that passes requests on, within so many seconds.

        Raises UnconnectedError, and KubeconfigError where what a SOCKS proxy needs is not installed.
        """
        proxy = self.proxy
        if proxy is None:
            return _straight(self, seconds)
        if proxy.scheme.startswith("socks"):
            return _through_socks(self, proxy, seconds)
        try:
            sock = _dialled(proxy.hostname or "", proxy.port or PORTS[proxy.scheme], seconds)
        except (OSError, UnicodeError) as error:
            raise UnconnectedError(f"its proxy cannot be reached ({plain(error)})") from None
        try:
            if proxy.scheme == "https":
                sock = ssl.create_default_context().wrap_socket(sock, server_hostname=proxy.hostname)
            if self.is_for_tls:
                _begin_tunnel(sock, self, proxy)
        except (OSError, HTTPException) as error:
            sock.close()
            raise UnconnectedError(f"its proxy does not let us through ({plain(error)})") from None
        return sock


def _straight(way: Way, seconds: float) -> socket.socket:
    try:
        return _dialled(way.host, way.port, seconds)
    except (socket.gaierror, UnicodeError):
        raise UnconnectedError("there is no such host") from None
    except TimeoutError:
        raise UnconnectedError(SILENT) from None
    except OSError as error:
        raise UnconnectedError(f"no connection ({plain(error)})", may_come=True) from None


def _dialled(host: str, port: int, seconds: float) -> socket.socket:
    """The first of the host's addresses that answers, each having its part of the time (Go's net: partialDeadline)."""
    deadline, failure = Deadline(seconds), OSError("it has no address")
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for tried, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(max((deadline.left or 0.0) / (len(addresses) - tried), LEAST_SECONDS))
            sock.connect(address)
        except OSError as error:
            sock.close()
            failure = error
        else:
            for level, option, value in socket_options():
                sock.setsockopt(level, option, value)
            sock.settimeout(max(deadline.left or 0.0, LEAST_SECONDS))
            return sock
    raise failure


def _through_socks(way: Way, proxy: SplitResult, seconds: float) -> socket.socket:
    """Go through a SOCKS5 proxy, which looks up the name, as kubectl lets it."""
    try:
        import socks  # type: ignore[import-untyped]
    except ImportError:
        raise KubeconfigError("a socks5 proxy needs PySocks: pip install 'kubectl-sched[socks]'") from None
    name, password = _user(proxy)
    try:
        sock = socks.create_connection(
            (way.host, way.port),
            seconds,
            proxy_type=socks.SOCKS5,
            proxy_addr=proxy.hostname,
            proxy_port=proxy.port or PORTS[proxy.scheme],
            proxy_username=name,
            proxy_password=password,
            socket_options=socket_options(),
        )
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "socket_err", None) or error
        raise UnconnectedError(f"no connection through its proxy ({plain(cause)})", may_come=True) from None
    return cast("socket.socket", sock)


def _begin_tunnel(sock: socket.socket, way: Way, proxy: SplitResult) -> None:
    """Ask the proxy for a tunnel to the server (RFC 9110, 9.3.6). Raises OSError where it refuses."""
    host = way.host.encode("idna").decode()
    target = f"[{host}]:{way.port}" if ":" in host else f"{host}:{way.port}"
    headers = (("Host", target), *authorization_for(proxy))
    lines = (f"CONNECT {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", "")
    sock.sendall("\r\n".join(lines).encode())
    with HTTPResponse(sock, method="CONNECT") as answer:
        answer.begin()
        if not 200 <= answer.status < 300:
            raise OSError(f"{answer.status} {answer.reason[:_MOST_QUOTED]}".strip())


def authorization_for(proxy: SplitResult | None) -> tuple[tuple[str, str], ...]:
    """Return the header that shows the proxy who asks."""
    if proxy is None or not proxy.username:
        return ()
    return (("Proxy-Authorization", f"Basic {b64encode(':'.join(_user(proxy)).encode()).decode()}"),)


def _user(proxy: SplitResult) -> tuple[str, str]:
    """Return the name and the password of the proxy's address."""
    return unquote(proxy.username or ""), unquote(proxy.password or "")
