"""Points of one score plugin for all nodes, brought up to date after each of many equal pods.

A pod changes the raw scores of its own node, or of the domains that it counts in. What these are brought to depends on
the smallest and the largest of them, for most plugins on nothing else: then each value is normalized once, and a node
looks its own up. Nodes that are not feasible are scored as well, as they may become so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from kubectl_sched.framework.interface import PreScoreExtensions, ScorePlugin
from kubectl_sched.framework.runtime import normalized_scores
from kubectl_sched.framework.status import Code

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows
    from kubectl_sched.snapshot.replica_counts import ReplicaRawScores


_MOST_REMEMBERED = 8
K = TypeVar("K")
V = TypeVar("V")


def remember(known: dict[K, V], key: K, value: V, most: int = _MOST_REMEMBERED) -> None:
    """Keep the few latest values."""
    while len(known) >= most:
        del known[next(iter(known))]
    known[key] = value


class Feasible:
    """The rows of the feasible nodes in their own order and by name."""

    def __init__(self, mask: Mask, in_name_order: Rows | None) -> None:
        """Without `in_name_order` the nodes stand in the order of their names already."""
        self.mask = mask
        self.rows = np.flatnonzero(mask)
        self.is_all = len(self.rows) == len(mask)
        self.by_name = self.rows if in_name_order is None else in_name_order.compress(mask.take(in_name_order))


class _Table(NamedTuple):
    """Points times the weight for each raw score from the smallest to the largest."""

    smallest: int
    largest: int
    weighted: Integers


class GroupScorer(NamedTuple):
    """A score plugin whose points depend on other nodes, with the raw scores of nodes."""

    plugin: ScorePlugin
    weight: int
    raw: ReplicaRawScores


class ReplicaScorer:
    """A score plugin: int64[n] raw scores, and its points times its weight, which are part of the totals.

    Points of nodes that are not feasible mean nothing.
    """

    def __init__(self, plugin: ScorePlugin, weight: int, state: CycleState, pod: Pod, totals: Integers) -> None:
        self.plugin = plugin
        self.extensions = plugin if isinstance(plugin, PreScoreExtensions) else None
        self.weight = weight
        self.is_skipped = True
        self._normalizes = type(plugin).normalize_score is not ScorePlugin.normalize_score
        self._state = state
        self._pod = pod
        self._totals = totals
        self._raw: Integers = np.zeros(len(totals), dtype=np.int64)
        self._weighted: Integers = np.zeros(len(totals), dtype=np.int64)
        self._is_even: bool | None = None
        self._table: _Table | None = None
        self._key: object = self

    def score_all(self, nodes: Snapshot, feasible: Feasible, known: Integers | None = None) -> None:
        """Ask the plugin about all nodes, unless the scores of the feasible ones are `known` and these are all."""
        self.is_skipped = False
        if known is not None and feasible.is_all:
            self._raw = known.copy()
        else:
            self._raw = self.plugin.score(self._state, self._pod, nodes, np.arange(len(nodes), dtype=np.intp))
        self._key = self.plugin.pre_score_fewer(self._state, self._pod, nodes, feasible.rows)
        self._weigh(nodes, feasible, None)

    def count(self, added: Pod, row: int, nodes: Snapshot, feasible: Feasible, amount: int = 1) -> None:
        """One of the pods runs on the row's node: for a plugin with PreScoreExtensions."""
        assert self.extensions is not None  # noqa: S101 - the caller asks
        status = self.extensions.pre_score_with(self._state, self._pod, added, row, nodes, feasible.rows, amount)
        self.is_skipped = status.code is Code.SKIP

    def counts(self, added: Pod, row: int, nodes: Snapshot) -> bool:
        """Report whether a raw score may differ since one of the pods was counted: for one with PreScoreExtensions."""
        if self.extensions is None or self.is_skipped:
            return False
        rows = self.extensions.rescored_rows(self._state, self._pod, added, row, nodes)
        return rows is None or len(rows) > 0

    def score_changed(self, added: Pod, row: int, nodes: Snapshot, feasible: Feasible, *, moved: bool) -> None:
        """Ask the plugin about the nodes whose scores may differ since the pod was counted."""
        plugin, state, rows = self.plugin, self._state, feasible.rows
        if self.extensions is None or self.is_skipped:
            return
        key = plugin.pre_score_fewer(state, self._pod, nodes, rows)
        changed = self.extensions.rescored_rows(state, self._pod, added, row, nodes) if key == self._key else None
        if changed is None:
            self.score_all(nodes, feasible)
            return
        if len(changed):
            self._raw[changed] = plugin.score(state, self._pod, nodes, changed)
        if len(changed) or moved:
            self._weigh(nodes, feasible, changed)

    def weigh_among(self, nodes: Snapshot, feasible: Feasible) -> None:
        """Other nodes are feasible, and no pod has come since the raw scores were told."""
        if self.is_skipped:
            return
        if self.plugin.pre_score_fewer(self._state, self._pod, nodes, feasible.rows) == self._key:
            self._weigh(nodes, feasible, _NONE)
        else:
            self.score_all(nodes, feasible)

    @property
    def is_settled(self) -> bool:
        """Report whether the points are the same whichever nodes are feasible: their raw scores never change."""
        if self._is_even is None:
            self._is_even = int(self._raw.min()) == int(self._raw.max())
        return not self._normalizes or (self._is_even and self._table is not None)

    def replica_raw_scores(self, nodes: Snapshot) -> ReplicaRawScores | None:
        """The raw scores as counts: of a plugin with PreScoreExtensions."""
        assert self.extensions is not None  # noqa: S101 - the caller asks
        return self.extensions.replica_raw_scores(self._state, self._pod, nodes)

    def constant_raw_scores(self) -> ReplicaRawScores:
        """The same of a plugin whose raw scores never change."""
        from kubectl_sched.snapshot.replica_counts import ReplicaCounts, ReplicaRawScores

        everywhere = np.arange(len(self._raw), dtype=np.int32)
        return ReplicaRawScores([ReplicaCounts(everywhere, self._raw, np.zeros_like(self._raw))])

    def leave_out(self) -> None:
        """Give no points until they are weighed again."""
        self._set(slice(None), np.zeros_like(self._weighted))
        self._table = None

    def weigh_again(self, nodes: Snapshot, feasible: Feasible) -> None:
        """Other nodes are feasible, with the raw scores that all have had from the beginning."""
        self._weigh(nodes, feasible, _NONE)

    def _weigh(self, nodes: Snapshot, feasible: Feasible, changed: Rows | None) -> None:
        """Bring raw scores to points; `changed` are the rows whose raw scores are others than before, None for all."""
        rows: Rows | slice | int = slice(None) if changed is None else _index(changed)
        if not self._normalizes:
            self._set(rows, self._raw[rows] * self.weight)
            return
        raw = self._raw if feasible.is_all else self._raw.take(feasible.rows)
        table = self._table_for(raw, nodes)
        if table is None:
            points = normalized_scores(self.plugin, self._state, self._pod, nodes, feasible.rows, raw)
            self._set(slice(None) if feasible.is_all else feasible.rows, points * self.weight)
        else:
            rows = rows if table is self._table else slice(None)
            self._set(rows, table.weighted.take(self._raw[rows] - table.smallest, mode="clip"))
        self._table = table

    def _set(self, rows: Rows | slice | int, weighted: Integers) -> None:
        if isinstance(rows, slice):
            np.subtract(weighted, self._weighted, out=self._weighted)
            self._totals += self._weighted
            self._weighted = weighted
        else:
            self._totals[rows] += weighted - self._weighted[rows]
            self._weighted[rows] = weighted

    def _table_for(self, raw: Integers, nodes: Snapshot) -> _Table | None:
        """The table of these raw scores; None if they lie far apart or their values alone do not decide."""
        if not len(raw) or not self.plugin.normalizes_by_value(self._state, nodes):
            return None
        smallest, largest = int(np.minimum.reduce(raw)), int(np.maximum.reduce(raw))
        if self._table is not None and (smallest, largest) == (self._table.smallest, self._table.largest):
            return self._table
        if largest - smallest >= len(self._raw):
            return None
        values = np.arange(smallest, largest + 1, dtype=np.int64)
        anywhere = np.zeros(len(values), dtype=np.intp)
        points = normalized_scores(self.plugin, self._state, self._pod, nodes, anywhere, values)
        return _Table(smallest, largest, points * self.weight)


_NONE: Rows = np.zeros(0, dtype=np.intp)


def _index(rows: Rows) -> Rows | int:
    """A single row is set faster by its number."""
    return int(rows[0]) if len(rows) == 1 else rows
