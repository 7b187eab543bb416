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
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows

_ROWS_OF_A_CALL = 1000
"""Asking about so many nodes at once takes as long as asking about one."""


class UsageLevel(NamedTuple):
    """The answers for one node of the plugins that look at sums of requests, by plugin name."""

    passes: dict[str, bool]
    raw: dict[str, int]


class _Said(NamedTuple):
    """Their answers for several nodes: bool[n] and int64[n] each."""

    passes: dict[str, Mask]
    raw: dict[str, Integers]

    def of(self, row: int) -> UsageLevel:
        return UsageLevel(
            {name: bool(mask[row]) for name, mask in self.passes.items()},
            {name: int(scores[row]) for name, scores in self.raw.items()},
        )


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
        scorers: Sequence[ScorePlugin],
    ) -> None:
        """`nodes` are as they were before any of the pods; the plugins look at sums of requests alone."""
        self._pod = pod
        self._state = state
        self._base = nodes
        self._filters = filters
        self._scorers = scorers
        self._count: Integers = np.zeros(len(nodes), dtype=np.int64)
        self._reached = [len(nodes)]
        self._levels: dict[int, _Said] = {}

    def one_more_on(self, row: int) -> UsageLevel:
        """One more of the pods runs on the row's node: what is said of it now."""
        self._count[row] += 1
        count = int(self._count[row])
        if count == len(self._reached):
            self._reached.append(0)
        self._reached[count] += 1
        if count not in self._levels:
            if self._reached[count - 1] * _ROWS_OF_A_CALL < len(self._base):
                return self._said_of(self._base.take(np.array([row], dtype=np.intp)), count).of(0)
            self._levels[count] = self._said_of(self._base, count)
        return self._levels[count].of(row)

    def _said_of(self, nodes: Snapshot, count: int) -> _Said:
        nodes = nodes.with_usage_everywhere(self._pod, count)
        everywhere: Rows = np.arange(len(nodes), dtype=np.intp)
        return _Said(
            {each.name: passing(each.filter(self._state, self._pod, nodes)) for each in self._filters},
            {each.name: each.score(self._state, self._pod, nodes, everywhere) for each in self._scorers},
        )
