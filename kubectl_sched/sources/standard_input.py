"""Standard input, which only one `-` of a command line can have."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, BinaryIO
from weakref import WeakSet

from kubectl_sched.sources.dump_errors import DumpError

if TYPE_CHECKING:
    from io import BufferedIOBase

_TAKEN: WeakSet[BinaryIO | BufferedIOBase] = WeakSet()


def standard_input() -> BinaryIO:
    """Return the stream of bytes. Raises DumpError if it was read already: nothing is left of it then."""
    stream = sys.stdin.buffer
    if stream in _TAKEN:
        raise DumpError("standard input: - is given more than once, but it can be read only once; name a file")
    _TAKEN.add(stream)
    return stream
