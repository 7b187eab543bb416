"""The cluster with the replicas that have a node, put together when somebody looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.replicas.replica_claims import ReplicaClaims
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.objects import Objects


class PlacedReplicas:
    """The cluster of the first pod's cycle, and the pods that were given nodes since."""

    def __init__(self, pod: Pod, nodes: Snapshot, objects: Objects, claims: ReplicaClaims | None) -> None:
        """`nodes` may have objects of nobody, for `pod`, one more of the pods; `objects` are those of the cluster."""
        self._nodes = nodes
        self._objects = objects
        self._claims = claims
        self._have_ports = bool(nodes.ports_of(pod))
        self._added: list[tuple[Pod, int]] = []
        self._nodes_after: Snapshot | None = None

    def add(self, pod: Pod, row: int) -> None:
        """Let the pod run on the row's node."""
        self._nodes_after = None
        if self._have_ports:
            self._nodes = self._nodes.assume(pod, row)
        else:
            self._added.append((pod, row))

    def replace(self, nodes: Snapshot) -> None:
        """Go on with a snapshot that has the pods already."""
        self._nodes, self._added, self._nodes_after = nodes, [], None

    @property
    def known_nodes(self) -> Snapshot:
        """The cluster, perhaps without the latest of the pods."""
        return self._nodes

    @property
    def nodes(self) -> Snapshot:
        """The cluster with all of the pods that have a node, and with what is nobody's."""
        if self._added:
            self._nodes = self._nodes.assume_equal(self._added)
            self._added = []
        return self._nodes

    @property
    def nodes_after(self) -> Snapshot:
        """The cluster with all that the pods have reserved, and with nothing of nobody's."""
        if self._nodes_after is None:
            nodes = self.nodes
            if nodes.objects is not self._objects:
                nodes = replace(nodes, objects=self._objects)
            self._nodes_after = nodes if self._claims is None else self._claims.reserved(nodes)
        return self._nodes_after
