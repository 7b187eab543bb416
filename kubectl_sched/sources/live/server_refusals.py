"""Sentences about a server that refuses, or cannot be reached at all."""

from __future__ import annotations

import ssl
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import msgspec
from urllib3.exceptions import (
    ConnectTimeoutError,
    NameResolutionError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    SSLError,
)

from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError
from kubectl_sched.sources.live.tls import distrust, expired_at, may_pass_by

if TYPE_CHECKING:
    from collections.abc import Mapping

    from urllib3.exceptions import HTTPError

    from kubectl_sched.sources.live.credentials import Shown
    from kubectl_sched.sources.live.endpoint import Endpoint

_SUBJECT = pattern(r"^(?:<[^>]*>|\w+\([^)]*\)): (?:Failed to establish a new connection: )?(?:\[Errno \d+\] )?")
"""The connection that urllib3's texts begin with."""

_IMPERSONATION = pattern(r'cannot impersonate resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"')

BUSY = frozenset({429, 500, 502, 503, 504})
"""Statuses that may pass by."""


class Status(msgspec.Struct, frozen=True):
    """The API's own error object."""

    message: str = ""
    reason: str = ""


class Answer(NamedTuple):
    """An HTTP answer, its body whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def server_name(endpoint: Endpoint) -> str:
    """The server as sentences begin with it."""
    return f"the server {urlsplit(endpoint.server).netloc}"


def refusal(endpoint: Endpoint, answer: Answer, shown: Shown, attempt: int) -> ClusterError:
    """Return the error of an answer other than a success; `attempt` says how often it was asked for."""
    try:
        status = decoder(Status).decode(answer.body)
    except UNDECODABLE:
        status = Status(message=" ".join(answer.body[:200].decode(errors="replace").split()))
    denied = _IMPERSONATION.search(status.message) if answer.status == HTTPStatus.FORBIDDEN else None
    if denied is not None:
        group = denied["group"] or '""'
        rule = f"{{apiGroups: [{group}], resources: [{denied['resource']}], verbs: [impersonate]}}"
        said = f"{server_name(endpoint)} forbids to impersonate ({status.message})"
        return ClusterError(f"{said}; the missing rule: {rule}")
    return ResponseError(
        _sentence(endpoint, answer, status, shown, attempt), answer.status, status.reason, status.message
    )


def _sentence(endpoint: Endpoint, answer: Answer, status: Status, shown: Shown, attempt: int) -> str:
    said = f" ({status.message})" if status.message else ""
    if answer.status == HTTPStatus.UNAUTHORIZED:
        return f"{server_name(endpoint)} does not accept {_who(endpoint, shown)}"
    if answer.status == HTTPStatus.FORBIDDEN:
        unsent = "" if shown.authorization or shown.certificate else f"; it got {_who(endpoint, shown)}"
        return f"{server_name(endpoint)} forbids it{said}{unsent}"
    if answer.status in BUSY:
        tries = f" after {attempt} tries" if attempt > 1 else ""
        return f"{server_name(endpoint)} fails with {answer.status}{tries}{said}; try again"
    if 300 <= answer.status < 400:
        redirects = "redirects to another address, so it is no API server: check the kubeconfig's server"
        return f"{server_name(endpoint)} {redirects}"
    return f"{server_name(endpoint)} answers with {answer.status}{said}"


def _who(endpoint: Endpoint, shown: Shown) -> str:
    user = endpoint.user.name
    name = f" of user {user!r}" if user else ""
    if shown.authorization is None and not shown.certificate:
        if not endpoint.server.startswith("https:") and endpoint.user.has_credentials:
            return f"requests without credentials: those{name} are not sent over http://, where anybody may read them"
        return f"requests without credentials; the kubeconfig's user{f' {user!r}' if user else ''} has none"
    if shown.authorization is None:
        ended = expired_at(shown.certificate.read())
        when = f", which expired on {ended:%Y-%m-%d}" if ended else ""
        return f"the client certificate{name}{when}; get a new one"
    from kubectl_sched.sources.live.auth_provider import expiry

    ended_at = expiry(shown.authorization.partition(" ")[2])
    past = 0 < ended_at < time.time()
    when = f", which expired on {time.strftime('%Y-%m-%d at %H:%M UTC', time.gmtime(ended_at))}" if past else ""
    return f"the credentials{name}{when}; log in again"


def unreachable(endpoint: Endpoint, error: HTTPError) -> str | None:
    """Return a sentence about an error that another try would not change, else None."""
    if isinstance(error, ProxyError):
        said = (
            "cannot be reached" if isinstance(error.original_error, NewConnectionError) else "does not let us through"
        )
        return f"its proxy {said} ({plain(error.original_error)})"
    if isinstance(error, NameResolutionError):
        return "there is no such host"
    if isinstance(error, NewConnectionError):
        through = " through its proxy" if str(error).startswith("SOCKS") else ""
        return f"no connection{through} ({plain(error)})"
    if isinstance(error, ConnectTimeoutError):
        return "it does not answer; is it the right address, and is the network up?"
    cause = error.args[0] if isinstance(error, SSLError) and error.args else None
    if isinstance(cause, ssl.SSLError) and not may_pass_by(cause):
        return distrust(cause, endpoint.server_name or urlsplit(endpoint.server).hostname or "")
    return None


def plain(error: BaseException) -> str:
    """The innermost reason, without the objects that urllib3 prints."""
    if isinstance(error, ProtocolError) and len(error.args) > 1 and isinstance(error.args[1], OSError):
        return os_reason(error.args[1])
    if isinstance(error, OSError):
        return os_reason(error)
    if isinstance(error, NewConnectionError) and error.__cause__ is not None:
        return plain(error.__cause__)
    text = str(error.args[0]) if error.args else str(error)
    return _SUBJECT.sub("", text).partition("(")[0].strip(" :'\"").lower() or type(error).__name__


def os_reason(error: OSError) -> str:
    """Return what the operating system says."""
    return (error.strerror or str(error) or type(error).__name__).lower()
