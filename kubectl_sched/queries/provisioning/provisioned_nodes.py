"""`whatif --new-nodes`: the nodes that Karpenter would make for the pods that fit nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.api.pod import Pod
from kubectl_sched.errors import SchedError
from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
from kubectl_sched.node_provisioning.karpenter.provisionable_pods import exclusion
from kubectl_sched.node_provisioning.karpenter.provisioner import provision
from kubectl_sched.queries.provisioning.karpenter_setting import setting, unschedulable
from kubectl_sched.queries.provisioning.new_karpenter_node import node_of
from kubectl_sched.record import CachingRecord
from kubectl_sched.simulation.what_if_result import MadeNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.meta import KubernetesObject

_REFUSED_SHOWN = 5


class ProvisionedNodes(CachingRecord, frozen=True, kw_only=True):
    """The nodes that would be made, and sentences about what that rests on."""

    nodes: tuple[MadeNode, ...]
    notes: tuple[str, ...]


def provisioned_nodes(
    objects: Iterable[KubernetesObject], unplaced: Sequence[Pod], instance_types: tuple[bytes, str] | None
) -> ProvisionedNodes:
    """Replay Karpenter for the pods that fit nowhere; of the objects, other pending pods are left out.

    Raises SchedError if there is no NodePool, or the file is unusable.
    """
    others = (each for each in objects if not isinstance(each, Pod) or each.spec.node_name)
    cluster = Cluster((*others, *map(unschedulable, unplaced)))
    pools = cluster.of(NodePool)
    if not pools:
        raise SchedError(
            "there is no NodePool of Karpenter: --new-nodes has nothing to replay (which node group cluster-autoscaler "
            "would let grow is not predicted)"
        )
    known = setting(cluster, instance_types)
    options = known.options
    outcome = provision(cluster, {pool.name: known.types for pool in pools}, options)
    claims = [claim for claim in outcome.claims if not {pod.key for pod in unplaced}.isdisjoint(claim.pods)]
    made = tuple(
        MadeNode(
            node=node_of(claim, claim.created(options.max_instance_types)[0], f"{claim.node_pool}-new-{number}"),
            node_pool=claim.node_pool,
            instance_type=claim.instance_types[0],
        )
        for number, claim in enumerate(claims, 1)
    )
    chance = ("Karpenter leaves a choice to chance here: another run may choose otherwise",) if outcome.ties else ()
    errors = {**outcome.errors, **outcome.ignored}
    reasons = ((pod.key, exclusion(pod) or errors.get(pod.key)) for pod in unplaced)
    refused = [f"Karpenter would create no node for {key}: {reason}" for key, reason in reasons if reason]
    return ProvisionedNodes(
        nodes=made, notes=(f"new nodes are assumed: {'; '.join((*known.assumed, *chance))}", *refused[:_REFUSED_SHOWN])
    )
