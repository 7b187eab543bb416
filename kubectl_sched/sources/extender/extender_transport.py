"""One POST as Go's http.Client sends it: within one deadline, and over redirects.

What fails is told in plain sentences, which name the address without its user, its password and its query.
"""

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

from kubectl_sched.framework.extender_decoding import ExtenderError

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEEP_THE_METHOD: Final = frozenset({307, 308})
_SCHEMES: Final = frozenset({"http", "https"})
_MOST_BYTES: Final = 64 << 20
"""An answer about 5,000 nodes, sent whole, has a tenth of it."""


def post(url: str, body: bytes, context: ssl.SSLContext, seconds: float) -> tuple[int, bytes]:
    """Return the answer's status and its body, as far as it came; with no deadline unless `seconds` is positive.

    Raises ExtenderError.
    """
    parts = _parse(url)
    deadline = _Deadline(seconds if seconds > 0 else None)
    shown = f"the extender at {parts.scheme}://{_address(parts)}{parts.path}"
    late = f"{shown} did not answer within {seconds:g} s"
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
            cause = error.reason if isinstance(error, urllib.error.URLError) else error
            if deadline.passed or isinstance(cause, TimeoutError):
                raise ExtenderError(late) from None
            raise ExtenderError(f"{shown} {_reason(cause)}") from None
        with response:
            try:
                answer = response.read(_MOST_BYTES + 1)
                cut = bool(response.length)
            except (OSError, http.client.HTTPException) as error:
                answer, cut = getattr(error, "partial", b""), True
            if cut and deadline.passed:
                raise ExtenderError(late)
            if len(answer) > _MOST_BYTES:
                raise ExtenderError(f"{shown} gives an answer of over {_MOST_BYTES >> 20} MiB")
            return response.status, answer


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
    """The parts of a URL that names a host to ask over HTTP."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ExtenderError("the extender's urlPrefix is no URL") from None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        raise ExtenderError("the extender's urlPrefix is no URL that begins with http:// or https:// and names a host")
    return parts


def _without_user(parts: SplitResult) -> str:
    return parts._replace(netloc=_address(parts)).geturl()


def _address(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


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
    """Sends the same again where the status asks for it, and else a GET; credentials go to the same host only."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """The request to the new place."""
        again: urllib.request.Request | None
        if code in _KEEP_THE_METHOD:
            again = urllib.request.Request(newurl, req.data, dict(req.header_items()), method=req.get_method())  # noqa: S310
        else:
            again = super().redirect_request(req, fp, code, msg, headers, newurl)
        if again is not None and not _may_know_credentials(urlsplit(req.full_url), urlsplit(newurl)):
            again.remove_header("Authorization")
        return again

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302


def _may_know_credentials(before: SplitResult, after: SplitResult) -> bool:
    return before.hostname == after.hostname and (before.scheme, after.scheme) != ("https", "http")


def _reason(cause: object) -> str:
    """Describe the failure in our own words: an exception's may quote an address with its password."""
    match cause:
        case ssl.SSLCertVerificationError():
            reason = f"has a certificate that cannot be verified: {cause.verify_message}"
        case ssl.SSLError():
            reason = f"does not speak TLS as it should ({cause.reason})"
        case http.client.RemoteDisconnected():
            reason = "ended the connection without an answer"
        case http.client.HTTPException():
            reason = "gives an answer that is no HTTP"
        case socket.gaierror():
            reason = "cannot be found: its host has no address"
        case OSError(strerror=str() as words):
            reason = f"cannot be asked: {words.lower()}"
        case _:
            reason = "cannot be asked, or sends elsewhere to what is no address"
    return reason
