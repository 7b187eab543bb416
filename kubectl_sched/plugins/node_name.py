"""Keeps a pod to the node that its spec.nodeName names (plugins/nodename/node_name.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreFilterResult
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import SignPlugin
from kubectl_sched.framework.status import SUCCESS, unresolvable
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_OTHER_NODE = unresolvable("node(s) didn't match the requested node name")


class NodeName(PreFilterPlugin, FilterPlugin, SignPlugin):
    """The PreFilter part is enabled from 1.37 on."""

    name: ClassVar[str] = "NodeName"
    depends_on: ClassVar[DependsOn] = DependsOn.NODE

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments:
        """Return the node that the pod names."""
        return {"nodeName": pod.spec.node_name}

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Narrow the search to the one node."""
        return PreFilterResult(node_names=frozenset({pod.spec.node_name}) if pod.spec.node_name else None)

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject every other node."""
        if not pod.spec.node_name:
            return Column.filled(len(nodes), SUCCESS)
        codes = np.ones(len(nodes), dtype=np.int32)
        row = nodes.row_of.get(pod.spec.node_name)
        if row is not None:
            codes[row] = 0
        return Column(codes, (SUCCESS, _OTHER_NODE))

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Name the node that the pod asks for, and say if there is none of that name."""
        wanted = pod.spec.node_name
        if not wanted or wanted == nodes.names[row]:
            return ()
        hints: tuple[str, ...] = ()
        if wanted not in nodes.whole.row_of:
            from kubectl_sched.framework.confusable_texts import nearest

            near = nearest(wanted, nodes.whole.names)
            hints = (f"no node is named {wanted}" + (f"; there is {near}" if near else ""),)
        return (
            Evidence(
                text=f"is not {wanted}, which the pod's spec.nodeName asks for", facts={"nodeName": wanted}, hints=hints
            ),
        )

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """Name the node that the pod asks for, and say if there is none of that name."""
        wanted = pod.spec.node_name
        unknown = "" if wanted in nodes.whole.row_of else ", and no node is named so"
        return f"are not {wanted}, which its spec.nodeName asks for{unknown}"
