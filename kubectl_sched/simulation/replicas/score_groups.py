"""Nodes that score plugins which count pods cannot tell apart, and the points of each such group.

Thousands of nodes lie in few domains and have few counts of pods of their own. A pod changes the points of its domains,
so of whole groups, and takes its own node to another group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.runtime import normalized_scores
from kubectl_sched.simulation.replicas.replica_scorer import remember
from kubectl_sched.snapshot.column import distinct_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.simulation.replicas.replica_scorer import Feasible, ReplicaScorer
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Codes, Integers, Rows

_NODES_PER_GROUP = 8
"""With fewer nodes a group than this, each node is scored by itself."""


class ScoreGroups:
    """The group of each node, with one of its nodes to ask about. Groups may be empty."""

    def __init__(self, scorers: Sequence[ReplicaScorer], signatures: Sequence[Integers | Codes]) -> None:
        """`signatures` are arrays of int[n]."""
        self.codes = _codes_of(signatures)
        self._scorers = scorers
        self._members: Rows = np.zeros(int(self.codes.max()) + 1, dtype=np.intp)
        self._members[self.codes] = np.arange(len(self.codes))
        """The last node of each group, as the first in name order is the first to leave it."""
        distinct = zip(*(column.take(self._members).tolist() for column in signatures), strict=True)
        self._group_of = {signature: group for group, signature in enumerate(distinct)}
        self._sizes: dict[Feasible, Integers] = {}
        self._known: dict[ReplicaScorer, dict[bytes, Integers]] = {scorer: {} for scorer in scorers}
        """Points times the weight for the latest raw scores of each plugin."""

    @classmethod
    def of(cls, scorers: Sequence[ReplicaScorer], state: CycleState, pod: Pod, nodes: Snapshot) -> ScoreGroups | None:
        """Group the nodes; None if a plugin cannot tell what its scores depend on, or nearly all nodes differ."""
        everywhere = np.arange(len(nodes), dtype=np.intp)
        columns = _signatures(scorers, state, pod, nodes, everywhere)
        if any(not scorer.plugin.normalizes_by_value(state, nodes) for scorer in scorers):
            return None
        if not columns or len(nodes) < _NODES_PER_GROUP:
            return None
        groups = cls(scorers, columns)
        return groups if groups.are_worth_it else None

    def __len__(self) -> int:
        return len(self._members)

    @property
    def are_worth_it(self) -> bool:
        """Report whether there are few enough."""
        return len(self) * _NODES_PER_GROUP <= len(self.codes)

    def move(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> bool:
        """Take the row to the group that it belongs to now; False if signatures are of other things."""
        columns = _signatures(self._scorers, state, pod, nodes, np.array([row], dtype=np.intp))
        if columns is None or len(columns) != len(next(iter(self._group_of))):
            return False
        before = int(self.codes[row])
        after = self._group_of.setdefault(tuple([int(column[0]) for column in columns]), len(self))
        if after == len(self):
            self._members = np.append(self._members, row)
        self.codes[row] = after
        if self._members[before] == row and before != after:
            others = np.flatnonzero(self.codes == before)
            if len(others):
                self._members[before] = others[-1]
        if self.codes[self._members[after]] != after:
            self._members[after] = row
        for feasible, sizes in self._sizes.items():
            if feasible.mask[row]:
                sizes[before] -= 1
                sizes[after] += 1
        return True

    def weighted(self, state: CycleState, pod: Pod, nodes: Snapshot, feasible: Feasible) -> Integers:
        """The points of each group that has feasible nodes, times the weights."""
        present = self._sizes_of(feasible)[: len(self)].nonzero()[0]
        rows = self._members.take(present)
        points: Integers = np.zeros(len(present), dtype=np.int64)
        for scorer in self._scorers:
            raw = scorer.plugin.score(state, pod, nodes, rows)
            known, key = self._known[scorer], raw.tobytes()
            weighted = known.get(key)
            if weighted is None:
                weighted = normalized_scores(scorer.plugin, state, pod, nodes, rows, raw) * scorer.weight
                remember(known, key, weighted)
            points += weighted
        if len(present) == len(self):
            return points
        of_groups: Integers = np.zeros(len(self), dtype=np.int64)
        of_groups[present] = points
        return of_groups

    def _sizes_of(self, feasible: Feasible) -> Integers:
        """The number of these nodes in each group, and room for groups to come."""
        sizes = self._sizes.get(feasible)
        if sizes is None:
            sizes = np.bincount(self.codes.take(feasible.rows), minlength=len(self.codes))
            remember(self._sizes, feasible, sizes)
        return sizes


def _codes_of(columns: Sequence[Integers | Codes]) -> Rows:
    """A number for each row, equal where all columns are."""
    codes: Rows = np.zeros(len(columns[0]), dtype=np.intp)
    for column in columns:
        values, here = distinct_numbers(column)
        codes = distinct_numbers(codes * len(values) + here)[1]
    return codes


def _signatures(
    scorers: Sequence[ReplicaScorer], state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows
) -> list[Integers | Codes] | None:
    columns: list[Integers | Codes] = []
    for scorer in scorers:
        assert scorer.extensions is not None  # noqa: S101 - only such plugins have groups
        signature = scorer.extensions.score_signature(state, pod, nodes, rows)
        if signature is None:
            return None
        columns += signature
    return columns
