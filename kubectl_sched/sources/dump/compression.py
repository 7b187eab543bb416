"""Opens what is compressed as a stream, never reading more out of it than a dump could hold."""

from __future__ import annotations

import io
import zlib
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from kubectl_sched.sources.dump.magic_numbers import compression_of
from kubectl_sched.sources.dump_errors import DumpError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kubectl_sched.sources.budget import Budget

LEAST_AHEAD = 1 << 20
"""Compressed files of so many bytes are expanded by a thread of their own."""

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


def expanded(content: BinaryIO, source: str, budget: Budget) -> Expanded | ExpandedAhead:
    """The content from its start, expanded by a thread where that is worth it."""
    is_worth_it = content.seek(0, io.SEEK_END) >= LEAST_AHEAD
    content.seek(0)
    stream = Expanded(content, source, budget)
    return ExpandedAhead(stream) if is_worth_it else stream


class ExpandedAhead(io.RawIOBase):
    """A stream that a thread expands some chunks ahead. Python decodes meanwhile: zlib does not hold its lock."""

    def __init__(self, stream: Expanded) -> None:
        super().__init__()
        self._stream = stream
        self._free: SimpleQueue[Buffer | None] = SimpleQueue()
        self._filled: SimpleQueue[memoryview | Exception] = SimpleQueue()
        self._chunk = memoryview(bytearray(_CHUNK_BYTES))[:0]
        self._has_ended = False
        for _ in range(_CHUNKS - 1):
            self._free.put(bytearray(_CHUNK_BYTES))
        self._thread = Thread(target=self._fill, daemon=True)
        self._thread.start()

    @property
    def expanded(self) -> int:
        """The bytes that were expanded so far."""
        return self._stream.expanded

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Fills as much of the buffer as there is; 0 at the end."""
        if not self._chunk and not self._has_ended:
            self._free.put(self._chunk.obj)
            filled = self._filled.get()
            self._has_ended = isinstance(filled, Exception) or not filled
            if isinstance(filled, Exception):
                raise filled
            self._chunk = filled
        view = memoryview(buffer)
        count = min(len(view), len(self._chunk))
        view[:count] = self._chunk[:count]
        self._chunk = self._chunk[count:]
        return count

    def close(self) -> None:
        """End the thread."""
        if not self.closed:
            self._free.put(None)
            self._thread.join()
        super().close()

    def _fill(self) -> None:
        try:
            while (chunk := self._free.get()) is not None:
                count = self._stream.readinto(chunk)
                self._filled.put(memoryview(chunk)[:count])
                if not count:
                    return
        except Exception as failure:  # noqa: BLE001 - it is raised in the thread that reads
            self._filled.put(failure)


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
