"""Looks for room for running pods to grow in place (plugins/deferredpodscheduling/deferred_pod_scheduling.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import (
    BindingAction,
    BindingCyclePlugin,
    FilterPlugin,
    PreFilterPlugin,
    PreFilterResult,
)
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.status import SKIP, SUCCESS, unresolvable
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_ELSEWHERE = unresolvable("pod assigned to different node")
_DISABLED = unresolvable("node had resize preemption disabled")
_VERDICTS = (SUCCESS, _DISABLED, _ELSEWHERE)


class DeferredPodScheduling(PreFilterPlugin, FilterPlugin, BindingCyclePlugin):
    """Keeps a pod whose resize the kubelet put off to its own node, and never binds it."""

    name: ClassVar[str] = "DeferredPodScheduling"
    depends_on: ClassVar[DependsOn] = DependsOn.NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self._grows_in_place = handle.grows_in_place

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skip pods that wait for no resize."""
        return PreFilterResult(status=SUCCESS if self._grows_in_place(pod) else SKIP)

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes other than the pod's own, and nodes that let no pod be ended for a resize."""
        if not self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        codes = np.array([bool(_owners(node)) for node in nodes.node_objects], dtype=np.int32)
        if pod.spec.node_name:
            codes[[name != pod.spec.node_name for name in nodes.names]] = 2
        return Column(codes, _VERDICTS)

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Name the pod's node, or who forbids preemption for it."""
        if not self._grows_in_place(pod):
            return ()
        own = pod.spec.node_name
        if own and own != nodes.names[row]:
            return (
                Evidence(
                    text=f"is not node {own}, on which the pod runs and is to grow", facts={"node": own}, hints=()
                ),
            )
        owners = _owners(nodes.node_objects[row])
        if not owners:
            return ()
        text = f"lets no pod be ended so that another can grow: spec.podPreemptionPolicy names {first_few(owners)}"
        return (Evidence(text=text, facts={"disableResizePreemption": list(owners)}, hints=()),)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """Name the pod's node, or the rule that the nodes have in common."""
        if pod.spec.node_name:
            return f"are not node {pod.spec.node_name}, on which the pod runs and is to grow"
        return "let no pod be ended so that another can grow"

    def binding_actions(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[BindingAction, ...]:
        """Permit rejects the pod: it has its node, and the kubelet is to act."""
        if not self._grows_in_place(pod):
            return ()
        return (
            BindingAction(
                extension_point="permit",
                plugin=self.name,
                action="reject: pod resize fits, waiting for Kubelet actuation",
            ),
        )


def _owners(node: Node) -> tuple[str, ...]:
    policy = node.spec.pod_preemption_policy
    return policy.disable_resize_preemption if policy is not None else ()
