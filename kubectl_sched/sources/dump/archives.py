"""Reads archives in memory, member by member.

Members are read into memory one at a time, so their names cannot lead anywhere; links, devices and sparse files are
passed over, and all that comes out is charged as it comes.
"""

from __future__ import annotations

import io
import tarfile
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from kubectl_sched.sources.dump.zip_compression import zip_member_pieces
from kubectl_sched.sources.dump_errors import DumpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.sources.budget import Budget

_MOST_MEMBERS = 1_000_000
_MOST_READS_AT_END = 100


class Member(NamedTuple):
    """A file of an archive, and its content."""

    path: str
    content: BinaryIO


def tar_members(file: BinaryIO, source: str, wanted: Callable[[str], bool]) -> Iterator[Member]:
    """The regular files of a tar stream whose paths are wanted."""
    with _damage_refused(source), tarfile.open(fileobj=cast("BinaryIO", _Ending(file)), mode="r|") as archive:
        for index, entry in enumerate(archive):
            _limit(index, source)
            if not entry.isreg() or entry.issparse() or not wanted(entry.name):
                continue
            content = archive.extractfile(entry)
            if content is not None:
                yield Member(entry.name, io.BytesIO(content.read()))


class _Ending:
    """A stream that fails when it is read on and on at its end, as tarfile does to pass over a member without end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._reads_at_end = 0

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._reads_at_end += not data
        if self._reads_at_end > _MOST_READS_AT_END:
            raise EOFError("a member is longer than the archive")
        return data


def zip_members(file: BinaryIO, source: str, wanted: Callable[[str], bool], budget: Budget) -> Iterator[Member]:
    """The files of a zip archive whose paths are wanted."""
    with _damage_refused(source), zipfile.ZipFile(file) as archive:
        for index, entry in enumerate(archive.infolist()):
            _limit(index, source)
            path = entry.filename.replace("\\", "/")  # PowerShell 5 writes what Windows calls it
            if path.endswith("/") or _is_link(entry) or not wanted(path):
                continue
            if entry.flag_bits & 1:
                raise DumpError(f"{source}: {entry.filename} is encrypted; unpack the archive first")
            content = io.BytesIO()
            for piece in zip_member_pieces(archive, file, entry, source):
                budget.expand(len(piece), source)
                content.write(piece)
            content.seek(0)
            yield Member(path, content)


@contextmanager
def _damage_refused(source: str) -> Iterator[None]:
    """Refuse what the readers of archives fail on: with hostile bytes they raise more than they document."""
    try:
        yield
    except DumpError:
        raise
    except Exception as error:  # noqa: BLE001 - struct.error, LZMAError, RecursionError and others
        said = "its headers are chained too deeply" if isinstance(error, RecursionError) else error
        raise DumpError(f"{source}: the archive is cut off or damaged ({said})") from None


def _is_link(entry: zipfile.ZipInfo) -> bool:
    return (entry.external_attr >> 16) & 0o170000 == 0o120000


def _limit(index: int, source: str) -> None:
    if index >= _MOST_MEMBERS:
        raise DumpError(f"{source}: it holds more than {_MOST_MEMBERS} files, as no dump does")
