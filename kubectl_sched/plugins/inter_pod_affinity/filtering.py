"""Counts of the pods that a pod must be near to or away from, and of those that must be away from it.

Answers to pkg/scheduler/framework/plugins/interpodaffinity/filtering.go.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.status import SUCCESS, NodeToStatus, unresolvable, unschedulable
from kubectl_sched.plugins.inter_pod_affinity.term_index import TermKind, terms_matching
from kubectl_sched.plugins.inter_pod_affinity.terms import existing_terms, matches_all, terms_of
from kubectl_sched.record import Record
from kubectl_sched.snapshot import Column
from kubectl_sched.snapshot.domain_counts import DomainSum, TopologyCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.inter_pod_affinity.terms import AffinityTerm, PodTerms
    from kubectl_sched.snapshot import PodTable, Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask

    Counts: TypeAlias = Mapping[str, TopologyCounts]

AFFINITY_RULES_NOT_MATCH: Final = unresolvable("node(s) didn't match pod affinity rules")
ANTI_AFFINITY_RULES_NOT_MATCH: Final = unschedulable("node(s) didn't match pod anti-affinity rules")
EXISTING_ANTI_AFFINITY_RULES_NOT_MATCH: Final = unschedulable(
    "node(s) didn't satisfy existing pods anti-affinity rules"
)
AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY = 1, 2, 3
"""The codes of `verdicts`: which rule rejects a node."""

_VERDICTS: Final = (
    SUCCESS,
    AFFINITY_RULES_NOT_MATCH,
    ANTI_AFFINITY_RULES_NOT_MATCH,
    EXISTING_ANTI_AFFINITY_RULES_NOT_MATCH,
)


class HostScoped(Record, frozen=True, kw_only=True):
    """With InterPodAffinityHostnameFastPath: what is asked of each node's own pods instead of being counted by label.

    `affinity` has terms only where every affinity term has the hostname key; `matching_pods` is then how many pods
    anywhere meet them all.
    """

    affinity: tuple[AffinityTerm, ...] = ()
    anti_affinity: tuple[AffinityTerm, ...] = ()
    matching_pods: int = 0


class PreFilterState(Record, frozen=True, kw_only=True):
    """The pod's own required terms, and matching pods by topology key and domain.

    `existing_anti_affinity` counts terms of existing pods that the pod would break. Keys without a count are left out.
    """

    required_affinity: tuple[AffinityTerm, ...]
    required_anti_affinity: tuple[AffinityTerm, ...]
    namespace_labels: Labels
    matches_itself: bool
    existing_anti_affinity: Counts
    affinity: Counts
    anti_affinity: Counts
    host_scoped: HostScoped | None = None


STATE: Final[StateKey[PreFilterState]] = StateKey(
    name="PreFilterInterPodAffinity", absent='error reading "{}" from cycleState: not found'
)


def affinity_now(
    pod: Pod,
    nodes: Snapshot,
    affinity: tuple[AffinityTerm, ...],
    anti_affinity: tuple[AffinityTerm, ...],
    labels: Labels,
    *,
    fast_path: bool,
    listed_in: Snapshot | None,
) -> PreFilterState:
    """Count over all existing pods; `labels` are those of the pod's namespace.

    With `listed_in`, anti-affinity counts only on nodes where a pod has some in that state.
    """
    host_scoped = _host_scoped(nodes, affinity, anti_affinity) if fast_path else None
    state = PreFilterState(
        required_affinity=affinity,
        required_anti_affinity=anti_affinity,
        namespace_labels=labels,
        matches_itself=matches_all(affinity, pod),
        existing_anti_affinity={},
        affinity={},
        anti_affinity={},
        host_scoped=host_scoped,
    )
    return replace(
        state,
        existing_anti_affinity=_existing_anti_affinity(pod, nodes, state, listed_in),
        affinity=_affinity(nodes, counted_affinity(state)),
        anti_affinity=_anti_affinity(nodes, counted_anti_affinity(state)),
    )


def counted_affinity(state: PreFilterState) -> tuple[AffinityTerm, ...]:
    """The affinity terms that are counted by label."""
    return () if state.host_scoped and state.host_scoped.affinity else state.required_affinity


def counted_anti_affinity(state: PreFilterState) -> tuple[AffinityTerm, ...]:
    """The anti-affinity terms that are counted by label."""
    return tuple(term for term in state.required_anti_affinity if is_counted(state, term))


def is_counted(state: PreFilterState, term: AffinityTerm) -> bool:
    """Report whether an anti-affinity term is counted by label, not asked of each node's own pods."""
    return state.host_scoped is None or term.topology_key != HOSTNAME


def _host_scoped(
    nodes: Snapshot, affinity: tuple[AffinityTerm, ...], anti_affinity: tuple[AffinityTerm, ...]
) -> HostScoped:
    alone = affinity if all(term.topology_key == HOSTNAME for term in affinity) else ()
    matching = int(np.count_nonzero(meeting_all(nodes.existing_pods, alone))) if alone else 0
    return HostScoped(
        affinity=alone,
        anti_affinity=tuple(term for term in anti_affinity if term.topology_key == HOSTNAME),
        matching_pods=matching,
    )


def meeting(existing: PodTable, term: AffinityTerm) -> Mask:
    """bool[m]: the existing pods that an incoming pod's term means."""
    return existing.selected(term.selector, term.admits_namespace)


def meeting_all(existing: PodTable, terms: Sequence[AffinityTerm]) -> Mask:
    """bool[m]: the existing pods that meet all of an incoming pod's terms; none if there are no terms."""
    if not terms:
        return np.zeros(len(existing), dtype=np.bool_)
    chosen = meeting(existing, terms[0])
    for term in terms[1:]:
        chosen = chosen & meeting(existing, term)
    return chosen


def _affinity(nodes: Snapshot, terms: tuple[AffinityTerm, ...]) -> Counts:
    """A pod that meets all terms counts once for each of them, so twice where two have the same key."""
    if not terms:
        return {}
    rows = nodes.existing_pods.rows[meeting_all(nodes.existing_pods, terms)]
    by_key: dict[str, DomainSum] = {}
    for key, times in Counter(term.topology_key for term in terms).items():
        by_key[key] = DomainSum(nodes, key)
        by_key[key].add(rows, times)
    return _without_empty(each.counts() for each in by_key.values())


def _anti_affinity(nodes: Snapshot, terms: tuple[AffinityTerm, ...]) -> Counts:
    by_key: dict[str, DomainSum] = {}
    for term in terms:
        key = term.topology_key
        if key not in by_key:
            by_key[key] = DomainSum(nodes, key)
        by_key[key].add(nodes.existing_pods.rows[meeting(nodes.existing_pods, term)], 1)
    return _without_empty(each.counts() for each in by_key.values())


def _existing_anti_affinity(pod: Pod, nodes: Snapshot, state: PreFilterState, listed_in: Snapshot | None) -> Counts:
    """Each existing pod's required anti-affinity terms that mean the incoming pod."""
    listed = None if listed_in is None else rows_with(listed_in, lambda terms: bool(terms.required_anti_affinity))
    column = existing_terms(nodes.existing_pods)
    by_key: dict[str, Integers] = {}
    for code, kind, term in terms_matching(nodes.existing_pods, pod, state.namespace_labels):
        if kind is TermKind.REQUIRED_ANTI_AFFINITY and is_counted(state, term):
            per_code = by_key.setdefault(term.topology_key, np.zeros(len(column.values), dtype=np.int64))
            per_code[code] += 1
    return _without_empty(_weighed(nodes, key, per_code, column, listed) for key, per_code in by_key.items())


def rows_with(nodes: Snapshot, has: Callable[[PodTerms], bool]) -> Mask:
    """bool[n]: the nodes with a pod whose terms the predicate holds for."""
    pods = existing_terms(nodes.existing_pods).where(lambda terms: terms is not None and has(terms))
    return _on_own_node(nodes, pods)


def _weighed(
    nodes: Snapshot, key: str, per_code: Integers, column: Column[PodTerms | None], listed: Mask | None
) -> TopologyCounts:
    pods = np.flatnonzero((per_code != 0)[column.codes])
    if listed is not None:
        pods = pods[listed[nodes.existing_pods.rows[pods]]]
    return TopologyCounts.of(nodes, key, nodes.existing_pods.rows[pods], per_code[column.codes[pods]])


def _without_empty(counts: Iterable[TopologyCounts]) -> Counts:
    return {each.key: each for each in counts if not each.is_empty}


def with_pod(state: PreFilterState, pod: Pod, changed: Pod, nodes: Snapshot, row: int, amount: int) -> PreFilterState:
    """The state with another pod on a row's node (amount 1) or off it (-1): updateWithPod."""
    host_scoped = state.host_scoped
    if host_scoped and matches_all(host_scoped.affinity, changed):
        host_scoped = replace(host_scoped, matching_pods=host_scoped.matching_pods + amount)
    repelling, near, away = terms_between(state, pod, changed)
    return replace(
        state,
        existing_anti_affinity=_with_terms(state.existing_anti_affinity, repelling, nodes, row, amount),
        affinity=_with_terms(state.affinity, near, nodes, row, amount),
        anti_affinity=_with_terms(state.anti_affinity, away, nodes, row, amount),
        host_scoped=host_scoped,
    )


def terms_between(state: PreFilterState, pod: Pod, other: Pod) -> tuple[Sequence[AffinityTerm], ...]:
    """The terms that `other` counts for: its own anti-affinity, the pod's affinity, the pod's anti-affinity."""
    theirs = terms_of(other)
    near = counted_affinity(state)
    return (
        [
            term
            for term in (theirs.required_anti_affinity if theirs else ())
            if is_counted(state, term) and term.matches(pod, state.namespace_labels)
        ],
        near if matches_all(near, other) else (),
        [term for term in counted_anti_affinity(state) if term.matches(other)],
    )


def _with_terms(counts: Counts, terms: Iterable[AffinityTerm], nodes: Snapshot, row: int, amount: int) -> Counts:
    labels = nodes.node_objects[row].metadata.labels
    after = dict(counts)
    for term in terms:
        value = labels.get(term.topology_key)
        if value is not None:
            before = after.get(term.topology_key) or TopologyCounts.none(nodes, term.topology_key)
            after[term.topology_key] = before.plus(value, amount)
    return after


def verdicts(state: PreFilterState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
    """Filter: the pod's affinity first, then its anti-affinity, then that of existing pods."""
    codes = np.zeros(len(nodes), dtype=np.int32)
    for code, rejects in (
        (EXISTING_ANTI_AFFINITY, rejected_by_existing(state, pod, nodes)),
        (ANTI_AFFINITY, rejected_by_anti_affinity(state, nodes)),
        (AFFINITY, ~admitted_by_affinity(state, nodes)),
    ):
        codes[rejects] = code
    return Column(codes, _VERDICTS)


def admitted_by_affinity(state: PreFilterState, nodes: Snapshot) -> Mask:
    """bool[n]: the nodes near to pods that the pod must be near to (satisfyPodAffinity).

    The first pod of a series that has affinity to itself is admitted anywhere that has all the labels.
    """
    admitted = np.ones(len(nodes), dtype=np.bool_)
    if not state.required_affinity:
        return admitted
    keys = dict.fromkeys(term.topology_key for term in state.required_affinity)
    for key in keys:
        admitted &= nodes.table.has_label(key)
    host_scoped = state.host_scoped
    if host_scoped and host_scoped.affinity:
        near = _on_own_node(nodes, meeting_all(nodes.existing_pods, host_scoped.affinity))
        is_first = host_scoped.matching_pods <= 0
    else:
        near = np.ones(len(nodes), dtype=np.bool_)
        for key in keys:
            near &= _found(state.affinity, key, nodes)
        is_first = _is_first(state)
    return admitted if is_first and state.matches_itself else admitted & near


def _is_first(state: PreFilterState) -> bool:
    return all(counts.is_empty for counts in state.affinity.values())


def admits_first(state: PreFilterState) -> bool:
    """Report whether the pod has affinity to itself and no counted pod is there that it must be near to."""
    return state.matches_itself and _is_first(state)


def rejected_by_anti_affinity(state: PreFilterState, nodes: Snapshot) -> Mask:
    """bool[n]: the nodes near to pods that the pod must be away from (satisfyPodAntiAffinity)."""
    rejected = np.zeros(len(nodes), dtype=np.bool_)
    for key in state.anti_affinity:
        rejected |= _found(state.anti_affinity, key, nodes)
    if state.host_scoped:
        for term in state.host_scoped.anti_affinity:
            own = _on_own_node(nodes, meeting(nodes.existing_pods, term))
            rejected |= own & nodes.table.has_label(HOSTNAME)
    return rejected


def rejected_by_existing(state: PreFilterState, pod: Pod, nodes: Snapshot) -> Mask:
    """bool[n]: the nodes near to pods that must be away from the pod (satisfyExistingPodsAntiAffinity)."""
    rejected = np.zeros(len(nodes), dtype=np.bool_)
    for key in state.existing_anti_affinity:
        rejected |= _found(state.existing_anti_affinity, key, nodes)
    if state.host_scoped:
        repelling = repelling_pods(state, pod, nodes, HOSTNAME)
        rejected |= _on_own_node(nodes, repelling) & nodes.table.has_label(HOSTNAME)
    return rejected


def repelling_pods(state: PreFilterState, pod: Pod, nodes: Snapshot, key: str) -> Mask:
    """bool[m]: the existing pods with a required anti-affinity term of a topology key that means the pod."""
    column = existing_terms(nodes.existing_pods)
    repels = np.zeros(len(column.values), dtype=np.bool_)
    for code, kind, term in terms_matching(nodes.existing_pods, pod, state.namespace_labels):
        repels[code] |= kind is TermKind.REQUIRED_ANTI_AFFINITY and term.topology_key == key
    return repels[column.codes]


def repelling_keys(state: PreFilterState, pod: Pod, nodes: Snapshot) -> tuple[str, ...]:
    """The topology keys of such terms."""
    filed = terms_matching(nodes.existing_pods, pod, state.namespace_labels)
    return tuple(
        dict.fromkeys(each.term.topology_key for each in filed if each.kind is TermKind.REQUIRED_ANTI_AFFINITY)
    )


def has_host_scoped_anti_affinity(nodes: Snapshot) -> bool:
    """Report whether Filter must look at each node's own pods for anti-affinity (mustEvaluateHostScopedAntiAffinity).

    Where a term cannot be parsed, its pod still makes its node one that has anti-affinity.
    """
    column = existing_terms(nodes.existing_pods)
    parsed = column.where(
        lambda terms: terms is not None and any(term.topology_key == HOSTNAME for term in terms.required_anti_affinity)
    )
    if parsed.any():
        return True
    rows = nodes.existing_pods.rows
    stored = column.map(lambda terms: terms.affinity.pod_anti_affinity if terms else None)
    any_key = stored.where(lambda away: away is not None and len(away.required) > 0)
    other_key = stored.where(
        lambda away: away is not None and any(term.topology_key != HOSTNAME for term in away.required)
    )
    return len(np.unique(rows[any_key])) > len(np.unique(rows[other_key]))


def _found(counts: Counts, key: str, nodes: Snapshot) -> Mask:
    found = counts.get(key)
    return np.zeros(len(nodes), dtype=np.bool_) if found is None else found.on(nodes) > 0


def _on_own_node(nodes: Snapshot, pods: Mask) -> Mask:
    own = np.zeros(len(nodes), dtype=np.bool_)
    own[nodes.existing_pods.rows[pods]] = True
    return own
