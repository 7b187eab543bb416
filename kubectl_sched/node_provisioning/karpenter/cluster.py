"""The objects of a cluster as Karpenter looks at them (pkg/controllers/state/cluster.go)."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.api.core import Node
from kubectl_sched.api.karpenter import NodeClaim
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import Storage
from kubectl_sched.node_provisioning.karpenter.state_node import StateNode, state_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    from kubectl_sched.api.meta import KubernetesObject

    T = TypeVar("T", bound=KubernetesObject)


class Cluster:
    """The objects that Karpenter looks at."""

    def __init__(self, objects: Iterable[KubernetesObject], at: str | None = None) -> None:
        self.at = at
        """The time of the state (RFC 3339), if it is known."""

        self._by_type: dict[type[KubernetesObject], list[KubernetesObject]] = defaultdict(list)
        for each in objects:
            self._by_type[type(each)].append(each)

    def of(self, kind: type[T]) -> list[T]:
        """The objects of a kind."""
        return self._by_type[kind]  # type: ignore[return-value]

    def replaced(self, kind: type[T], old: T, new: T) -> Cluster:
        """Return the cluster with another object in the place of one."""
        others = (each for found, items in self._by_type.items() if found is not kind for each in items)
        return Cluster((*others, *(new if each is old else each for each in self.of(kind))), self.at)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name."""
        return {node.name: node for node in self.of(Node)}

    @cached_property
    def pods_by_node(self) -> dict[str, list[Pod]]:
        """The pods on each node that have not ended."""
        found: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.of(Pod):
            if pod.spec.node_name and not pod.has_ended:
                found[pod.spec.node_name].append(pod)
        return found

    @cached_property
    def pods_by_namespace(self) -> dict[str, list[Pod]]:
        """The pods of each namespace."""
        found: dict[str, list[Pod]] = defaultdict(list)
        for pod in self.of(Pod):
            found[pod.namespace].append(pod)
        return found

    @cached_property
    def storage(self) -> Storage:
        """Claims, volumes and classes."""
        return Storage(
            {each.key: each for each in self.of(PersistentVolumeClaim)},
            {each.name: each for each in self.of(PersistentVolume)},
            {each.name: each for each in self.of(StorageClass)},
        )

    @cached_property
    def state_nodes(self) -> list[StateNode]:
        """Nodes and NodeClaims, joined."""
        return state_nodes(self.of(Node), self.of(NodeClaim))
