"""What is compressed comes out the same, whether it is expanded as it is read or ahead."""

from __future__ import annotations

import gzip
import io
import os
from threading import active_count
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.sources.budget import Budget
from kubectl_sched.sources.dump import compression
from kubectl_sched.sources.dump.compression import Expanded, ExpandedAhead, expanded
from kubectl_sched.sources.dump_errors import BombError, DumpError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

CONTENT = b"".join(b"%d\n" % number for number in range(200_000))


@pytest.fixture
def compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BinaryIO]:
    monkeypatch.setattr(compression, "LEAST_AHEAD", 0)
    monkeypatch.setattr(compression, "_CHUNK_BYTES", 1 << 16)
    path = tmp_path / "numbers.gz"
    path.write_bytes(gzip.compress(CONTENT))
    with path.open("r+b") as file:
        yield file


def ahead(file: BinaryIO, budget: Budget | None = None) -> ExpandedAhead:
    stream = expanded(file, "numbers.gz", budget or Budget())
    assert isinstance(stream, ExpandedAhead)
    return stream


def test_the_content_is_the_same(compressed: BinaryIO) -> None:
    with ahead(compressed) as stream:
        assert stream.readall() == CONTENT
        assert stream.expanded == len(CONTENT)


@pytest.mark.parametrize("between", [b"", b"\0", b"\0" * 10_000])
@pytest.mark.parametrize("parts", [1, 7, 5_000])
def test_members_are_read_one_after_the_other(parts: int, between: bytes) -> None:
    length = len(CONTENT) // parts + 1
    members = (gzip.compress(CONTENT[at : at + length], 1) for at in range(0, len(CONTENT), length))
    data = between.join((gzip.compress(b""), *members, b""))
    assert expanded(io.BytesIO(data), "numbers.gz", Budget()).read() == CONTENT
    with pytest.raises(DumpError, match="it was cut off"):
        expanded(io.BytesIO(data.rstrip(b"\0")[:-1]), "numbers.gz", Budget()).read()


def test_damage_is_told_in_the_same_words(compressed: BinaryIO) -> None:
    compressed.seek(-len(gzip.compress(CONTENT)) // 2, os.SEEK_END)
    compressed.write(b"\xff" * 64)
    compressed.flush()
    compressed.seek(0)
    with pytest.raises(DumpError) as here:
        Expanded(compressed, "numbers.gz", Budget()).readall()
    with ahead(compressed) as stream, pytest.raises(DumpError) as there:
        stream.readall()
    assert str(there.value) == str(here.value)


def test_a_bomb_is_refused(compressed: BinaryIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_sched.sources.budget.LEAST_BYTES", len(CONTENT) - 1)
    with ahead(compressed, Budget()) as stream, pytest.raises(BombError, match="expands to over"):
        stream.readall()


@pytest.mark.parametrize("read_before", [0, 1, 300_000, len(CONTENT) + 1])
def test_the_thread_ends_with_the_stream(compressed: BinaryIO, read_before: int) -> None:
    before = active_count()
    with ahead(compressed) as stream:
        assert stream.read(read_before) is not None
    assert active_count() == before


def test_after_its_end_there_is_no_more(compressed: BinaryIO) -> None:
    with ahead(compressed) as stream:
        stream.readall()
        assert (stream.read(1), stream.read(1)) == (b"", b"")
