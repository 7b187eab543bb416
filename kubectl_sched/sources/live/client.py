"""Requests to an API server: a failure that may pass is tried again, within bounds; every other one is one sentence.

A read may always be sent again. A write is sent again in three cases only: the server says that it did nothing (429),
the write never got there, or a second time changes nothing, as the caller says (`repeatable`).
"""

from __future__ import annotations

import os
import random
import ssl
import threading
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.live.answer_body import body_pieces
from kubectl_sched.sources.live.connections.connection_pools import JSON, Connections, Request
from kubectl_sched.sources.live.connections.tls import certified_name, distrust, may_pass_by
from kubectl_sched.sources.live.credentials import Credentials
from kubectl_sched.sources.live.live_errors import (
    BrokenHandshakeError,
    ClusterError,
    KubeconfigError,
    LostResponseError,
    ResponseError,
    UnconnectedError,
)
from kubectl_sched.sources.live.request_deadline import SILENT_SECONDS, Deadline, tell_waiting, told_if_slow
from kubectl_sched.sources.live.server_refusals import BUSY, ServerAnswer, plain, refusal, server_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3.response import BaseHTTPResponse

    from kubectl_sched.sources.live.credentials import Shown
    from kubectl_sched.sources.live.endpoint import Endpoint

SILENCE_SECONDS = 120.0
"""The longest silence of a server in the middle of an answer; kube-apiserver itself gives up after 60 s."""

ATTEMPTS = 5
LONGEST_WAIT_SECONDS = 30.0
_NO_HEADER = pattern(r"[\x00-\x08\x0a-\x1f\x7f]")


class _BrokenError(Exception):
    """The connection broke: worth another try. Its text says how."""


class _UnsentError(_BrokenError):
    """It broke before anything was sent."""


class _UnconnectedError(_UnsentError):
    """There was none at all, which a read does not wait for."""


class _TooSlowError(ClusterError):
    """No complete answer in time, whatever the server did."""


class _Course:
    """The course of one write so far."""

    may_be_done = False
    """Report whether the server may have carried it out: an answer was lost."""


class Server:
    """One API server. `get` and `write` may be called by several threads; `stop` ends all waiting."""

    def __init__(
        self,
        endpoint: Endpoint,
        environment: Mapping[str, str] | None = None,
        attempts: int = ATTEMPTS,
        credentials: Credentials | None = None,
    ) -> None:
        self.endpoint = endpoint
        self._connections = Connections(endpoint, os.environ if environment is None else environment)
        self._attempts = attempts
        self._credentials = credentials or Credentials(endpoint)
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Lets every thread that waits or is about to ask give up."""
        self._stopped.set()

    def get(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        tell: Callable[[bytes], None] | None = None,
        *,
        only_seconds: float | None = None,
        accept: str = JSON,
    ) -> bytes:
        """The body of a 200. `tell` is told each part as it comes.

        What can be done without may be asked for once only, and for so many seconds. Raises ResponseError for any other
        answer, ClusterError where there is none.
        """
        request = Request(_with(path, query), accept=accept)
        deadline = Deadline(only_seconds or self.endpoint.timeout)
        attempts = self._attempts if only_seconds is None else 1
        renewed = False
        attempt = 0
        while True:
            attempt += 1
            shown = self._credentials.shown()
            try:
                answer = self._ask(request, shown, tell or (lambda _: None), deadline)
            except _UnconnectedError as error:
                raise ClusterError(f"{self._name}: {error}") from None
            except _BrokenError as error:
                if attempt >= attempts or not self._pause(_backoff(attempt), deadline, str(error)):
                    tries = f"{attempt} times in a row" if attempt > 1 else "in the middle of an answer"
                    raise ClusterError(f"{self._name}: the connection broke {tries} ({error})") from None
                continue
            if answer.status == HTTPStatus.OK:
                return answer.body
            if answer.status == HTTPStatus.UNAUTHORIZED and self._credentials.renewable and not renewed:
                renewed = True
                self._credentials.shown(refused=shown)
            elif answer.status not in BUSY or attempt >= attempts or not self._pause_for(answer, attempt, deadline):
                raise refusal(self.endpoint, answer, shown, attempt)

    def stream(self, path: str, query: Mapping[str, str], silence_seconds: float = SILENCE_SECONDS) -> BaseHTTPResponse:
        """A 200 whose body comes as long as the server has something to say; whoever asks reads it and closes it.

        Reading raises TimeoutError after so many seconds of silence. It is not tried again. Raises ResponseError for
        any other answer, ClusterError where there is none.
        """
        request = Request(_with(path, query))
        shown = self._credentials.shown()
        self._go_on()
        try:
            response = self._connections.ask(request, self._headers(request, shown), shown, silence_seconds)
            if response.status == HTTPStatus.OK:
                return response
            answer = ServerAnswer.of(response, _whole_body(response, lambda _: None))
        except (UnconnectedError, OSError, HTTPException) as error:
            failure = self._failure(error, Deadline(None))
            text = f"{self._name}: the connection broke ({failure})" if isinstance(failure, _BrokenError) else failure
            raise ClusterError(str(text)) from None
        if answer.status == HTTPStatus.UNAUTHORIZED and self._credentials.renewable:
            self._credentials.shown(refused=shown)
        raise refusal(self.endpoint, answer, shown, 1)

    def write(
        self,
        method: str,
        path: str,
        body: bytes,
        *,
        content: str = JSON,
        query: Mapping[str, str] | None = None,
        repeatable: bool = False,
    ) -> bytes:
        """Send a POST, PATCH, PUT or DELETE; the body of the server's success.

        A `repeatable` request is sent again if its answer is lost: the second time changes nothing. A refusal of that
        repetition has `after_lost` set, as the first request may have been carried out. Raises ResponseError for a
        refusal, LostResponseError if it is not known what the server did, ClusterError if nothing was sent.
        """
        request, course = Request(_with(path, query), method, body, content), _Course()
        try:
            return self._written(request, course, repeatable=repeatable)
        except (LostResponseError, ResponseError):
            raise
        except _BrokenError as error:
            raise self._gave_up(str(error), lost=course.may_be_done) from None
        except ClusterError as error:
            if course.may_be_done:
                raise self._gave_up(str(error), lost=True) from None
            raise

    def _written(self, request: Request, course: _Course, *, repeatable: bool) -> bytes:
        deadline = Deadline(self.endpoint.timeout)
        renewed = False
        attempt = 0
        while True:
            attempt += 1
            last = attempt >= self._attempts
            shown = self._credentials.shown()
            try:
                answer = self._ask(request, shown, lambda _: None, deadline)
            except _UnsentError as error:
                if last or not self._pause(_backoff(attempt), deadline, str(error)):
                    raise
                continue
            except (_BrokenError, _TooSlowError) as error:
                course.may_be_done = True
                if last or not repeatable or not self._pause(_backoff(attempt), deadline, str(error)):
                    raise
                continue
            if 200 <= answer.status < 300:
                return answer.body
            if answer.status == HTTPStatus.UNAUTHORIZED and self._credentials.renewable and not renewed:
                renewed = True
                self._credentials.shown(refused=shown)
                continue
            # Of those that are busy, a 429 alone says that nothing was done.
            course.may_be_done |= answer.status in BUSY and answer.status != HTTPStatus.TOO_MANY_REQUESTS
            again = answer.status == HTTPStatus.TOO_MANY_REQUESTS or (repeatable and answer.status in BUSY)
            if last or not again or not self._pause_for(answer, attempt, deadline):
                refused = refusal(self.endpoint, answer, shown, attempt)
                if isinstance(refused, ResponseError):
                    refused.after_lost = course.may_be_done
                raise refused

    def _gave_up(self, why: str, *, lost: bool) -> ClusterError:
        if not lost:
            return ClusterError(f"{self._name}: {why}")
        return LostResponseError(f"{self._name}: the answer to a write was lost ({why}), so that it may have been done")

    @property
    def _name(self) -> str:
        return server_name(self.endpoint)

    def _pause_for(self, answer: ServerAnswer, attempt: int, deadline: Deadline) -> bool:
        """Pause as long as a busy server asks for."""
        return self._pause(answer.seconds_asked_for or _backoff(attempt), deadline, f"answers {answer.status}")

    def _pause(self, seconds: float, deadline: Deadline, why: str) -> bool:
        """Wait before another try; False if the request has no time for one."""
        seconds = min(seconds, LONGEST_WAIT_SECONDS)
        if not deadline.allows(seconds):
            return False
        if seconds > SILENT_SECONDS:
            tell_waiting(f"{self._name}, which is asked again in {seconds:.0f} s ({why})")
        self._wait(seconds)
        return True

    def _wait(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise ClusterError(f"{self._name}: interrupted")

    def _go_on(self) -> None:
        if self._stopped.is_set():
            raise ClusterError(f"{self._name}: interrupted")

    def _ask(self, request: Request, shown: Shown, tell: Callable[[bytes], None], deadline: Deadline) -> ServerAnswer:
        self._go_on()
        if deadline.left == 0:
            raise _TooSlowError(self._too_slow(deadline))
        is_read = request.method == "GET"
        try:
            with told_if_slow(self._name) as wait:

                def told(part: bytes) -> None:
                    if is_read:  # what a write has done should be known
                        self._go_on()
                    wait.heard()
                    tell(part)

                headers = self._headers(request, shown)
                response = self._connections.ask(request, headers, shown, SILENCE_SECONDS, deadline)
                body = _whole_body(response, told)
        except (UnconnectedError, OSError, HTTPException) as error:
            raise self._failure(error, deadline) from None
        except ClusterError as error:
            if is_read:
                raise
            raise _BrokenError(str(error)) from None
        return ServerAnswer.of(response, body)

    def _headers(self, request: Request, shown: Shown) -> list[tuple[str, str]]:
        headers = [("Accept", request.accept), ("User-Agent", "kubectl-sched")]
        if request.content:
            headers.append(("Content-Type", request.content))
        if self.endpoint.compression:
            headers.append(("Accept-Encoding", "gzip"))
        who = (("Authorization", shown.authorization),) if shown.authorization else ()
        headers += [(name, _header(name, value)) for name, value in (*who, *self.endpoint.user.impersonation)]
        return headers

    def _too_slow(self, deadline: Deadline) -> str:
        limit = deadline.seconds
        if limit:
            return f"{self._name}: no complete answer within {limit:g} s (--request-timeout gives it more)"
        return f"{self._name}: it has said nothing for {SILENCE_SECONDS:g} s"

    def _failure(self, error: Exception, deadline: Deadline) -> Exception:
        """Return a _BrokenError if another try is worth it, else a sentence."""
        if isinstance(error, TimeoutError):
            return _TooSlowError(self._too_slow(deadline))
        if isinstance(error, BrokenHandshakeError):
            return _UnsentError(str(error))
        if isinstance(error, UnconnectedError):
            return _UnconnectedError(str(error)) if error.may_come else ClusterError(f"{self._name}: {error}")
        if isinstance(error, ssl.SSLError) and not may_pass_by(error):
            return ClusterError(f"{self._name}: {distrust(error, certified_name(self.endpoint))}")
        return _BrokenError(plain(error))


def _with(path: str, query: Mapping[str, str] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _header(name: str, value: str) -> str:
    """The value in UTF-8, as Go sends it, in the characters that http.client makes bytes of; nothing is shown."""
    if _NO_HEADER.search(value) is not None:
        raise KubeconfigError(
            f"the header {name} cannot be sent, as what the kubeconfig, its plugin or a flag gives for it holds a line "
            "break or another control character"
        )
    return value.encode(errors="surrogateescape").decode("latin-1")


def _whole_body(response: BaseHTTPResponse, tell: Callable[[bytes], None]) -> bytes:
    """The body, after which the connection serves again."""
    pieces = []
    try:
        for piece in body_pieces(response):
            pieces.append(piece)
            tell(piece)
    except BaseException:
        response.close()
        raise
    return b"".join(pieces)


def _backoff(attempt: int) -> float:
    """Seconds: about 0.25, 0.5, 1, 2, scattered so that threads do not come back all at once."""
    return 0.25 * (1 << (attempt - 1)) * random.uniform(0.8, 1.2)  # noqa: S311 - nothing is secret about it
