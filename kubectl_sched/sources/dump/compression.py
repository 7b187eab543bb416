"""Opens what is compressed as a stream, never reading more out of it than a dump could hold."""

from __future__ import annotations

import io
import zlib
from contextlib import suppress
from importlib import import_module
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from kubectl_sched.sources.dump.magic_numbers import compression_of
from kubectl_sched.sources.errors import DumpError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kubectl_sched.sources.budget import Budget

_AHEAD = 8 << 20
_COMPRESSED_STEP = 4 << 20
_GZIP = 16 + zlib.MAX_WBITS
_PATIENCE_SECONDS = 0.05
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
    """Reads gzip in steps of megabytes, between which alone Python need run; GzipFile takes kilobytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._member = zlib.decompressobj(_GZIP)
        self._left = b""

    def readinto(self, buffer: memoryview) -> int:
        """Fill a part of the buffer; 0 at the end. Raises EOFError where the last member is cut off."""
        while True:
            if self._member.eof:
                self._left = self._left.lstrip(b"\0") or self._file.read(_COMPRESSED_STEP).lstrip(b"\0")
                if not self._left:
                    return 0
                self._member = zlib.decompressobj(_GZIP)
            compressed = self._left or self._file.read(_COMPRESSED_STEP)
            expanded = self._member.decompress(compressed, len(buffer))
            self._left = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
            if expanded:
                buffer[: len(expanded)] = expanded
                return len(expanded)
            if not compressed and not self._member.eof:
                raise EOFError


class ExpandedAhead(io.RawIOBase):
    """The same content as of the stream, which a thread reads ahead: zlib and its like let other threads run."""

    def __init__(self, stream: Expanded) -> None:
        super().__init__()
        self._stream = stream
        self._chunks: Queue[memoryview | Exception] = Queue(maxsize=2)
        self._is_over = Event()
        self._chunk = memoryview(b"")
        self._thread = Thread(target=self._read_ahead, daemon=True)
        self._thread.start()

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Fill as much of the buffer as there is; 0 at the end. Raises what the stream raises."""
        if not self._chunk and not self._is_over.is_set():
            chunk = self._chunks.get()
            if isinstance(chunk, Exception) or not chunk:
                self._is_over.set()
            if isinstance(chunk, Exception):
                raise chunk
            self._chunk = chunk
        view = memoryview(buffer)
        count = min(len(view), len(self._chunk))
        view[:count] = self._chunk[:count]
        self._chunk = self._chunk[count:]
        return count

    def close(self) -> None:
        """Stop reading ahead."""
        self._is_over.set()
        with suppress(Empty):
            self._chunks.get_nowait()
        self._thread.join()
        super().close()

    def _read_ahead(self) -> None:
        try:
            while not self._is_over.is_set():
                chunk = memoryview(bytearray(_AHEAD))
                count = self._stream.readinto(chunk)
                self._hand_over(chunk[:count])
                if not count:
                    return
        except Exception as failure:  # noqa: BLE001 - raised again by whoever reads
            self._hand_over(failure)

    def _hand_over(self, chunk: memoryview | Exception) -> None:
        while not self._is_over.is_set():
            with suppress(Full):
                self._chunks.put(chunk, timeout=_PATIENCE_SECONDS)
                return


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
