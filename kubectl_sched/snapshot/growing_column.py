"""Columns over lists that only ever grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from kubectl_sched.snapshot.column import Column, distinct_numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from kubectl_sched.snapshot.array_types import Mask

Item = TypeVar("Item")
Value = TypeVar("Value")

ABSENT = -1
"""The code of a value that no item has."""


class GrowingColumn(Generic[Item, Value]):
    """The codes of one fact about an append-only list, for as many items as anyone has asked about."""

    def __init__(self, fact: Callable[[Item], Value], key: Callable[[Value], Hashable] | None = None) -> None:
        self._fact = fact
        self._key = key
        self._code_of: dict[Hashable, int] = {}
        self._values: list[Value] = []
        self._codes = np.zeros(0, dtype=np.int32)
        self._size = 0

    def upto(self, size: int, items: Sequence[Item]) -> Column[Value]:
        """The column of the first `size` items."""
        if size > self._size:
            fresh = self._codes_of(items[self._size : size])
            if size > len(self._codes):
                self._codes = np.concatenate([self._codes[: self._size], np.zeros(size, dtype=np.int32)])
            self._codes[self._size : size] = fresh
            self._size = size
        return Column(self._codes[:size], self._values)

    def first(self, size: int, kept: Mask | None) -> GrowingColumn[Item, Value]:
        """A column that grows by itself, over the first `size` items or those of them that are kept.

        It holds no value of other items, which a process that runs for long would else never let go.
        """
        column = GrowingColumn(self._fact, self._key)
        codes = self._codes[: min(size, self._size)]
        used, renumbered = distinct_numbers(codes if kept is None else codes[kept[: len(codes)]])
        keys = list(self._code_of)
        column._code_of = {keys[code]: index for index, code in enumerate(used.tolist())}
        column._values = [self._values[code] for code in used.tolist()]
        column._codes, column._size = renumbered.astype(np.int32), len(renumbered)
        return column

    def code(self, value: Value) -> int:
        """The code of a value, ABSENT where no item so far has it."""
        return self._code_of.get(value if self._key is None else self._key(value), ABSENT)

    def _codes_of(self, items: Sequence[Item]) -> list[int]:
        fact, key_of, code_of, values = self._fact, self._key, self._code_of, self._values
        codes: list[int] = []
        for item in items:
            value = fact(item)
            code = code_of.setdefault(value if key_of is None else key_of(value), len(values))
            if code == len(values):
                values.append(value)
            codes.append(code)
        return codes
