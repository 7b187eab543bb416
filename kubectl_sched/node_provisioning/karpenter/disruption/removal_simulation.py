"""Karpenter's simulation of a cluster without one node (pkg/controllers/disruption/helpers.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.karpenter import NodeClaim, NodePool
from kubectl_sched.api.pod import Pod
from kubectl_sched.node_provisioning.karpenter.disruption.disruption_times import is_under_consolidate_after
from kubectl_sched.node_provisioning.karpenter.provisionable_pods import is_provisionable
from kubectl_sched.node_provisioning.karpenter.provisioner import provision, usable_pools
from kubectl_sched.node_provisioning.karpenter.solver import Removal
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.outcome import Outcome, PlannedNodeClaim
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode

_MOST_ERRORS: Final = 5


class Simulated(CachingRecord, frozen=True, kw_only=True):
    """The cluster without the node: the NodeClaims that take its place, and the pods that find none."""

    claims: tuple[PlannedNodeClaim, ...]
    errors: Mapping[str, str]
    """The errors of pods that are not pending now, by namespace/name."""

    landings: Mapping[str, tuple[str, ...]]
    """The pods that a node that is there would take, by its name."""

    ties: frozenset[str]

    @property
    def said(self) -> str:
        """Karpenter's words for pods that find no place (NonPendingPodSchedulingErrors)."""
        told = [f"{key} => {text} " for key, text in self.errors.items()]
        more = f" and {len(told) - _MOST_ERRORS} other(s)" if len(told) >= _MOST_ERRORS else ""
        return f"Not all pods would schedule, {''.join(told[:_MOST_ERRORS])}{more}"


def simulate_removal(
    cluster: Cluster,
    state: StateNode,
    types: Mapping[str, Sequence[InstanceType]],
    options: Options,
    *,
    honors_consolidate_after: bool,
    seed: int | None = None,
) -> Simulated | None:
    """Return the cluster without a managed node; None if there is no NodePool to simulate with."""
    if not usable_pools(cluster.of(NodePool)):
        return None
    claim = state.claim or NodeClaim()
    leaving = replace(claim.metadata, deletion_timestamp=cluster.at or "1970-01-01T00:00:00Z")
    without = cluster.replaced(NodeClaim, claim, replace(claim, metadata=leaving))
    gone = {each.node.name for each in cluster.state_nodes if each.is_being_deleted and each.node is not None}
    removal = Removal(
        waiting_nodes=_waiting_nodes(cluster) if honors_consolidate_after else frozenset(),
        moved_pods=frozenset(
            pod.key for pod in cluster.of(Pod) if pod.status.phase != "Pending" and pod.spec.node_name not in gone
        ),
        falls_back=True,
    )
    outcome = provision(without, types, options, seed=seed, removal=removal)
    errors = {**outcome.errors, **_on_uninitialized(cluster, outcome, gone)}
    pending = {pod.key for pod in cluster.of(Pod) if is_provisionable(pod)}
    return Simulated(
        claims=outcome.claims,
        errors={key: text for key, text in errors.items() if key not in pending},
        landings=outcome.existing,
        ties=outcome.ties,
    )


def _waiting_nodes(cluster: Cluster) -> frozenset[str]:
    pools = {each.name: each for each in usable_pools(cluster.of(NodePool))}
    return frozenset(
        each.name
        for each in cluster.state_nodes
        if is_under_consolidate_after(pools.get(each.node_pool), each.claim, cluster.at)
    )


def _on_uninitialized(cluster: Cluster, outcome: Outcome, gone: set[str]) -> dict[str, str]:
    """Return the pods that would land on a node that is not initialized yet, but for those of leaving nodes."""
    at = {pod.key: pod.spec.node_name for pod in cluster.of(Pod)}
    found: dict[str, str] = {}
    for state in cluster.state_nodes:
        if not state.is_initialized:
            text = f"would schedule against uninitialized {', '.join(_sides(state))}"
            found |= {key: text for key in outcome.existing.get(state.name, ()) if at[key] not in gone}
    return found


def _sides(state: StateNode) -> list[str]:
    claim = [f"nodeclaim/{state.claim.name}"] if state.claim is not None else []
    return [*claim, *([f"node/{state.node.name}"] if state.node is not None else [])]
