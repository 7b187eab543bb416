"""Fewer matching pods in a node's domains give more points.

Answers to pkg/scheduler/framework/plugins/podtopologyspread/scoring.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.int64 import MAX_INT64
from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.golang import natural_logarithm, rounds_half_away, truncated_divisions
from kubectl_sched.framework.plugin_scores import MAX_NODE_SCORE
from kubectl_sched.plugins.pod_topology_spread.filtering import matching_pods, nodes_with_all_keys
from kubectl_sched.record import Record
from kubectl_sched.snapshot.domain_counts import TopologyCounts

if TYPE_CHECKING:
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.pod_topology_spread.constraints import Constraint, Constraints
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Floats, Integers, Mask, Rows
    from kubectl_sched.snapshot.node_table import NodeTable

_MOST_SUMMED: Final = MAX_INT64 // (2 * MAX_NODE_SCORE)
_INVALID_SCORE: Final = -1
"""Upstream's mark of ignored nodes; a constraint with maxSkew 0 can give a node this score, too."""


class SoftSpread(Record, frozen=True, kw_only=True):
    """One soft constraint, what a matching pod weighs, and the matching pods of each domain.

    Domains that are single nodes (the hostname key) have no counts here: Score counts the node's own pods, unless
    `per_node`, int64[n], has them from the time before.
    """

    constraint: Constraint
    weight: float
    domain_count: int
    matches: TopologyCounts | None
    per_node: Integers | None = None


class PreScoreState(Record, frozen=True, kw_only=True):
    """A SoftSpread for each soft constraint, and whether a node needs all topology keys to be scored."""

    spreads: tuple[SoftSpread, ...]
    requires_all_keys: bool
    weighed_for: tuple[NodeTable, Rows] | None = None
    """The feasible rows that weights are of, in the table that numbers them."""

    def scores_all(self, nodes: Snapshot) -> bool:
        """Report whether no node is ignored."""
        keys = (spread.constraint.topology_key for spread in self.spreads)
        return not self.requires_all_keys or all(nodes.table.code_without(key) is None for key in keys)

    def scored(self, nodes: Snapshot) -> Mask:
        """bool[n]: the nodes that are not ignored for lack of a topology key."""
        if not self.requires_all_keys:
            return np.ones(len(nodes), dtype=np.bool_)
        return nodes_with_all_keys(nodes, tuple(spread.constraint for spread in self.spreads))


STATE: Final[StateKey[PreScoreState]] = StateKey(
    name="PreScorePodTopologySpread", absent='error reading "{}" from cycleState: not found'
)


def pre_score_state(
    pod: Pod, nodes: Snapshot, rows: Rows, constraints: tuple[Constraint, ...], source: Constraints
) -> PreScoreState:
    """Weigh each constraint by its domains among the feasible nodes, and count pods over all nodes."""
    requires_all = source.requires_all_keys(pod)
    whole = nodes.whole
    complete = nodes_with_all_keys(whole, constraints) if requires_all else np.ones(len(whole), dtype=np.bool_)
    counted = source.counted_nodes(pod, whole, constraints)
    spreads = []
    for constraint, mask in zip(constraints, counted, strict=True):
        on_hosts = constraint.topology_key == HOSTNAME
        matches = None if on_hosts else _matches(pod, whole, constraint, complete & mask)
        spreads.append(SoftSpread(constraint=constraint, weight=0, domain_count=0, matches=matches))
    return weighed(PreScoreState(spreads=tuple(spreads), requires_all_keys=requires_all), nodes, rows)


def weighed(state: PreScoreState, nodes: Snapshot, rows: Rows) -> PreScoreState:
    """The state with each constraint weighed by its domains among these rows."""
    if state.weighed_for is not None and state.weighed_for[0] is nodes.table and state.weighed_for[1] is rows:
        return state
    candidates = rows if state.scores_all(nodes) else rows[state.scored(nodes)[rows]]

    def of(spread: SoftSpread) -> SoftSpread:
        key = spread.constraint.topology_key
        domain_count = len(candidates) if key == HOSTNAME else _domain_count(nodes, key, candidates)
        return replace(spread, weight=natural_logarithm(domain_count + 2), domain_count=domain_count)

    return replace(state, spreads=tuple(map(of, state.spreads)), weighed_for=(nodes.table, rows))


def _domain_count(nodes: Snapshot, key: str, rows: Rows) -> int:
    """The distinct values among the rows; to upstream a missing label is an empty value."""
    column = nodes.label(key)
    occurs = np.bincount(column.codes[rows], minlength=len(column.values)) > 0
    missing = nodes.table.code_without(key)
    if missing is not None and occurs[missing] and "" in column.values and occurs[column.values.index("")]:
        occurs[missing] = False
    return int(np.count_nonzero(occurs))


def _matches(pod: Pod, nodes: Snapshot, constraint: Constraint, counted: Mask) -> TopologyCounts:
    rows = nodes.existing_pods.rows[matching_pods(pod, nodes, constraint)]
    rows = rows[counted[rows]]
    counts = TopologyCounts.of(nodes, constraint.topology_key, rows)
    if "" not in counts.values:
        return counts
    unlabelled = rows[~nodes.table.has_label(constraint.topology_key)[rows]]
    return counts.plus("", len(unlabelled))


def pod_counts(state: PreScoreState, pod: Pod, nodes: Snapshot, rows: Rows | None = None) -> tuple[Integers, ...]:
    """For each constraint int64[len(rows)]: the matching pods of each node's domain; without rows, of all nodes."""

    def of(spread: SoftSpread) -> Integers:
        if spread.matches is None:
            counts = own_counts(pod, nodes, spread)
            return counts if rows is None else counts.take(rows)
        return spread.matches.on(nodes, rows)

    return tuple(map(of, state.spreads))


def own_counts(pod: Pod, nodes: Snapshot, spread: SoftSpread) -> Integers:
    """int64[n]: the matching pods of each node itself."""
    return _per_node(pod, nodes, spread.constraint) if spread.per_node is None else spread.per_node


def _per_node(pod: Pod, nodes: Snapshot, constraint: Constraint) -> Integers:
    rows = nodes.existing_pods.rows[matching_pods(pod, nodes, constraint)]
    return np.bincount(rows, minlength=len(nodes)).astype(np.int64)


def with_pod(
    state: PreScoreState, pod: Pod, changed: Pod, nodes: Snapshot, row: int, source: Constraints, amount: int
) -> PreScoreState:
    """The state with another pod on a row's node (1) or off it (-1); `nodes` has it there. Weights stay as they are."""
    node = nodes.node_objects[row]
    is_complete = not state.requires_all_keys or all(
        spread.constraint.topology_key in node.metadata.labels for spread in state.spreads
    )
    spreads = []
    for before in state.spreads:
        spread, constraint = before, before.constraint
        counts = amount != 0 and is_counted(pod, changed, constraint)
        if spread.matches is not None:
            if counts and is_complete and source.counts_node(pod, node, constraint):
                spread = _with_more(spread, spread.matches, node.metadata.labels, amount)
        elif spread.per_node is None:
            per_node = _per_node(pod, nodes, constraint)
            if counts and amount < 0:
                per_node[row] += amount
            spread = replace(spread, per_node=per_node)
        elif counts:
            per_node = spread.per_node.copy()
            per_node[row] += amount
            spread = replace(spread, per_node=per_node)
        spreads.append(spread)
    return replace(state, spreads=tuple(spreads))


def _with_more(spread: SoftSpread, matches: TopologyCounts, labels: Labels, amount: int) -> SoftSpread:
    """The constraint with more pods, or less, in the domain of a node with these labels."""
    value = labels.get(spread.constraint.topology_key)
    if value is None and "" not in matches.values:
        return spread
    return replace(spread, matches=matches.plus(value or "", amount))


def is_counted(pod: Pod, other: Pod, constraint: Constraint) -> bool:
    """Report whether the constraint counts the pod, as `matching_pods` has it."""
    return (
        not constraint.counts_nothing
        and other.metadata.namespace == pod.metadata.namespace
        and other.metadata.deletion_timestamp is None
        and constraint.selector.matches(other.metadata.labels)
    )


def scores(state: PreScoreState, pod: Pod, nodes: Snapshot, rows: Rows) -> Integers:
    """int64[len(rows)]: matching pods, each times its constraint's weight, plus maxSkew - 1; 0 for ignored nodes."""
    counted = pod_counts(state, pod, nodes, rows)
    total: Floats = np.zeros(len(rows), dtype=np.float64)
    everywhere = True
    for spread, counts in zip(state.spreads, counted, strict=True):
        key = spread.constraint.topology_key
        points = np.multiply(counts, spread.weight, dtype=np.float64) + float(spread.constraint.max_skew - 1)
        if nodes.table.code_without(key) is not None:
            points, everywhere = points * nodes.table.has_label(key)[rows], False
        total = total + points
    rounded = rounds_half_away(total).astype(np.int64)
    if not everywhere:
        rounded[~state.scored(nodes)[rows]] = 0
    return rounded


def normalized(state: PreScoreState, nodes: Snapshot, rows: Rows, raw: Integers) -> Integers:
    """int64[len(rows)]: the fewest pods become 100, ignored nodes 0."""
    if len(raw) and state.scores_all(nodes):
        smallest, largest = int(np.minimum.reduce(raw)), int(np.maximum.reduce(raw))
        if smallest >= 0 and 0 < largest <= _MOST_SUMMED:
            return MAX_NODE_SCORE * (largest + smallest - raw) // largest
    scored = state.scored(nodes)[rows]
    smallest = int(raw[scored].min(initial=MAX_INT64))
    largest = int(raw[scored].max(initial=0))
    scored &= raw != _INVALID_SCORE
    if largest == 0:
        return np.where(scored, MAX_NODE_SCORE, 0).astype(np.int64)
    points = truncated_divisions(MAX_NODE_SCORE * (largest + (smallest if scored.any() else 0) - raw), largest)
    return np.where(scored, points, 0)
