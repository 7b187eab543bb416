"""Opens what is compressed as a stream, never reading more out of it than a dump could hold."""

from __future__ import annotations

import io
import os
import zlib
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from kubectl_sched.sources.dump.filling_process import FillingProcess, may_fork
from kubectl_sched.sources.dump.magic_numbers import compression_of
from kubectl_sched.sources.dump_errors import DumpError

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from kubectl_sched.sources.budget import Budget

LEAST_BESIDE = 1 << 20
"""Compressed files of so many bytes are expanded by a process of their own."""

_COMPRESSED_STEP = 4 << 20
_FIRST_STEP = 4 << 10
_GZIP = 16 + zlib.MAX_WBITS
_CHUNKS, _CHUNK_BYTES = 4, 8 << 20
_SUFFIXES = (".gz", ".xz", ".bz2", ".zst")


def without_suffix(name: str) -> str:
    """The name that the content has once it is expanded."""
    if name.endswith(".tgz"):
        return name.removesuffix(".tgz") + ".tar"
    return next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)


class Expanded(io.RawIOBase):
    """A stream of what a compressed file holds. Raises DumpError where its data is damaged, cut off, or a bomb."""

    def __init__(self, file: BinaryIO, source: str, budget: Budget) -> None:
        super().__init__()
        start = file.read(8)
        file.seek(0)
        self._algorithm = compression_of(start) or "gzip"
        self._source = source
        self._budget = budget
        self.expanded = 0
        """The bytes that came out of it so far."""
        self._file, self._errors = _open(file, self._algorithm, source)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Fills as much of the buffer as there is; 0 at the end."""
        try:
            count: int = self._file.readinto(memoryview(buffer))
        except EOFError:
            raise DumpError(f"{self._source}: it ends too early: it was cut off; copy or make it again") from None
        except self._errors as error:
            raise DumpError(f"{self._source}: its {self._algorithm} data is damaged ({error})") from None
        self.expanded += count
        self._budget.expand(count, self._source)
        return count


class _Gzip:
    """Reads gzip in steps of megabytes, between which alone Python need run; GzipFile takes kilobytes.

    The steps of a member begin small: what zlib does not use of one, which may be all of it, it copies.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._member = zlib.decompressobj(_GZIP)
        self._left = memoryview(b"")
        self._step = _FIRST_STEP

    def readinto(self, buffer: memoryview) -> int:
        """Fill a part of the buffer; 0 at the end. Raises EOFError where the last member is cut off."""
        while True:
            if not self._left:
                self._left = memoryview(self._file.read(_COMPRESSED_STEP))
            compressed = self._left[: self._step]
            if self._has_ended():
                if not compressed:
                    return 0
                following = bytes(compressed).lstrip(b"\0")
                self._left = self._left[len(compressed) - len(following) :]
                self._member = zlib.decompressobj(_GZIP) if following else self._member
                continue
            expanded = self._member.decompress(compressed, len(buffer))
            unused = self._member.unused_data or self._member.unconsumed_tail
            self._left = self._left[len(compressed) - len(unused) :]
            self._step = _FIRST_STEP if self._has_ended() else 4 * self._step
            if expanded:
                buffer[: len(expanded)] = expanded
                return len(expanded)
            if not compressed and not self._has_ended():
                raise EOFError

    def _has_ended(self) -> bool:
        """Ask anew: a type checker takes the attribute for unchanged."""
        return self._member.eof


def expanded(content: BinaryIO, source: str, budget: Budget) -> Expanded | ExpandedBeside:
    """The content from its start, expanded by a process beside this one where that may be had and is worth it."""
    content.seek(0)
    is_worth_it = content.seek(0, io.SEEK_END) >= LEAST_BESIDE
    content.seek(0)
    if is_worth_it and may_fork():
        with suppress(OSError):
            fill = _filler(content.fileno(), source, budget)
            return ExpandedBeside(content, source, budget, FillingProcess(_CHUNKS, _CHUNK_BYTES, fill))
    return Expanded(content, source, budget)


class ExpandedBeside(io.RawIOBase):
    """The content, expanded by a process beside this one, which can decode meanwhile.

    If that process ends before its time, the rest is expanded here; so all errors are raised here, too.
    """

    def __init__(self, content: BinaryIO, source: str, budget: Budget, process: FillingProcess) -> None:
        super().__init__()
        self._content, self._source, self._budget, self.process = content, source, budget, process
        self.expanded = 0
        """The bytes that came out of it so far."""
        self._here: Expanded | None = None
        self._chunk = memoryview(b"")

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Fills as much of the buffer as there is; 0 at the end."""
        if self._here is None and not self._chunk:
            chunk = self.process.take()
            self._chunk = memoryview(b"") if chunk is None else chunk
            if not self._chunk and not self.process.ended_well():
                self._here = self._caught_up()
        if self._here is None:
            view = memoryview(buffer)
            count = min(len(view), len(self._chunk))
            view[:count] = self._chunk[:count]
            self._chunk = self._chunk[count:]
            self._budget.expand(count, self._source)
        else:
            count = self._here.readinto(buffer)
        self.expanded += count
        return count

    def close(self) -> None:
        """End the process."""
        if not self.closed:
            self._chunk.release()
            self.process.close()
        super().close()

    def _caught_up(self) -> Expanded:
        """The content as far as it has been read already."""
        self._content.seek(0)
        self._budget.expand(-self.expanded, self._source)
        here = Expanded(self._content, self._source, self._budget)
        passed_over = memoryview(bytearray(_COMPRESSED_STEP))
        while here.expanded < self.expanded:
            here.readinto(passed_over[: self.expanded - here.expanded])
        return here


def _filler(descriptor: int, source: str, budget: Budget) -> Callable[[memoryview], int | None]:
    """Fill chunks with what the file holds; the last one is not full."""
    stream: Expanded | None = Expanded(cast("BinaryIO", io.BufferedReader(_FileAt(descriptor))), source, budget)

    def fill(chunk: memoryview) -> int | None:
        nonlocal stream
        if stream is None:
            return None
        filled = 0
        while filled < len(chunk) and (more := stream.readinto(chunk[filled:])):
            filled += more
        if filled < len(chunk):
            stream = None
        return filled

    return fill


class _FileAt(io.RawIOBase):
    """An open file from its start, whatever its position, which the other process shares."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        del whence  # the start is all that is asked for
        self._position = offset
        return offset

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Buffer, /) -> int:
        count = os.preadv(self._descriptor, [buffer], self._position)
        self._position += count
        return count


def _open(file: BinaryIO, name: str, source: str) -> tuple[Any, tuple[type[Exception], ...]]:
    """The reader of an algorithm, and what it raises. Each is imported only where it is met."""
    if name == "gzip":
        return _Gzip(file), (OSError, zlib.error)
    if name == "bzip2":
        return import_module("bz2").BZ2File(file), (OSError, ValueError)
    if name == "xz":
        lzma = import_module("lzma")
        return lzma.LZMAFile(file), (OSError, lzma.LZMAError)
    zstd = _zstd(source)
    return zstd.ZstdFile(file), (OSError, zstd.ZstdError)


def _zstd(source: str) -> Any:
    for module in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(module)
        except ModuleNotFoundError:
            continue
    raise DumpError(f"{source}: Python before 3.14 reads zstd only with `pip install backports.zstd`; or run `zstd -d`")
