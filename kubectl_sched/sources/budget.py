"""The budget of one read: the bytes that may come out of what is compressed, and the objects made of text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kubectl_sched.sources.dump_errors import BombError

if TYPE_CHECKING:
    from collections.abc import Callable

LEAST_BYTES = 64 << 20
LARGEST_RATIO = 200
"""Dumps compress to between a tenth and a hundredth; only a bomb expands more than this."""

LEAST_OBJECTS = 4_000_000
BYTES_OF_AN_OBJECT = 24
"""Python holds one object for each 95 bytes that kubectl writes of a real cluster, and for each 21 of a snapshot."""

MOST_OBJECTS_OF_A_BYTE = 2
"""An empty LimitRangeItem in an array, of three bytes, is six objects with the dictionaries in it."""


def values_in(text: bytes) -> int:
    """Return at least the number of elements that any array of the JSON has, and of its lines."""
    return max(text.count(b","), text.count(b"\n"))


class Budget:
    """Charged by archives, compressed streams, JSON, YAML and live answers for what comes out of them.

    Its limits follow the size of what was given, so that memory stays within a fixed multiple of it.
    """

    def __init__(self) -> None:
        self._bytes = LEAST_BYTES
        self._objects = LEAST_OBJECTS
        self._before = sys.getallocatedblocks()
        self._at_most = 0  # objects, as far as they were not counted

    def allow(self, compressed: int) -> None:
        """Take note of so many more compressed bytes."""
        self._bytes += compressed * LARGEST_RATIO

    def expand(self, count: int, source: str) -> None:
        """Charge bytes that came out of something compressed. Raises BombError once none are left."""
        self._bytes -= count
        if self._bytes < 0:
            raise BombError(f"{source}: it expands to over {LARGEST_RATIO} times its size, as no dump does; unpack it")

    def take_in(self, size: int, text: memoryview, source: str) -> None:
        """Take note of text whose values were made, and how much of the file it is. Raises BombError for too many.

        To count all objects takes as long as there are many, so it is only done if they may be too many.
        """
        self._objects += size // BYTES_OF_AN_OBJECT
        self._at_most += len(text) * MOST_OBJECTS_OF_A_BYTE
        if self._at_most > self._objects:
            self._at_most = self.check(source)

    def take_text(self, text: bytes, source: str, values_in: Callable[[bytes], int] = values_in) -> None:
        """Take note of text whose values are made at once. Raises BombError if these may be too many."""
        size = len(text)
        self._objects += size // BYTES_OF_AN_OBJECT
        if self._at_most + size > self._objects:
            self._at_most = self._made
            if self._at_most + size > self._objects:
                self.check(source, values=values_in(text))
        self._at_most += size * MOST_OBJECTS_OF_A_BYTE

    @property
    def _made(self) -> int:
        return max(sys.getallocatedblocks() - self._before, 0)

    def check(self, source: str, *, values: int = 0) -> int:
        """Return how many objects were made. Raises BombError if they are more than the text that was read allows."""
        made = self._made
        if made + values > self._objects:
            raise BombError(f"{source}: it holds more values than any dump of its size (over {self._objects:,})")
        return made


def check_alone(text: bytes, source: str) -> None:
    """Raise BombError for a text with more values than one alone may have; a short one has no room for so many."""
    if len(text) > LEAST_OBJECTS:
        Budget().take_text(text, source)
