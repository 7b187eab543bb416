"""Verdicts and scores of a node once it runs one, two or more additional pods, computed from summed requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kubectl_sched.framework.status import passing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import FilterPlugin, ScorePlugin
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_ROWS_OF_A_CALL = 1000
"""Asking about so many nodes at once takes as long as asking about one."""


class UsageLevel(NamedTuple):
    """The answers for one node of the plugins that look at sums of requests."""

    passes: bool
    points: int
    """The sum of their scores, each times its weight."""


class _Levels(NamedTuple):
    """Their answers for several nodes."""

    passes: list[bool]
    points: list[int]


class UsageLevels:
    """Answers for each node once 1, 2, ... of the pods run there, of the plugins that look at sums of requests.

    Replicas spread, so many nodes soon have one of them, then two. All nodes are asked at once about a number that some
    have reached already; a node that is far ahead of the others is asked about alone.
    """

    def __init__(
        self,
        pod: Pod,
        nodes: Snapshot,
        state: CycleState,
        filters: Sequence[FilterPlugin],
        scorers: Sequence[tuple[ScorePlugin, int]],
    ) -> None:
        """`nodes` are as they were before any of the pods; the plugins look at sums of requests alone.

        The scorers come with their weights, and do not normalize.
        """
        self._pod = pod
        self._state = state
        self._base = nodes
        self._filters = filters
        self._scorers = scorers
        self._count = [0] * len(nodes)
        self._reached = [len(nodes)]
        self._levels: dict[int, _Levels] = {}

    def one_more_on(self, row: int) -> UsageLevel:
        """One more of the pods runs on the row's node: what is said of it now."""
        count = self._count[row] = self._count[row] + 1
        if count == len(self._reached):
            self._reached.append(0)
        self._reached[count] += 1
        levels = self._levels.get(count)
        if levels is None:
            if self._reached[count - 1] * _ROWS_OF_A_CALL < len(self._base):
                row, levels = 0, self._asked(self._base.take(np.array([row], dtype=np.intp)), count)
            else:
                levels = self._levels[count] = self._asked(self._base, count)
        return UsageLevel(levels.passes[row], levels.points[row])

    def _asked(self, nodes: Snapshot, count: int) -> _Levels:
        nodes = nodes.with_usage_everywhere(self._pod, count)
        everywhere: Rows = np.arange(len(nodes), dtype=np.intp)
        passes, points = np.ones(len(nodes), dtype=np.bool_), np.zeros(len(nodes), dtype=np.int64)
        for each in self._filters:
            passes &= passing(each.filter(self._state, self._pod, nodes))
        for scorer, weight in self._scorers:
            points += scorer.score(self._state, self._pod, nodes, everywhere) * weight
        return _Levels(passes.tolist(), points.tolist())
