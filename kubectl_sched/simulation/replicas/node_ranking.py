"""Feasible nodes in the order in which they are chosen, for pods that change the total of their own node alone.

Pods of several kinds reach different nodes, so each kind has a ranking of its own. What one pod changes is written down
once, and each ranking takes it in when one of its pods comes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from kubectl_sched.simulation.replicas.latest_values import remember

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.replicas.claim_kinds import ClaimKind
    from kubectl_sched.simulation.replicas.own_node import OwnNode
    from kubectl_sched.simulation.replicas.ranking import RankingInputs

_OVERHEAD = 16
"""The moves that take as long as to rank no node at all."""


class NodeRankings:
    """The nodes for pods with claims of each kind (None: without claims), each kind ranked by itself.

    No plugin counts the pods on other nodes. The points of a node may depend on which others are feasible, unless the
    pods have claims.
    """

    def __init__(self, inputs: RankingInputs, kind: ClaimKind | None) -> None:
        self.order = inputs.order
        self.passes = inputs.passes
        self._scores = inputs.scores
        self._is_of_claims = kind is not None
        self._rank(kind)

    def _rank(self, kind: ClaimKind | None) -> None:
        self.total_of: list[int] = self._scores.totals().tolist()
        self.changed: list[int] = []
        """The rows that have changed so far, in the order of their changes."""

        self._known: dict[ClaimKind | None, NodeRanking] = {}
        self._current = self._of(kind)

    def _of(self, kind: ClaimKind | None) -> NodeRanking | FewNodes:
        if kind is not None and kind.few is not None:
            return FewNodes(self, kind.few)
        ranking = self._known.get(kind)
        if ranking is None or ranking.is_outdated:
            ranking = NodeRanking(self, kind)
            remember(self._known, kind, ranking)
        else:
            ranking.follow()
        return ranking

    def __len__(self) -> int:
        return len(self._current)

    def best(self) -> tuple[list[int], int]:
        """Return the places of the nodes tied at the highest total, in name order, and that total."""
        return self._current.best()

    def turn_to(self, kind: ClaimKind | None) -> bool:
        """Rank for claims of this kind; False if plugins score them."""
        if kind is not None and kind.points is not None:
            return False
        self._current = self._of(kind)
        return True

    def place(self, _: Pod, row: int, after: OwnNode) -> bool:
        """Give the node its new total, or leave it out if it is full. The ranking is never spent."""
        self.total_of[row] += self._scores.with_requests(row, after.points)
        self.changed.append(row)
        self.passes[row] &= after.passes
        if self._is_of_claims:
            return True  # the next pod has its kind's ranking follow
        if not after.passes and self._scores.look_at_others and self._scores.weigh(self.passes.nonzero()[0]):
            self._rank(None)
        else:
            self._current.follow()
        return True


class FewNodes:
    """So few nodes that they need no ranking."""

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
        totals, place_of = self.nodes.total_of, self.nodes.order.place_of
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
            of_totals.setdefault(total, []).append(nodes.order.place_of[row])
        for tied in () if nodes.order.by_name is None else of_totals.values():
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
        place = self.nodes.order.place_of[row]
        before = self._total_of.pop(row, None)
        if before is not None:
            self.take(place, before)
        if is_feasible:
            total = self._total_of[row] = self.nodes.total_of[row]
            self.put(place, total)
