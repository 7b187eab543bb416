"""A group of pods as plugins see it in its cycle (PodGroupInfo, Placement, PodGroupAssignments in kube-scheduler)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypeVar

from msgspec.structs import replace

from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.features import Features
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.status import NodeToStatus, Status
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows
    from kubectl_sched.snapshot.objects import Objects


Group: TypeAlias = PodGroup | CompositePodGroup
G = TypeVar("G", PodGroup, CompositePodGroup)


def root_of(group: Group, objects: Objects, features: Features, budget: CycleBudget | None = None) -> Group | None:
    """Return the topmost group of the tree that the group is in; None if a group above it is missing or is below it.

    Raises BudgetEnded where there are more groups above than the budget allows.
    """
    if not features.enabled("CompositePodGroup"):
        return group
    seen: set[str] = set()
    found: Group | None = group
    while found is not None and (above := found.spec.parent_composite_pod_group_name) is not None:
        if above in seen:
            return None
        seen.add(above)
        if budget is not None:
            budget.spend(1)
        found = objects.get(CompositePodGroup, above, group.namespace)
    return found


def children_of(name: str, namespace: str, objects: Objects) -> list[Group]:
    """Return the groups directly below a CompositePodGroup in the order of their cycle: by creation, then by name."""
    key = namespace, name
    found: list[Group] = [
        *objects.derived(PodGroup, _by_parent).get(key, ()),
        *objects.derived(CompositePodGroup, _by_parent).get(key, ()),
    ]
    return sorted(found, key=lambda each: (each.metadata.creation_timestamp or "", each.name))


def _by_parent(groups: Sequence[G]) -> Mapping[tuple[str, str], Sequence[G]]:
    """Return the groups by their namespace and the name of the group above them."""
    found: dict[tuple[str, str], list[G]] = {}
    for each in groups:
        parent = each.spec.parent_composite_pod_group_name
        if parent is not None:
            found.setdefault((each.namespace, parent), []).append(each)
    return found


class PodGroupInfo(Record, frozen=True, kw_only=True):
    """The group, its members that the cycle is about, and those that had a node before.

    A CompositePodGroup has those of the groups below it, `children`.
    """

    group: Group
    pods: tuple[Pod, ...]
    scheduled: tuple[Pod, ...]
    children: tuple[PodGroupInfo, ...] = ()
    deleted: tuple[Pod, ...] = ()
    """Members that wait but are being deleted, once `without_deleted` took them out."""

    @property
    def is_tree(self) -> bool:
        """Report whether this is a CompositePodGroup."""
        return isinstance(self.group, CompositePodGroup)

    @property
    def kind(self) -> str:
        """Return the kind of the group's object."""
        return type(self.group).__name__

    @property
    def priority(self) -> int:
        """Return the priority of the group, 0 where none is set."""
        return self.group.spec.priority or 0

    @property
    def min_count(self) -> int | None:
        """Return how many members, of a tree how many groups, must fit at once; None for the basic policy."""
        gang = self.group.spec.scheduling_policy.gang
        if gang is None:
            return None
        return gang.min_group_count if self.is_tree else gang.min_count

    @property
    def topology_key(self) -> str | None:
        """The label whose value all members' nodes have to share; kube-scheduler reads the first constraint alone."""
        constraints = self.group.spec.scheduling_constraints
        return constraints.topology[0].key if constraints is not None and constraints.topology else None

    def without_deleted(self) -> PodGroupInfo:
        """Set aside the members that are being deleted (skipPodGroupPodSchedule)."""
        if self.is_tree:
            return tree_info(self.group, [child.without_deleted() for child in self.children])
        deleted = tuple(pod for pod in self.pods if pod.metadata.deletion_timestamp is not None)
        return replace(self, pods=tuple(pod for pod in self.pods if pod not in deleted), deleted=deleted)


def tree_info(group: Group, children: Sequence[PodGroupInfo]) -> PodGroupInfo:
    """Return the group with the members of its children."""
    return PodGroupInfo(
        group=group,
        pods=tuple(pod for child in children for pod in child.pods),
        scheduled=tuple(pod for child in children for pod in child.scheduled),
        children=tuple(children),
        deleted=tuple(pod for child in children for pod in child.deleted),
    )


class Placement(Record, frozen=True, kw_only=True):
    """Nodes that are tried together; the name is the topology domain, empty without a constraint."""

    name: str
    rows: Rows


class PlacementProgress(NamedTuple):
    """The progress of a group on one placement, in members or in groups below it."""

    scheduled: int
    remaining: int
    unschedulable: int = 0

    def after(self, *, success: bool) -> PlacementProgress:
        """Return the progress once the next one has been tried."""
        return PlacementProgress(self.scheduled + success, self.remaining - 1, self.unschedulable + (not success))


class NodeRanking(Protocol):
    """An order of nodes that comes before their scores (RankNodes)."""

    def first(self, nodes: Snapshot, rows: Rows) -> Rows:
        """Return those of the rows that rank first in this state of the cluster."""


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
    """One member as the algorithm placed it: its node, and the state in which it found it."""

    pod: Pod
    node_name: str
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
    trial: Callable[[Snapshot, NodeRanking | None], GroupTrial]


class PodGroupPostFilterResult(Record, frozen=True, kw_only=True):
    """The outcome of preemption for the group: a status, and if it helps the victims and each member's node."""

    status: Status
    victims: tuple[Pod, ...] = ()
    nominations: tuple[ProposedAssignment, ...] = ()
