"""More pods on a node: maxPods of its kubelet, who sets it, and what else has to grow with it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.component_helpers.resource_names import PODS
from kubectl_sched.framework.clauses import pods
from kubectl_sched.node_provisioning.cluster_autoscaler.node_groups import AKS, EKS, EKSCTL, GKE
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import NODE_POOL
from kubectl_sched.suggestions.change import Change, Kind

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.scheduler.result import ScheduleResult

_AWS: Final = "aws://"
_ON_EKS: Final = (
    "on EKS the network interfaces of the instance type limit it: prefix delegation of the VPC CNI allows more "
    "(ENABLE_PREFIX_DELEGATION on DaemonSet kube-system/aws-node)"
)
_OF_PROVIDERS: Final = (
    (
        NODE_POOL,
        "Karpenter sets it by kubelet.maxPods of the NodeClass, for new nodes; the node needs an address for each pod",
    ),
    (GKE, "GKE sets it when a node pool is created (--max-pods-per-node): it takes a new pool"),
    *((label, "AKS sets it when a node pool is created (--max-pods): it takes a new pool") for label in AKS),
)
_BY_HAND: Final = (
    "whoever runs the node sets it in the kubelet's configuration and restarts the kubelet; the node needs an "
    "address for each pod"
)


def with_more_pods(result: ScheduleResult, row: int, missing: int) -> Change:
    """Return the change by which the row's node takes as many more pods as are missing."""
    node, most = result.nodes.node_objects[row], int(result.nodes.allocatable(PODS)[row])
    return Change(
        kind=Kind.RAISE_MAX_PODS,
        text=f"if the kubelet of {node.name} took more than {pods(most)} (maxPods)",
        step=f"raise maxPods of the kubelet of {node.name}, which is {most}",
        node_name=node.name,
        node=partial(_taking, most=most + missing),
        caution=_who_sets_it(node),
        cost=(missing / most,),
    )


def _taking(node: Node, most: int) -> Node:
    return replace(node, status=replace(node.status, allocatable={**node.status.allocatable, PODS: str(most)}))


def _who_sets_it(node: Node) -> str:
    labels = node.metadata.labels
    of_provider = next((told for label, told in _OF_PROVIDERS if label in labels), _BY_HAND)
    if EKS in labels or EKSCTL in labels:
        return f"the node group's launch template sets it, for new nodes; {_ON_EKS}"
    is_on_aws = NODE_POOL in labels and node.spec.provider_id.startswith(_AWS)
    return f"{of_provider}; {_ON_EKS}" if is_on_aws else of_provider
