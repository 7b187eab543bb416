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

from kubectl_sched.framework.plugin_scores import normalized_scores
from kubectl_sched.framework.replicas import CountingHelp
from kubectl_sched.simulation.replicas.latest_values import remember
from kubectl_sched.simulation.replicas.node_ranking import PlacesByTotal
from kubectl_sched.snapshot.column import distinct_numbers

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.replicas.claim_kinds import ClaimKind
    from kubectl_sched.simulation.replicas.own_node import OwnNode
    from kubectl_sched.simulation.replicas.ranking import RankingInputs
    from kubectl_sched.simulation.replicas.replica_scores import GroupScorer
    from kubectl_sched.snapshot.array_types import Codes, Integers, Mask, Rows
    from kubectl_sched.snapshot.replica_counts import ReplicaRawScores, ReplicaVerdicts

_MOST_GROUPS = 16
_NODES_PER_GROUP = 16
"""With more groups than the former and fewer nodes a group than the latter, all nodes are looked at for each pod."""


class _Group(PlacesByTotal):
    """Nodes with equal numbers, ranked by their totals without the points of the group."""

    def __init__(self, numbers: tuple[int, ...], steps: tuple[int, ...], tied: dict[int, list[int]]) -> None:
        """`steps` is what one more of the pods on a node adds to its numbers."""
        super().__init__(tied)
        self.key = numbers, steps
        self.is_left = any(steps)
        """A node leaves the group with each pod."""

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
    """All nodes that pass the other plugins, in their groups, for pods without claims of their own."""

    def __init__(
        self, inputs: RankingInputs, verdicts: Sequence[ReplicaVerdicts], scorers: Sequence[GroupScorer]
    ) -> None:
        """`verdicts` are those of the filters, and `scorers` the plugins whose points depend on other nodes."""
        self.order = inputs.order
        self._verdicts = verdicts
        self._scores = inputs.scores
        self._steady = [each for each in scorers if not each.raw.are_shared]
        self._others = [each for each in scorers if each.raw.are_shared]
        self._depends_on_count = any(each.raw.depends_on_feasible_count for each in self._steady)
        self._counting: list[ReplicaVerdicts | ReplicaRawScores] = [*verdicts, *(each.raw for each in scorers)]
        self._normalizing = inputs.state, inputs.pod, inputs.cluster.nodes
        self._total_of: list[int] = inputs.scores.own().tolist()
        self._group_of: dict[int, _Group] = {}
        self._groups = self._divided(inputs.passes)
        """By their numbers. None is empty."""

        self._known: dict[Hashable, _Feasible] = {}
        """By the keys of the verdicts."""

        self._count: int | None = None

    def _divided(self, passes: Mask) -> dict[Hashable, _Group]:
        """Put the nodes into groups."""
        counts = [each for plugin in self._counting for each in plugin.counts]
        all_rows: Rows = np.array(self.order.rows, dtype=np.intp)
        places = passes.take(all_rows).nonzero()[0]
        rows = all_rows.take(places)
        if not len(rows):
            return {}
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
    def is_worth_it(self) -> bool:
        """Report whether the groups are few enough."""
        return len(self._groups) <= max(_MOST_GROUPS, len(self.order.rows) // _NODES_PER_GROUP)

    def turn_to(self, kind: ClaimKind | None) -> bool:
        """Rank for a pod without claims."""
        return kind is None

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
        return MergedPlaces([group.places for group in best], len(self.order.rows)), highest

    def place(self, _: Pod, row: int, after: OwnNode) -> bool:
        """Count one more of the pods, and take its node to its new group unless it is full. Many groups are spent."""
        self._count = None
        place, group = self.order.place_of[row], self._group_of[row]
        group.take(place, self._total_of[row])
        group.size -= 1
        for each in self._counting:
            each.place(row)
        total = self._total_of[row] = self._total_of[row] + self._scores.with_requests(row, after.points)
        if after.passes:
            joined = self._group_of[row] = self._next(group) if group.is_left else group
            joined.put(place, total)
            joined.size += 1
            joined.look_up()
        if group.size:
            group.look_up()
        else:
            del self._groups[group.key]
            self._known.clear()
        return self.is_worth_it

    def _next(self, group: _Group) -> _Group:
        """Return the group that nodes of this one come to."""
        numbers, steps = group.key
        key = tuple(map(add, numbers, steps)), steps
        after = self._groups.get(key)
        if after is None:
            after = self._groups[key] = _Group(*key, {})
            self._known.clear()
        return after

    def _feasible(self) -> _Feasible:
        key = tuple([each.key for each in self._verdicts])
        feasible = self._known.get(key)
        if feasible is None:
            rows, groups = self.order.rows, list(self._groups.values())
            for verdicts in self._verdicts:
                groups = [group for group in groups if verdicts.passes(rows[group.places[0]])]
            feasible = _Feasible(groups)
            remember(self._known, key, feasible)
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
        rows = [self.order.rows[group.places[0]] for group in groups]
        points = np.zeros(len(rows), dtype=np.int64)
        for plugin, weight, raw in scorers:
            scores = np.array(raw.of(rows, len(self)), dtype=np.int64)
            points += normalized_scores(plugin, *self._normalizing, np.array(rows, dtype=np.intp), scores) * weight
        return points.tolist()


def group_ranking(inputs: RankingInputs) -> GroupRanking | None:
    """Rank the nodes in groups; None if plugins have no counts for that, or groups are many."""
    state, pod, nodes = inputs.state, inputs.pod, inputs.cluster.nodes
    verdicts = []
    for each in inputs.filters:
        counting = each.replica_help
        counts = counting.verdicts(state, pod, nodes) if isinstance(counting, CountingHelp) else None
        if counts is None:
            return None
        verdicts.append(counts)
    scorers = inputs.scores.as_counts()
    if scorers is None:
        return None
    ranking = GroupRanking(inputs, verdicts, scorers)
    return ranking if ranking.is_worth_it else None


def codes_of(columns: Sequence[Integers | Codes]) -> Rows:
    """Return a number for each row; numbers are equal where all columns are."""
    codes: Rows = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        values, here = distinct_numbers(column)
        codes = distinct_numbers(codes * len(values) + here)[1]
    return codes
