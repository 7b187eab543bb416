"""The body of an answer is charged by what comes out of it."""

from __future__ import annotations

import gzip
import io
import json
from http.client import IncompleteRead
from typing import TYPE_CHECKING

import pytest
from urllib3 import HTTPResponse

from kubectl_sched.sources import budget
from kubectl_sched.sources.kinds import BY_NAME
from kubectl_sched.sources.live import reflector
from kubectl_sched.sources.live.answer_body import body_pieces
from kubectl_sched.sources.live.lister import decoded
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = json.dumps(list(range(200_000))).encode()


def answer(body: bytes, encoding: str = "gzip", length: int | None = None) -> HTTPResponse:
    headers = {"Content-Encoding": encoding, "Content-Length": str(length or len(body))}
    return HTTPResponse(io.BytesIO(body), headers, 200, preload_content=False, decode_content=False)


def whole(response: HTTPResponse) -> bytes:
    return b"".join(body_pieces(response))


def watched(response: HTTPResponse) -> bytes:
    return b"\n".join(reflector.lines(response))


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (TEXT, ""),
        (TEXT, "identity"),
        (gzip.compress(TEXT), "gzip"),
        (gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:]), "GZIP"),
    ],
    ids=["plain", "identity", "gzip", "two members"],
)
def test_a_body_is_expanded(body: bytes, encoding: str) -> None:
    assert whole(answer(body, encoding)) == TEXT


@pytest.mark.parametrize("read", [whole, watched])
@pytest.mark.parametrize("line", [b"\n", b""])
def test_a_body_that_expands_to_more_than_any_list_is_refused(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[HTTPResponse], bytes], line: bytes
) -> None:
    monkeypatch.setattr(budget, "LEAST_BYTES", 1 << 20)
    with pytest.raises(ClusterError, match="expands to over 200 times its size"):
        read(answer(gzip.compress((b" " * 999 + line) * 20_000)))


@pytest.mark.parametrize("encoding", ["gzip, gzip", "br", "zstd", "deflate"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding: str) -> None:
    with pytest.raises(ClusterError, match="not asked for"):
        whole(answer(gzip.compress(gzip.compress(TEXT)), encoding))


@pytest.mark.parametrize("read", [whole, watched])
def test_a_body_that_ends_too_soon_is_none(read: Callable[[HTTPResponse], bytes]) -> None:
    with pytest.raises(IncompleteRead):
        read(answer(TEXT, "", length=len(TEXT) + 1))


@pytest.mark.parametrize("kept", [1, 12, -9, -1])
def test_gzip_data_that_ends_too_soon_is_no_body(kept: int) -> None:
    with pytest.raises(IncompleteRead):
        whole(answer(gzip.compress(TEXT)[:kept]))


def test_damaged_data_may_be_asked_for_again() -> None:
    with pytest.raises(OSError, match="damaged"):
        whole(answer(b"\x1f\x8b\x08" + b"\xff" * 100))


def test_an_event_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reflector, "_LONGEST_EVENT", 1 << 20)
    with pytest.raises(ClusterError, match="an event of over 1,048,576 bytes"):
        watched(answer(b" " * (3 << 20), ""))


def test_events_that_come_in_pieces_are_whole() -> None:
    lines = [b"x" * size for size in (0, 1, 300_000, 7, 900_000, 0)]
    assert watched(answer(b"\n".join([*lines, b"cut"]), "")).split(b"\n") == lines


def test_a_page_of_more_values_than_any_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "LEAST_OBJECTS", 1000)
    with pytest.raises(ClusterError, match="more values than any dump"):
        decoded(b'{"metadata":{},"items":[' + b"{}," * 5000 + b"{}]}", BY_NAME["Pod"])
