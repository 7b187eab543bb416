"""Reads a List as kubectl or the API server writes it, without ever holding the whole of it.

Half a gigabyte of indented JSON is cut at the boundaries between items, found by the layout that the first item shows.
A cut in a wrong place leaves unbalanced brackets, so decoding each piece proves all the cuts right; whatever does not
have this shape is left to the reader of whole documents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec

from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHUNK = 16 << 20
_PEEK = 1 << 16
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


class Header(msgspec.Struct, frozen=True, rename="camel"):
    """The metadata of a List."""

    kind: str = ""
    api_version: str = ""
    metadata: SnapshotMetadata = SnapshotMetadata()


class Frame(NamedTuple):
    """The place of the items in the file, and the text between two of them."""

    header: Header
    start: int
    end: int
    boundary: re.Pattern[bytes]
    items_name_their_kind: bool


def find_frame(file: BinaryIO) -> Frame:
    """Recognises the List by both of its ends; the file must be seekable.

    Raises NotAList for any other shape.
    """
    file.seek(0)
    head = _HEAD.match(file.read(_PEEK))
    size = file.seek(0, 2)
    tail_at = max(0, size - _PEEK // 16)
    file.seek(tail_at)
    tail = _TAIL.search(file.read())
    if head is None or tail is None:
        raise NotAList
    try:
        header = msgspec.json.decode(head[1] + tail[1], type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotAList from None
    between, inside = re.escape(head[2]), re.escape(head[3])
    boundary = re.compile(rb"\},%b\{%b%b" % (between, inside, _ITEM_FIELDS))
    return Frame(header, head.end(1), tail_at + tail.start(1), boundary, b'"kind"' in head[0][len(head[1]) :])


def pieces(file: BinaryIO, frame: Frame, tell: Callable[[int], None], chunk: int = CHUNK) -> Iterator[memoryview]:
    """JSON arrays of whole items, in order, each valid only until the next is asked for. Tells how far it has read."""
    file.seek(frame.start)
    left = frame.end - frame.start
    buffer = bytearray(min(chunk, left) + 1)
    buffer[0] = ord("[")
    filled = 1
    while True:
        filled, left = _fill(file, buffer, filled, left)
        tell(frame.end - left)
        cut = filled if left == 0 else _last_boundary(buffer, filled, frame.boundary)
        if cut is None:
            buffer.extend(bytes(min(len(buffer), left)))
            continue
        rest = bytes(memoryview(buffer)[cut + 1 : filled])
        if cut == len(buffer):
            buffer.append(0)
        buffer[cut] = ord("]")
        with memoryview(buffer) as view, view[: cut + 1] as piece:
            yield piece
        if left == 0:
            return
        buffer[1 : 1 + len(rest)] = rest
        filled = 1 + len(rest)


def _fill(file: BinaryIO, buffer: bytearray, filled: int, left: int) -> tuple[int, int]:
    with memoryview(buffer) as view:
        while left and filled < len(buffer):
            with view[filled : filled + left] as free:
                count = file.readinto(free)  # type: ignore[attr-defined] # BinaryIO lacks it; files and BytesIO have it
            if not count:
                raise NotAList
            filled += count
            left -= count
    return filled, left


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
