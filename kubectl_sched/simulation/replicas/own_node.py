"""Verdicts and scores of a node once it runs one, two or more additional pods.

Replicas spread, so many nodes soon have one of them, then two. Plugins are asked about all nodes at once for a number
that some have reached already, and about a single node where it is far ahead of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.status import passing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import FilterPlugin, ScorePlugin
    from kubectl_sched.simulation.replicas.placed_replicas import PlacedReplicas
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_ROWS_OF_A_CALL = 1000
"""Asking about so many nodes at once takes as long as asking about one."""


class OwnNode(NamedTuple):
    """The answers for one node of the plugins that look at the pods there, or at what these request."""

    passes: bool
    points: int
    """The sum of the scores of plugins that look at requests, each times its weight."""


class _OfRequests(NamedTuple):
    """Answers of plugins that look at sums of requests: for each node whether it passes, and its points."""

    passes: list[bool]
    points: list[int]


class _OfPods(NamedTuple):
    """A plugin that looks at the pods of a node, and for how many more pods its verdict on each node still holds."""

    plugin: FilterPlugin
    spare: list[int]


class OwnNodes:
    """Counts the pods that each node was given, and tells what one more of them changes there."""

    def __init__(
        self,
        pod: Pod,
        cluster: PlacedReplicas,
        state: CycleState,
        filters: Sequence[FilterPlugin],
        scorers: Sequence[tuple[ScorePlugin, int]],
    ) -> None:
        """The cluster is as before any of the pods. Scorers look at requests, have weights, and do not normalize."""
        self._pod = pod
        self._cluster = cluster
        self._state = state
        self._base = base = cluster.nodes
        self._filters = [each for each in filters if each.depends_on is DependsOn.USAGE_OF_NODE]
        self._of_pods = [
            _OfPods(each, each.replica_help.spare(pod, base).tolist())
            for each in filters
            if each.depends_on is DependsOn.PODS_OF_NODE
        ]
        self._scorers = scorers
        self._count = [0] * len(base)
        self._reached = [len(base)]
        self._known: dict[int, _OfRequests] = {}

    def one_more_on(self, row: int) -> OwnNode:
        """Count one more of the pods on the row's node, where it runs by now."""
        count = self._count[row] = self._count[row] + 1
        if count == len(self._reached):
            self._reached.append(0)
        self._reached[count] += 1
        known, at = self._known.get(count), row
        if known is None:
            if self._reached[count - 1] * _ROWS_OF_A_CALL < len(self._base):
                known, at = self._asked(self._base.take(np.array([row], dtype=np.intp)), count), 0
            else:
                known = self._known[count] = self._asked(self._base, count)
        return OwnNode(known.passes[at] and self._passes_by_pods(row), known.points[at])

    def _asked(self, nodes: Snapshot, count: int) -> _OfRequests:
        nodes = nodes.with_usage_everywhere(self._pod, count)
        everywhere: Rows = np.arange(len(nodes), dtype=np.intp)
        passes, points = np.ones(len(nodes), dtype=np.bool_), np.zeros(len(nodes), dtype=np.int64)
        for each in self._filters:
            passes &= passing(each.filter(self._state, self._pod, nodes))
        for scorer, weight in self._scorers:
            points += scorer.score(self._state, self._pod, nodes, everywhere) * weight
        return _OfRequests(passes.tolist(), points.tolist())

    def _passes_by_pods(self, row: int) -> bool:
        """Ask the plugins that look at the pods of a node, unless they have room to spare."""
        passes = True
        for plugin, spare in self._of_pods:
            if spare[row]:
                spare[row] -= 1
            else:
                one = self._cluster.nodes.take(np.array([row], dtype=np.intp))
                passes &= bool(passing(plugin.filter(self._state, self._pod, one))[0])
        return passes
