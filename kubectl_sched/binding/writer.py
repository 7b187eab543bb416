"""The one way in which anything of ours is written to a cluster: a request as a value, and who sends it."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE, decoder
from kubectl_sched.record import Record
from kubectl_sched.sources.live.live_errors import ClusterError, LostResponseError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.sources.live.client import Server

JSON: TypeAlias = dict[str, Any]
T = TypeVar("T")

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
PLAIN = "application/json"


class Request(Record, frozen=True, kw_only=True):
    """One write. Sent twice it does no more than once, unless `repeatable` says otherwise."""

    method: str
    path: str
    body: JSON
    content: str = PLAIN
    repeatable: bool = True


class Writer:
    """Sends requests, from any thread. With `dry_run` the server only says whether it would have carried them out."""

    def __init__(self, server: Server, *, dry_run: bool = False) -> None:
        self._server = server
        self.dry_run = dry_run

    def trying(self) -> Writer:
        """Return one that writes nothing and has the server say what it thinks of each request."""
        return Writer(self._server, dry_run=True)

    def send(self, request: Request) -> JSON:
        """Send the request and return the answer.

        Raises what Server.write raises, and LostResponseError for a success that is no JSON, as of a proxy in between.
        """
        answer = self._server.write(
            request.method,
            request.path,
            msgspec.json.encode(request.body),
            content=request.content,
            query={"dryRun": "All"} if self.dry_run else None,
            repeatable=request.repeatable,
        )
        try:
            decoded = msgspec.json.decode(answer)
        except UNDECODABLE:
            why = f"the answer to {request.method} {request.path} is no JSON, so that it may have been done or not"
            raise LostResponseError(why) from None
        return decoded if isinstance(decoded, dict) else {}

    def get(self, path: str) -> JSON | None:
        """An object as the server has it, None if there is none. Raises ClusterError otherwise."""
        body = self._body(path, None)
        return _decoded(body, dict[str, Any], path) if body is not None else None

    def read(self, path: str, kind: type[T], query: Mapping[str, str] | None = None) -> T | None:
        """Return an object decoded as its kind, None if there is none. Raises ClusterError otherwise."""
        body = self._body(path, query)
        return _decoded(body, kind, path) if body is not None else None

    def _body(self, path: str, query: Mapping[str, str] | None) -> bytes | None:
        try:
            return self._server.get(path, query)
        except ResponseError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise


def _decoded(body: bytes, kind: type[T], path: str) -> T:
    """Decode an object. Raises ClusterError for an answer that is none."""
    try:
        return decoder(kind).decode(body)
    except UNDECODABLE:
        raise ClusterError(f"the answer to GET {path} is no object of the API") from None
