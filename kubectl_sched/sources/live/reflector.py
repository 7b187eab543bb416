"""One kind of objects followed for as long as the program runs: listed once, then watched from there.

Answers to client-go's Reflector (tools/cache/reflector.go). What breaks is taken up again where it broke. A state that
the server has forgotten (410), or from which it refuses to go on, is listed anew.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.budget import LEAST_BYTES
from kubectl_sched.sources.discovery.scheduler_flags import keep_scheduler_flags
from kubectl_sched.sources.live.answer_body import body_pieces
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from urllib3.response import BaseHTTPResponse

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.kinds import Kind
    from kubectl_sched.sources.live.client import Server
    from kubectl_sched.sources.live.lister import Listed, Lister

FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.8, 30.0
UNSERVED_SECONDS = 300.0
"""A kind that the server does not serve is left alone for so long: it may be served after an upgrade."""

WATCH_SECONDS = 300
"""A watch is asked to last between once and twice as long, so that they do not all end together."""

SILENCE_SECONDS = 90.0
"""The longest silence of a watch: bookmarks come about once a minute, so that what is silent for longer is dead."""

_SHORTEST_SECONDS = 1.0
_LONGEST_EVENT = LEAST_BYTES
"""etcd holds no object of more than a few megabytes."""


class Replaced(NamedTuple):
    """The kind has been listed: these are all there are."""

    kind: Kind
    objects: list[KubernetesObject]
    path: str = ""
    """The path under which the server has the kind, empty if it does not serve it."""


class Changed(NamedTuple):
    """One object has come, has changed or, where `gone`, has been deleted."""

    kind: Kind
    object: KubernetesObject
    gone: bool


class Disturbed(NamedTuple):
    """Something could not be read and will be tried again, or an object was skipped."""

    kind: Kind
    sentence: str
    status: int = 0
    """HTTP's, 0 if there was no answer."""
    is_down: bool = False
    """Report whether the kind is not followed for now; Resumed or Replaced ends that."""


class Resumed(NamedTuple):
    """The kind is followed again after a disturbance."""

    kind: Kind


class _ExpiredError(Exception):
    """The server has forgotten the state that we would go on from."""


class _WatchError(ClusterError):
    """The server has said, in the middle of a watch, what it cannot go on from."""


class _Event(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class _Metadata(msgspec.Struct, frozen=True):
    resource_version: str = msgspec.field(name="resourceVersion", default="")
    name: str = ""


class _Head(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class _Status(msgspec.Struct, frozen=True):
    code: int = 0
    reason: str = ""
    message: str = ""

    @property
    def is_expired(self) -> bool:
        return self.code == HTTPStatus.GONE or self.reason in {"Expired", "Gone"}


class Reflector:
    """Follows one kind in a thread of its own, and hands on what it sees with `put`, in the server's order."""

    def __init__(
        self,
        server: Server,
        lister: Lister,
        kind: Kind,
        put: Callable[[Replaced | Changed | Disturbed | Resumed], None],
        fields: str = "",
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        self._server = server
        self._lister = lister
        self._kind = kind
        self._fields = fields
        self._silence_seconds = silence_seconds
        self._put = put
        self._stopped = threading.Event()
        self._response: BaseHTTPResponse | None = None
        self._failures = 0
        """Failures in a row, with which pauses grow. A list that succeeds ends no row: each watch after it may fail."""
        self._is_down = False
        self._version = ""
        self._thread = threading.Thread(target=self._run, name=f"watch-{kind.plural}", daemon=True)

    def start(self) -> None:
        """Begin to follow."""
        self._thread.start()

    def stop(self) -> None:
        """End what is under way, without waiting for it."""
        self._stopped.set()
        response = self._response
        if response is not None:
            # Ends a read that waits in the other thread; one that is over has nothing left to shut down.
            with suppress(OSError, ValueError, RuntimeError, AttributeError):
                response.shutdown()

    def join(self, seconds: float) -> None:
        """Wait until it has ended."""
        self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                listed = self._lister.list(self._kind, fields=self._fields)
            except SchedError as error:
                self._disturbed(error)
                continue
            self._replaced(listed)
            if listed.path:
                self._follow(listed.path)
            else:
                self._stopped.wait(UNSERVED_SECONDS)

    def _replaced(self, listed: Listed) -> None:
        self._is_down = False
        self._version = listed.resource_version
        for item in listed.objects:
            keep_scheduler_flags(item)
        for key, problem in listed.broken:
            self._put(Disturbed(self._kind, f"{self._kind.name} {key} was skipped: {problem}"))
        self._put(Replaced(self._kind, listed.objects, listed.path))

    def _follow(self, path: str) -> None:
        """Watch after watch, until the state must be listed again."""
        while not self._stopped.is_set():
            began, version = time.monotonic(), self._version
            try:
                self._watch(path)
            except _ExpiredError:
                return
            except SchedError as error:
                if time.monotonic() - began > LONGEST_WAIT_SECONDS:
                    self._failures = 0  # it went well for long
                self._disturbed(error)
                if isinstance(error, _WatchError) or (
                    isinstance(error, ResponseError) and error.status != HTTPStatus.TOO_MANY_REQUESTS
                ):
                    return
            else:
                if version == self._version and time.monotonic() - began < _SHORTEST_SECONDS:
                    self._wait()  # a server that ends every watch at once must not be asked without a pause
                else:
                    self._failures = 0

    def _watch(self, path: str) -> None:
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(random.randint(WATCH_SECONDS, 2 * WATCH_SECONDS)),  # noqa: S311 - no secret
        }
        try:
            selected = {"fieldSelector": self._fields} if self._fields else {}
            response = self._server.stream(path, query | selected, self._silence_seconds)
        except ResponseError as error:
            if error.status == HTTPStatus.GONE:
                raise _ExpiredError from None
            raise
        self._response = response
        if self._is_down:
            self._is_down = False
            self._put(Resumed(self._kind))
        try:
            events = iter(()) if self._stopped.is_set() else lines(response)
            for line in events:
                if self._stopped.is_set():
                    return
                self._take(line)
        except TimeoutError:
            return  # the next watch goes on from here, by another connection; if there is none, that is told
        except (HTTPException, OSError) as error:
            raise ClusterError(f"the watch of {self._kind.plural} broke ({type(error).__name__})") from None
        finally:
            self._response = None
            response.close()

    def _take(self, line: bytes) -> None:
        try:
            event = decoder(_Event).decode(line)
            head = decoder(_Head).decode(event.object).metadata
            status = decoder(_Status).decode(event.object) if event.type == "ERROR" else None
        except UNDECODABLE:
            raise _WatchError(f"the watch of {self._kind.plural} sent what is no event") from None
        if status is not None:
            if status.is_expired:
                raise _ExpiredError
            raise _WatchError(f"the watch of {self._kind.plural} failed: {status.message}")
        if event.type != "BOOKMARK":
            self._hand_on(event, head)
        self._failures = 0
        self._version = head.resource_version

    def _hand_on(self, event: _Event, head: _Metadata) -> None:
        try:
            item: KubernetesObject = decoder(self._kind.type).decode(event.object)
        except (msgspec.ValidationError, UnicodeDecodeError, RecursionError) as error:
            self._put(Disturbed(self._kind, f"{self._kind.name} {head.name} was skipped: {error}"))
            return
        keep_scheduler_flags(item)
        self._put(Changed(self._kind, item, gone=event.type == "DELETED"))

    def _disturbed(self, error: SchedError) -> None:
        if self._stopped.is_set():
            return
        status = error.status if isinstance(error, ResponseError) else 0
        self._is_down = True
        self._put(Disturbed(self._kind, str(error), status, is_down=True))
        self._wait()

    def _wait(self) -> None:
        self._stopped.wait(wait_seconds(self._failures))
        self._failures += 1


def wait_seconds(failures: int) -> float:
    """Return the pause after so many failures in a row: doubled each time, and up to as much again by chance."""
    return min(FIRST_WAIT_SECONDS * 2.0 ** min(failures, 10), LONGEST_WAIT_SECONDS) * random.uniform(1, 2)  # noqa: S311


def lines(response: BaseHTTPResponse) -> Iterator[bytes]:
    """The whole lines of a body as they come; a last one that was cut off is left out."""
    rest: list[bytes] = []
    size = 0
    for piece in body_pieces(response, as_they_come=True):
        *whole, last = piece.split(b"\n")
        if whole:
            yield b"".join((*rest, whole[0]))
            yield from whole[1:]
            rest, size = [], 0
        rest.append(last)
        size += len(last)
        if size > _LONGEST_EVENT:
            raise _WatchError(f"a watch sent an event of over {_LONGEST_EVENT:,} bytes, as no object has")
