"""`explain --new-nodes`: whether the autoscaler would make a node for a pod, which, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.errors import SchedError
from kubectl_sched.queries.provisioning.changing_nodes import StartingNode, leaving_nodes, starting_nodes
from kubectl_sched.queries.provisioning.cluster_autoscaler_replay import NodeGroupFlags, cluster_autoscaler_answer
from kubectl_sched.queries.provisioning.karpenter_replay import karpenter_answer
from kubectl_sched.queries.provisioning.karpenter_setting import unschedulable
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.core import Event
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.provisioning.cluster_autoscaler_replay import ClusterAutoscalerAnswer
    from kubectl_sched.queries.provisioning.karpenter_replay import KarpenterAnswer
    from kubectl_sched.queries.provisioning.new_karpenter_node import Asking
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.dump.dump import Dump


class NewNodesFlags(CachingRecord, frozen=True, kw_only=True):
    """The flags that come with --new-nodes."""

    instance_types: tuple[bytes, str] | None = None
    """The content and the path of a file that names all instance types; None for those that nodes show."""

    groups: NodeGroupFlags = NodeGroupFlags()


class NewNodes(CachingRecord, frozen=True, kw_only=True):
    """Describes what each autoscaler of the cluster would do for a pod; one of the two is there."""

    karpenter: KarpenterAnswer | None
    cluster_autoscaler: ClusterAutoscalerAnswer | None
    starting: tuple[StartingNode, ...] = ()
    leaving: tuple[str, ...] = ()
    """The nodes that are about to be removed."""

    now: str | None = None
    """The time of the state (RFC 3339), if it is known."""

    in_full: bool
    """The answer was asked for by itself, and is not only a line of another one."""

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences about what cannot be seen."""
        found = (self.karpenter, self.cluster_autoscaler)
        return tuple(sentence for each in found if each is not None for sentence in each.assumed)


def new_nodes(pod: Pod, dump: Dump, asking: Asking, flags: NewNodesFlags, events: Sequence[Event]) -> NewNodes:
    """Answer in full. Raises SchedError if there is no autoscaler, the pod has a node, or a file is unusable."""
    if pod.spec.node_name:
        raise SchedError(f"pod {pod.key} is on node {pod.spec.node_name}: --new-nodes is about pods that have none")
    karpenter = karpenter_answer(pod, dump, asking, flags.instance_types)
    groups = cluster_autoscaler_answer(pod, dump, flags.groups, events)
    if karpenter is None and groups is None:
        raise SchedError(
            "there is no NodePool of Karpenter and no cluster-autoscaler: --new-nodes has nothing to replay "
            "(--node-group-label KEY names the label of node groups)"
        )
    return _together(karpenter, groups, dump, in_full=True)


def new_nodes_in_short(pod: Pod, dump: Dump, asking: Asking, events: Sequence[Event]) -> NewNodes | None:
    """Answer for one line of another answer; None if no autoscaler is seen."""
    karpenter = karpenter_answer(pod, dump, asking, in_full=False)
    groups = cluster_autoscaler_answer(pod, dump, NodeGroupFlags(), events, in_full=False)
    if karpenter is None and groups is None:
        return None
    return _together(karpenter, groups, dump, in_full=False)


def _together(
    karpenter: KarpenterAnswer | None, groups: ClusterAutoscalerAnswer | None, dump: Dump, *, in_full: bool
) -> NewNodes:
    return NewNodes(
        karpenter=karpenter,
        cluster_autoscaler=groups,
        starting=starting_nodes(dump.objects),
        leaving=leaving_nodes(dump.objects),
        now=dump.at,
        in_full=in_full,
    )


def new_nodes_beside(
    result: ScheduleResult,
    pod: Pod,
    dump: Dump,
    asking: Asking,
    flags: NewNodesFlags | None,
    events: Sequence[Event],
) -> tuple[NewNodes | None, tuple[str, ...]]:
    """Answer beside the pod's cycle: in full if there are flags, else in short, with a warning where that fails."""
    preemption = result.post_filter
    if preemption is not None and preemption.nominated_node:
        # kube-scheduler nominates the pod with the same request that tells autoscalers of it
        pod, stored = unschedulable(pod, preemption.nominated_node), pod
        dump = replace(dump, objects=tuple(pod if each is stored else each for each in dump.objects))
    if flags is not None:
        return new_nodes(pod, dump, asking, flags, events), ()
    try:
        return new_nodes_in_short(pod, dump, asking, events), ()
    except SchedError as error:
        return None, (f"new nodes are not known: {error}",)
