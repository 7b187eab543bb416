"""A column: for each row a code, and for each code a value.

A cluster has thousands of nodes but few distinct taint sets, zones or image lists. So an ordinary Python function runs
once per distinct value, and numpy broadcasts its answer to the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.snapshot.array_types import Codes, Integers, Mask, Rows

T = TypeVar("T")
U = TypeVar("U")

_SPARSE = 4
"""With a range of so many numbers for each one, they are sorted."""


class Column(Generic[T]):
    """`values[codes[row]]` is the value of a row. Values may repeat; rows with equal codes have the same value."""

    __slots__ = ("codes", "values")

    def __init__(self, codes: Codes, values: Sequence[T]) -> None:
        self.codes = codes
        self.values = values

    @classmethod
    def of(cls, values: Iterable[T], key: Callable[[T], Hashable] | None = None) -> Column[T]:
        """A column of these values, one a row; rows whose keys are equal share one value (the first)."""
        code_of: dict[Hashable, int] = {}
        distinct: list[T] = []
        codes: list[int] = []
        for value in values:
            value_key: Hashable = value if key is None else key(value)
            code = code_of.setdefault(value_key, len(distinct))
            if code == len(distinct):
                distinct.append(value)
            codes.append(code)
        return cls(np.array(codes, dtype=np.int32), distinct)

    @classmethod
    def filled(cls, length: int, value: T) -> Column[T]:
        """A column of one value everywhere."""
        return cls(np.zeros(length, dtype=np.int32), (value,))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> T:
        return self.values[int(self.codes[row])]

    def __iter__(self) -> Iterator[T]:
        values = self.values
        return (values[code] for code in self.codes.tolist())

    def map(self, function: Callable[[T], U]) -> Column[U]:
        """The function of every row's value, asked once per distinct value."""
        return Column(self.codes, tuple(function(value) for value in self.values))

    def distinct(self) -> Column[T]:
        """Return the column with each value under one code; values are hashable."""
        values = Column.of(self.values)
        return Column(values.codes[self.codes], values.values)

    def where(self, predicate: Callable[[T], bool]) -> Mask:
        """bool[n]: the rows whose value the predicate holds for."""
        verdicts = np.fromiter((predicate(value) for value in self.values), dtype=np.bool_, count=len(self.values))
        return verdicts[self.codes]

    def numbers(self, function: Callable[[T], int]) -> Integers:
        """int64[n]: the function of every row's value, asked once per distinct value."""
        per_value = np.fromiter((function(value) for value in self.values), dtype=np.int64, count=len(self.values))
        return per_value[self.codes]

    def take(self, rows: Rows | Mask) -> Column[T]:
        """The column of these rows only (row numbers or a mask)."""
        return Column(self.codes[rows], self.values)

    def replacing(self, rows: Rows | Mask, value: T) -> Column[T]:
        """The column with this value on some rows."""
        codes = self.codes.copy()
        codes[rows] = len(self.values)
        return Column(codes, (*self.values, value))

    def with_each(self, values: Mapping[int, T]) -> Column[T]:
        """The column with other values by row."""
        codes = self.codes.copy()
        codes[list(values)] = np.arange(len(self.values), len(self.values) + len(values))
        return Column(codes, (*self.values, *values.values()))

    def counts(self) -> list[tuple[T, int]]:
        """Each value that occurs, with how many rows have it. A value that stands under two codes comes twice."""
        per_code = np.bincount(self.codes, minlength=len(self.values))
        return [(value, int(count)) for value, count in zip(self.values, per_code, strict=True) if count]

    def combined(self, other: Column[U]) -> Column[tuple[T, U]]:
        """A column of pairs, holding only those pairs that occur."""
        width = len(other.values)
        pairs, codes = distinct_numbers(self.codes.astype(np.int64) * width + other.codes)
        values = tuple((self.values[pair // width], other.values[pair % width]) for pair in pairs.tolist())
        return Column(codes.astype(np.int32), values)


def distinct_numbers(numbers: Integers | Codes) -> tuple[Rows, Rows]:
    """The distinct numbers in order, and the place of each number among them; without sorting where they lie close."""
    smallest, largest = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    if largest - smallest >= _SPARSE * len(numbers):
        return np.unique(numbers.astype(np.intp), return_inverse=True)
    places = numbers - smallest
    occurs = np.zeros(largest - smallest + 1, dtype=np.bool_)
    occurs[places] = True
    return np.flatnonzero(occurs) + smallest, (np.cumsum(occurs) - 1).take(places)
