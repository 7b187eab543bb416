"""The nodes that an autoscaler would make for a pod, as data."""

from typing import Any, TypedDict

from kubectl_sched.diagnostics.messages.scale_up_text import ScaleUpReason
from kubectl_sched.queries.provisioning.changing_nodes import StartingNode
from kubectl_sched.queries.provisioning.new_karpenter_node import ThenScheduler
from kubectl_sched.queries.provisioning.node_group_replay import GroupVerdict
from kubectl_sched.queries.provisioning.node_pool_verdicts import PoolVerdict
from kubectl_sched.queries.provisioning.provisioner_advice import ProvisionerAdvice


class Chance(TypedDict):
    """The number of replays with this outcome, of all in the orders that chance may give."""

    agreeing: int
    replays: int


class Karpenter(TypedDict):
    """The node that Karpenter would make, or its error; `requirements` are by label key, as a NodeClaim has them."""

    version: str
    verdict: str
    node: str
    nodePool: str
    instanceTypes: list[str]
    requirements: dict[str, list[dict[str, Any]]]
    nodeClaim: dict[str, Any]
    error: str
    nodePools: list[PoolVerdict]
    typesSeen: int
    chance: Chance
    advice: list[ProvisionerAdvice]
    thenScheduler: ThenScheduler | None


class ClusterAutoscaler(TypedDict):
    """The verdict on each node group, the reasons of its NotTriggerScaleUp event, and sentences about balance."""

    version: str
    groups: list[GroupVerdict]
    event: list[ScaleUpReason]
    balance: list[str]


class NewNodes(TypedDict):
    """The answers of the autoscalers, nodes that start or leave, and what was assumed."""

    karpenter: Karpenter | None
    clusterAutoscaler: ClusterAutoscaler | None
    starting: list[StartingNode]
    leaving: list[str]
    assumed: list[str]
