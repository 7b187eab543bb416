"""Opens what is compressed as a stream, never reading more out of it than a dump could hold."""

from __future__ import annotations

import io
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

from kubectl_sched.sources.dump.magic_numbers import compression_of
from kubectl_sched.sources.errors import DumpError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from kubectl_sched.sources.budget import Budget

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
        self._file, self._errors = _open(file, self._algorithm, source)

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Buffer, /) -> int:
        """Fills as much of the buffer as there is; 0 at the end."""
        try:
            count: int = self._file.readinto(buffer)
        except EOFError:
            raise DumpError(f"{self._source}: it ends too early: it was cut off; copy or make it again") from None
        except self._errors as error:
            raise DumpError(f"{self._source}: its {self._algorithm} data is damaged ({error})") from None
        self._budget.expand(count, self._source)
        return count


def _open(file: BinaryIO, name: str, source: str) -> tuple[Any, tuple[type[Exception], ...]]:
    """The reader of an algorithm, and what it raises. Each is imported only where it is met."""
    if name == "gzip":
        return import_module("gzip").GzipFile(fileobj=file), (OSError, zlib.error)
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
