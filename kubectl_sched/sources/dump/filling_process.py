"""A process beside this one that fills memory which both share, chunk after chunk, some chunks ahead."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from itertools import count
from mmap import mmap
from threading import active_count
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

_SIZE_BYTES = 8


def may_fork() -> bool:
    """Report whether a process may be had: a child of one with several threads has one of them, and all their locks."""
    return hasattr(os, "fork") and active_count() == 1


class SharedChunks:
    """Memory of two processes, one of which fills chunk after chunk, and waits while the other has not taken them."""

    def __init__(self, chunks: int, chunk_bytes: int) -> None:
        self._chunks, self._chunk_bytes = chunks, chunk_bytes
        self._memory = memoryview(mmap(-1, chunks * chunk_bytes))
        self._filled, self._free = os.pipe(), os.pipe()
        self._taken = 0

    def fill(self, fill: Callable[[memoryview], int | None]) -> None:
        """Fill chunk after chunk; `fill` returns the number of bytes. End when it returns None or nobody reads."""
        os.close(self._filled[0])
        os.close(self._free[1])
        for index in count():
            if index >= self._chunks and not os.read(self._free[0], 1):
                return
            size = fill(self._at(index))
            if size is None:
                return
            os.write(self._filled[1], size.to_bytes(_SIZE_BYTES, "big"))

    def take(self) -> memoryview | None:
        """Return the next chunk, valid until another is taken; None if no more come."""
        if self._taken:
            with suppress(BrokenPipeError):
                os.write(self._free[1], b"\0")
        size = os.read(self._filled[0], _SIZE_BYTES)
        if not size:
            return None
        self._taken += 1
        return self._at(self._taken - 1)[: int.from_bytes(size, "big")]

    def _at(self, index: int) -> memoryview:
        start = index % self._chunks * self._chunk_bytes
        return self._memory[start : start + self._chunk_bytes]

    def only_take(self) -> None:
        """Leave the other ends to the process that fills."""
        os.close(self._filled[1])
        os.close(self._free[0])

    def close(self) -> None:
        """Give back what is left after `only_take`."""
        os.close(self._filled[0])
        os.close(self._free[1])
        self._memory.release()


class FillingProcess:
    """The process. Raises OSError where none can be had. Whatever goes wrong in it, this one only learns that it ended.

    `fill` fills a chunk and returns the number of its bytes; None says that there is nothing more.
    """

    def __init__(self, chunks: int, chunk_bytes: int, fill: Callable[[memoryview], int | None]) -> None:
        self._chunks = SharedChunks(chunks, chunk_bytes)
        self._exit_code: int | None = None
        try:
            self.pid = os.fork()
        except OSError:
            self._chunks.only_take()
            self._chunks.close()
            raise
        if self.pid == 0:
            _run(self._chunks, fill)
        self._chunks.only_take()

    def take(self) -> memoryview | None:
        """Return the next chunk, valid until another is taken; None if the process has ended."""
        return self._chunks.take()

    def ended_well(self) -> bool:
        """Wait for its end, and report whether it had nothing more to fill."""
        if self._exit_code is None:
            self._exit_code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._exit_code == 0

    def close(self) -> None:
        """End it. No chunk may be in use any more."""
        if self._exit_code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.ended_well()
        self._chunks.close()


def _run(chunks: SharedChunks, fill: Callable[[memoryview], int | None]) -> NoReturn:
    code = 1
    try:
        chunks.fill(fill)
        code = 0
    finally:
        os._exit(code)
