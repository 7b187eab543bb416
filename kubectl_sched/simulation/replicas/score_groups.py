"""Nodes that score plugins which count pods cannot tell apart, and the points of each such group.

Thousands of nodes lie in few domains and have few counts of pods of their own. A pod changes the points of its domains,
so of whole groups, and takes its own node to another group.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kubectl_sched.framework.runtime import normalized_scores
from kubectl_sched.simulation.replicas.replica_scorer import remember
from kubectl_sched.snapshot.column import distinct_numbers

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.simulation.replicas.replica_scorer import Feasible, ReplicaScorer
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Codes, Integers, Rows
    from kubectl_sched.snapshot.column import NodeNumbers

_NODES_PER_GROUP = 8
"""With fewer nodes a group than this, each node is scored by itself."""


class _Present(NamedTuple):
    """The groups that have feasible nodes, a row of each, and points of theirs that no further pod changes."""

    groups: Rows
    rows: Rows
    settled: dict[tuple[ReplicaScorer, Hashable], Integers]


class ScoreGroups:
    """The group of each node, with one of its nodes to ask about. Groups may be empty."""

    def __init__(self, scorers: Sequence[ReplicaScorer], signatures: Sequence[Sequence[NodeNumbers]]) -> None:
        """`signatures` are numbers of all nodes for each scorer."""
        signature = list(chain(*signatures))
        self.codes = codes_of([numbers.everywhere() for numbers in signature])
        self._scorers = [
            (scorer, not any(numbers.are_of_domains for numbers in own))
            for scorer, own in zip(scorers, signatures, strict=True)
        ]
        """The scorers, and whether the raw scores of each differ between groups alone."""
        self._members: Rows = np.zeros(int(self.codes.max()) + 1, dtype=np.intp)
        self._members[self.codes] = np.arange(len(self.codes))
        """The last node of each group, as the first in name order is the first to leave it."""
        distinct = zip(*(numbers.at(self._members).tolist() for numbers in signature), strict=True)
        self._group_of = {numbers: group for group, numbers in enumerate(distinct)}
        self._sizes: dict[Feasible, Integers] = {}
        self._present: dict[Feasible, _Present] = {}
        self._known: dict[ReplicaScorer, dict[bytes, Integers]] = {scorer: {} for scorer in scorers}
        """Points times the weight for the latest raw scores of each plugin."""

    @classmethod
    def of(cls, scorers: Sequence[ReplicaScorer], state: CycleState, pod: Pod, nodes: Snapshot) -> ScoreGroups | None:
        """Group the nodes; None if a plugin cannot tell what its scores depend on, or nearly all nodes differ."""
        signatures = [_signature(scorer, state, pod, nodes) for scorer in scorers]
        known = [signature for signature in signatures if signature is not None]
        if len(known) < len(signatures) or any(
            not scorer.plugin.normalizes_by_value(state, nodes) for scorer in scorers
        ):
            return None
        if not any(known) or len(nodes) < _NODES_PER_GROUP:
            return None
        groups = cls(scorers, known)
        return groups if groups.are_worth_it else None

    def __len__(self) -> int:
        return len(self._members)

    @property
    def are_worth_it(self) -> bool:
        """Report whether there are few enough."""
        return len(self) * _NODES_PER_GROUP <= len(self.codes)

    def move(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> bool:
        """Take the row to the group that it belongs to now; False if signatures are of other things."""
        own: list[int] = []
        for scorer, _ in self._scorers:
            signature = _signature(scorer, state, pod, nodes)
            if signature is None:
                return False
            own += [numbers.of(row) for numbers in signature]
        if len(own) != len(next(iter(self._group_of))):
            return False
        before = int(self.codes[row])
        after = self._group_of.setdefault(tuple(own), len(self))
        self.codes[row] = after
        if before != after:
            self._stand_in(row, before, after)
            for feasible, sizes in self._sizes.items():
                if feasible.mask[row]:
                    sizes[before] -= 1
                    sizes[after] += 1
                    if not sizes[before] or sizes[after] == 1:
                        self._present.pop(feasible, None)
        return True

    def _stand_in(self, row: int, before: int, after: int) -> None:
        """See that a node of theirs stands for the group that the row has left, and for the one it has come to."""
        members = self._members
        if after == len(self):
            self._members = np.append(members, row)
        elif self.codes[members[after]] != after:
            members[after] = row
        if members[before] == row:
            self._present.clear()
            others = np.flatnonzero(self.codes == before)
            if len(others):
                self._members[before] = others[-1]

    def weighted(self, state: CycleState, pod: Pod, nodes: Snapshot, feasible: Feasible) -> Integers:
        """The points of each group that has feasible nodes, times the weights."""
        present = self._present_in(feasible)
        points: Integers = np.zeros(len(present.groups), dtype=np.int64)
        for scorer, is_settled in self._scorers:
            if not is_settled:
                points += self._weighted_by(scorer, state, pod, nodes, present.rows)
                continue
            key = scorer, scorer.plugin.pre_score_fewer(state, pod, nodes, feasible.rows)
            known = present.settled.get(key)
            if known is None:
                known = self._weighted_by(scorer, state, pod, nodes, present.rows)
                remember(present.settled, key, known)
            points += known
        if len(present.groups) == len(self):
            return points
        of_groups: Integers = np.zeros(len(self), dtype=np.int64)
        of_groups[present.groups] = points
        return of_groups

    def _weighted_by(self, scorer: ReplicaScorer, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
        raw = scorer.plugin.score(state, pod, nodes, rows)
        known, key = self._known[scorer], raw.tobytes()
        weighted = known.get(key)
        if weighted is None:
            weighted = normalized_scores(scorer.plugin, state, pod, nodes, rows, raw) * scorer.weight
            remember(known, key, weighted)
        return weighted

    def _present_in(self, feasible: Feasible) -> _Present:
        """The groups that have some of these nodes."""
        found = self._present.get(feasible)
        if found is None:
            groups = self._sizes_of(feasible)[: len(self)].nonzero()[0]
            found = _Present(groups, self._members.take(groups), {})
            remember(self._present, feasible, found)
        return found

    def _sizes_of(self, feasible: Feasible) -> Integers:
        """The number of these nodes in each group, and room for groups to come."""
        sizes = self._sizes.get(feasible)
        if sizes is None:
            sizes = np.bincount(self.codes.take(feasible.rows), minlength=len(self.codes))
            remember(self._sizes, feasible, sizes)
        return sizes


def codes_of(columns: Sequence[Integers | Codes]) -> Rows:
    """A number for each row, equal where all columns are."""
    codes: Rows = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        values, here = distinct_numbers(column)
        codes = distinct_numbers(codes * len(values) + here)[1]
    return codes


def _signature(scorer: ReplicaScorer, state: CycleState, pod: Pod, nodes: Snapshot) -> Sequence[NodeNumbers] | None:
    assert scorer.extensions is not None  # noqa: S101 - only such plugins have groups
    return scorer.extensions.score_signature(state, pod, nodes)
