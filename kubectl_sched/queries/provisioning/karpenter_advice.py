"""Causes for which Karpenter makes nodes in vain, or none, besides the limits of a NodePool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import ZERO, parse_resource_list
from kubectl_sched.api.core import Node
from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.node_provisioning.karpenter.provisioner import provision, usable_pools
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import requests_for_pods
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import (
    is_ephemeral,
    is_same,
    tolerates_all,
)
from kubectl_sched.queries.provisioning.provisioner_advice import NODE_POOL, ProvisionerAdvice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode
    from kubectl_sched.queries.provisioning.karpenter_setting import Setting

_GOES_BY_ITSELF: Final = pattern(r"(?:.{0,253}[/.-])?(?:not-ready|not-initialized|uninitialized|startup-taint)")
"""Keys of taints that an agent of the node takes off once it runs, such as node.cilium.io/agent-not-ready."""

_NODES_TRIED: Final = 3
_POOLS_TRIED: Final = 5


def missing_startup_taints(cluster: Cluster, pod: Pod, known: Setting) -> Iterator[ProvisionerAdvice]:
    """Yield the taint of a node that would take the pod once its agent runs, if the NodePool does not announce it."""
    pools = {pool.name: pool for pool in cluster.of(NodePool)}
    tried = 0
    for state in cluster.state_nodes:
        pool = pools.get(state.node_pool)
        if pool is None or state.claim is None or state.node is None:
            continue
        lacking = [each for each in state.taints if _is_unannounced(each, pool) and not _tolerates(pod, each)]
        if not lacking or tried == _NODES_TRIED:
            continue
        tried += 1
        if _would_be_taken(cluster, pod, known, state, lacking):
            yield _announce(pool, state, lacking[0])
            return


def smaller_than_promised(cluster: Cluster, pod: Pod) -> Iterator[ProvisionerAdvice]:
    """Yield a node that has less than its NodeClaim promises, where the pod fits into the promise alone."""
    wanted = requests_for_pods(pod)
    for state in cluster.state_nodes:
        if state.claim is None or state.node is None or not state.is_initialized:
            continue
        promised = parse_resource_list(state.claim.status.allocatable)
        for name, amount in wanted.items():
            real = state.allocatable.get(name, ZERO)
            if real < amount <= promised.get(name, ZERO):
                yield ProvisionerAdvice(
                    kind=NODE_POOL,
                    name=state.node_pool,
                    field="",
                    sentence=(
                        f"Node {state.name} has {real} {name} for pods where its NodeClaim {state.claim.name} promises "
                        f"{promised[name]}: Karpenter may go on creating nodes that are too small for the pod, which "
                        f"asks for {amount}"
                    ),
                )
                return


def spread_beyond(cluster: Cluster, pod: Pod, known: Setting) -> Iterator[ProvisionerAdvice]:
    """Yield the NodePool without which Karpenter would make a node: a spread counts a domain that it alone brings."""
    if not pod.spec.topology_spread_constraints:
        return
    pools = usable_pools(cluster.of(NodePool))
    types = {pool.name: known.types for pool in pools}
    for pool in pools[:_POOLS_TRIED] if len(pools) > 1 else ():
        outcome = provision(cluster, types, known.options, pod.key, left_out=pool.name)
        made = next((each for each in outcome.claims if pod.key in each.pods), None)
        if made is not None:
            yield ProvisionerAdvice(
                kind=NODE_POOL,
                name=pool.name,
                field="spec.template.spec.requirements",
                sentence=(
                    f"Without NodePool {pool.name}, Karpenter would make a node of NodePool {made.node_pool}: the "
                    f"topology spread of the pod counts domains that only {pool.name} brings and that the pod cannot "
                    "use; select the domains that it can use by node affinity, or set nodeTaintsPolicy: Honor"
                ),
            )
            return


def goes_by_itself(taint: Taint) -> bool:
    """Report whether an agent of the node takes the taint off once it runs, by its key."""
    return _GOES_BY_ITSELF.fullmatch(taint.key) is not None


def _is_unannounced(taint: Taint, pool: NodePool) -> bool:
    announced = (*pool.spec.template.spec.startup_taints, *pool.spec.template.spec.taints)
    return goes_by_itself(taint) and not is_ephemeral(taint) and not any(is_same(each, taint) for each in announced)


def _tolerates(pod: Pod, taint: Taint) -> bool:
    return tolerates_all([taint], pod.spec.tolerations)


def _would_be_taken(cluster: Cluster, pod: Pod, known: Setting, state: StateNode, taints: list[Taint]) -> bool:
    """Replay Karpenter with the node as it is once the taints are gone."""
    node = state.node
    assert node is not None  # noqa: S101 - the caller has looked
    rest = tuple(each for each in node.spec.taints if each not in taints)
    ready = replace(node, spec=replace(node.spec, taints=rest))
    pools = {pool.name: known.types for pool in cluster.of(NodePool)}
    outcome = provision(cluster.replaced(Node, node, ready), pools, known.options, pod.key)
    return pod.key in outcome.existing.get(state.name, ())


def _announce(pool: NodePool, state: StateNode, taint: Taint) -> ProvisionerAdvice:
    return ProvisionerAdvice(
        kind=NODE_POOL,
        name=pool.name,
        field="spec.template.spec.startupTaints",
        value=str(taint),
        sentence=(
            f"Node {state.name} of NodePool {pool.name} has the taint {taint}, which goes by itself once its agent "
            "runs, but is not among the NodePool's startupTaints, so that Karpenter takes it for lasting and makes "
            "another node: add it to spec.template.spec.startupTaints"
        ),
    )
