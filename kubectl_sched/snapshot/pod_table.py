"""The pods that run on the nodes, as columns that grow without being copied.

A what-if places thousands of pods one after the other, and each step needs its own immutable picture. So all versions
of a table share one append-only store: a version is how much of the store it sees and which pods it leaves out.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kubectl_sched.snapshot.growing_column import GrowingColumn
from kubectl_sched.snapshot.label_sets import Identities

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot.array_types import Mask, Rows
    from kubectl_sched.snapshot.column import Column

T = TypeVar("T")


_MOST_PASSED_OVER = 1000
"""A version leaves out at most so many pods that other versions have added; then it begins a store of its own.

It does so, too, once it has removed so many pods more than it has.
"""


class _Store:
    """Append-only: what a version of the table has seen never changes under it."""

    def __init__(self, pods: list[Pod], rows: Rows) -> None:
        self.pods = pods
        self.rows = rows
        self.columns: dict[str, GrowingColumn[Pod, Any]] = {}
        self.identities = Identities()
        self.derived: dict[str, Any] = {}
        self._last_of: dict[tuple[str, str], int] = {}
        self._earlier: dict[int, int] = {}
        self._named = 0
        self._is_searched = False

    def positions_of(self, namespace: str, name: str) -> Iterator[int]:
        """Yield the positions of all pods of that name, the last first.

        The names of all pods are looked at once somebody asks a second time.
        """
        if not self._is_searched:
            self._is_searched = True
            for index, pod in enumerate(reversed(self.pods), 1):
                if pod.metadata.name == name and pod.metadata.namespace == namespace:
                    yield len(self.pods) - index
            return
        self._name()
        found = self._last_of.get((namespace, name))
        while found is not None:
            yield found
            found = self._earlier.get(found)

    def _name(self) -> None:
        """Look at the names of the pods that came since the last time."""
        metadata = [pod.metadata for pod in self.pods[self._named :]]
        last_of = self._last_of
        for index, key in enumerate([(meta.namespace, meta.name) for meta in metadata], self._named):
            if key in last_of:
                self._earlier[index] = last_of[key]
            last_of[key] = index
        self._named = len(self.pods)

    def append(self, pod: Pod, row: int) -> None:
        size = len(self.pods)
        if size >= len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros(size + 16, dtype=np.intp)])
        self.rows[size] = row
        self.pods.append(pod)


class PodTable:
    """An immutable set of pods, each on a row of the node table."""

    def __init__(self, store: _Store, size: int, kept: Mask | None = None, renumbered: Rows | None = None) -> None:
        """`kept` tells the pods of the store that are left out, as far as it goes; all after them are kept."""
        self._store = store
        self._size = size
        self._kept_of_first = kept
        self._renumbered = renumbered

    @classmethod
    def of(cls, pods: Sequence[Pod], rows: Sequence[int]) -> PodTable:
        """The pods with the row of each one's node."""
        return cls(_Store(list(pods), np.array(rows, dtype=np.intp)), len(pods))

    def __len__(self) -> int:
        return self._size - self._left_out if self._renumbered is None else len(self.rows)

    @cached_property
    def _left_out(self) -> int:
        """The number of pods of the store, up to its size, that this version has removed or never had."""
        kept = self._kept_of_first
        return 0 if kept is None else len(kept) - int(np.count_nonzero(kept))

    @cached_property
    def _kept(self) -> Mask | None:
        """bool[size]: the others; None for all."""
        kept = self._kept_of_first
        if kept is None or len(kept) == self._size:
            return kept
        return np.concatenate([kept, np.ones(self._size - len(kept), dtype=np.bool_)])

    @cached_property
    def _visible(self) -> Mask | None:
        """The pods of the store that this version sees; None for all up to its size."""
        if self._renumbered is None:
            return self._kept
        # Pods that other versions have added may be on rows that the nodes of this one never had.
        kept = np.ones(self._size, dtype=np.bool_) if self._kept is None else self._kept.copy()
        kept[kept] = self._renumbered[self._store.rows[: self._size][kept]] >= 0
        return kept

    @cached_property
    def rows(self) -> Rows:
        """intp[m]: the node row of each pod."""
        rows = self._store.rows[: self._size]
        if self._visible is not None:
            rows = rows[self._visible]
        return rows if self._renumbered is None else self._renumbered[rows]

    @cached_property
    def pods(self) -> Sequence[Pod]:
        """The pods themselves, aligned with `rows`."""
        pods = self._store.pods[: self._size]
        if self._visible is None:
            return pods
        return [pods[index] for index in np.flatnonzero(self._visible)]

    def column(self, name: str, fact: Callable[[Pod], T], key: Callable[[T], Hashable] | None = None) -> Column[T]:
        """A fact about every pod, aligned with `rows`. The name stands for the fact, so it must be its only one."""
        growing = self._store.columns.get(name)
        if growing is None:
            growing = self._store.columns[name] = GrowingColumn(fact, key)
        column: Column[T] = growing.upto(self._size, self._store.pods)
        return column if self._visible is None else column.take(self._visible)

    def derived(self, name: str, make: Callable[[], T]) -> T:
        """Something that is kept beside the columns and grows with them, made once for all versions of the table."""
        if name not in self._store.derived:
            self._store.derived[name] = make()
        kept: T = self._store.derived[name]
        return kept

    @cached_property
    def identity(self) -> Column[tuple[str, Labels]]:
        """(namespace, labels) of every pod: all that a pod selector asks about."""
        return self.column(
            "identity",
            lambda pod: (pod.metadata.namespace, pod.metadata.labels),
            key=lambda identity: (identity[0], tuple(identity[1].items())),
        )

    def selected(self, selector: Selector, in_namespace: Callable[[str], bool]) -> Mask:
        """bool[m]: the pods that the selector selects in the namespaces that the predicate holds for."""
        identity = self.identity
        chosen = self._store.identities.selected(identity.values, selector, in_namespace)
        return chosen[identity.codes]

    def selection_work(self, selectors: Collection[Selector]) -> tuple[int, int]:
        """Count what `selected` does for these selectors: operations on arrays, and entries looked at one by one."""
        return self._store.identities.work(selectors, self.identity.values)

    @cached_property
    def terminating(self) -> Mask:
        """bool[m]: pods that are being deleted."""
        return self.column("terminating", lambda pod: pod.metadata.deletion_timestamp is not None).where(bool)

    @cached_property
    def _by_row(self) -> tuple[Rows, Rows]:
        """The pods' indices ordered by row, and where each row's begin."""
        order = np.argsort(self.rows, kind="stable")
        last_row = int(self.rows.max()) + 1 if len(self.rows) else 0
        return order, np.searchsorted(self.rows[order], np.arange(last_row + 1))

    def on(self, row: int) -> Rows:
        """The indices of the pods on one node, in the order they were listed."""
        order, starts = self._by_row
        return order[starts[row] : starts[row + 1]] if row + 1 < len(starts) else order[:0]

    def find(self, namespace: str, name: str) -> int | None:
        """The index of the pod of that name, None if it is not on any node."""
        position, visible = self._position_of(namespace, name), self._visible
        return position if position is None or visible is None else int(np.count_nonzero(visible[:position]))

    def _position_of(self, namespace: str, name: str) -> int | None:
        visible = self._visible
        for position in self._store.positions_of(namespace, name):
            if position < self._size and (visible is None or visible[position]):
                return position
        return None

    def at(self, index: int) -> Pod:
        """One of the pods."""
        if self._visible is None or "pods" in self.__dict__:
            return self.pods[index]
        return self._store.pods[int(np.flatnonzero(self._visible)[index])]

    def those(self, indices: Rows) -> list[Pod]:
        """Some of the pods, at the cost of these alone."""
        positions = indices if self._visible is None else np.flatnonzero(self._visible)[indices]
        return [self._store.pods[position] for position in positions.tolist()]

    def add(self, pod: Pod, row: int) -> PodTable:
        """The table with one more pod, last."""
        store = self._store
        passed_over = len(store.pods) - self._size
        is_sparse = self._size > 2 * (self._size - self._left_out) + _MOST_PASSED_OVER
        if self._renumbered is not None or passed_over > _MOST_PASSED_OVER or is_sparse:
            store = _Store(list(self.pods), self.rows.copy())
            if self._renumbered is None:
                known = self._store.columns.items()
                store.columns = {name: column.first(self._size, self._kept) for name, column in known}
            store.append(pod, row)
            return PodTable(store, len(store.pods))
        store.append(pod, row)
        if not passed_over:
            longer = PodTable(store, self._size + 1, self._kept_of_first)
            longer.__dict__["_left_out"] = self._left_out
            return longer
        kept = np.ones(len(store.pods), dtype=np.bool_)
        kept[: self._size] = True if self._kept is None else self._kept
        kept[self._size : -1] = False
        return PodTable(store, len(store.pods), kept)

    def add_all(self, pods: Sequence[Pod], rows: Sequence[int]) -> PodTable:
        """The table with these pods, in their order, last."""
        store = self._store
        if self._renumbered is not None or len(store.pods) > self._size:
            return self.add(pods[0], rows[0]).add_all(pods[1:], rows[1:])
        store.rows = np.concatenate([store.rows[: self._size], np.array(rows, dtype=np.intp)])
        store.pods += pods
        return PodTable(store, len(store.pods), self._kept_of_first)

    def replacing(self, pod: Pod) -> PodTable:
        """The table with this pod, last, in place of the one of its name, on the same row."""
        position = self._position_of(pod.namespace, pod.name)
        if position is None:
            raise KeyError(pod.key)
        kept = np.ones(self._size, dtype=np.bool_) if self._kept is None else self._kept.copy()
        kept[position] = False
        row = int(self._store.rows[position])
        others = PodTable(self._store, self._size, kept, self._renumbered)
        return others.add(pod, row if self._renumbered is None else int(self._renumbered[row]))

    def without(self, removed: Rows | Mask) -> PodTable:
        """The table without these pods: their indices, or bool[m]."""
        kept = np.ones(self._size, dtype=np.bool_) if self._kept is None else self._kept.copy()
        seen = np.arange(self._size) if self._visible is None else np.flatnonzero(self._visible)
        kept[seen[removed]] = False
        return PodTable(self._store, self._size, kept, self._renumbered)

    def _of_one(self, row: int) -> PodTable:
        """The pods of one node, in a store of their own; a table that is asked once need not order all its pods."""
        here = self.on(row) if "_by_row" in self.__dict__ else np.flatnonzero(self.rows == row)
        if self._visible is None:
            pods = [self._store.pods[index] for index in here.tolist()]
        else:
            pods = [self.pods[index] for index in here.tolist()]
        return PodTable.of(pods, [0] * len(pods))

    def take(self, rows: Rows, node_count: int) -> PodTable:
        """The pods on these node rows, which become rows 0, 1, ...; node_count is the length of the present table."""
        if len(rows) == 1:
            return self._of_one(int(rows[0]))
        renumbering = np.full(node_count, -1, dtype=np.intp)
        renumbering[rows] = np.arange(len(rows))
        if self._renumbered is not None:
            outside = self._renumbered < 0
            renumbering = np.where(outside, -1, renumbering[self._renumbered])
        return PodTable(self._store, self._size, self._kept, renumbering)
