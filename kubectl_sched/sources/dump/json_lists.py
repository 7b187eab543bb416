"""Reads a List as kubectl or the API server writes it, without ever holding the whole of it.

Half a gigabyte of indented JSON is cut at the boundaries between items, found by the layout that the first item shows.
A cut in a wrong place leaves unbalanced brackets, so decoding each piece proves all the cuts right; whatever does not
have this shape is left to the reader of whole documents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

import msgspec

from kubectl_sched.api.decoders import UNDECODABLE
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from io import BufferedReader

CHUNK = 16 << 20
HEAD_BYTES = 1 << 16
"""Within so many bytes the first item begins."""
_TAIL_BYTES = 1 << 12

_WINDOW = 1 << 18

_HEADER_FIELD = rb'"(?:kind|apiVersion|metadata)"\s*:\s*(?:"[^"\\]*"|\{[^{}]*\})'
_ITEM_FIELDS = rb'(?:"(?:kind|apiVersion)"\s*:\s*"[^"\\]*"\s*,\s*){0,2}"metadata"\s*:\s*\{'
_HEAD = pattern(rb'(\s*\{(?:\s*%b\s*,)*\s*"items"\s*:\s*\[)(\s*)\{(\s*)%b' % (_HEADER_FIELD, _ITEM_FIELDS))
_TAIL = pattern(rb"\}\s*(\](?:\s*,\s*%b)*\s*\}\s*)\Z" % _HEADER_FIELD)


class NotAList(Exception):  # noqa: N818 - no error, only a file of another shape
    """The file is not one List of objects, or not written as one writes it by machine."""


class SnapshotMetadata(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The metadata of a List that `snapshot` wrote. All other Lists leave these empty."""

    snapshot: str = ""
    """The version of what is said: `kubectl-sched/v1`."""

    server_version: str | None = None
    present: tuple[str, ...] = ()
    """The kinds that were listed, be it with no objects."""

    warnings: tuple[str, ...] = ()
    of_mixed_list: bool = False
    """The snapshot is of a list of mixed kinds, which does not tell whether a kind without objects was asked for."""

    pods_of: tuple[str, ...] = ()
    """The namespaces and labels to which the snapshot was limited, in words; empty if it holds all pods."""


class Header(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata of a List."""

    kind: str = ""
    api_version: str = ""
    metadata: SnapshotMetadata = SnapshotMetadata()


class Frame(NamedTuple):
    """The place of the items in the file, and the text between two of them.

    Of a stream, which cannot be sought, the end is not known (None), nor what stands in the header behind the items.
    A kind that stands there is that of the last List, if there are several in the file.
    """

    header: Header
    start: int
    end: int | None
    boundary: re.Pattern[bytes]
    items_name_their_kind: bool
    kind_follows: bool


def is_list(start: bytes) -> bool:
    """Report whether a file that begins so may be a List."""
    return _HEAD.match(start) is not None


def find_frame(file: BinaryIO) -> Frame:
    """Recognises the List by both of its ends, a stream that is read but once by its beginning.

    Raises NotAList for any other shape.
    """
    if not file.seekable():
        return _frame(_HEAD.match(cast("BufferedReader", file).peek(HEAD_BYTES)), b"]}", None)
    file.seek(0)
    head = _HEAD.match(file.read(HEAD_BYTES))
    size = file.seek(0, 2)
    tail_at = max(0, size - _TAIL_BYTES)
    file.seek(tail_at)
    tail = _TAIL.search(file.read())
    if tail is None:
        raise NotAList
    return _frame(head, tail[1], tail_at + tail.start(1))


def _frame(head: re.Match[bytes] | None, tail: bytes, end: int | None) -> Frame:
    if head is None:
        raise NotAList
    between, inside = re.escape(head[2]), re.escape(head[3])
    boundary = re.compile(rb"\},%b\{%b%b" % (between, inside, _ITEM_FIELDS))
    named = b'"kind"' in head[0][len(head[1]) :]
    return Frame(_header(head[1] + tail), head.end(1), end, boundary, named, b'"kind"' in tail)


def _header(text: bytes) -> Header:
    try:
        return msgspec.json.decode(text, type=Header)
    except UNDECODABLE:
        raise NotAList from None


class Pieces:
    """JSON arrays of whole items, in order, each valid only until the next is asked for. Tells how far it has read.

    `size` is how much of the file the present one is. After the last one `header` is all that the List says of itself.
    """

    size = 0

    def __init__(self, file: BinaryIO, frame: Frame, tell: Callable[[int], None], chunk: int = CHUNK) -> None:
        self.header = frame.header
        self._file, self._frame, self._tell, self._chunk = file, frame, tell, chunk

    def __iter__(self) -> Iterator[memoryview]:
        """Raises NotAList where the layout is not kept to."""
        frame, read = self._frame, self._frame.start
        buffer = bytearray(self._chunk + 1 if frame.end is None else min(self._chunk, frame.end - read) + 1)
        start = self._to_items()
        buffer[0] = ord("[")
        filled = 1
        while True:
            before, (filled, is_last) = filled, self._fill(buffer, filled, read)
            read += filled - before
            self._tell(read)
            if is_last and frame.end is None:
                filled = self._end_of_items(buffer, filled, start)
            cut = filled if is_last else _last_boundary(buffer, filled, frame.boundary)
            if cut is None:
                buffer.extend(bytes(len(buffer) if frame.end is None else min(len(buffer), frame.end - read)))
                continue
            rest = bytes(memoryview(buffer)[cut + 1 : filled])
            if cut == len(buffer):
                buffer.append(0)
            buffer[cut] = ord("]")
            self.size = cut + 1
            with memoryview(buffer) as view, view[: cut + 1] as piece:
                yield piece
            if is_last:
                return
            buffer[1 : 1 + len(rest)] = rest
            filled = 1 + len(rest)

    def _to_items(self) -> bytes:
        """Go to the first item, and return what stands before it in a stream."""
        if self._frame.end is None:
            return self._file.read(self._frame.start)
        self._file.seek(self._frame.start)
        return b""

    def _end_of_items(self, buffer: bytearray, filled: int, start: bytes) -> int:
        """Return where the items of a stream end, and read the header that stands around them."""
        tail = _TAIL.search(buffer, max(filled - _TAIL_BYTES, 0), filled)
        if tail is None:
            raise NotAList
        self.header = _header(start + tail[1])
        return tail.start(1)

    def _fill(self, buffer: bytearray, filled: int, read: int) -> tuple[int, bool]:
        """Fill the buffer as far as there are items, and say whether these are all."""
        end = self._frame.end
        left = len(buffer) if end is None else end - read
        with memoryview(buffer) as view:
            while left and filled < len(buffer):
                with view[filled : filled + left] as free:
                    count = self._file.readinto(free)  # type: ignore[attr-defined] # BinaryIO lacks it; all here have it
                if not count:
                    if end is None:
                        return filled, True
                    raise NotAList
                filled += count
                left -= count
        return filled, end is not None and not left


def _last_boundary(buffer: bytearray, filled: int, boundary: re.Pattern[bytes]) -> int | None:
    """The index of the comma after the last item that is complete."""
    window = _WINDOW
    while True:
        start = max(1, filled - window)
        last = None
        for last in boundary.finditer(buffer, start, filled):  # noqa: B007 - the last one is wanted
            pass
        if last is not None:
            return last.start() + 1
        if start == 1:
            return None
        window *= 8
