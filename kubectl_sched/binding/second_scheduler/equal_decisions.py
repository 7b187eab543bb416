"""Pods that no plugin can tell apart, decided one after the other: only nodes that have changed are judged again.

A decision is that of a whole cycle. Anything that changes in the cluster besides the pods that are given nodes ends the
equality. Where a plugin counts pods on other nodes, so does a new label that some selector asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.simulation.likeness import is_plain, likeness
from kubectl_sched.simulation.replicas.ordinal_labels import asked_labels
from kubectl_sched.simulation.replicas.replica_placement import EqualPods

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.cache import Drift
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.snapshot import Snapshot


class EqualDecisions:
    """The pods that are equal to the one that had a cycle last."""

    def __init__(self) -> None:
        self._first: CycleResult | None = None
        self._is_batched = False
        self.has_decided = False
        """Report whether the latest pod was decided without a cycle of its own."""

        self._equal: EqualPods | None = None
        self._added: list[tuple[Pod, int]] = []
        self._uids: set[str] = set()
        """The pods that were given a node since."""
        self._asked: frozenset[str] | None = None
        """The labels that selectors ask for, once somebody wants to know."""

    def begin(self, result: CycleResult, *, is_batched: bool) -> None:
        """Begin anew after a whole cycle; `is_batched`: the next pods take nodes from its order of nodes."""
        self._is_batched = is_batched
        self._first = result if is_plain(result.pod) and not result.unknown else None
        self._equal = None
        self._added = []
        self._uids = {result.pod.metadata.uid}
        self._asked = None

    def decide(
        self, pod: Pod, nodes: Snapshot, framework: Framework, drift: Drift
    ) -> tuple[CycleResult, Sequence[int]] | None:
        """The pod's result and the rows tied at the highest total, as a cycle has them; None if one has to be run."""
        self.has_decided = False
        first = self._first
        self._added += drift.added
        if first is None or drift.is_more or any(each.metadata.uid not in self._uids for each, _ in drift.added):
            self._first = None
            return None
        if first.framework is not framework or nodes.nominated or likeness(first.pod) != likeness(pod):
            return None
        equal = self._equal = self._equal or EqualPods.after(first, get_labels=True)
        if equal is None or equal.pod is not first.pod or (equal.counts_pods and not self._is_counted(drift)):
            self._first = None
            return None
        if self._is_batched and not equal.is_settled:
            self._first = None
            return None
        equal.follow(nodes, self._added)
        self._added = []
        if equal.is_spent or not equal.has_feasible:
            return None
        self._uids.add(pod.metadata.uid)
        self.has_decided = True
        return replace(first, pod=pod, nodes=nodes), equal.best()[0]

    def _is_counted(self, drift: Drift) -> bool:
        """Report whether plugins that count pods find the same as in a whole cycle, pod after pod."""
        if not drift.relabelled:
            return len(self._added) <= 1
        if self._asked is None:
            assert self._first is not None  # noqa: S101 - its equals are counted
            self._asked = frozenset(asked_labels(self._first.pod, self._first.nodes))
        return len(self._added) <= 1 and self._asked.isdisjoint(drift.relabelled)
