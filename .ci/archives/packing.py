"""Writes archives that come out the same, byte for byte, of the same contents."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import tarfile
import time
import zipfile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_1980 = 315532800
"""The earliest time that a zip archive can hold."""


_WINDOW = 64 * 2**20
"""Bytes over which compression finds what is alike; unpacking takes as much memory."""


class Entry(NamedTuple):
    """One file of an archive."""

    name: str
    data: bytes
    is_program: bool = False

    @property
    def mode(self) -> int:
        """Everybody reads it; a program can be run."""
        return 0o755 if self.is_program else 0o644


def moment() -> int:
    """The time that all entries bear: $SOURCE_DATE_EPOCH, else the beginning of 1980."""
    return max(int(os.environ.get("SOURCE_DATE_EPOCH") or _1980), _1980)


def write_tar(path: Path, entries: Iterable[Entry]) -> None:
    """A .tar.gz of regular files that belong to nobody."""
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", 6, file, mtime=moment()) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for entry in sorted(entries):
            info = tarfile.TarInfo(entry.name)
            info.size, info.mode, info.mtime = len(entry.data), entry.mode, moment()
            archive.addfile(info, io.BytesIO(entry.data))


def packed_once(contents: Iterable[bytes]) -> bytes:
    """A .tar.xz of contents, each under its checksum, in this order: put what is alike together.

    One window reaches over all of it, so that files of several Pythons that are nearly alike take little room.
    """
    packed = io.BytesIO()
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": _WINDOW}]
    with (
        lzma.LZMAFile(packed, "w", filters=filters) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for data in contents:
            info = tarfile.TarInfo(hashlib.sha256(data).hexdigest())
            info.size, info.mtime = len(data), moment()
            archive.addfile(info, io.BytesIO(data))
    return packed.getvalue()


def write_zip(path: Path | io.BytesIO, entries: Iterable[Entry]) -> None:
    """A .zip of regular files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in sorted(entries):
            info = zipfile.ZipInfo(entry.name, time.gmtime(moment())[:6])
            info.create_system = 3
            info.external_attr = (0o100000 | entry.mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entry.data)


def sha256(path: Path) -> str:
    """The checksum of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
