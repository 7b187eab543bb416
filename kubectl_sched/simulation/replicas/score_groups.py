"""Nodes that score plugins which count pods cannot tell apart, and the points of each such group.

Thousands of nodes lie in few domains and have few counts of pods of their own. A pod changes the points of its domains,
so of whole groups, and takes its own node to another group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.runtime import normalized_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.simulation.replicas.replica_scorer import ReplicaScorer
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Codes, Integers, Rows

_NODES_PER_GROUP = 8
"""With fewer nodes a group than this, each node is scored by itself."""


class ScoreGroups:
    """The group of each node, with one of its nodes to ask about. Groups may be empty."""

    def __init__(self, scorers: Sequence[ReplicaScorer], signatures: Integers) -> None:
        """`signatures` is int64[n, k]."""
        distinct, last, codes = np.unique(signatures[::-1], axis=0, return_index=True, return_inverse=True)
        self.codes: Rows = codes.reshape(-1)[::-1].astype(np.intp)
        self._scorers = scorers
        self._members: Rows = len(signatures) - 1 - last
        """The last node of each group, as the first in name order is the first to leave it."""
        self._group_of = {tuple(signature): group for group, signature in enumerate(distinct.tolist())}

    @classmethod
    def of(cls, scorers: Sequence[ReplicaScorer], state: CycleState, pod: Pod, nodes: Snapshot) -> ScoreGroups | None:
        """Group the nodes; None if a plugin cannot tell what its scores depend on, or nearly all nodes differ."""
        everywhere = np.arange(len(nodes), dtype=np.intp)
        columns = _signatures(scorers, state, pod, nodes, everywhere)
        if not columns or len(nodes) < _NODES_PER_GROUP:
            return None
        groups = cls(scorers, np.stack(columns, axis=1))
        return groups if groups.are_worth_it else None

    def __len__(self) -> int:
        return len(self._members)

    @property
    def are_worth_it(self) -> bool:
        """Report whether there are few enough."""
        return len(self) * _NODES_PER_GROUP <= len(self.codes)

    def sizes(self, rows: Rows) -> Integers:
        """The number of these nodes in each group."""
        return np.bincount(self.codes.take(rows), minlength=len(self))

    def move(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[int, int] | None:
        """Take the row to the group that it belongs to now. Gives both; None if signatures are of other things."""
        columns = _signatures(self._scorers, state, pod, nodes, np.array([row], dtype=np.intp))
        if columns is None or len(columns) != len(next(iter(self._group_of))):
            return None
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
        return before, after

    def weighted(self, state: CycleState, pod: Pod, nodes: Snapshot, sizes: Integers) -> Integers:
        """The points of each group, times the weights; `sizes` is how many feasible nodes each has."""
        present = np.flatnonzero(sizes)
        rows = self._members.take(present)
        points: Integers = np.zeros(len(present), dtype=np.int64)
        for scorer in self._scorers:
            raw = scorer.plugin.score(state, pod, nodes, rows)
            points += normalized_scores(scorer.plugin, state, pod, nodes, rows, raw) * scorer.weight
        if len(present) == len(sizes):
            return points
        of_groups: Integers = np.zeros(len(sizes), dtype=np.int64)
        of_groups[present] = points
        return of_groups


def _signatures(
    scorers: Sequence[ReplicaScorer], state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows
) -> list[Integers | Codes] | None:
    columns: list[Integers | Codes] = []
    for scorer in scorers:
        assert scorer.extensions is not None  # noqa: S101 - only such plugins have groups
        signature = scorer.extensions.score_signature(state, pod, nodes, rows)
        if signature is None or not scorer.plugin.normalizes_by_value(state, nodes):
            return None
        columns += signature
    return columns
