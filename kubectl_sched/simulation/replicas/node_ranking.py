"""Feasible nodes in the order in which they are chosen, for pods that change the total of their own node alone."""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.simulation.replicas.replica_scorer import Feasible
    from kubectl_sched.snapshot.array_types import Integers, Rows


class NodeRanking:
    """The nodes of each total, by their places in name order."""

    def __init__(self, totals: Integers, feasible: Feasible, in_name_order: Rows | None, names: Sequence[str]) -> None:
        """Without `in_name_order` the nodes stand in the order of their names already."""
        rows = range(len(names)) if in_name_order is None else in_name_order.tolist()
        self.rows: Sequence[int] = rows
        self.names = names if in_name_order is None else [names[row] for row in rows]
        self._places = sorted(rows, key=rows.__getitem__)
        self._total_of: list[int] = totals.tolist()
        self._tied: dict[int, list[int]] = {}
        for row in feasible.by_name.tolist():
            self._tied.setdefault(self._total_of[row], []).append(self._places[row])
        self._highest = [-total for total in self._tied]
        heapify(self._highest)

    def best(self) -> tuple[list[int], int]:
        """The places of the nodes tied at the highest total, in their order, and that total."""
        highest = self._highest
        while not self._tied[-highest[0]]:
            del self._tied[-heappop(highest)]
        return self._tied[-highest[0]], -highest[0]

    def move(self, row: int, total: int) -> None:
        """Another total of a node."""
        self.remove(row)
        self._total_of[row] = total
        tied = self._tied.get(total)
        if tied is not None:
            insort(tied, self._places[row])
        else:
            self._tied[total] = [self._places[row]]
            heappush(self._highest, -total)

    def remove(self, row: int) -> None:
        """The node is not feasible any more."""
        tied = self._tied[self._total_of[row]]
        del tied[bisect_left(tied, self._places[row])]
