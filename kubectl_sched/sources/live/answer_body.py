"""Reads an HTTP body in pieces and charges decompressed bytes to the budget.

Only what was asked for is expanded, and never more at a time than a piece.
"""

from __future__ import annotations

import zlib
from http.client import IncompleteRead
from typing import TYPE_CHECKING

from kubectl_sched.sources.budget import LARGEST_RATIO, Budget
from kubectl_sched.sources.dump_errors import BombError
from kubectl_sched.sources.live.connections.urllib3_errors import errors_of_the_line
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from urllib3.response import BaseHTTPResponse

_CHUNK = 1 << 18
_GZIP = 31
"""zlib's wbits for a stream with gzip's header."""


def body_pieces(response: BaseHTTPResponse, *, as_they_come: bool = False) -> Iterator[bytes]:
    """Return the body; `as_they_come` does not wait until a piece is full.

    Raises ClusterError for a bomb, OSError for damaged data or a broken line, and HTTPException for what is cut off or
    no HTTP.
    """
    pieces = _as_sent(response.read1 if as_they_come else response.read)
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        return pieces
    if encoding == "gzip":
        return _expanded(pieces)
    raise ClusterError("the server's answer is encoded in a way that was not asked for (it may be gzip or nothing)")


def _as_sent(read: Callable[[int], bytes]) -> Iterator[bytes]:
    with errors_of_the_line():
        while piece := read(_CHUNK):
            yield piece


def _expanded(pieces: Iterator[bytes]) -> Iterator[bytes]:
    budget, stream = Budget(), zlib.decompressobj(_GZIP)
    is_whole = True
    for compressed in pieces:
        budget.allow(len(compressed))
        rest = compressed
        while rest:
            if stream.eof:
                stream = zlib.decompressobj(_GZIP)
            try:
                piece = stream.decompress(rest, _CHUNK)
                budget.expand(len(piece), "")
            except zlib.error as error:
                raise OSError(f"its gzip data is damaged ({error})") from None
            except BombError:
                raise ClusterError(
                    f"the server's answer expands to over {LARGEST_RATIO} times its size, as no list does"
                ) from None
            rest = stream.unused_data if stream.eof else stream.unconsumed_tail
            if piece:
                yield piece
        is_whole = stream.eof
    if not is_whole:
        raise IncompleteRead(b"")
