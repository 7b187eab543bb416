"""The node that a NodeClaim of Karpenter would become, and kube-scheduler's word on a pod there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.core import HOSTNAME, Node, NodeSpec, NodeStatus
from kubectl_sched.api.meta import Condition, ObjectMeta
from kubectl_sched.api.resource import ResourceSlice
from kubectl_sched.node_provisioning.karpenter.cloudprovider.providers import labels_by_others
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import INITIALIZED, REGISTERED
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import is_compatible
from kubectl_sched.record import CachingRecord
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.outcome import PlannedNodeClaim
    from kubectl_sched.sources.discovery.replay_setup import Replay
    from kubectl_sched.sources.dump.dump import Dump


class Asking(NamedTuple):
    """The scheduler that is asked about a new node: the configuration to replay, and the profile if one was named."""

    replay: Replay
    profile: str | None


class ThenScheduler(CachingRecord, frozen=True, kw_only=True):
    """kube-scheduler's verdict on the node that would be made."""

    outcome: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()


def node_of(claim: PlannedNodeClaim, labels: dict[str, str], name: str) -> Node:
    """The node that the cheapest choice becomes, once it is ready and its startup taints are gone."""
    table = claim.template.table
    chosen = table.types[claim.rows[0]]
    offered = [
        each
        for each in chosen.offerings
        if each.is_launchable(table.release) and is_compatible(claim.requirements, each.requirements, table.well_known)
    ]
    offering = min(offered, key=lambda each: each.price)
    stated = [
        (key, each.only_value if key in table.well_known else each.any_value)
        for key, each in claim.requirements.items()
    ]
    for part in (chosen.requirements, offering.requirements):
        stated += [(key, each.only_value) for key, each in part.items()]
    found = {**labels, **{key: value for key, value in stated if value}}
    own = {HOSTNAME: name, REGISTERED: "true", INITIALIZED: "true"}
    amounts: ResourceList = {name: str(amount) for name, amount in chosen.allocatable.items()}
    return Node(
        metadata=ObjectMeta(name=name, uid=name, labels={**labels_by_others(found), **found, **own}),
        spec=NodeSpec(taints=claim.template.taints),
        status=NodeStatus(
            capacity={name: str(amount) for name, amount in chosen.capacity.items()},
            allocatable=amounts,
            conditions=(Condition(type="Ready", status="True"),),
        ),
    )


def devices_of(claim: PlannedNodeClaim, name: str) -> Iterator[ResourceSlice]:
    """Yield the slices that drivers publish of the node, in pools of its own."""
    chosen = claim.template.table.types[claim.rows[0]]
    for number, each in enumerate(chosen.device_slices):
        spec = each.published.spec
        pool = replace(spec.pool, name=f"{name}-{spec.pool.name}")
        own = replace(spec, pool=pool, node_name=name, node_selector=None, all_nodes=False)
        yield ResourceSlice(metadata=ObjectMeta(name=f"{name}-{number}", uid=f"{name}-{number}"), spec=own)


def then_scheduler(pod: Pod, node: Node, dump: Dump, asking: Asking) -> ThenScheduler:
    """Return what kube-scheduler says of the pod on the node that would be made."""
    state = replace(dump, objects=(*dump.objects, node))
    result = ClusterSchedulers(state, asking.replay, asking.profile).schedule_one(pod)
    if result.verdict is None:
        return ThenScheduler(outcome=result.outcome.value, plugin="", reasons=(result.message or result.error or "",))
    status = result.verdict[result.nodes.row_of[node.name]]
    if status.is_success:
        return ThenScheduler(outcome="Schedulable")
    return ThenScheduler(outcome="Unschedulable", plugin=status.plugin or "", reasons=tuple(status.reasons))
