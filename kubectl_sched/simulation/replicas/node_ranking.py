"""Feasible nodes in the order in which they are chosen, for pods that change the total of their own node alone.

Pods of several kinds reach different nodes, so each kind has a ranking of its own. What one pod changes is written down
once, and each ranking takes it in when one of its pods comes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from kubectl_sched.simulation.replicas.replica_scorer import remember

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.simulation.replicas.claim_kinds import ClaimKind
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows

_MOST_RANKINGS = 64
_OVERHEAD = 16
"""The moves that take as long as to rank no node at all."""


class NodeRankings:
    """The totals of nodes, and the rankings that are made of them."""

    def __init__(self, totals: Integers, passes: Mask, in_name_order: Rows | None, names: Sequence[str]) -> None:
        """Without `in_name_order` the nodes stand in the order of their names already.

        `passes` is of all plugins but those that look at claims; it is read again for a node that has changed.
        """
        rows = range(len(names)) if in_name_order is None else in_name_order.tolist()
        self.is_in_name_order = in_name_order is None
        self.rows: Sequence[int] = rows
        self.names = names if in_name_order is None else [names[row] for row in rows]
        """Of the nodes at all places in name order."""
        self.place_of = sorted(rows, key=rows.__getitem__)
        self.total_of: list[int] = totals.tolist()
        self.passes = passes
        self.changed: list[int] = []
        """The rows that have changed so far, in that order."""
        self._known: dict[ClaimKind | None, NodeRanking] = {}

    def of(self, kind: ClaimKind | None) -> NodeRanking | FewNodes:
        """The ranking for pods with claims of this kind; None for those without."""
        if kind is not None and kind.few is not None:
            return FewNodes(self, kind.few)
        ranking = self._known.get(kind)
        if ranking is None or ranking.is_outdated:
            ranking = NodeRanking(self, kind)
            remember(self._known, kind, ranking, _MOST_RANKINGS)
        else:
            ranking.follow()
        return ranking

    def change(self, row: int, total: int) -> None:
        """The node has another total, or another verdict."""
        self.total_of[row] = total
        self.changed.append(row)


class FewNodes:
    """So few nodes that they need no ranking."""

    is_spent = False

    def __init__(self, nodes: NodeRankings, rows: Sequence[int]) -> None:
        self.nodes = nodes
        self._rows = [row for row in rows if nodes.passes[row]]

    def __len__(self) -> int:
        return len(self._rows)

    def follow(self) -> None:
        """Take in what has changed since the last time."""
        self._rows = [row for row in self._rows if self.nodes.passes[row]]

    def best(self) -> tuple[list[int], int]:
        """The places of the nodes tied at the highest total, in their order, and that total."""
        totals, place_of = self.nodes.total_of, self.nodes.place_of
        if len(self._rows) == 1:
            return [place_of[self._rows[0]]], totals[self._rows[0]]
        highest = max([totals[row] for row in self._rows])
        return sorted([place_of[row] for row in self._rows if totals[row] == highest]), highest


class PlacesByTotal:
    """The places of nodes with each total, in name order."""

    def __init__(self, tied: dict[int, list[int]]) -> None:
        self._tied = tied
        self._highest = [-total for total in tied]
        heapify(self._highest)

    def best(self) -> tuple[list[int], int]:
        """The places of the nodes tied at the highest total, in their order, and that total."""
        highest, tied = self._highest, self._tied
        while not tied[-highest[0]]:
            del tied[-heappop(highest)]
        return tied[-highest[0]], -highest[0]

    def take(self, place: int, total: int) -> None:
        """The node at the place has this total no more."""
        left = self._tied[total]
        del left[bisect_left(left, place)]

    def put(self, place: int, total: int) -> None:
        """The node at the place has this total now."""
        tied = self._tied.get(total)
        if tied is not None:
            insort(tied, place)
        else:
            self._tied[total] = [place]
            heappush(self._highest, -total)


class NodeRanking(PlacesByTotal):
    """The feasible nodes of each total, by their places in name order."""

    is_spent = False

    def __init__(self, nodes: NodeRankings, kind: ClaimKind | None) -> None:
        self.nodes = nodes
        self._kind = kind
        self._seen = len(nodes.changed)
        self._seen_of_kind = 0 if kind is None else len(kind.changed)
        rows = nodes.passes.nonzero()[0] if kind is None else kind.rows.compress(nodes.passes.take(kind.rows))
        totals = nodes.total_of
        self._total_of: dict[int, int] = {row: totals[row] for row in rows.tolist()}
        of_totals: dict[int, list[int]] = {}
        for row, total in self._total_of.items():
            of_totals.setdefault(total, []).append(nodes.place_of[row])
        for tied in () if nodes.is_in_name_order else of_totals.values():
            tied.sort()
        super().__init__(of_totals)

    def __len__(self) -> int:
        return len(self._total_of)

    @property
    def is_outdated(self) -> bool:
        """Report whether so many nodes have changed that to rank all anew takes less than to move each of them."""
        return len(self.nodes.changed) - self._seen > len(self._total_of) + _OVERHEAD

    def follow(self) -> None:
        """Take in what has changed since the last time."""
        changed, passes = self.nodes.changed, self.nodes.passes
        if self._seen < len(changed):
            for row in changed[self._seen :]:
                if row in self._total_of:
                    self._move(row, is_feasible=bool(passes[row]))
            self._seen = len(changed)
        if self._kind is not None and self._seen_of_kind < len(self._kind.changed):
            for row in self._kind.changed[self._seen_of_kind :]:
                self._move(row, is_feasible=bool(passes[row]) and self._kind.passes_on(row))
            self._seen_of_kind = len(self._kind.changed)

    def _move(self, row: int, *, is_feasible: bool) -> None:
        """Take the node from its old place, if it has one, to its new one."""
        place = self.nodes.place_of[row]
        before = self._total_of.pop(row, None)
        if before is not None:
            self.take(place, before)
        if is_feasible:
            total = self._total_of[row] = self.nodes.total_of[row]
            self.put(place, total)
