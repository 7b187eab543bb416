"""Reads a large List whose indentation other processes take out, part after part.

Most of what kubectl prints is indentation, and passing over it is half of the time to decode a List. A process gives
the same JSON without it and nothing else, so that values, errors and budgets are those of a reader without processes.
"""

from __future__ import annotations

import os
from contextlib import suppress
from mmap import ACCESS_COPY, ALLOCATIONGRANULARITY, mmap
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import msgspec

from kubectl_sched.sources.dump.json_lists import Pieces
from kubectl_sched.sources.dump.processes.filling_process import FillingProcess, may_fork

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from kubectl_sched.sources.dump.json_lists import Frame
    from kubectl_sched.sources.dump.processes.filling_process import Chunk

PART_BYTES = 6 << 20
PROCESSES = 2
"""So many take out indentation about as fast as this process decodes what is left."""

_CHUNKS = 3
_CPU_MAX = Path("/sys/fs/cgroup/cpu.max")
"""`QUOTA PERIOD` in microseconds, or `max PERIOD` without a limit, which is no number."""


def is_worth_it(file: BinaryIO) -> bool:
    """Report whether the content is a file of the system, and there are processors to share its reading."""
    try:
        file.fileno()
    except OSError:
        return False
    return _processors() > 1 and may_fork()


def _processors() -> float:
    """Return the number of processors that this process may use, a container's limit counted."""
    present = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = _CPU_MAX.read_text(encoding="ascii").split()
        return min(present, int(quota) / int(period))
    return present


class _Layout(NamedTuple):
    """The place of the items in a file, and how it is cut into parts of whole items, by anybody in the same way."""

    start: int
    end: int
    boundary: re.Pattern[bytes]

    @property
    def parts(self) -> int:
        """The number of parts."""
        return -(-(self.end - self.start) // PART_BYTES)

    def cut(self, index: int, window: mmap, offset: int) -> int | None:
        """Return the place of the comma before a part, or of the bracket around all; None if an item is too large.

        The window begins at the offset in the file.
        """
        if index in {0, self.parts}:
            return self.end if index else self.start - 1
        low = self.start + index * PART_BYTES - offset
        found = self.boundary.search(window, low, min(low + PART_BYTES, len(window)))
        return None if found is None else found.start() + 1 + offset


class UnindentedPieces(Pieces):
    """Pieces without indentation. Where a process ends early, the rest is read as Pieces does it.

    `parts` counts the pieces that came from a process.
    """

    def __init__(self, file: BinaryIO, frame: Frame, tell: Callable[[int], None], chunk: int) -> None:
        super().__init__(file, frame, tell, chunk)
        self.parts = 0
        self.processes: list[FillingProcess] = []
        self._layout = _Layout(frame.start, frame.end or 0, frame.boundary)
        self._place: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[memoryview]:
        """Raises NotAList where the layout is not kept to."""
        start = self._layout.start
        for text, end in self._from_processes():
            self._place, self.size = (start, end), end - start + 2
            self._tell(end)
            self.parts += 1
            yield text
            start = end + 1
        self.close()
        if start <= self._layout.end:
            self._place, self._frame = None, self._frame._replace(start=start)
            yield from super().__iter__()

    def as_written(self, piece: memoryview) -> bytes:
        """Return the present piece as the file has it."""
        if self._place is None:
            return super().as_written(piece)
        start, end = self._place
        self._file.seek(start)
        return b"[%b]" % self._file.read(end - start)

    def close(self) -> None:
        """End the processes."""
        while self.processes:
            self.processes.pop().close()

    def _from_processes(self) -> Iterator[Chunk]:
        """Yield the parts, each with the place in the file where it ends, as long as each process gives its own."""
        layout = self._layout
        with suppress(OSError):
            for first in range(PROCESSES):
                fill = _filler(self._file.fileno(), layout, first)
                self.processes.append(FillingProcess(_CHUNKS, 2 * PART_BYTES, fill))
        for index in range(layout.parts):
            process = self.processes[index % PROCESSES] if len(self.processes) == PROCESSES else None
            chunk = process.take() if process is not None else None
            if chunk is None:
                return
            yield chunk


def _filler(descriptor: int, layout: _Layout, first: int) -> Callable[[memoryview], tuple[int, int] | None]:
    """Fill chunks with every so many-th part."""
    indices = iter(range(first, layout.parts, PROCESSES))

    def fill(chunk: memoryview) -> tuple[int, int] | None:
        index = next(indices, None)
        return None if index is None else _fill(chunk, descriptor, layout, index)

    return fill


def _fill(chunk: memoryview, descriptor: int, layout: _Layout, index: int) -> tuple[int, int] | None:
    """Fill a chunk with a part; gives its size, and the place in the file where the part ends."""
    low = layout.start - 1 + index * PART_BYTES
    high = min(layout.end + 1, layout.start + (index + 2) * PART_BYTES)
    offset = low - low % ALLOCATIONGRANULARITY
    with mmap(descriptor, high - offset, offset=offset, access=ACCESS_COPY) as window:
        start, end = layout.cut(index, window, offset), layout.cut(index + 1, window, offset)
        if start is None or end is None:
            return None
        window[start - offset], window[end - offset] = b"[]"
        with memoryview(window) as view, view[start - offset : end - offset + 1] as part:
            text = msgspec.json.format(part, indent=-1)
    chunk[: len(text)] = text
    return len(text), end
