"""One POST as Go's http.Client sends it: within one deadline, and over redirects.

What fails is told in plain sentences, which name the address without its user, its password and its query.
"""

from __future__ import annotations

import os
import socket
import ssl
from base64 import b64encode
from contextlib import closing
from http.client import HTTPException, RemoteDisconnected
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from urllib3 import Timeout, disable_warnings
from urllib3.exceptions import InsecureRequestWarning

from kubectl_sched.framework.extender_decoding import ExtenderError
from kubectl_sched.sources.live.connections.connection_pools import LEAST_SECONDS, pool_manager
from kubectl_sched.sources.live.connections.pooled_connection import answered_by
from kubectl_sched.sources.live.connections.proxies import proxy_from_environment
from kubectl_sched.sources.live.connections.urllib3_errors import errors_of_the_line
from kubectl_sched.sources.live.live_errors import UnconnectedError
from kubectl_sched.sources.live.request_deadline import Deadline

if TYPE_CHECKING:
    from urllib3 import PoolManager
    from urllib3.response import BaseHTTPResponse

_KEEP_THE_METHOD: Final = frozenset({307, 308})
_MOST_REDIRECTS: Final = 10
_SCHEMES: Final = frozenset({"http", "https"})
_MOST_BYTES: Final = 64 << 20
"""An answer about 5,000 nodes, sent whole, has a tenth of it."""

_CHUNK: Final = 1 << 18


class Trust(NamedTuple):
    """The certificates that count, and the name that a server's has to be for, where that is not its address's."""

    context: ssl.SSLContext
    server_name: str = ""


def post(url: str, body: bytes, trust: Trust, seconds: float) -> tuple[int, bytes]:
    """Return the answer's status and its body, as far as it came; with no deadline unless `seconds` is positive.

    Raises ExtenderError.
    """
    parts = _parse(url)
    deadline = Deadline(seconds if seconds > 0 else None)
    shown = f"the extender at {parts.scheme}://{_address(parts)}{parts.path}"
    cause: BaseException | None
    try:
        with answered_by(deadline), errors_of_the_line(), closing(_answer(parts, body, trust, deadline)) as response:
            answer = _body(response, deadline)
    except UnconnectedError as error:
        cause = error.__cause__
    except (OSError, HTTPException, ValueError) as error:
        cause = error
    else:
        if len(answer) > _MOST_BYTES:
            raise ExtenderError(f"{shown} gives an answer of over {_MOST_BYTES >> 20} MiB")
        return response.status, answer
    if isinstance(cause, TimeoutError):
        raise ExtenderError(f"{shown} did not answer within {seconds:g} s")
    raise ExtenderError(f"{shown} {_reason(cause)}")


def _answer(parts: SplitResult, body: bytes, trust: Trust, deadline: Deadline) -> BaseHTTPResponse:
    """Return the head of the answer, of the last place that the request is sent on to.

    The same is sent again where the status asks for it, and else a GET; credentials go to the same host only.
    """
    method, sent = "POST", body or None
    headers = {"Content-Type": "application/json", **_authorization(parts)}
    for _ in range(_MOST_REDIRECTS):
        response = _manager(parts, trust).urlopen(
            method,
            parts._replace(netloc=_address(parts)).geturl(),
            body=sent,
            headers=headers,
            timeout=_timeout(deadline),
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
            enforce_content_length=False,
        )
        location = response.get_redirect_location()
        if not location:
            return response
        response.close()
        before, parts = parts, urlsplit(urljoin(parts.geturl(), location))
        if not _names_a_host(parts):
            break
        if response.status not in _KEEP_THE_METHOD:
            method, sent = "GET", None
        if before.hostname != parts.hostname or (before.scheme, parts.scheme) == ("https", "http"):
            headers.pop("Authorization", None)
    raise ValueError


def _manager(parts: SplitResult, trust: Trust) -> PoolManager:
    """Return what connects to the address, through the proxy that Go would take."""
    how: dict[str, Any] = {}
    if parts.scheme == "https":
        how = {"ssl_context": trust.context, "server_hostname": trust.server_name or None}
        if trust.context.verify_mode is ssl.CERT_NONE:
            disable_warnings(InsecureRequestWarning)
    proxy = proxy_from_environment(parts.geturl(), os.environ)
    return pool_manager(urlsplit(proxy) if proxy else None, how)


def _timeout(deadline: Deadline) -> Timeout:
    left = None if deadline.left is None else max(deadline.left, LEAST_SECONDS)
    return Timeout(connect=left, read=left)


def _body(response: BaseHTTPResponse, deadline: Deadline) -> bytes:
    """Return the body as far as it comes before the line breaks, no more than a little over what is taken in."""
    answer = bytearray()
    try:
        with errors_of_the_line():
            while len(answer) <= _MOST_BYTES and (piece := response.read(_CHUNK)):
                answer += piece
    except (OSError, HTTPException):
        if deadline.left == 0:
            raise TimeoutError from None
    return bytes(answer)


def _parse(url: str) -> SplitResult:
    """The parts of a URL that names a host to ask over HTTP."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ExtenderError("the extender's urlPrefix is no URL") from None
    if not _names_a_host(parts):
        raise ExtenderError("the extender's urlPrefix is no URL that begins with http:// or https:// and names a host")
    return parts


def _names_a_host(parts: SplitResult) -> bool:
    return parts.scheme in _SCHEMES and bool(parts.hostname)


def _address(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _authorization(parts: SplitResult) -> dict[str, str]:
    if parts.username is None:
        return {}
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {b64encode(user.encode()).decode()}"}


def _reason(cause: object) -> str:
    """Describe the failure in our own words: an exception's may quote an address with its password."""
    match cause:
        case ssl.SSLCertVerificationError():
            reason = f"has a certificate that cannot be verified: {cause.verify_message}"
        case ssl.SSLError():
            reason = f"does not speak TLS as it should ({cause.reason})"
        case RemoteDisconnected():
            reason = "ended the connection without an answer"
        case HTTPException():
            reason = "gives an answer that is no HTTP"
        case socket.gaierror():
            reason = "cannot be found: its host has no address"
        case OSError(strerror=str() as words):
            reason = f"cannot be asked: {words.lower()}"
        case _:
            reason = "cannot be asked, or sends elsewhere to what is no address"
    return reason
