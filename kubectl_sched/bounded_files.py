"""Opens files that people name without waiting for anybody, and reads no more of them than people write."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

MOST_BYTES: Final = 16 << 20
"""The size up to which a file is one that people write."""

_DESCRIPTOR: Final = pattern(r"/dev/(?:stdin|fd/\d+)|/proc/(?:self|thread-self|\d+)/fd/\d+")


class UnsuitableFileError(OSError):
    """A file that is no regular one, or too large; its words are those of an OSError."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.strerror = words


def is_stream_or_file(path: str, status: os.stat_result) -> bool:
    """Report whether reading the path ends when its writer is done: a regular file, or a descriptor that was passed on.

    A descriptor is standard input or a shell's process substitution. The empty device counts as a file.
    """
    return stat.S_ISREG(status.st_mode) or path == os.devnull or _DESCRIPTOR.fullmatch(path) is not None


def open_file(path: str | Path) -> BinaryIO:
    """Open a file to read it, without waiting for the writer of a named pipe. Raises OSError."""
    name = str(path)
    wait = 0 if _DESCRIPTOR.fullmatch(name) else os.O_NONBLOCK
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | wait)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise UnsuitableFileError("is a directory")
        if not is_stream_or_file(name, status):
            raise UnsuitableFileError("it is no regular file")
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def first_bytes(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file, and one more than `most` of a larger one. Raises OSError."""
    with open_file(path) as file:
        return file.read(most + 1)


def content(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file. Raises OSError, for a file that is larger than `most`, too."""
    found = first_bytes(path, most)
    if len(found) > most:
        raise UnsuitableFileError(f"it is larger than {most >> 20} MiB")
    return found
