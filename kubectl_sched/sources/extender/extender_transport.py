"""One POST as Go's http.Client sends it: within one deadline, over redirects, and with its words for what fails."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import urllib.error
import urllib.request
from base64 import b64encode
from contextlib import contextmanager
from functools import partial
from threading import Timer
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, unquote, urlsplit

from kubectl_sched.framework.extender_answers import ExtenderError

if TYPE_CHECKING:
    from collections.abc import Iterator

_WHILE_AWAITING: Final = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
_WHILE_READING: Final = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
_KEEP_THE_METHOD: Final = frozenset({307, 308})
_PORTS: Final = {"http": 80, "https": 443}


def post(url: str, body: bytes, context: ssl.SSLContext, seconds: float) -> tuple[int, bytes]:
    """Return the answer's status and its body, as far as it came; no deadline where `seconds` is none.

    Raises ExtenderError.
    """
    parts = _parse(url)
    deadline = _Deadline(seconds if seconds > 0 else None)
    shown = _masked(url, parts)
    request = urllib.request.Request(  # noqa: S310 - http or https, as _parse sees to
        _without_user(parts), body, {"Content-Type": "application/json", **_authorization(parts)}, method="POST"
    )
    with deadline.running():
        try:
            response = _opener(parts, context, deadline).open(request, timeout=deadline.seconds)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code, b""
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = _WHILE_AWAITING if deadline.passed else _reason(error, parts)
            raise ExtenderError(f'Post "{shown}": {reason}') from None
        with response:
            try:
                return response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                if deadline.passed:
                    raise ExtenderError(_WHILE_READING) from None
                return response.status, getattr(error, "partial", b"")


class _Deadline:
    """Ends a connection when the time for a whole request is over; a socket's own timeout is for each step of it."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._until = None if seconds is None else monotonic() + seconds
        self._timers: list[Timer] = []

    @property
    def passed(self) -> bool:
        """Report whether the time is over."""
        return self._until is not None and monotonic() >= self._until

    def watch(self, connection: socket.socket) -> None:
        """Shut the connection down at the end of the time."""
        if self._until is not None:
            timer = Timer(max(self._until - monotonic(), 0), partial(_shut, connection))
            timer.daemon = True
            timer.start()
            self._timers.append(timer)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Around the request; after it nothing is shut down any more."""
        try:
            yield
        finally:
            for timer in self._timers:
                timer.cancel()


def _shut(connection: socket.socket) -> None:
    """Below TLS, which another thread may be in the middle of."""
    try:
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
    except OSError:
        return


def _parse(url: str) -> SplitResult:
    """The parts of a URL that Go's client takes."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ExtenderError(f'parse "{url}": {str(error).lower()}') from None
    if not parts.scheme and ":" in url.partition("/")[0]:
        raise ExtenderError(f'parse "{url}": first path segment in URL cannot contain colon')
    if parts.scheme not in _PORTS:
        raise ExtenderError(f'Post "{url}": unsupported protocol scheme "{parts.scheme}"')
    if not parts.hostname:
        raise ExtenderError(f'Post "{url}": http: no Host in request URL')
    return parts


def _without_user(parts: SplitResult) -> str:
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _masked(url: str, parts: SplitResult) -> str:
    """The URL as errors show it, without its password."""
    return url if parts.password is None else url.replace(f":{parts.password}@", ":***@", 1)


def _authorization(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(user.encode()).decode()}"}


def _opener(parts: SplitResult, context: ssl.SSLContext, deadline: _Deadline) -> urllib.request.OpenerDirector:
    """HTTP and HTTPS through the environment's proxies, which Go never asks for this machine itself."""
    opener = urllib.request.OpenerDirector()
    proxies: dict[str, str] | None = {} if _is_loopback(parts.hostname or "") else None
    for handler in (
        urllib.request.ProxyHandler(proxies),
        _HTTPHandler(deadline),
        _HTTPSHandler(deadline, context),
        _RedirectHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _Connection(http.client.HTTPConnection):
    deadline: _Deadline

    def connect(self) -> None:
        super().connect()
        self.deadline.watch(self.sock)


class _TLSConnection(http.client.HTTPSConnection):
    deadline: _Deadline

    def connect(self) -> None:
        super().connect()
        self.deadline.watch(self.sock)


def _connection(kind: type[_Connection | _TLSConnection], deadline: _Deadline, host: str, **more: Any) -> Any:
    connection = kind(host, **more)
    connection.deadline = deadline
    return connection


class _HTTPHandler(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open a connection that knows the deadline."""
        return self.do_open(partial(_connection, _Connection, self._deadline), req)


class _HTTPSHandler(urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline, context: ssl.SSLContext) -> None:
        super().__init__()
        self._deadline = deadline
        self._tls = context

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        """Open a connection that knows the deadline."""
        return self.do_open(partial(_connection, _TLSConnection, self._deadline, context=self._tls), req)


class _RedirectHandler(urllib.request.HTTPRedirectHandler):
    """Sends the same again where the status asks for it, and else a GET."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """The request to the new place."""
        if code not in _KEEP_THE_METHOD:
            return super().redirect_request(req, fp, code, msg, headers, newurl)
        return urllib.request.Request(newurl, req.data, dict(req.header_items()), method=req.get_method())  # noqa: S310

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302


def _reason(error: Exception, parts: SplitResult) -> str:
    """Return the failure in a sentence."""
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    match cause:
        case TimeoutError():
            reason = _WHILE_AWAITING
        case http.client.RemoteDisconnected():
            reason = "EOF"
        case http.client.BadStatusLine():
            text = str(cause.args[0]).strip("\r\n")
            reason = f'net/http: HTTP/1.x transport connection broken: malformed HTTP response "{text}"'
        case socket.gaierror():
            reason = f"dial tcp: lookup {parts.hostname}: no such host"
        case ConnectionResetError() | BrokenPipeError():
            reason = f"read tcp: read: {_strerror(cause)}"
        case OSError(errno=int()) if not isinstance(cause, ssl.SSLError):
            reason = f"dial tcp {_address(parts)}: connect: {_strerror(cause)}"
        case _:
            reason = str(cause)
    return reason


def _strerror(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _address(parts: SplitResult) -> str:
    """The first address of the host, with the port."""
    port = parts.port or _PORTS[parts.scheme]
    try:
        address = str(socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        address = parts.hostname or ""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
