"""The order in which nodes are chosen for one more of many equal pods, as all rankings have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.replicas import ReplicaHelp
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.simulation.replicas.claim_kinds import ClaimKind
    from kubectl_sched.simulation.replicas.own_node import OwnNode
    from kubectl_sched.simulation.replicas.placed_replicas import PlacedReplicas
    from kubectl_sched.simulation.replicas.replica_scores import ReplicaScores
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask


class NameOrder:
    """The places of nodes in the order of their names."""

    def __init__(self, nodes: Snapshot) -> None:
        order, names = nodes.table.in_name_order, nodes.names
        self.by_name = order
        """The rows in the order of names; None if the nodes stand in that order already."""

        self.rows: Sequence[int] = range(len(names)) if order is None else order.tolist()
        self.names = names if order is None else [names[row] for row in self.rows]
        self.place_of: Sequence[int] = self.rows if order is None else sorted(self.rows, key=self.rows.__getitem__)


class CountingFilter(Protocol):
    """A Filter plugin with PreFilterExtensions, which count pods on all nodes."""

    @property
    def replica_help(self) -> ReplicaHelp:
        """Help with equal pods."""

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, row: int, nodes: Snapshot) -> None:
        """Count one more pod on the row's node."""

    def filter(self, state: CycleState, pod: Pod, nodes: Snapshot) -> NodeToStatus:
        """Return the verdict on each node."""


class RankingInputs(NamedTuple):
    """The verdicts and scores of all nodes for one more of the pods, which each ranking keeps up to date."""

    pod: Pod
    """One more of the pods, with names that nobody has."""

    first: Pod
    """The first of the pods, as others count it."""

    state: CycleState
    cluster: PlacedReplicas
    filters: Sequence[CountingFilter]
    """The plugins that count the pods."""

    passes: Mask
    """bool[n]: the nodes that pass all filters but these, and but those that look at claims if the pods have any."""

    scores: ReplicaScores
    order: NameOrder


class Ranking(Protocol):
    """The nodes that one more of the pods fits on, ranked by their totals; their number is its length."""

    def __len__(self) -> int: ...

    def best(self) -> tuple[Sequence[int], int]:
        """Return the places of the nodes tied at the highest total, in name order, and that total."""

    def place(self, pod: Pod, row: int, after: OwnNode) -> bool:
        """Count one more of the pods, this one, on the row's node, which is now as in `after`.

        Returns False if the ranking is spent: the next pod needs a whole cycle.
        """

    def turn_to(self, kind: ClaimKind | None) -> bool:
        """Rank for a pod with claims of this kind from now on; False if the pod needs a whole cycle."""
