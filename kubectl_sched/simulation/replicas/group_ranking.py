"""Nodes ranked in groups that no plugin which counts pods tells apart, for pods that such plugins count.

The nodes of a group have the same verdict and the same points of these plugins, so that a pod's best node is the best
one of some group by what other plugins give. A pod takes its own node to another group, and changes the verdicts and
the points of whole groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, overload

import numpy as np

from kubectl_sched.framework.runtime import normalized_scores
from kubectl_sched.simulation.replicas.node_ranking import NodeRankings, PlacesByTotal
from kubectl_sched.simulation.replicas.replica_scorer import remember
from kubectl_sched.simulation.replicas.score_groups import codes_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import PreFilterExtensions
    from kubectl_sched.simulation.replicas.replica_scorer import GroupScorer
    from kubectl_sched.simulation.replicas.replica_scores import ReplicaScores
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask, Rows
    from kubectl_sched.snapshot.replica_counts import ReplicaRawScores, ReplicaVerdicts

_MOST_GROUPS = 16
_NODES_PER_GROUP = 16
"""With more groups than the former and fewer nodes a group than the latter, all nodes are looked at for each pod."""

_MOST_REMEMBERED = 64
"""Sets of feasible groups."""


class _Group(PlacesByTotal):
    """Nodes with equal numbers, ranked by their totals without the points of the group."""

    def __init__(self, numbers: tuple[int, ...], steps: tuple[int, ...], tied: dict[int, list[int]]) -> None:
        """`steps` is what one more of the pods on a node adds to its numbers."""
        super().__init__(tied)
        self.key = numbers, steps
        self.is_left = any(steps)
        """A node leaves the group with each pod."""

        self.after: _Group | None = None
        self.size = sum(map(len, tied.values()))
        self.places: list[int] = []
        self.total = 0
        self.look_up()

    def look_up(self) -> None:
        """Keep the places of the nodes tied at the highest total, and that total."""
        if self.size:
            self.places, self.total = self.best()


class MergedPlaces(Sequence[int]):
    """The first places of several groups in one order, which few ask for."""

    def __init__(self, parts: Sequence[Sequence[int]], most: int) -> None:
        """The places of each are in their order."""
        self._parts = parts
        self._most = most

    def __len__(self) -> int:
        return min(self._most, sum(map(len, self._parts)))

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...
    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        if at == 0:
            return min([part[0] for part in self._parts])
        if isinstance(at, slice) and not at.start and at.step is None and at.stop is not None and at.stop >= 0:
            return MergedPlaces([part[: at.stop] for part in self._parts], at.stop)
        return list(self)[at]

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(chain.from_iterable(self._parts))[: self._most])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # as that of a list


class _Feasible:
    """The groups of feasible nodes, with the points that no pod changes as long as these are the groups."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self.groups = groups
        self.points: list[int] = []
        self.points_among = -1
        """The number of feasible nodes that the points are for."""


class GroupRanking:
    """All nodes that pass the other plugins, in their groups."""

    def __init__(
        self,
        nodes: NodeRankings,
        verdicts: Sequence[ReplicaVerdicts],
        scorers: Sequence[GroupScorer],
        normalizing: tuple[CycleState, Pod, Snapshot],
    ) -> None:
        """The totals in `nodes` are without the scorers' points. `normalizing` are arguments of NormalizeScore."""
        self.nodes = nodes
        self._verdicts = verdicts
        self._steady = [each for each in scorers if not each.raw.are_shared]
        self._others = [each for each in scorers if each.raw.are_shared]
        self._depends_on_count = any(each.raw.depends_on_feasible_count for each in self._steady)
        self._counting: list[ReplicaVerdicts | ReplicaRawScores] = [*verdicts, *(each.raw for each in scorers)]
        self._normalizing = normalizing
        self._seen = len(nodes.changed)
        self._total_of = list(nodes.total_of)
        self._group_of: dict[int, _Group] = {}
        self._groups = self._divided()
        """Some may be empty."""

        self._known: dict[Hashable, _Feasible] = {}
        """By the keys of the verdicts."""

        self._count: int | None = None
        self.is_spent = self._are_many

    def _divided(self) -> dict[Hashable, _Group]:
        """Put the nodes into groups."""
        counts = [each for plugin in self._counting for each in plugin.counts]
        all_rows: Rows = np.array(self.nodes.rows, dtype=np.intp)
        places = self.nodes.passes.take(all_rows).nonzero()[0]
        rows = all_rows.take(places)
        numbers = [each.numbers.take(rows) for each in counts]
        steps = [each.steps.take(rows) for each in counts]
        codes = codes_of([np.zeros(len(rows), dtype=np.int64), *numbers, *steps])
        totals = np.array(self._total_of, dtype=np.int64).take(rows)
        order = np.lexsort((totals, codes))
        codes, totals = codes.take(order), totals.take(order)
        first = np.flatnonzero(np.diff(codes, prepend=-1) | np.diff(totals, prepend=-1))
        tied: dict[int, dict[int, list[int]]] = {}
        parts = np.split(places.take(order), first[1:])
        for code, total, part in zip(codes.take(first).tolist(), totals.take(first).tolist(), parts, strict=True):
            tied.setdefault(code, {})[total] = part.tolist()
        of_codes = {}
        for code, its in tied.items():
            at = order[np.searchsorted(codes, code)]
            own_numbers, own_steps = (tuple([int(each[at]) for each in columns]) for columns in (numbers, steps))
            of_codes[code] = _Group(own_numbers, own_steps, its)
        self._group_of = dict(zip(rows.take(order).tolist(), map(of_codes.__getitem__, codes.tolist()), strict=True))
        return {group.key: group for group in of_codes.values()}

    @property
    def _are_many(self) -> bool:
        return len(self._groups) > max(_MOST_GROUPS, len(self.nodes.rows) // _NODES_PER_GROUP)

    def __len__(self) -> int:
        """The number of feasible nodes."""
        if self._count is None:
            self._count = sum([group.size for group in self._feasible().groups])
        return self._count

    def best(self) -> tuple[Sequence[int], int]:
        """The places of the nodes tied at the highest total, in their order, and that total."""
        feasible = self._feasible()
        highest, best = -1, []
        for group, points in zip(feasible.groups, self._points(feasible), strict=True):
            total = group.total + points
            if total > highest:
                highest, best = total, [group]
            elif total == highest:
                best.append(group)
        if len(best) == 1:
            return best[0].places, highest
        return MergedPlaces([group.places for group in best], len(self.nodes.rows)), highest

    def follow(self) -> None:
        """Take in what has changed since the last time: one more of the pods on each of these nodes."""
        changed = self.nodes.changed
        for row in changed[self._seen :]:
            self._move(row)
        self._seen = len(changed)
        self._count = None

    def _move(self, row: int) -> None:
        """Count one more pod on the row's node, and take the node to its new group, if it is still feasible."""
        place = self.nodes.place_of[row]
        before = after = self._group_of[row]
        before.take(place, self._total_of[row])
        before.size -= 1
        for each in self._counting:
            each.place(row)
        if self.nodes.passes[row]:
            if before.is_left:
                after = self._group_of[row] = before.after or self._next(before)
            total = self._total_of[row] = self.nodes.total_of[row]
            after.put(place, total)
            after.size += 1
            after.look_up()
        before.look_up()
        if not before.size or after.size == 1:
            self._known.clear()

    def _next(self, group: _Group) -> _Group:
        """The group that nodes of this one come to."""
        numbers, steps = group.key
        numbers = tuple(map(add, numbers, steps))
        after = self._groups.get((numbers, steps))
        if after is None:
            after = self._groups[numbers, steps] = _Group(numbers, steps, {})
            self.is_spent = self._are_many
        group.after = after
        return after

    def _feasible(self) -> _Feasible:
        key = tuple([each.key for each in self._verdicts])
        feasible = self._known.get(key)
        if feasible is None:
            rows = self.nodes.rows
            groups = [group for group in self._groups.values() if group.size]
            for verdicts in self._verdicts:
                groups = [group for group in groups if verdicts.passes(rows[group.places[0]])]
            feasible = _Feasible(groups)
            remember(self._known, key, feasible, _MOST_REMEMBERED)
        return feasible

    def _points(self, feasible: _Feasible) -> list[int]:
        """The points of each of these groups, times the weights."""
        among = len(self) if self._depends_on_count else 0
        if feasible.points_among != among:
            feasible.points = self._weighed(self._steady, feasible.groups)
            feasible.points_among = among
        if not self._others:
            return feasible.points
        return list(map(add, feasible.points, self._weighed(self._others, feasible.groups)))

    def _weighed(self, scorers: Sequence[GroupScorer], groups: Sequence[_Group]) -> list[int]:
        rows = [self.nodes.rows[group.places[0]] for group in groups]
        points = np.zeros(len(rows), dtype=np.int64)
        for plugin, weight, raw in scorers:
            scores = np.array(raw.of(rows, len(self)), dtype=np.int64)
            points += normalized_scores(plugin, *self._normalizing, np.array(rows, dtype=np.intp), scores) * weight
        return points.tolist()


def group_ranking(
    filters: Sequence[PreFilterExtensions],
    scores: ReplicaScores,
    asked: tuple[CycleState, Pod, Snapshot],
    passes: Mask,
    in_name_order: Rows | None,
) -> GroupRanking | None:
    """Rank the nodes, leaving points out of the scores; None if plugins have no such counts."""
    nodes = asked[2]
    verdicts = [verdicts for each in filters if (verdicts := each.replica_verdicts(*asked)) is not None]
    scorers = scores.leave_out(nodes) if len(verdicts) == len(filters) else None
    if scorers is None:
        return None
    rankings = NodeRankings(scores.totals(), passes, in_name_order, nodes.names)
    return GroupRanking(rankings, verdicts, scorers, asked)
