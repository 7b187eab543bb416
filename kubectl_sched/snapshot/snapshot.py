"""The cluster as one scheduling cycle sees it (pkg/scheduler/backend/cache/snapshot.go)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import field
from msgspec.structs import replace

from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.snapshot.host_ports import HostPort, host_ports
from kubectl_sched.snapshot.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.api.core import ContainerImage, Node, Taint
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows
    from kubectl_sched.snapshot.column import Column
    from kubectl_sched.snapshot.group_members import GroupMembers
    from kubectl_sched.snapshot.node_table import NodeTable
    from kubectl_sched.snapshot.objects import Objects
    from kubectl_sched.snapshot.pod_table import PodTable
    from kubectl_sched.snapshot.usage import PodResource


class NodeInfo(Record, frozen=True, kw_only=True):
    """One row of a Snapshot as kube-scheduler's NodeInfo shows it (k8s.io/kube-scheduler/framework/types.go)."""

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
        return frozenset(port for pod in self.pods for port in self.nodes.ports_of(pod)) - freed

    def allocatable(self, resource: str) -> int:
        """Cpu in millicores, others in their own unit."""
        return int(self.nodes.allocatable(resource)[self.row])

    def requested(self, resource: str) -> int:
        """The sum of what the pods on it request, in the same units."""
        return int(self.nodes.requested(resource)[self.row])


class Snapshot(CachingRecord, frozen=True, kw_only=True):
    """Immutable; `assume`, `remove` and `take` return new ones that share what did not change.

    A plugin calls it `nodes`. Rows are in the order in which the nodes were listed; every array and column over nodes
    has one entry a row. `existing_pods` are those on the nodes, `pending` those that no node has yet.
    """

    table: NodeTable
    usage: Usage
    existing_pods: PodTable
    pending: tuple[Pod, ...]
    objects: Objects
    resource_of: Callable[[Pod], PodResource]
    """Returns the resources that a pod on a node counts with; computed once per distinct pod."""

    sidecar_ports_count: bool = True
    """Report whether sidecars use their host ports for the scheduler, as containers do."""

    stranded: tuple[Pod, ...] = ()
    """Pods that are bound to nodes that are not there: no node counts them, but their groups do."""

    nominated: Mapping[str, tuple[Pod, ...]] = field(default_factory=dict)
    """The pods that earlier cycles nominated to a node, by its name, as the scheduler's queue knows them."""

    before_group: Snapshot | None = None
    """The cluster as the present cycle of a group found it, before it gave anything to a member."""

    freed_ports: Mapping[str, frozenset[HostPort]] = field(default_factory=dict)
    """By node name: host ports that NodeInfo takes for free, although a pod there has them.

    It keeps each port once, so a pod that goes frees its ports for good, also where another pod has the same.
    """

    cluster: Snapshot | None = None
    """The whole cluster, where these are only some of its nodes (`take`); None if this is the whole."""

    def __len__(self) -> int:
        return len(self.table)

    @property
    def whole(self) -> Snapshot:
        """The whole cluster, for what a plugin counts over all nodes."""
        return self.cluster or self

    @cached_property
    def group_members(self) -> GroupMembers:
        """The pods of the whole cluster that name a PodGroup."""
        from kubectl_sched.snapshot.group_members import GroupMembers

        return GroupMembers((*self.whole.existing_pods.pods, *self.stranded), self.pending)

    @property
    def names(self) -> tuple[str, ...]:
        """Each node's name."""
        return self.table.names

    @property
    def row_of(self) -> Mapping[str, int]:
        """The row of each node name."""
        return self.table.row_of

    @property
    def node_objects(self) -> tuple[Node, ...]:
        """The Node objects themselves."""
        return self.table.objects

    @property
    def labels(self) -> Column[Labels]:
        """Label sets; prefer `label` where one key matters."""
        return self.table.labels

    @property
    def taints(self) -> Column[tuple[Taint, ...]]:
        """Taint sets, in the order of the node's spec."""
        return self.table.taints

    @property
    def unschedulable(self) -> Mask:
        """Cordoned nodes."""
        return self.table.unschedulable

    @property
    def images(self) -> Column[tuple[ContainerImage, ...]]:
        """The images that each node's status lists."""
        return self.table.images

    @property
    def declared_features(self) -> Column[tuple[str, ...]]:
        """The features that each node declares."""
        return self.table.declared_features

    def label(self, key: str) -> Column[str | None]:
        """The value of one label on each node, None if the node lacks it."""
        return self.table.label(key)

    def allocatable(self, resource: str) -> Integers:
        """int64[n]: cpu in millicores, others in their own unit; 0 where a node lacks the resource."""
        return self._present(self.table.allocatable.get(resource))

    def requested(self, resource: str) -> Integers:
        """int64[n]: what the pods on each node ask for, in the same units."""
        return self._present(self.usage.requested(resource))

    def non_zero_requested(self, resource: str) -> Integers:
        """int64[n] for cpu and memory: the same, with defaults for containers that ask for nothing."""
        return self._present(self.usage.non_zero(resource))

    @property
    def pod_count(self) -> Integers:
        """int64[n]: how many pods each node has."""
        return self.usage.pod_count

    def ports_of(self, pod: Pod) -> tuple[HostPort, ...]:
        """The host ports of a pod that count."""
        return host_ports(pod, of_sidecars=self.sidecar_ports_count)

    @property
    def ports(self) -> Column[tuple[HostPort, ...]]:
        """The host ports of each existing pod."""
        name = "host_ports" if self.sidecar_ports_count else "host_ports_of_containers"
        return self.existing_pods.column(name, self.ports_of)

    def _present(self, amounts: Integers | None) -> Integers:
        return self._zeros if amounts is None else amounts

    @cached_property
    def _zeros(self) -> Integers:
        zeros = np.zeros(len(self), dtype=np.int64)
        zeros.flags.writeable = False
        return zeros

    def node(self, row: int) -> NodeInfo:
        """One node as kube-scheduler's NodeInfo shows it."""
        return NodeInfo(nodes=self, row=row)

    def __iter__(self) -> Iterator[NodeInfo]:
        return (NodeInfo(nodes=self, row=row) for row in range(len(self)))

    def assume(self, pod: Pod, row: int) -> Snapshot:
        """With the pod running on the row's node, too."""
        return replace(
            self,
            usage=self.usage.changed(self.resource_of(pod), row, 1),
            existing_pods=self.existing_pods.add(pod, row),
            freed_ports=self.freed_ports and self._with_freed(row, lambda freed, ports: freed - ports, pod),
        )

    def assume_equal(self, added: Sequence[tuple[Pod, int]]) -> Snapshot:
        """With these pods running on the rows' nodes, too, which ask for the same resources and have no host ports."""
        pods, rows = [pod for pod, _ in added], [row for _, row in added]
        times = np.bincount(rows, minlength=len(self))
        return replace(
            self,
            usage=self.usage.plus_everywhere(self.resource_of(pods[0]), times),
            existing_pods=self.existing_pods.add_all(pods, rows),
        )

    def with_usage_everywhere(self, pod: Pod, times: int) -> Snapshot:
        """Return the nodes as if the pod ran on each so many times: its requests and the number of pods alone."""
        return replace(self, usage=self.usage.plus_everywhere(self.resource_of(pod), times))

    def remove(self, *indices: int) -> Snapshot:
        """Return the snapshot without the existing pods of these indices (as `existing_pods` counts them)."""
        usage = self.usage
        for index in indices:
            pod, row = self.existing_pods.at(index), int(self.existing_pods.rows[index])
            usage = usage.changed(self.resource_of(pod), row, -1)
        return replace(self, usage=usage, existing_pods=self.existing_pods.without(np.array(indices, dtype=np.intp)))

    def evict(self, index: int) -> Snapshot:
        """Without the existing pod of this index, as NodeInfo.RemovePod leaves its node: see `freed_ports`."""
        pod, row = self.existing_pods.at(index), int(self.existing_pods.rows[index])
        freed = self._with_freed(row, lambda freed, ports: freed | ports, pod)
        return replace(self.remove(index), freed_ports=freed)

    def _with_freed(
        self,
        row: int,
        change: Callable[[frozenset[HostPort], frozenset[HostPort]], frozenset[HostPort]],
        pod: Pod,
    ) -> Mapping[str, frozenset[HostPort]]:
        ports = frozenset(self.ports_of(pod))
        if not ports:
            return self.freed_ports
        name = self.names[row]
        return {**self.freed_ports, name: change(self.freed_ports.get(name, frozenset()), ports)}

    def without(self, removed: Mask) -> Snapshot:
        """Without many existing pods at once: bool[m], as `existing_pods` counts them. `freed_ports` stays as it is."""
        usage = self.usage.less(self.usage_of(np.flatnonzero(removed)))
        return replace(self, usage=usage, existing_pods=self.existing_pods.without(removed))

    def usage_of(self, indices: Rows) -> Usage:
        """The sums of these existing pods alone, over all nodes."""
        resources = self.existing_pods.column("resource", self.resource_of).take(indices)
        rows = self.existing_pods.rows[indices]
        return Usage.of(resources, rows, len(self), saturates=self.usage.saturates)

    def with_pod(self, pod: Pod) -> Snapshot:
        """With this object in place of the existing pod of its name, which asks for the same on the same node."""
        return replace(self, existing_pods=self.existing_pods.replacing(pod))

    def remove_pod(self, namespace: str, name: str) -> Snapshot:
        """Without the existing pod of that name; the same snapshot where there is none."""
        index = self.existing_pods.find(namespace, name)
        return self if index is None else self.remove(index)

    def with_node(self, row: int, node: Node) -> Snapshot:
        """With another Node object in the place of one."""
        return replace(self, table=self.table.with_node(row, node))

    def add_node(self, node: Node) -> Snapshot:
        """With one more node, empty, as the last row."""
        return replace(self, table=self.table.add_node(node), usage=self.usage.with_empty_row())

    def take(self, rows: Rows) -> Snapshot:
        """Only these nodes, in this order, as rows 0, 1, ...; `whole` still gives the cluster they are part of."""
        return replace(
            self,
            table=self.table.take(rows),
            usage=self.usage.take(rows),
            existing_pods=self.existing_pods.take(rows, len(self)),
            cluster=self.whole,
        )
