"""`explain --new-nodes`: whether the autoscaler would make a node for a pod, which, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.errors import SchedError
from kubectl_sched.queries.karpenter_replay import karpenter_answer
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.karpenter_replay import Asking, KarpenterAnswer
    from kubectl_sched.sources.dump.dump import Dump


class NewNodes(CachingRecord, frozen=True, kw_only=True):
    """Describes what each autoscaler of the cluster would do for a pod."""

    karpenter: KarpenterAnswer
    in_full: bool
    """The answer was asked for by itself, and is not only a line of another one."""

    @property
    def assumed(self) -> tuple[str, ...]:
        """Sentences about what cannot be seen."""
        return self.karpenter.assumed


def new_nodes(pod: Pod, dump: Dump, asking: Asking, instance_types: tuple[bytes, str] | None = None) -> NewNodes:
    """Answer in full. Raises SchedError if there is no autoscaler, the pod has a node, or the file is unusable."""
    if pod.spec.node_name:
        raise SchedError(f"pod {pod.key} is on node {pod.spec.node_name}: --new-nodes is about pods that have none")
    found = karpenter_answer(pod, dump, asking, instance_types)
    if found is None:
        raise SchedError("there is no NodePool of Karpenter: --new-nodes has nothing to replay")
    return NewNodes(karpenter=found, in_full=True)


def new_nodes_in_short(pod: Pod, dump: Dump, asking: Asking) -> NewNodes | None:
    """Answer for one line of another answer; None if no autoscaler is seen."""
    found = karpenter_answer(pod, dump, asking, in_full=False)
    return NewNodes(karpenter=found, in_full=False) if found is not None else None
