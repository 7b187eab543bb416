"""Units of preemption: a pod, or since 1.37 with GenericWorkload the pods of a group that is disrupted as a whole.

Answers to getCrossNodesVictims and GetPodPriority of pkg/scheduler/framework/preemption (types.go, util.go).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.podgroup_info import Group, children_of
from kubectl_sched.framework.preemption_choice import UNSTARTED, order_of_importance, rank, start_time
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows


_DEEPEST = 4
"""WorkloadMaxTreeDepth: how many levels a tree of groups may have."""
_POD, _OF_GROUP, _OF_TREE = 1, 2, 3


class Victim(Record, frozen=True, kw_only=True):
    """Pods that go together, by their indices in the pod table; of equal priority, a higher rank is spared first."""

    indices: tuple[int, ...]
    priority: int
    rank: int = _POD
    lost_node: str | None = None
    """The node of a pod of it that the cluster no longer has."""


class VictimOrder(Record, frozen=True, kw_only=True):
    """A minor's order of equally important victims."""

    unstarted_keep_their_order: bool
    by_uid: bool
    """The smaller UID comes first, whether the pods have started or not."""


class PotentialVictims(NamedTuple):
    """Of one node, the most important first: the indices of the pods of each, and its rank in importance."""

    units: list[tuple[int, ...]]
    ranks: list[int]


class SingleVictims:
    """Every pod for itself, by its own priority."""

    def __init__(self, nodes: Snapshot, order: VictimOrder) -> None:
        self._nodes = nodes
        self._tied = order

    def priority(self, pod: Pod) -> int:
        """The priority that the preemptor's must exceed."""
        return pod.priority

    def may_have_below(self, priority: int, node_count: int) -> Mask:
        """bool[node_count]: the nodes for which `below` is worth asking; for the others it gives none."""
        rows = self._nodes.existing_pods.rows[self._priorities < priority]
        return np.bincount(rows, minlength=node_count) > 0

    def below(self, priority: int, rows: Rows) -> Callable[[int], PotentialVictims]:
        """The victims of lower priority that each of these nodes has.

        Those of equal importance stand as Go's sort leaves the order listed. They are sorted once for all nodes whose
        victims are alike.
        """
        existing, asked = self._nodes.existing_pods, np.zeros(len(self._nodes), dtype=np.bool_)
        asked[rows] = True
        lower = np.flatnonzero((self._priorities < priority) & asked[existing.rows])
        lower = lower[np.argsort(existing.rows[lower], kind="stable")]
        ranks = self._ranks[lower]
        starts = np.searchsorted(existing.rows[lower], np.arange(len(self._nodes) + 1)).tolist()
        orders: dict[bytes, Rows] = {}

        def on(row: int) -> PotentialVictims:
            here = slice(starts[row], starts[row + 1])
            alike = ranks[here].tobytes()
            if alike not in orders:
                orders[alike] = np.array(self._order(ranks[here].tolist()), dtype=np.intp)
            order = orders[alike]
            return PotentialVictims(list(zip(lower[here][order].tolist(), strict=True)), ranks[here][order].tolist())

        return on

    def in_order(self, units: Sequence[tuple[int, ...]], ranks: Sequence[int]) -> PotentialVictims:
        """The most important first."""
        order = self._order(ranks)
        return PotentialVictims([units[each] for each in order], [ranks[each] for each in order])

    def _order(self, ranks: Sequence[int]) -> Sequence[int]:
        return order_of_importance(ranks, unstarted_keep_their_order=self._tied.unstarted_keep_their_order)

    @cached_property
    def _priorities(self) -> Integers:
        return self._nodes.existing_pods.column("priority", lambda pod: pod.priority).numbers(lambda priority: priority)

    @cached_property
    def _ranks(self) -> Integers:
        """int64[m]: the importance of each pod."""
        started = self._nodes.existing_pods.column("start_time", start_time)
        place_of = {time: place for place, time in enumerate(sorted(started.values))}
        _, priorities = np.unique(-self._priorities, return_inverse=True)
        of_time = started.numbers(lambda time: rank(place_of[time], is_unstarted=time == UNSTARTED))
        ranks: Integers = priorities * rank(len(place_of), is_unstarted=False) + of_time
        return self._told_apart(ranks) if self._tied.by_uid else ranks

    def _told_apart(self, ranks: Integers) -> Integers:
        """int64[m]: the importance of each pod, of equal ones the one with the smaller UID first."""
        keys = list(zip(ranks.tolist(), (pod.metadata.uid for pod in self._nodes.existing_pods.pods), strict=True))
        places = np.empty(len(keys), dtype=np.int64)
        places[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
        return 2 * places


class GroupVictims(SingleVictims):
    """Pods of a group whose disruption mode is `all` go together; up to 1.37 they have the group's priority."""

    def __init__(
        self, nodes: Snapshot, order: VictimOrder, *, trees: bool, by_pod: bool = False, may_be_lost: bool = False
    ) -> None:
        """`may_be_lost`: a victim with a pod on a node that is gone is no error as long as it stays."""
        super().__init__(nodes, order)
        self._trees = trees
        self._by_pod = by_pod
        self._may_be_lost = may_be_lost

    def priority(self, pod: Pod) -> int:
        """That of the topmost group, the pod's own where it is in none that exists or from 1.38 on."""
        groups = list(self._above(pod))
        if not groups or self._by_pod:
            return pod.priority
        return groups[-1].spec.priority if groups[-1].spec.priority is not None else 0

    def may_have_below(self, priority: int, node_count: int) -> Mask:
        """All of them, as a group may have another priority than its pods."""
        return np.ones(node_count, dtype=np.bool_)

    def below(self, priority: int, rows: Rows) -> Callable[[int], PotentialVictims]:
        """Return potential victims below this priority, with the pods elsewhere that go together with them."""

        def on(row: int) -> PotentialVictims:
            found = [victim for victim in self._on(row) if victim.priority < priority]
            return self.in_order([victim.indices for victim in found], self.ranks_of(found))

        return on

    def everywhere(self) -> list[Victim]:
        """All victims of the cluster, each once, in the order of the nodes."""
        found = {victim.indices: victim for row in range(len(self._nodes)) for victim in self._on(row)}
        return list(found.values())

    def _on(self, row: int) -> list[Victim]:
        pods = self._nodes.existing_pods.pods
        found: dict[tuple[str, str, str] | int, Victim] = {}
        for index in self._nodes.existing_pods.on(row).tolist():
            pod = pods[index]
            whole = [group for group in self._above(pod) if _goes_as_a_whole(group)]
            if not whole:
                rank = _POD if pod.group_name is None or self._by_pod else _OF_GROUP
                found[index] = Victim(indices=(index,), priority=self.priority(pod), rank=rank)
                continue
            group = whole[-1]
            key = (type(group).__name__, group.namespace, group.name)
            if key not in found:
                rank = _OF_GROUP if isinstance(group, PodGroup) else _OF_TREE
                lost, members = self._lost_node(group), self._members(group)
                found[key] = Victim(indices=members, priority=self.priority(pod), rank=rank, lost_node=lost)
        return list(found.values())

    def ranks_of(self, victims: Sequence[Victim]) -> list[int]:
        """The importance of each, of all pods of the cluster."""
        pods = self._nodes.existing_pods.pods
        keys = []
        for victim in victims:
            started = min(start_time(pods[index]) for index in victim.indices)
            uid = pods[victim.indices[0]].metadata.uid if self._tied.by_uid else ""
            keys.append((-victim.priority, -victim.rank, -len(victim.indices), started, uid))
        place_of = {key: place for place, key in enumerate(sorted(set(keys)))}
        is_chance = not self._tied.by_uid
        return [rank(place_of[key], is_unstarted=is_chance and key[3] == UNSTARTED) for key in keys]

    def in_order_of_importance(self, victims: Sequence[Victim]) -> list[Victim]:
        """The most important first."""
        return [victims[position] for position in self._order(self.ranks_of(victims))]

    def _above(self, pod: Pod) -> Iterator[Group]:
        """The pod's group and those that this one is part of, upwards."""
        name = pod.group_name
        namespace = pod.metadata.namespace
        group: Group | None = None if name is None else self._nodes.objects.get(PodGroup, name, namespace)
        seen: list[Group] = []
        while group is not None and group not in seen and len(seen) < _DEEPEST:
            yield group
            seen.append(group)
            parent = group.spec.parent_composite_pod_group_name
            if not self._trees or parent is None:
                return
            group = self._nodes.objects.get(CompositePodGroup, parent, namespace)

    def _members(self, group: Group) -> tuple[int, ...]:
        names = self._names(group)
        return tuple(index for index, key in self._placed if key in names)

    def _lost_node(self, group: Group) -> str | None:
        """The node of a member that the cluster no longer has; raise PluginError where that is an error at once."""
        names = self._names(group)
        lost = (pod.spec.node_name for pod in self._nodes.stranded if (pod.namespace, pod.group_name) in names)
        node = next(lost, None)
        if node is not None and not self._may_be_lost:
            raise PluginError(
                f'failed to get node info for node "{node}" from snapshot: nodeinfo not found for node name "{node}"'
            )
        return node

    def _names(self, group: Group) -> set[tuple[str, str]]:
        """Namespace and name of each PodGroup below a group, or of the group itself."""
        return {(group.namespace, name) for name in self._leaves(group, _DEEPEST)}

    @cached_property
    def _placed(self) -> Sequence[tuple[int, tuple[str, str]]]:
        """The pods that have both a node and a group."""
        return [
            (index, (pod.metadata.namespace, name))
            for index, pod in enumerate(self._nodes.existing_pods.pods)
            if (name := pod.group_name) is not None
        ]

    def _leaves(self, group: Group, depth: int) -> Iterator[str]:
        """The names of all PodGroups below a group, or of the group itself."""
        if isinstance(group, PodGroup):
            yield group.name
            return
        if depth == 0:
            return
        for child in children_of(group.name, group.namespace, self._nodes.objects):
            yield from self._leaves(child, depth - 1)


class GroupVictimsOfPodGroups(GroupVictims):
    """1.36: a pod keeps its own priority, unless the disruption mode of its group is the word `PodGroup`."""

    def __init__(self, nodes: Snapshot, order: VictimOrder) -> None:
        super().__init__(nodes, order, trees=False)

    def priority(self, pod: Pod) -> int:
        """That of the group where it goes as a whole, else the pod's own."""
        groups = [group for group in self._above(pod) if _goes_as_a_whole(group)]
        return (groups[0].spec.priority or 0) if groups else pod.priority

    def _lost_node(self, group: Group) -> str | None:
        return None


def _goes_as_a_whole(group: Group) -> bool:
    mode = group.spec.disruption_mode
    return mode == "PodGroup" if isinstance(mode, str) else mode is not None and mode.all is not None
