"""A group of pods as plugins see it in its cycle (PodGroupInfo, Placement, PodGroupAssignments in kube-scheduler)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.scheduling import PodGroup
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.status import NodeToStatus, Status
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.arrays import Integers, Rows


class PodGroupInfo(Record, frozen=True, kw_only=True):
    """The group, its members that the cycle is about, and those that had a node before."""

    group: PodGroup
    pods: tuple[Pod, ...]
    scheduled: tuple[Pod, ...]

    @property
    def min_count(self) -> int | None:
        """Return how many members need a node at once, None for the basic policy."""
        gang = self.group.spec.scheduling_policy.gang
        return gang.min_count if gang is not None else None

    @property
    def topology_key(self) -> str | None:
        """The label whose value all members' nodes have to share; kube-scheduler reads the first constraint alone."""
        constraints = self.group.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else None


class Placement(Record, frozen=True, kw_only=True):
    """Nodes that are tried together; the name is the topology domain, empty without a constraint."""

    name: str
    rows: Rows


class ProposedAssignment(Record, frozen=True, kw_only=True):
    """A pod of the group and the node that its attempt found."""

    pod: Pod
    node_name: str


class PlacementScores(Record, frozen=True, kw_only=True):
    """int64 per placement, normalized where the plugin does so, and times the plugin's weight."""

    plugin: str
    weight: int
    normalized: Integers

    @property
    def weighted(self) -> Integers:
        """Return what counts towards the total."""
        return self.normalized * self.weight


class GroupAttempt(Record, frozen=True, kw_only=True):
    """One member as the algorithm placed it: its node, and the cluster and the state in which it found it."""

    pod: Pod
    node_name: str
    nodes: Snapshot
    state: CycleState


class GroupTrial(Record, frozen=True, kw_only=True):
    """The outcome of the group's algorithm on a changed cluster: a status, and the members that found a node."""

    status: Status
    attempts: tuple[GroupAttempt, ...] = ()


class TriedMember(Record, frozen=True, kw_only=True):
    """One member's attempt: the state and the cluster of it, and the verdict on each node if Filter ran."""

    pod: Pod
    nodes: Snapshot
    state: CycleState
    verdict: NodeToStatus | None


class GroupCycle(Record, frozen=True, kw_only=True):
    """The cycle that failed: its members' attempts, and its algorithm, to be run on a changed cluster."""

    tried: tuple[TriedMember, ...]
    trial: Callable[[Snapshot], GroupTrial]


class PodGroupPostFilterResult(Record, frozen=True, kw_only=True):
    """The outcome of preemption for the group: a status, and if it helps the victims and each member's node."""

    status: Status
    victims: tuple[Pod, ...] = ()
    nominations: tuple[ProposedAssignment, ...] = ()
