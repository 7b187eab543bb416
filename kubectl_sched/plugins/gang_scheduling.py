"""Lets the pods of a gang wait until all are there (plugins/gangscheduling/gangscheduling.go).

What one pod of a group meets, and what the cycle of the whole group asks: Permit up to 1.36, PlacementFeasible since.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kubectl_sched.api.scheduling import (
    CompositePodGroup,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingPolicy,
    Workload,
)
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.framework.interface import (
    BindingAction,
    BindingCyclePlugin,
    PermitPlugin,
    PlacementFeasiblePlugin,
    PreEnqueuePlugin,
)
from kubectl_sched.framework.podgroup_info import children_of
from kubectl_sched.framework.status import SUCCESS, Code, Status, unresolvable, unschedulable
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.podgroup_info import PlacementProgress, PodGroupInfo
    from kubectl_sched.snapshot import Snapshot

_TOO_FEW = unresolvable("waiting for minCount pods from a gang to appear in scheduling queue")
_WAIT = Status(Code.WAIT, ("waiting for minCount pods from a gang to be scheduled",))
_DEEPEST = 4
"""WorkloadMaxTreeDepth: how many levels a tree of groups may have."""


class GangScheduling(PreEnqueuePlugin, BindingCyclePlugin, PermitPlugin, PlacementFeasiblePlugin):
    """Waits in the queue until enough pods of the gang exist, and in Permit until enough have found a node."""

    name: ClassVar[str] = "GangScheduling"

    def __init__(self, args: None, handle: Handle) -> None:
        self._served = handle.scheduler_names
        self._by_workload = handle.release.gangs_are_of_workloads
        self._trees = handle.release.groups_form_trees and handle.features.enabled("CompositePodGroup")
        self._asks_root = handle.release.gangs_wait_for_root
        self._progress = handle.release.group_progress

    def pre_enqueue(self, pod: Pod, nodes: Snapshot) -> Status:
        """Unresolvable while the group, or too many of its pods, are missing."""
        if self._by_workload:
            return _enters_with_workload(pod, nodes)
        name = pod.group_name
        if name is None:
            return SUCCESS
        groups = _Groups(pod=pod, nodes=nodes, served=self._served)
        if self._asks_root:
            return groups.enters_with_root(name, knows_trees=self._trees)
        if self._trees:
            return groups.enters_with_tree(name)
        group = groups.group(name)
        if group is None:
            return _no_group(name)
        gang = group.spec.scheduling_policy.gang
        return _TOO_FEW if gang is not None and groups.present(name) < gang.min_count else SUCCESS

    def binding_actions(self, state: CycleState, pod: Pod, nodes: Snapshot, row: int) -> tuple[BindingAction, ...]:
        """Permit waits until as many pods as the gang needs have a node, this one counted."""
        minimum, placed = self._quorum(pod, nodes)
        if minimum is None:
            return ()
        if placed >= minimum:
            action = f"let the gang pass: {placed} of at least {minimum} pods have a node"
        else:
            action = f"wait for the gang: {placed} of at least {minimum} pods have a node, this one counted"
        return (BindingAction(extension_point="permit", plugin=self.name, action=action),)

    def permit(self, pod: Pod, nodes: Snapshot, scheduled: int) -> Status:
        """WAIT until as many members have a node as the gang needs."""
        gang = self._gang(pod, nodes)
        return _WAIT if gang is not None and scheduled < gang.min_count else SUCCESS

    def placement_feasible(self, info: PodGroupInfo, progress: PlacementProgress) -> Status:
        """UNSCHEDULABLE once too few members are left; the basic policy needs one."""
        minimum = 1 if info.min_count is None else info.min_count
        if progress.scheduled >= minimum:
            return SUCCESS
        is_over = progress.remaining + progress.scheduled < minimum
        reason = self._progress.format(
            minimum=minimum,
            verdict="cannot be satisfied" if is_over else "is not yet satisfied",
            scheduled=progress.scheduled,
            unschedulable=progress.unschedulable,
            remaining=progress.remaining,
        )
        return unschedulable(reason) if is_over else Status(Code.WAIT, (reason,))

    def _quorum(self, pod: Pod, nodes: Snapshot) -> tuple[int | None, int]:
        """Return the number of pods that the gang needs (None: no gang), and the number that would have a node."""
        gang = self._gang(pod, nodes)
        if self._by_workload:
            placed = (*nodes.whole.existing_pods.pods, *nodes.stranded)
            members = [other for other in placed if _of_same_workload(pod, other)]
            return (gang.min_count if gang is not None else None), len(members) + 1
        name = pod.group_name
        if name is None:
            return None, 0
        groups = _Groups(pod=pod, nodes=nodes, served=self._served)
        return (gang.min_count if gang is not None else None), groups.placed(name) + 1

    def _gang(self, pod: Pod, nodes: Snapshot) -> GangSchedulingPolicy | None:
        """Return the policy of the pod's gang, None if it is in none."""
        if self._by_workload:
            policy = _workload_policy(pod, nodes)
            return policy.gang if policy is not None else None
        name = pod.group_name
        group = _Groups(pod=pod, nodes=nodes, served=self._served).group(name) if name is not None else None
        return group.spec.scheduling_policy.gang if group is not None else None


def _no_group(name: str) -> Status:
    return unresolvable(f'waiting for pods\'s pod group "{name}" to appear in scheduling queue')


class _Groups(Record, frozen=True, kw_only=True):
    """The groups of the pod's namespace and their members; the pod itself is one, wherever it is."""

    pod: Pod
    nodes: Snapshot
    served: frozenset[str]

    def group(self, name: str) -> PodGroup | None:
        return self.nodes.objects.get(PodGroup, name, self.pod.metadata.namespace)

    def composite(self, name: str) -> CompositePodGroup | None:
        return self.nodes.objects.get(CompositePodGroup, name, self.pod.metadata.namespace)

    def placed(self, name: str) -> int:
        """Count the other pods of the group that have a node."""
        keys = self.nodes.group_members.placed(self.pod.metadata.namespace, name)
        return len(keys) - (self.pod.key in keys)

    def present(self, name: str) -> int:
        """Count the pods of the group, this one included; of those that wait, the ones that come to our queue."""
        members, namespace = self.nodes.group_members, self.pod.metadata.namespace
        counts = members.waiting_by_scheduler(namespace, name)
        waiting = sum(count for raw, count in counts.items() if self._is_served(raw))
        is_counted = self.pod.key in members.waiting(namespace, name) and self._is_served(self.pod.spec.scheduler_name)
        return self.placed(name) + waiting - is_counted + (self.pod.group_name == name)

    def _is_served(self, scheduler_name: str) -> bool:
        """Report whether such pods ever come to this scheduler's queue; all do if the profiles are not known."""
        return not self.served or (scheduler_name or DEFAULT_SCHEDULER_NAME) in self.served

    # Trees of groups

    def enters_with_tree(self, name: str) -> Status:
        try:
            root = self._root(name)
            self._walk(root, set()) if root is not None else None
        except _BrokenTree as broken:
            return unresolvable(f"failed to build hierarchy snapshot: {broken}")
        if root is None:
            return SUCCESS if self._group_is_ready(name) else _TOO_FEW
        if self._tree_is_ready(root, self.present):
            return SUCCESS
        return unresolvable(f'waiting for composite pod group "{root}" tree to meet quorum')

    def enters_with_root(self, name: str, *, knows_trees: bool) -> Status:
        """1.38: the group on top decides, whatever the tree looks like elsewhere."""
        group: PodGroup | CompositePodGroup | None = self.group(name)
        keys = {self._key("podgroup", name): None}
        while knows_trees and group is not None and (parent := group.spec.parent_composite_pod_group_name) is not None:
            group = self.composite(parent)
            key = self._key("compositepodgroup", parent)
            if key in keys:
                return Status(Code.ERROR, (f"cycle detected in the hierarchy: [{' '.join([*keys, key])}]",))
            keys[key] = None
        if group is None:
            return unresolvable(
                f'pod group "{name}" or one of its composite pod group ancestors has not been created yet'
            )
        where = f"{self.pod.metadata.namespace}/{group.name}"
        is_tree = isinstance(group, CompositePodGroup)
        if self._tree_is_ready(group.name, self.present) if is_tree else self._group_is_ready(name):
            return SUCCESS
        if not is_tree:
            return unresolvable(f"waiting for podgroup/{where} to meet its quorum")
        if group.spec.scheduling_policy.gang is None:
            return unresolvable(f"waiting for compositepodgroup/{where} tree to have at least one ready child group")
        return unresolvable(f"waiting for compositepodgroup/{where} to meet its quorum")

    def _key(self, kind: str, name: str) -> str:
        return f"{kind}/{self.pod.metadata.namespace}/{name}"

    def _root(self, name: str) -> str | None:
        """The composite group on top, None if the group is alone."""
        group = self.group(name)
        if group is None:
            raise _BrokenTree(f"pod group object not found in state for {self._key('podgroup', name)}")
        parent = group.spec.parent_composite_pod_group_name
        if parent is None:
            return None
        for _ in range(_DEEPEST - 1):
            composite = self.composite(parent)
            if composite is None:
                key = self._key("compositepodgroup", parent)
                if not self._children(parent):
                    raise _BrokenTree(f"parent composite pod group state not found for {key}")
                raise _BrokenTree(f"composite pod group object not found in state for {key}")
            if composite.spec.parent_composite_pod_group_name is None:
                break
            parent = composite.spec.parent_composite_pod_group_name
        return parent

    def _children(self, name: str) -> list[PodGroup | CompositePodGroup]:
        return children_of(name, self.pod.metadata.namespace, self.nodes.objects)

    def _walk(self, name: str, seen: set[str]) -> None:
        if name in seen:
            raise _BrokenTree(
                f"cycle detected in composite pod group hierarchy: {self._key('compositepodgroup', name)}"
            )
        seen.add(name)
        for child in self._children(name):
            if isinstance(child, CompositePodGroup):
                self._walk(child.name, seen)

    def _group_is_ready(self, name: str) -> bool:
        group = self.group(name)
        if group is None:
            return False
        gang = group.spec.scheduling_policy.gang
        return self.present(name) >= (gang.min_count if gang is not None else 1)

    def _tree_is_ready(self, name: str, count: Callable[[str], int]) -> bool:
        composite = self.composite(name)
        if composite is None:
            return False
        gang = composite.spec.scheduling_policy.gang
        ready = sum(
            self._tree_is_ready(child.name, count)
            if isinstance(child, CompositePodGroup)
            else self._group_is_ready(child.name)
            for child in self._children(name)
        )
        return ready >= (gang.min_group_count if gang is not None else 1)


class _BrokenTree(Exception):  # noqa: N818 - becomes a status
    """Groups that do not form a tree."""


def _of_same_workload(pod: Pod, other: Pod) -> bool:
    return (
        other.spec.workload_ref is not None
        and other.spec.workload_ref == pod.spec.workload_ref
        and other.metadata.namespace == pod.metadata.namespace
        and other.key != pod.key
    )


def _workload_policy(pod: Pod, nodes: Snapshot) -> PodGroupSchedulingPolicy | None:
    reference = pod.spec.workload_ref
    if reference is None:
        return None
    workload = nodes.objects.get(Workload, reference.name, pod.metadata.namespace)
    groups = workload.spec.pod_groups if workload is not None else ()
    return next((group.policy for group in groups if group.name == reference.pod_group), None)


def _enters_with_workload(pod: Pod, nodes: Snapshot) -> Status:
    """1.35: the group is a part of a Workload."""
    reference = pod.spec.workload_ref
    if reference is None:
        return SUCCESS
    if nodes.objects.get(Workload, reference.name, pod.metadata.namespace) is None:
        return unresolvable(f'waiting for pods\'s workload "{reference.name}" to appear in scheduling queue')
    policy = _workload_policy(pod, nodes)
    if policy is None:
        return unresolvable(f'pod group "{reference.pod_group}" doesn\'t exist for a workload "{reference.name}"')
    known = (*nodes.whole.existing_pods.pods, *nodes.stranded, *nodes.pending)
    members = sum(_of_same_workload(pod, other) for other in known)
    return _TOO_FEW if policy.gang is not None and members + 1 < policy.gang.min_count else SUCCESS
