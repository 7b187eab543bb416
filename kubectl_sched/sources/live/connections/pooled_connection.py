"""A connection in urllib3's pools: passes over interim answers, keeps a deadline, and says what broke unsent."""

from __future__ import annotations

import io
import ssl
import time
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import TYPE_CHECKING, Any

from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError, LocationParseError, NameResolutionError

from kubectl_sched.sources.live.connections.tls import distrust, may_pass_by
from kubectl_sched.sources.live.connections.urllib3_errors import cause_of
from kubectl_sched.sources.live.live_errors import BrokenHandshakeError, UnconnectedError
from kubectl_sched.sources.live.request_deadline import Deadline
from kubectl_sched.sources.live.server_refusals import plain

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from typing_extensions import Buffer
    from urllib3.connectionpool import HTTPConnectionPool
    from urllib3.response import HTTPResponse as Response

_LONGEST_IDLE_SECONDS = 90.0
"""net/http's IdleConnTimeout, after which what lies between us and the server may have forgotten a connection."""

_MOST_INTERIM = 5
"""The most answers with a status of 1xx before the one that counts, as in net/http."""

_MOST_QUOTED = 204
"""Characters of a proxy's refusal: its status, and 200 of what it says."""

_SILENT = "it does not answer; is it the right address, and is the network up?"
_NO_DEADLINE = Deadline(None)
_deadline = ContextVar("deadline", default=_NO_DEADLINE)


@contextmanager
def answered_by(deadline: Deadline) -> Iterator[None]:
    """Have answers that this thread asks for meanwhile come as a whole, head and body, before the deadline."""
    token = _deadline.set(deadline)
    try:
        yield
    finally:
        _deadline.reset(token)


class _FinalAnswer(HTTPResponse):
    """The answer after the interim ones (RFC 9110, 15.2), of which http.client passes over 100 alone."""

    def __init__(self, sock: socket.socket, *arguments: Any, **more: Any) -> None:
        super().__init__(sock, *arguments, **more)
        deadline = _deadline.get()
        if deadline.seconds is not None:
            self.fp = io.BufferedReader(_ReadUntil(deadline, sock, self.fp.detach()))

    def begin(self) -> None:
        """Read the head of the answer. Raises HTTPException where there are too many before it."""
        for _ in range(_MOST_INTERIM + 1):
            super().begin()
            if self.status >= HTTPStatus.OK:
                return
            self.headers = self.msg = None  # type: ignore[assignment] # so that the next head is read
        raise HTTPException(f"over {_MOST_INTERIM} interim answers")


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


class _Connection(HTTPConnection):
    """Stands before a class of urllib3's connections: straight or through a proxy, with TLS or without."""

    response_class: Any = _FinalAnswer
    _used_at = 0.0

    @property
    def is_connected(self) -> bool:
        """Report whether the connection may serve again: it is open, and was used a short while ago."""
        return time.monotonic() - self._used_at < _LONGEST_IDLE_SECONDS and super().is_connected

    def getresponse(self) -> Response:  # type: ignore[override] # as in urllib3
        """Read the head of the answer."""
        response = super().getresponse()
        self._used_at = time.monotonic()
        return response

    def connect(self) -> None:
        """Connect, by whatever way. Raises UnconnectedError, with its cause: nothing was sent."""
        try:
            super().connect()
        except HTTPError as error:
            raise self._unreached(error) from cause_of(error)
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error

    def _unreached(self, error: HTTPError) -> UnconnectedError:
        """Return the error of a line that could not be had."""
        cause: Any = cause_of(error)
        if hasattr(cause, "socket_err"):  # PySocks' own
            said = plain(cause.socket_err or cause)
            return UnconnectedError(f"no connection through its proxy ({said})", may_come=True)
        if self.proxy is not None:
            return UnconnectedError(f"its proxy cannot be reached ({plain(cause)})")
        if isinstance(error, NameResolutionError | LocationParseError):
            return UnconnectedError("there is no such host")
        if isinstance(cause, TimeoutError):
            return UnconnectedError(_SILENT)
        return UnconnectedError(f"no connection ({plain(cause)})", may_come=True)

    def _broken(self, error: OSError | HTTPException) -> UnconnectedError:
        """Return the error of a line that broke before anything was sent over it."""
        if isinstance(error, HTTPException) or (self.proxy is not None and not self.has_connected_to_proxy):
            said = plain(error).removeprefix("tunnel connection failed: ")[:_MOST_QUOTED]
            return UnconnectedError(f"its proxy does not let us through ({said.strip()})")
        if isinstance(error, TimeoutError):
            return UnconnectedError(_SILENT if self.proxy is None else "nothing comes through its proxy (timed out)")
        if not isinstance(error, ssl.SSLError):
            return BrokenHandshakeError(plain(error))
        said = distrust(error, getattr(self, "server_hostname", None) or self.host)
        return BrokenHandshakeError(said) if may_pass_by(error) else UnconnectedError(said)


def with_our_connections(pool: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
    """Return a class of pools like this one, whose connections are ours as well."""
    connection = type("Connection", (_Connection, pool.ConnectionCls), {})
    return type("Pool", (pool,), {"ConnectionCls": connection})
