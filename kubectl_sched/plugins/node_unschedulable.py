"""Keeps pods off cordoned nodes (plugins/nodeunschedulable/node_unschedulable.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.api.component_helpers.taints import UNSCHEDULABLE_TAINT, Tolerations
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreFilterResult
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import TolerationsSigner
from kubectl_sched.framework.status import SKIP, SUCCESS, unresolvable
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_CORDONED = unresolvable("node(s) were unschedulable")

"""The taint that a pod must tolerate to run on a cordoned node, which need not have the taint."""


class NodeUnschedulable(PreFilterPlugin, FilterPlugin, TolerationsSigner):
    """The PreFilter part is enabled from 1.37 on."""

    name: ClassVar[str] = "NodeUnschedulable"
    depends_on: ClassVar[DependsOn] = DependsOn.NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self._features = handle.features
        self._grows_in_place = handle.grows_in_place

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skip pods that only wait for room to grow where they are."""
        return PreFilterResult(status=SKIP if self._grows_in_place(pod) else SUCCESS)

    def _tolerates(self, pod: Pod) -> bool:
        return Tolerations.of(pod, self._features).tolerate(UNSCHEDULABLE_TAINT)

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject cordoned nodes unless the pod tolerates that."""
        state.budget.spend(len(pod.spec.tolerations))
        if self._grows_in_place(pod) or self._tolerates(pod):
            return Column.filled(len(nodes), SUCCESS)
        return Column(nodes.unschedulable.astype(np.int32), (SUCCESS, _CORDONED))

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Since when the node is cordoned, where its taint says so."""
        if not nodes.unschedulable[row] or self._grows_in_place(pod) or self._tolerates(pod):
            return ()
        key = UNSCHEDULABLE_TAINT.key
        since = next((taint.time_added for taint in nodes.taints[row] if taint.key == key), None)

        from kubectl_sched.framework.near_tolerations import toleration_hints

        hints = toleration_hints(UNSCHEDULABLE_TAINT, Tolerations.of(pod, self._features))

        from kubectl_sched.shell_commands import uncordon_node

        command = uncordon_node(nodes.names[row])
        undone = f" ({command} undoes it)" if command is not None else ""
        text = f"is cordoned{f' since {since}' if since else ''}{undone}"
        return (Evidence(text=text, facts={"unschedulable": True, "since": since}, hints=hints),)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """Name the cordoned nodes."""
        names = f" ({first_few(sorted(nodes.names[row] for row in rows))})" if len(rows) > 1 else ""
        return f"are cordoned{names}"
