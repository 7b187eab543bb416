"""Sentences about a server that refuses, or cannot be reached at all."""

from __future__ import annotations

import ssl
import time
from http import HTTPStatus
from http.client import HTTPException, IncompleteRead
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.live.connections.tls import expired_at
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

    from kubectl_sched.sources.live.credentials import Shown
    from kubectl_sched.sources.live.endpoint import Endpoint

_IMPERSONATION = pattern(
    r'cannot (?P<verb>impersonate(?:-on)?(?::[a-z:-]+)?) resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
)

_OPENSSL_CODE = pattern(r"^\[[A-Za-z0-9_: ]*\] ")

BUSY = frozenset({429, 500, 502, 503, 504})
"""Statuses that may pass by."""


class Status(msgspec.Struct, frozen=True):
    """The API's own error object."""

    message: str = ""
    reason: str = ""


class ServerAnswer(NamedTuple):
    """An HTTP answer, its body whole."""

    status: int
    body: bytes
    retry_after: str = ""

    @classmethod
    def of(cls, response: BaseHTTPResponse, body: bytes) -> ServerAnswer:
        """The body has been read before."""
        return cls(response.status, body, response.headers.get("Retry-After", ""))

    @property
    def seconds_asked_for(self) -> float | None:
        """The pause that a busy server asks for, where it names a number of seconds."""
        return float(self.retry_after) if self.retry_after.isascii() and self.retry_after.isdigit() else None


def server_name(endpoint: Endpoint) -> str:
    """The server as sentences begin with it."""
    return f"the server {urlsplit(endpoint.server).netloc}"


def refusal(endpoint: Endpoint, answer: ServerAnswer, shown: Shown, attempt: int) -> ClusterError:
    """Return the error of an answer other than a success; `attempt` says how often it was asked for."""
    try:
        status = decoder(Status).decode(answer.body)
    except UNDECODABLE:
        status = Status(message=" ".join(answer.body[:200].decode(errors="replace").split()))
    denied = _IMPERSONATION.search(status.message) if answer.status == HTTPStatus.FORBIDDEN else None
    if denied is not None:
        said = f"{server_name(endpoint)} forbids to impersonate ({status.message})"
        return ClusterError(f"{said}; the missing rule: {_impersonation_rule(endpoint, **denied.groupdict())}")
    return ResponseError(
        _sentence(endpoint, answer, status, shown, attempt), answer.status, status.reason, status.message
    )


def _impersonation_rule(endpoint: Endpoint, verb: str, resource: str, group: str) -> str:
    """Return the rule that lets somebody impersonate whom the request names.

    Since 1.36 a refusal names the first of two verbs that would allow this one request alone (KEP 5284).
    """
    group = group or '""'
    rule = f"{{apiGroups: [{group}], resources: [{resource}], verbs: [{verb}]}}"
    if not verb.startswith("impersonate-on:"):
        return rule
    headers = dict(endpoint.user.impersonation)
    is_account = headers.get("Impersonate-User", "").startswith("system:serviceaccount:")
    whom = ["serviceaccounts" if is_account else "users"] + ["groups"] * ("Impersonate-Group" in headers)
    mode = verb.split(":")[1]
    narrow = f"{{apiGroups: [authentication.k8s.io], resources: [{', '.join(whom)}], verbs: [impersonate:{mode}]}}"
    wide = f'{{apiGroups: [""], resources: [{", ".join(whom)}], verbs: [impersonate]}}'
    return f"{wide}, or for such requests alone {narrow} and {rule}"


def _sentence(endpoint: Endpoint, answer: ServerAnswer, status: Status, shown: Shown, attempt: int) -> str:
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


def plain(error: Exception) -> str:
    """Return what broke a connection."""
    if isinstance(error, ssl.SSLEOFError):
        return "the other side closed it unexpectedly"
    if isinstance(error, IncompleteRead):
        return "the answer was cut off"
    if isinstance(error, HTTPException) and not isinstance(error, OSError):
        return "the answer is no HTTP"
    if isinstance(error, TimeoutError) and not error.strerror:
        return "timed out"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return _OPENSSL_CODE.sub("", reason.partition(" (_ssl.c")[0]).lower()
