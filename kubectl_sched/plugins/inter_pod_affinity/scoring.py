"""Pods preferred near or away, by the pod and by existing pods, each adding its weight to its domain.

Answers to pkg/scheduler/framework/plugins/interpodaffinity/scoring.go.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE
from kubectl_sched.plugins.inter_pod_affinity.filtering import meeting, rows_with
from kubectl_sched.plugins.inter_pod_affinity.term_index import TermKind, terms_matching
from kubectl_sched.plugins.inter_pod_affinity.terms import existing_terms, terms_of
from kubectl_sched.record import Record
from kubectl_sched.snapshot.domain_counts import DomainSum, TopologyCounts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.inter_pod_affinity.terms import AffinityTerm
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows


class Preferences(Record, frozen=True, kw_only=True):
    """The preferred terms of the pod, signed: anti-affinity has negative weight."""

    terms: tuple[AffinityTerm, ...]
    namespace_labels: Labels
    hard_weight: int
    listed_in: Snapshot | None = None
    """If given, the terms of existing pods count only on nodes where a pod has affinity in that state."""

    def points(self, kind: TermKind, term: AffinityTerm) -> int | None:
        """Return the points for a matching term of an existing pod, None if such terms do not count."""
        match kind:
            case TermKind.REQUIRED_AFFINITY:
                return self.hard_weight if self.hard_weight > 0 else None
            case TermKind.PREFERRED_AFFINITY:
                return term.weight
            case TermKind.PREFERRED_ANTI_AFFINITY:
                return -term.weight
            case TermKind.REQUIRED_ANTI_AFFINITY:
                return None


class PreScoreState(Record, frozen=True, kw_only=True):
    """The points of each domain, by topology key."""

    preferences: Preferences
    topology_score: Mapping[str, TopologyCounts]
    latest: tuple[Pod, tuple[tuple[str, int], ...]] | None = None
    """The latest pod, with the topology keys and points of the terms between it and the pod that is scored."""


STATE: Final[StateKey[PreScoreState]] = StateKey(name="PreScoreInterPodAffinity")


def pre_score_state(pod: Pod, nodes: Snapshot, preferences: Preferences) -> PreScoreState | None:
    """Weigh all existing pods; None where not one of them gives or takes a point."""
    touched: dict[str, DomainSum] = {}
    for term in preferences.terms:
        rows = nodes.existing_pods.rows[meeting(nodes.existing_pods, term)]
        if nodes.table.has_label(term.topology_key)[rows].any():
            _sum_of(touched, nodes, term.topology_key).add(rows, term.weight)
    for key, rows, weights in _by_existing(pod, nodes, preferences):
        if nodes.table.has_label(key)[rows].any():
            _sum_of(touched, nodes, key).add_each(rows, weights)
    if not touched:
        return None
    topology_score = {key: each.counts() for key, each in touched.items()}
    return PreScoreState(preferences=preferences, topology_score=topology_score)


def _sum_of(touched: dict[str, DomainSum], nodes: Snapshot, key: str) -> DomainSum:
    if key not in touched:
        touched[key] = DomainSum(nodes, key)
    return touched[key]


def _by_existing(pod: Pod, nodes: Snapshot, preferences: Preferences) -> Iterator[tuple[str, Rows, Integers]]:
    column = existing_terms(nodes.existing_pods)
    listed = None if preferences.listed_in is None else rows_with(preferences.listed_in, lambda _: True)
    weights: dict[str, dict[int, int]] = {}
    for code, kind, term in terms_matching(nodes.existing_pods, pod, preferences.namespace_labels):
        points = preferences.points(kind, term)
        if points is not None:
            per_code = weights.setdefault(term.topology_key, {})
            per_code[code] = per_code.get(code, 0) + points
    for key, per_code in weights.items():
        weight_of = np.zeros(len(column.values), dtype=np.int64)
        gives = np.zeros(len(column.values), dtype=np.bool_)
        weight_of[list(per_code)] = list(per_code.values())
        gives[list(per_code)] = True
        pods = np.flatnonzero(gives[column.codes])
        if listed is not None:
            pods = pods[listed[nodes.existing_pods.rows[pods]]]
        yield key, nodes.existing_pods.rows[pods], weight_of[column.codes[pods]]


def with_pod(state: PreScoreState, pod: Pod, changed: Pod, nodes: Snapshot, row: int, amount: int) -> PreScoreState:
    """The state with another pod on a row's node (1) or off it (-1)."""
    labels = nodes.node_objects[row].metadata.labels
    after = dict(state.topology_score)
    between = points_between(state, pod, changed)
    for key, points in between:
        value = labels.get(key)
        if value is not None:
            before = after.get(key) or TopologyCounts.none(nodes, key)
            after[key] = before.plus(value, points * amount)
    return PreScoreState(
        preferences=state.preferences,
        topology_score=after,
        latest=(changed, between),
    )


def points_between(state: PreScoreState, pod: Pod, changed: Pod) -> tuple[tuple[str, int], ...]:
    """The points of each topology key between the pods, known already if a replica of the latest pod comes."""
    if state.latest is not None and _are_alike(state.latest[0], changed):
        return state.latest[1]
    sums: dict[str, int] = {}
    for key, points in _between(pod, changed, state.preferences):
        sums[key] = sums.get(key, 0) + points
    return tuple(sums.items())


def _are_alike(one: Pod, other: Pod) -> bool:
    """Report whether no affinity term tells the pods apart, nor their own terms."""
    mine, theirs = one.metadata, other.metadata
    return (
        one.spec.affinity is other.spec.affinity and mine.namespace == theirs.namespace and mine.labels == theirs.labels
    )


def _between(pod: Pod, other: Pod, preferences: Preferences) -> Iterator[tuple[str, int]]:
    """The topology keys and points of the terms with which one of the pods means the other."""
    for term in preferences.terms:
        if term.matches(other):
            yield term.topology_key, term.weight
    theirs = terms_of(other)
    if theirs is None:
        return
    for kind, terms in (
        (TermKind.REQUIRED_AFFINITY, theirs.required_affinity),
        (TermKind.REQUIRED_ANTI_AFFINITY, theirs.required_anti_affinity),
        (TermKind.PREFERRED_AFFINITY, theirs.preferred_affinity),
        (TermKind.PREFERRED_ANTI_AFFINITY, theirs.preferred_anti_affinity),
    ):
        for term in terms:
            points = preferences.points(kind, term)
            if points is not None and term.matches(pod, preferences.namespace_labels):
                yield term.topology_key, points


def scores(state: PreScoreState, nodes: Snapshot, rows: Rows) -> Integers:
    """int64[len(rows)]: the sum of the points of all of a node's domains."""
    of_keys = (points.on(nodes, rows) for points in state.topology_score.values())
    return reduce(np.add, of_keys)


def normalized(raw: Integers) -> Integers:
    """int64[len(raw)]: the smallest becomes 0, the largest 100; all 0 where they are equal."""
    if not len(raw):
        return raw
    smallest, largest = int(np.minimum.reduce(raw)), int(np.maximum.reduce(raw))
    if largest == smallest:
        return np.zeros(len(raw), dtype=np.int64)
    share = (raw - smallest) / float(largest - smallest)
    return (float(MAX_NODE_SCORE) * share).astype(np.int64)
