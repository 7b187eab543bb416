"""Keeps a pod off nodes where a host port that it wants is taken (plugins/nodeports/node_ports.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.cycle_state import StateKey
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.framework.interface import FilterPlugin, PreFilterPlugin, PreFilterResult
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.signing.pod_signature import SignPlugin, host_ports_signature
from kubectl_sched.framework.status import SKIP, SUCCESS, unschedulable
from kubectl_sched.snapshot import Column
from kubectl_sched.snapshot.host_ports import ALL_ADDRESSES, HostPort, WantedPorts

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_TAKEN = unschedulable("node(s) didn't have free ports for the requested pod ports")

PRE_FILTER_STATE: StateKey[tuple[HostPort, ...]] = StateKey(
    name="PreFilterNodePorts", absent='reading "{}" from cycleState: not found'
)


class NodePorts(PreFilterPlugin, FilterPlugin, SignPlugin):
    """Two pods of one node cannot listen on the same port, address and protocol."""

    name: ClassVar[str] = "NodePorts"
    depends_on: ClassVar[DependsOn] = DependsOn.PODS_OF_NODE

    def __init__(self, args: None, handle: Handle) -> None:
        self._grows_in_place = handle.grows_in_place

    def sign_pod(self, pod: Pod, nodes: Snapshot) -> Fragments:
        """Return the host ports."""
        return host_ports_signature(pod)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> PreFilterResult:
        """Skip pods that want no host port."""
        state.budget.spend(sum(1 + len(container.ports) for container in pod.spec.containers))
        wanted = nodes.ports_of(pod)
        if not wanted or self._grows_in_place(pod):
            return PreFilterResult(status=SKIP)
        state.write(PRE_FILTER_STATE, wanted)
        return PreFilterResult()

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Reject nodes with a pod that has one of the ports."""
        if self._grows_in_place(pod):
            return Column.filled(len(nodes), SUCCESS)
        listed = state.read(PRE_FILTER_STATE)
        state.budget.spend(len(listed))
        wanted = WantedPorts(listed)
        taken = nodes.ports.where(wanted.conflicts_with)
        codes = np.zeros(len(nodes), dtype=np.int32)
        codes[nodes.existing_pods.rows[taken]] = 1
        for name in nodes.freed_ports.keys() & nodes.row_of.keys():
            row = nodes.row_of[name]
            codes[row] = wanted.conflicts_with(nodes.node(row).used_ports)
        return Column(codes, (SUCCESS, _TAKEN))

    def explain_filter(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
        """Each port that is taken, and by which pod."""
        if self._grows_in_place(pod):
            return ()
        users = [
            (want, port, other)
            for want in nodes.ports_of(pod)
            for other in nodes.node(row).pods
            for port in nodes.ports_of(other)
            if want.conflicts_with(port)
        ]
        return tuple(_evidence(*user) for user in users)

    def summarize(self, state: CycleState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
        """Name the ports that are taken, and the pods that have them on one of the nodes."""
        wanted = nodes.ports_of(pod)
        first = min(rows.tolist(), key=nodes.names.__getitem__)
        users = [
            (want, other)
            for other in nodes.node(first).pods
            for port in nodes.ports_of(other)
            for want in wanted
            if want.conflicts_with(port)
        ]
        if not users:
            return f"have host port {first_few([str(port) for port in wanted])} taken"
        want, user = users[0]
        return f"have no free host port {want}: {user.key} has it on {nodes.names[first]}"


def _evidence(want: HostPort, port: HostPort, user: Pod) -> Evidence:
    on_other_address = "" if want.ip == port.ip else f" (as {port})"
    owner = user.metadata.controller
    return Evidence(
        text=f"host port {want} is taken by {user.key}{on_other_address}",
        facts={
            "port": want.port,
            "protocol": want.protocol,
            "hostIP": want.ip,
            "usedBy": user.key,
            "usedHostIP": port.ip,
            "usedByOwner": owner.kind if owner else None,
            "terminatingSince": user.metadata.deletion_timestamp,
        },
        hints=_hints(want, port, user),
        distance=0.5,
    )


def _hints(want: HostPort, port: HostPort, user: Pod) -> tuple[str, ...]:
    hints: list[str] = []
    if want.ip != port.ip:
        listener = "the pod" if want.ip == ALL_ADDRESSES else user.key
        hints.append(f"{listener} wants the port on all addresses, which leaves none for a single one")
    if user.metadata.deletion_timestamp is not None:
        hints.append(
            f"{user.key} is terminating since {user.metadata.deletion_timestamp}; the port is free once it is gone"
        )
    return tuple(hints)
