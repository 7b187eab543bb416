"""Lists one kind: in pages, each decoded from the server's own bytes while the next one is on its way.

A page says how to go on in its first bytes: the next one is asked for as soon as these have come.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.sources.budget import check_alone
from kubectl_sched.sources.dump_errors import BombError
from kubectl_sched.sources.live.list_paths import group_of, list_paths
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError
from kubectl_sched.sources.rare_fields import with_rare_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.sources.kinds import Kind
    from kubectl_sched.sources.live.client import Server

PAGE = 500
"""Objects a request, as kubectl and client-go ask."""

RESTARTS = 3

_SHORT = 1 << 8
"""Bytes of a page that may well be empty."""

_HEAD = pattern(rb'\s*\{(?:"kind":"\w*",)?(?:"apiVersion":"[^"]*",)?"metadata":(\{[^{}]*\})')


class ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata of a page of a list."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


class _Head(msgspec.Struct, frozen=True):
    metadata: ListMeta = ListMeta()


class _RawItems(msgspec.Struct, frozen=True):
    items: list[msgspec.Raw] | None = None


Take: TypeAlias = "Callable[[Sequence[KubernetesObject], bool], None]"


class Listed(NamedTuple):
    """All objects of one list, at one resourceVersion.

    `broken` are the keys of objects that cannot be read, each with its problem.
    `path` is where the server has them, empty where it does not serve the kind.
    """

    kind: Kind
    objects: list[KubernetesObject]
    resource_version: str = ""
    broken: tuple[tuple[str, str], ...] = ()
    path: str = ""


class Lister:
    """Lists kinds from one server. `tell` is told what is read, how many bytes of it, and of about how many."""

    def __init__(self, server: Server, tell: Callable[[str, int, int | None], None] | None = None) -> None:
        self._server = server
        self._tell = tell
        self._ahead = ThreadPoolExecutor(thread_name_prefix="page")

    def close(self) -> None:
        """Ends what is under way."""
        self._server.stop()
        self._ahead.shutdown(wait=False, cancel_futures=True)

    def list(
        self,
        kind: Kind,
        namespace: str = "",
        at: str = "",
        served: Sequence[str] = (),
        *,
        fields: str = "",
        labels: str = "",
        take: Take | None = None,
    ) -> Listed:
        """The kind's objects, in all namespaces or one. `at` is a resourceVersion to read exactly, where that can be.

        `served` are the versions that the server is known to have. A kind that it does not serve has none. `take` is
        given the objects of each page, and whether it is the first one, as which a list that begins anew counts. Raises
        ResponseError where it is forbidden, ClusterError where the server fails.
        """
        for path in list_paths(kind, namespace, served):
            try:
                return self._restarting(kind, path, at, _selecting(fields, labels), take)._replace(path=path)
            except ResponseError as error:
                if error.status == HTTPStatus.FORBIDDEN and group_of(kind) and not self._serves(path, kind):
                    continue
                if error.status != HTTPStatus.NOT_FOUND:
                    raise
        return Listed(kind, [])

    def _serves(self, path: str, kind: Kind) -> bool:
        """Report whether the version of the API has the kind at all: what is forbidden may as well not exist."""
        version = path.partition("/namespaces/")[0] if "/namespaces/" in path else path.rpartition("/")[0]
        try:
            return f'"name":"{kind.plural}"'.encode() in self._server.get(version).replace(b'": "', b'":"')
        except ResponseError as error:
            return error.status != HTTPStatus.NOT_FOUND

    def _restarting(self, kind: Kind, path: str, at: str, query: dict[str, str], take: Take | None) -> Listed:
        """A state that the server no longer has is given up for its present one; the last resort is one large page."""
        for attempt in range(RESTARTS + 1):
            whole = attempt == RESTARTS
            exact = {"resourceVersion": at, "resourceVersionMatch": "Exact"} if at and attempt == 0 else {}
            limit = {} if whole else {"limit": str(PAGE)}
            try:
                return self._pages(kind, path, {**query, **limit, **exact}, take)
            except ResponseError as error:
                outdated = error.status == HTTPStatus.GONE or (exact and "resource version" in error.message.lower())
                if whole or not outdated:
                    raise
        raise AssertionError

    def _pages(self, kind: Kind, path: str, query: dict[str, str], take: Take | None) -> Listed:
        """The pages in turn: the first by this thread, as most lists have no other, and each of the rest ahead."""
        progress = _Progress(kind.plural, self._tell)
        objects: list[KubernetesObject] = []
        broken: list[tuple[str, str]] = []
        tokens: set[str] = set()
        # A continued list takes the resourceVersion from its token.
        rest = {key: value for key, value in query.items() if not key.startswith("resourceVersion")}
        ahead: dict[str, _Page] = {}

        def ask_after(meta: ListMeta | None) -> None:
            token = meta.continue_ if meta is not None else ""
            if token and token not in ahead:
                ahead[token] = self._page(path, {**rest, "continue": token}, progress)

        body = self._body(path, query, progress, ask_after)
        while True:
            meta = list_meta(body)
            token = meta.continue_
            if token in tokens:
                raise ClusterError(f"the server's list of {kind.plural} does not end: it comes back to the same page")
            tokens.add(token)
            ask_after(meta)
            found, problems = decoded(body, kind)
            if take is not None:
                take(found, len(tokens) == 1)
            objects += found
            broken += problems
            progress.items(len(objects), meta.remaining_item_count or 0)
            if not token:
                return Listed(kind, objects, meta.resource_version, tuple(broken))
            page = ahead.pop(token)
            ask_after(page.meta.result())
            body = page.body.result()

    def _page(self, path: str, query: dict[str, str], progress: _Progress) -> _Page:
        """Ask for a page that is not wanted yet."""
        meta: Future[ListMeta | None] = Future()
        body = self._ahead.submit(self._body, path, query, progress, meta.set_result)
        body.add_done_callback(lambda _: None if meta.done() else meta.set_result(None))
        return _Page(meta, body)

    def _body(
        self, path: str, query: dict[str, str], progress: _Progress, tell: Callable[[ListMeta | None], None]
    ) -> bytes:
        """Ask for a page; `tell` is told its metadata once its beginning has come."""
        is_told = False

        def take_note(part: bytes) -> None:
            nonlocal is_told
            progress.bytes(len(part))
            if not is_told:
                is_told = True
                tell(_first_meta(part))

        return self._server.get(path, query, take_note)


class _Page(NamedTuple):
    """A page on its way, and its metadata once its beginning has come, so that the next one can be asked for.

    They are None where they do not stand first, or nothing comes.
    """

    meta: Future[ListMeta | None]
    body: Future[bytes]


class _Progress:
    """Bytes so far, and about how many there will be, by the items that the server says remain."""

    def __init__(self, what: str, tell: Callable[[str, int, int | None], None] | None) -> None:
        self._what = what
        self._tell = tell
        self._done = 0
        self._total: int | None = None
        self._last = 0.0

    def bytes(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if self._tell is not None and now - self._last > 0.1:
            self._last = now
            self._tell(self._what, self._done, self._total)

    def items(self, read: int, remaining: int) -> None:
        self._total = self._done * (read + remaining) // max(read, 1)


def list_meta(body: bytes) -> ListMeta:
    """The metadata of a List; kube-apiserver writes it first, so that the items need not be looked at."""
    try:
        return _first_meta(body) or decoder(_Head).decode(body).metadata
    except UNDECODABLE:
        raise ClusterError("the server's answer is no list of objects; is its address that of an API server?") from None


def _first_meta(beginning: bytes) -> ListMeta | None:
    """The metadata where they stand first; None if they do not, or cannot be read."""
    head = _HEAD.match(beginning[:4096])
    with suppress(*UNDECODABLE):
        return decoder(ListMeta).decode(head[1]) if head is not None else None
    return None


@cache
def _decoder(kind: Kind) -> msgspec.json.Decoder[Any]:
    fields = [("items", list[kind.type] | None, None)]  # type: ignore[name-defined] # made for each kind
    return decoder(msgspec.defstruct(f"{kind.name}List", fields))


def decoded(body: bytes, kind: Kind) -> tuple[list[KubernetesObject], list[tuple[str, str]]]:
    """A page's objects; where one cannot be read each is taken for itself, and the bad ones are named."""
    try:
        check_alone(body, kind.plural)
    except BombError as error:
        raise ClusterError(f"the server's list cannot be taken in: {error}") from None
    try:
        if len(body) < _SHORT and not decoder(_RawItems).decode(body).items:
            return [], []  # most kinds have no object, and need no decoder then
        found = _decoder(kind).decode(body).items or []
    except (msgspec.ValidationError, UnicodeDecodeError):
        return _one_by_one(body, kind)
    except UNDECODABLE:
        raise ClusterError(f"the server's list of {kind.plural} is cut off or no JSON; try again") from None
    return with_rare_fields(found, body), []


def _one_by_one(body: bytes, kind: Kind) -> tuple[list[KubernetesObject], list[tuple[str, str]]]:
    from kubectl_sched.sources.dump.document_shapes import in_words
    from kubectl_sched.sources.dump.undecoded_values import head, typed

    objects: list[KubernetesObject] = []
    broken: list[tuple[str, str]] = []
    try:
        items = decoder(_RawItems).decode(body).items or ()
    except (msgspec.ValidationError, UnicodeDecodeError):
        raise ClusterError(f"the server's list of {kind.plural} is no list of objects") from None
    for item in items:
        try:
            objects.append(typed(item, kind.type))
        except (msgspec.ValidationError, RecursionError) as error:
            about = head(item)
            broken.append((about.key if about else "?", in_words(error)))
    return objects, broken


def _selecting(fields: str, labels: str) -> dict[str, str]:
    return {name: value for name, value in (("fieldSelector", fields), ("labelSelector", labels)) if value}
