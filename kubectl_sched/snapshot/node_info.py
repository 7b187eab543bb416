"""One row of a Snapshot as kube-scheduler's NodeInfo shows it (k8s.io/kube-scheduler/framework/types.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.snapshot.host_ports import HostPort, host_ports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot.snapshot import Snapshot


class NodeInfo(Record, frozen=True):
    """A view, never the storage."""

    nodes: Snapshot
    row: int

    @property
    def node(self) -> Node:
        """The Node object."""
        return self.nodes.table.objects[self.row]

    @property
    def name(self) -> str:
        """The node's name."""
        return self.node.metadata.name

    @property
    def labels(self) -> Labels:
        """The node's labels."""
        return self.node.metadata.labels

    @property
    def pods(self) -> Sequence[Pod]:
        """The pods on it."""
        pods = self.nodes.existing_pods
        return [pods.pods[index] for index in pods.on(self.row)]

    @property
    def used_ports(self) -> frozenset[HostPort]:
        """The host ports in use, as NodeInfo counts them."""
        freed = self.nodes.freed_ports.get(self.name, frozenset())
        return frozenset(port for pod in self.pods for port in host_ports(pod)) - freed

    def allocatable(self, resource: str) -> int:
        """Cpu in millicores, others in their own unit."""
        return int(self.nodes.allocatable(resource)[self.row])

    def requested(self, resource: str) -> int:
        """What the pods on it ask for, in the same units."""
        return int(self.nodes.requested(resource)[self.row])
