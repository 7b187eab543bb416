"""Verdicts and raw scores of InterPodAffinity for one more of many equal pods, from counts that each of them raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.plugins.inter_pod_affinity.filtering import admits_first, terms_between
from kubectl_sched.plugins.inter_pod_affinity.scoring import points_between
from kubectl_sched.snapshot.replica_counts import ReplicaCounts, ReplicaRawScores, ReplicaVerdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.inter_pod_affinity.filtering import PreFilterState
    from kubectl_sched.plugins.inter_pod_affinity.scoring import PreScoreState
    from kubectl_sched.snapshot import Snapshot
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


def replica_verdicts(state: PreFilterState, pod: Pod, nodes: Snapshot) -> AffinityVerdicts | None:
    """The verdicts for pods like this one; None where each node's own pods are looked at, and for a first pod."""
    if state.host_scoped is not None or admits_first(state):
        return None
    repelling, near, away = ([term.topology_key for term in terms] for terms in terms_between(state, pod, pod))
    found = (state.existing_anti_affinity, repelling), (state.anti_affinity, away)
    near_keys = dict.fromkeys(term.topology_key for term in state.required_affinity)
    return AffinityVerdicts(
        [_counts(nodes, key, of.get(key), key in raised) for of, raised in found for key in {*of, *raised}],
        [_counts(nodes, key, state.affinity.get(key), key in near) for key in near_keys],
    )


def replica_raw_scores(state: PreScoreState | None, pod: Pod, nodes: Snapshot) -> ReplicaRawScores:
    """The raw scores for pods like this one: sums of the points of the node's domains, if PreScore found any."""
    if state is None:
        return ReplicaRawScores(())
    between, of = dict(points_between(state, pod, pod)), state.topology_score
    return ReplicaRawScores([_counts(nodes, key, of.get(key), between.get(key, 0)) for key in {**of, **between}])


def _counts(nodes: Snapshot, key: str, found: TopologyCounts | None, raises: int) -> ReplicaCounts:
    """The counts found so far, which each pod raises on a node that has the label; none without it."""
    column = nodes.label(key)
    counts = np.zeros(len(column.values), dtype=np.int64) if found is None else found.of_values(column.values)
    return ReplicaCounts(column.codes, counts, nodes.table.has_label(key) * np.int64(raises))
