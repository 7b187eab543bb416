"""Counts by topology domain: the nodes that share one value of a label."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.snapshot.array_types import Integers, Rows
    from kubectl_sched.snapshot.snapshot import Snapshot


class DomainSum:
    """Adds up numbers by the value of one node label, without keeping what was added."""

    def __init__(self, nodes: Snapshot, key: str) -> None:
        self._key = key
        self._nodes = nodes
        self._column = nodes.label(key)
        self._counts = np.zeros(len(self._column.values), dtype=np.int64)

    def add(self, rows: Rows, weight: int) -> None:
        """Add the weight once for each entry of `rows`."""
        self._counts += weight * np.bincount(self._column.codes[rows], minlength=len(self._counts))

    def add_each(self, rows: Rows, weights: Integers) -> None:
        """Add each entry's own weight."""
        self._counts += TopologyCounts.of(self._nodes, self._key, rows, weights).counts

    def counts(self) -> TopologyCounts:
        """Return the sums; nodes without the label do not count."""
        counts, missing = self._counts.copy(), self._nodes.table.code_without(self._key)
        if missing is not None:
            counts[missing] = 0
        return TopologyCounts(key=self._key, values=self._column.values, counts=counts)


class TopologyCounts(CachingRecord, frozen=True, kw_only=True):
    """A count for each value of one node label: `counts[i]` belongs to `values[i]`.

    It knows nothing of rows, so it holds for any snapshot. What lies on nodes without the label is not counted.
    """

    key: str
    values: Sequence[str | None]
    counts: Integers

    @classmethod
    def of(cls, nodes: Snapshot, key: str, rows: Rows, weights: Integers | None = None) -> TopologyCounts:
        """One for each entry of `rows` (node rows, which may repeat), or its weight."""
        column = nodes.label(key)
        codes = column.codes[rows]
        values = column.values
        if weights is None:
            counts = np.bincount(codes, minlength=len(values)).astype(np.int64)
        else:
            # Sums of int32 weights stay far below 2**53, up to which floats count exactly.
            counts = np.rint(np.bincount(codes, weights, minlength=len(values))).astype(np.int64)
        missing = nodes.table.code_without(key)
        if missing is not None:
            counts[missing] = 0
        return cls(key=key, values=values, counts=counts)

    @classmethod
    def none(cls, nodes: Snapshot, key: str) -> TopologyCounts:
        """Nothing anywhere."""
        return cls.of(nodes, key, np.zeros(0, dtype=np.intp))

    @cached_property
    def _code_of(self) -> Mapping[str | None, int]:
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def counted_codes(self) -> Rows:
        """The codes of the values with a count above 0."""
        return np.flatnonzero(self.counts > 0)

    @cached_property
    def is_empty(self) -> bool:
        """Report whether nothing is counted anywhere."""
        return not self.counts.any()

    def at(self, value: str) -> int:
        """The count of one domain, 0 where it is not known."""
        code = self._code_of.get(value)
        return 0 if code is None else int(self.counts[code])

    def on(self, nodes: Snapshot, rows: Rows | None = None) -> Integers:
        """int64[n]: the count of each node's domain, 0 for a node without the label; of these rows only, if given."""
        column = nodes.label(self.key)
        codes = column.codes if rows is None else column.codes.take(rows)
        return self.of_values(column.values).take(codes)

    def of_values(self, values: Sequence[str | None]) -> Integers:
        """The counts of these values of the label, 0 for None."""
        if values is self.values:
            return self.counts
        return np.array([0 if value is None else self.at(value) for value in values], dtype=np.int64)

    def plus(self, value: str, amount: int) -> TopologyCounts:
        """With more in one domain, or less."""
        code = self._code_of.get(value)
        if code is None:
            return TopologyCounts(
                key=self.key, values=(*self.values, value), counts=np.append(self.counts, np.int64(amount))
            )
        counts = self.counts.copy()
        counts[code] += amount
        changed = TopologyCounts(key=self.key, values=self.values, counts=counts)
        changed.__dict__["_code_of"] = self._code_of
        return changed
