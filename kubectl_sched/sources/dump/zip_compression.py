"""Streams a member of a zip archive. zipfile expands a block of bzip2 or LZMA at once, which may be gigabytes."""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO

from kubectl_sched.sources.dump_errors import DumpError

if TYPE_CHECKING:
    from collections.abc import Iterator

_STEP = 1 << 20
_LOCAL_HEADER = struct.Struct("<26xHH")
_LZMA_HEADER = struct.Struct("<2xHBI")
_LARGEST_DICTIONARY = 1 << 26
"""That of `xz -9`. It is allocated before anything is expanded."""


def zip_member_pieces(archive: zipfile.ZipFile, file: BinaryIO, entry: zipfile.ZipInfo, source: str) -> Iterator[bytes]:
    """Yield what the member holds, a megabyte at a time. `file` is the archive's own."""
    if entry.compress_type in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        with archive.open(entry) as stream:
            while piece := stream.read(_STEP):
                yield piece
        return
    if entry.compress_type not in {zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA}:
        raise DumpError(
            f"{source}: {entry.filename} is compressed by a method that is not read ({entry.compress_type}); "
            "unpack the archive first"
        )
    checksum = size = 0
    for piece in _expanded(file, entry):
        checksum, size = zlib.crc32(piece, checksum), size + len(piece)
        yield piece
    if (checksum, size) != (entry.CRC, entry.file_size):
        raise DumpError(f"{source}: {entry.filename} is damaged or cut off")


def _expanded(file: BinaryIO, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    file.seek(entry.header_offset)
    file.seek(sum(_LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))), 1)
    left = entry.compress_size
    if entry.compress_type == zipfile.ZIP_BZIP2:
        import bz2

        decompressor: Any = bz2.BZ2Decompressor()
    else:
        decompressor = _lzma_decompressor(file.read(_LZMA_HEADER.size))
        left = max(left - _LZMA_HEADER.size, 0)
    while not decompressor.eof:
        compressed = file.read(min(left, _STEP)) if decompressor.needs_input else b""
        left -= len(compressed)
        piece = decompressor.decompress(compressed, _STEP)
        # A stream of LZMA may end without saying so, and the file before its member.
        if not piece and not compressed:
            return
        yield piece


def _lzma_decompressor(header: bytes) -> Any:
    """Return the decompressor of a member's LZMA stream, which begins with its properties."""
    import lzma

    _, properties, dictionary = _LZMA_HEADER.unpack(header)
    if dictionary > _LARGEST_DICTIONARY:
        raise ValueError("its LZMA dictionary is larger than that of xz -9")
    rest, lc = divmod(properties, 9)
    pb, lp = divmod(rest, 5)
    chain = [{"id": lzma.FILTER_LZMA1, "dict_size": dictionary, "lc": lc, "lp": lp, "pb": pb}]
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=chain)
