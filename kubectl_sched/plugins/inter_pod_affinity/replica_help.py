"""Verdicts and raw scores of InterPodAffinity for one more of many equal pods, from counts that each of them raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.replicas import CountingHelp
from kubectl_sched.framework.status import SKIP, SUCCESS
from kubectl_sched.plugins.inter_pod_affinity import filtering, scoring
from kubectl_sched.plugins.inter_pod_affinity.filtering import admits_first, terms_between
from kubectl_sched.plugins.inter_pod_affinity.scoring import points_between
from kubectl_sched.snapshot.replica_counts import ReplicaCounts, ReplicaRawScores, ReplicaVerdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import PreScorePlugin
    from kubectl_sched.framework.status import Status
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows
    from kubectl_sched.snapshot.domain_counts import TopologyCounts


class AffinityVerdicts(ReplicaVerdicts):
    """A node passes near to pods for all affinity terms, and near to none for the others."""

    def __init__(self, repelling: Sequence[ReplicaCounts], near: Sequence[ReplicaCounts]) -> None:
        super().__init__((*repelling, *near))
        self._repelling = repelling
        self._near = near
        self._changes = 0

    def place(self, row: int) -> None:
        """Change the key with the first pod of a domain of several nodes."""
        for each in self.counts:
            step, domain = each.raises[row], each.domain_of[row]
            if step:
                self._changes += each.are_shared and not each.counts[domain]
                each.counts[domain] += step
        self.key = self._changes

    def passes(self, row: int) -> bool:
        """Compare the counts of the node's domains."""
        return not any(each.counts[each.domain_of[row]] for each in self._repelling) and all(
            each.counts[each.domain_of[row]] for each in self._near
        )


def _counts(nodes: Snapshot, key: str, found: TopologyCounts | None, raises: int) -> ReplicaCounts:
    """The counts found so far, which each pod raises on a node that has the label; none without it."""
    column = nodes.label(key)
    counts = np.zeros(len(column.values), dtype=np.int64) if found is None else found.of_values(column.values)
    return ReplicaCounts(column.codes, counts, nodes.table.has_label(key) * np.int64(raises))


class AffinityHelp(CountingHelp):
    """Counts the pods of each domain, which equal pods raise alike."""

    def __init__(self, plugin: PreScorePlugin) -> None:
        self._plugin = plugin

    def verdicts(self, state: CycleState, pod: Pod, nodes: Snapshot) -> AffinityVerdicts | None:
        """Count by term; None where each node's own pods are looked at, and for the first pod of a series."""
        known = state.read(filtering.STATE)
        if known.host_scoped is not None or admits_first(known):
            return None
        repelling, near, away = ([term.topology_key for term in terms] for terms in terms_between(known, pod, pod))
        found = (known.existing_anti_affinity, repelling), (known.anti_affinity, away)
        near_keys = dict.fromkeys(term.topology_key for term in known.required_affinity)
        return AffinityVerdicts(
            [_counts(nodes, key, of.get(key), key in raised) for of, raised in found for key in {*of, *raised}],
            [_counts(nodes, key, known.affinity.get(key), key in near) for key in near_keys],
        )

    def raw_scores(self, state: CycleState, pod: Pod, nodes: Snapshot) -> ReplicaRawScores | None:
        """Sum the points of domains; None where nobody prefers anything so far and another such pod may."""
        known = state.get(scoring.STATE)
        if known is None:
            return ReplicaRawScores(()) if pod.spec.affinity is None else None
        between, of = dict(points_between(known, pod, pod)), known.topology_score
        return ReplicaRawScores([_counts(nodes, key, of.get(key), between.get(key, 0)) for key in {**of, **between}])

    def counts_in_score(self, state: CycleState, pod: Pod, other: Pod) -> bool:
        """Report whether a preferred term lies between the pods, or may."""
        known = state.get(scoring.STATE)
        if known is None:
            return pod.spec.affinity is not None or other.spec.affinity is not None
        return bool(points_between(known, pod, other))

    def pre_score_with(
        self, state: CycleState, pod: Pod, changed: Pod, row: int, nodes: Snapshot, rows: Rows, amount: int
    ) -> Status:
        """Weigh one more pod, or one less; where nobody preferred anything so far, all of them."""
        before = state.get(scoring.STATE)
        if before is not None:
            state.write(scoring.STATE, scoring.with_pod(before, pod, changed, nodes, row, amount))
            return SUCCESS
        if amount <= 0 or (pod.spec.affinity is None and changed.spec.affinity is None):
            return SKIP
        return self._plugin.pre_score(state, pod, nodes, rows)
