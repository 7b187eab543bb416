"""The score by which NodePools with the policy Balanced approve a move (pkg/controllers/disruption/balanced.go)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.core import ZONE
from kubectl_sched.api.karpenter import NodeClaim, NodePool
from kubectl_sched.node_provisioning.karpenter.disruption.candidates import (
    disruption_cost,
    price_of,
    stays_with_node,
)
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.disruption.candidates import Candidate
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options

BALANCED: Final = "Balanced"
_K: Final = 2
_THRESHOLD: Final = 1 / _K
_PRICED: Final = (INSTANCE_TYPE, CAPACITY_TYPE, ZONE, NODE_POOL)


class PoolTotals(NamedTuple):
    """The cost of all nodes of a NodePool, and the disruption that the removal of all would be."""

    cost: float
    disruption: float


class Score(NamedTuple):
    """The shares of a NodePool's cost that a move saves, and of its disruption that it is."""

    savings: float
    disruption: float

    @property
    def value(self) -> float:
        """Return savings by disruption, 0 for a move that saves nothing."""
        if self.savings <= 0:
            return 0.0
        return math.inf if self.disruption == 0 else self.savings / self.disruption

    @property
    def is_approved(self) -> bool:
        """Report whether the move is worth it."""
        return self.value >= _THRESHOLD

    @property
    def said(self) -> str:
        """Karpenter's words for a score."""
        savings, disruption = self.savings * 100, self.disruption * 100
        return (
            f"score {self.value:.2f} >= threshold {_THRESHOLD:.2f} "
            f"(k: {_K}, savings {savings:.1f}%, disruption {disruption:.1f}%)"
        )


def pool_totals(
    cluster: Cluster,
    candidates: Mapping[str, Candidate],
    types: Mapping[str, Sequence[InstanceType]],
    options: Options,
) -> dict[str, PoolTotals]:
    """Return the totals of each NodePool that has a candidate (computeNodePoolTotals)."""
    disruption: dict[str, float] = {}
    for node in cluster.state_nodes:
        if NODE_POOL in node.labels:
            own = candidates.get(node.name)
            pods = cluster.pods_by_node.get(node.node.name, []) if node.node is not None else []
            others = (pod for pod in pods if not stays_with_node(pod))
            cost = own.cost if own is not None else disruption_cost(others, options)
            disruption[node.node_pool] = disruption.get(node.node_pool, 0.0) + cost
    totals = {}
    for pool in {each.pool.name for each in candidates.values()}:
        cost = _claimed_cost(cluster, pool, types.get(pool, ()))
        fallback = sum(each.price for each in candidates.values() if each.pool.name == pool)
        totals[pool] = PoolTotals(cost if cost > 0 else fallback, disruption[pool])
    return totals


def score(savings: float, candidate: Candidate, totals: PoolTotals) -> Score:
    """Return the score of a move of one candidate (ScoreMove)."""
    if totals.cost <= 0 or totals.disruption <= 0:
        return Score(0.0, 0.0)
    return Score(savings / totals.cost, candidate.cost / totals.disruption)


def _claimed_cost(cluster: Cluster, pool: str, types: Sequence[InstanceType]) -> float:
    """Return the price of all NodeClaims of a NodePool that name their offering (pkg/state/cost)."""
    if pool not in {each.name for each in cluster.of(NodePool)}:
        return 0.0
    by_name = {each.name: each for each in reversed(types)}
    cost = 0.0
    for claim in cluster.of(NodeClaim):
        labels = claim.metadata.labels
        if labels.get(NODE_POOL) == pool and all(labels.get(key) for key in _PRICED):
            cost += price_of(by_name.get(labels[INSTANCE_TYPE]), labels)
    return cost
