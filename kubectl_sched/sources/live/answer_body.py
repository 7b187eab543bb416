"""Reads an HTTP body in pieces and charges decompressed bytes to the budget.

urllib3 expands whatever encodings a server names, all of a piece at once; only what was asked for is expanded here.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from urllib3.exceptions import DecodeError

from kubectl_sched.sources.budget import LARGEST_RATIO, Budget
from kubectl_sched.sources.dump_errors import BombError
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import urllib3

_CHUNK = 1 << 18
_GZIP = 31
"""zlib's wbits for a stream with gzip's header."""


def body_pieces(response: urllib3.BaseHTTPResponse, *, as_they_come: bool = False) -> Iterator[bytes]:
    """Yield the body; `as_they_come` does not wait until a piece is full. Raises ClusterError for a bomb."""
    read = response.read1 if as_they_come else response.read
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        while piece := read(_CHUNK, decode_content=False):
            yield piece
    elif encoding == "gzip":
        yield from _expanded(lambda: read(_CHUNK, decode_content=False))
    else:
        raise ClusterError("the server's answer is encoded in a way that was not asked for (it may be gzip or nothing)")


def _expanded(read: Callable[[], bytes]) -> Iterator[bytes]:
    budget, stream = Budget(), zlib.decompressobj(_GZIP)
    while compressed := read():
        budget.allow(len(compressed))
        while compressed:
            if stream.eof:
                stream = zlib.decompressobj(_GZIP)
            try:
                piece = stream.decompress(compressed, _CHUNK)
                budget.expand(len(piece), "")
            except zlib.error as error:
                raise DecodeError(f"its gzip data is damaged ({error})") from None
            except BombError:
                raise ClusterError(
                    f"the server's answer expands to over {LARGEST_RATIO} times its size, as no list does"
                ) from None
            compressed = stream.unused_data if stream.eof else stream.unconsumed_tail
            if piece:
                yield piece
