"""Counts of matching pods by domain, and the domains where one more would exceed the skew.

Answers to pkg/scheduler/framework/plugins/podtopologyspread/filtering.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.status import SUCCESS, NodeToStatus, unresolvable, unschedulable
from kubectl_sched.plugins.pod_topology_spread.constraints import selects_itself
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.snapshot import Column
from kubectl_sched.snapshot.domain_counts import TopologyCounts

if TYPE_CHECKING:
    import numpy.typing as npt

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.pod_topology_spread.constraints import Constraint, Constraints
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Codes, Mask

CONSTRAINTS_NOT_MATCH: Final = unschedulable("node(s) didn't match pod topology spread constraints")
NODE_LABEL_NOT_MATCH: Final = unresolvable(
    "node(s) didn't match pod topology spread constraints (missing required label)"
)
_VERDICTS: Final = (SUCCESS, CONSTRAINTS_NOT_MATCH, NODE_LABEL_NOT_MATCH)
_NO_DOMAIN: Final = 2**31 - 1


class Spread(CachingRecord, frozen=True, kw_only=True):
    """One constraint, the matching pods of each domain, and how many nodes that count are in each.

    A domain exists as long as a node that counts is in it.
    """

    constraint: Constraint
    matches: TopologyCounts
    nodes: TopologyCounts

    @property
    def domain_count(self) -> int:
        """The number of domains."""
        return len(self.nodes.counted_codes)

    @property
    def fewest(self) -> int:
        """The matching pods of the emptiest domain."""
        existing = self.nodes.counted_codes
        return int(np.minimum.reduce(self.matches.counts.take(existing))) if len(existing) else _NO_DOMAIN

    @property
    def minimum(self) -> int:
        """The global minimum that skew is measured from: 0 where there are fewer domains than minDomains."""
        return 0 if self.domain_count < self.constraint.min_domains else self.fewest

    def plus(self, value: str, amount: int) -> Spread:
        """With more matching pods in a domain, or less."""
        return replace(self, matches=self.matches.plus(value, amount))


class PreFilterState(Record, frozen=True, kw_only=True):
    """A Spread for each hard constraint."""

    spreads: tuple[Spread, ...]


STATE: Final[StateKey[PreFilterState]] = StateKey(
    name="PreFilterPodTopologySpread", absent='reading "{}" from cycleState: not found'
)


def spread_now(pod: Pod, nodes: Snapshot, constraints: tuple[Constraint, ...], source: Constraints) -> PreFilterState:
    """Count the matching pods of each domain (calPreFilterState).

    A node that lacks any of the topology keys counts for none of the constraints.
    """
    complete = nodes_with_all_keys(nodes, constraints)
    counted = source.counted_nodes(pod, nodes, constraints)
    return PreFilterState(
        spreads=tuple(
            _spread(pod, nodes, constraint, complete & mask)
            for constraint, mask in zip(constraints, counted, strict=True)
        )
    )


def nodes_with_all_keys(nodes: Snapshot, constraints: tuple[Constraint, ...]) -> Mask:
    """bool[n]: the nodes that carry the topology key of every constraint (nodeLabelsMatchSpreadConstraints)."""
    complete = np.ones(len(nodes), dtype=np.bool_)
    for constraint in constraints:
        complete &= nodes.table.has_label(constraint.topology_key)
    return complete


def matching_pods(pod: Pod, nodes: Snapshot, constraint: Constraint) -> Mask:
    """bool[m]: the existing pods that the constraint counts (countPodsMatchSelector)."""
    existing = nodes.existing_pods
    if constraint.counts_nothing:
        return np.zeros(len(existing), dtype=np.bool_)
    namespace = pod.metadata.namespace
    return existing.selected(constraint.selector, lambda other: other == namespace) & ~existing.terminating


def _spread(pod: Pod, nodes: Snapshot, constraint: Constraint, counted: Mask) -> Spread:
    rows = nodes.existing_pods.rows[matching_pods(pod, nodes, constraint)]
    key = constraint.topology_key
    return Spread(
        constraint=constraint,
        matches=TopologyCounts.of(nodes, key, rows[counted[rows]]),
        nodes=TopologyCounts.of(nodes, key, np.flatnonzero(counted)),
    )


def with_pod(
    state: PreFilterState, pod: Pod, changed: Pod, nodes: Snapshot, row: int, source: Constraints, amount: int
) -> PreFilterState:
    """The state with another pod on a row's node (amount 1) or off it (-1): updateWithPod.

    Here a pod that is being deleted and an empty selector do count, as they do upstream.
    """
    node = nodes.node_objects[row]
    labels = node.metadata.labels
    if changed.metadata.namespace != pod.metadata.namespace:
        return state
    if any(spread.constraint.topology_key not in labels for spread in state.spreads):
        return state
    return PreFilterState(
        spreads=tuple(
            [
                spread.plus(labels[spread.constraint.topology_key], amount)
                if spread.constraint.selector.matches(changed.metadata.labels)
                and source.counts_node(pod, node, spread.constraint)
                else spread
                for spread in state.spreads
            ]
        )
    )


def verdicts(state: PreFilterState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
    """Filter: the first constraint whose label a node lacks, or whose skew it would make too large."""
    codes = None
    for spread in state.spreads:
        verdict = _verdicts_of(spread, pod, nodes)
        codes = verdict if codes is None else np.where(codes == 0, verdict, codes)
    return Column(np.zeros(len(nodes), dtype=np.int32) if codes is None else codes, _VERDICTS)


def _verdicts_of(spread: Spread, pod: Pod, nodes: Snapshot) -> Codes:
    """int32[n], codes of _VERDICTS."""
    codes = nodes.label(spread.constraint.topology_key).codes
    return _verdicts_by_value(spread, pod, nodes).take(codes).astype(np.int32)


def _verdicts_by_value(spread: Spread, pod: Pod, nodes: Snapshot) -> npt.NDArray[np.int8]:
    """int8, codes of _VERDICTS, one for each value of the topology key."""
    constraint, column = spread.constraint, nodes.label(spread.constraint.topology_key)
    most = constraint.max_skew + spread.minimum - selects_itself(pod, constraint)
    verdict = (spread.matches.of_values(column.values) > most).view(np.int8)
    without = nodes.table.code_without(constraint.topology_key)
    if without is not None:
        verdict[without] = 2
    return verdict
