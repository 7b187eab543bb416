"""A drain carried out over versions of a cluster: rounds of evictions that budgets allow, and where successors land.

Answers to `kubectl drain` (staging/src/k8s.io/kubectl/pkg/drain) and to pkg/registry/core/pod/storage/eviction.go. A
successor that has a node is taken to be ready, so that its budget allows the next eviction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import seconds_between
from kubectl_sched.api.apps import Job
from kubectl_sched.api.core import Node
from kubectl_sched.api.meta import find_condition
from kubectl_sched.api.pod import Pod
from kubectl_sched.controllers.claims_after_deletion import recreated
from kubectl_sched.controllers.ordered_ready import predecessors, sets_in_order
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.drain import REPLACED_AT_ONCE, comes_back, is_replaced, with_local_volumes
from kubectl_sched.simulation.eviction_budgets import EvictionBudgets
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Choices, Simulation, owner_of, without_pod
from kubectl_sched.simulation.relocation import with_cordon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.policy import PodDisruptionBudget
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.snapshot import Snapshot

_OVERDUE_SECONDS: Final = 60.0
"""The time for a kubelet to report that a pod has ended."""

_JOB_FINALIZER: Final = "batch.kubernetes.io/job-tracking"
"""The Job controller takes it off by itself."""


class Blocked(Record, frozen=True, kw_only=True):
    """A pod that cannot leave: what holds it as Kind/name, the disruptions that a budget allows now, and a clause."""

    pod: Pod
    by: str
    allowed: int | None = None
    why: str
    is_after_others: bool = False
    """The budget would have let it go if successors of pods before it had found a node."""


class Affected(Record, frozen=True, kw_only=True):
    """A pod of a drained node with a clause: what is lost with it, or why it stays."""

    pod: Pod
    why: str


class DrainPlan(CachingRecord, frozen=True, kw_only=True):
    """The effect of a drain on each pod of its nodes."""

    nodes: tuple[str, ...]
    blocked: tuple[Blocked, ...]
    lost: tuple[Affected, ...]
    """Pods that nothing makes again, and pods that lose data on their node."""

    stays: tuple[Affected, ...]
    rounds: tuple[tuple[Pod, ...], ...]
    """Pods that may be evicted at once, once the successors of the round before are ready."""

    placements: tuple[Placement, ...]
    """The successors in scheduling order, and those of pods that they preempt."""

    are_cordoned: bool
    after: Snapshot

    @property
    def moves(self) -> tuple[Placement, ...]:
        """The successors that have a node."""
        return tuple(each for each in self.placements if each.is_placed)

    @property
    def pending(self) -> tuple[Placement, ...]:
        """The successors that have none."""
        unread = {each.pod.key for each in self.unread}
        return tuple(each for each in self.placements if not each.is_placed and each.pod.key not in unread)

    @property
    def unread(self) -> tuple[Placement, ...]:
        """The successors whose place rests on a kind that could not be read."""
        return tuple(each for each in self.placements if each.outcome is Outcome.UNKNOWN and each.reason is not None)

    @property
    def concerned(self) -> tuple[Pod, ...]:
        """Return the pods of the nodes that go or are blocked."""
        return (*self.leaving, *(each.pod for each in self.blocked))

    @property
    def leaving(self) -> tuple[Pod, ...]:
        """The pods that go, in their order."""
        return tuple(pod for each in self.rounds for pod in each)


def drain_plan(
    names: Sequence[str],
    objects: Sequence[KubernetesObject],
    scheduler: Scheduler,
    profile: str | None,
    now: str | None,
) -> DrainPlan:
    """Cordon the nodes and evict their pods round by round; `now` is the time of the state, if it is known."""
    return _Drain(names, objects, scheduler, profile, now).plan()


class _Drain:
    def __init__(
        self,
        names: Sequence[str],
        objects: Sequence[KubernetesObject],
        scheduler: Scheduler,
        profile: str | None,
        now: str | None,
    ) -> None:
        self._names = names
        self._others = [item for item in objects if not isinstance(item, Pod)]
        self._nodes = {item.name: item for item in self._others if isinstance(item, Node) and item.name in names}
        self._pods = [item for item in objects if isinstance(item, Pod) and item.spec.node_name in self._nodes]
        self._jobs = frozenset(item.key for item in self._others if isinstance(item, Job) and item.waits_for_the_end)
        self._budgets = EvictionBudgets.of(scheduler.nodes.objects)
        self._simulation = Simulation(scheduler, Choices(profile=profile, requeue_victims=True))
        nodes = scheduler.nodes
        for name in names:
            nodes = with_cordon(nodes, name) if name in nodes.row_of else nodes
        self._simulation.nodes = nodes
        self._now = now

    def plan(self) -> DrainPlan:
        stays = [pod for pod in self._pods if pod.is_static or (pod.is_daemon and not pod.has_ended)]
        going = [pod for pod in self._pods if not pod.is_static and not pod.is_daemon and not pod.has_ended]
        ended = [pod for pod in self._pods if not pod.is_static and pod.has_ended]
        found = (*map(self._held, going), *map(self._held_by_finalizer, ended))
        held = {each.pod.key: each for each in found if each is not None}
        rounds, left = self._evicted([pod for pod in going if pod.key not in held or self._moves_though(pod)])
        blocked = [*held.values(), *(self._held_by_budget(pod) for pod in left if pod.key not in held)]
        leaving = [pod for each in rounds for pod in each]
        return DrainPlan(
            nodes=tuple(self._names),
            blocked=tuple(blocked),
            lost=tuple(self._lost([pod for pod in leaving if pod.key not in held])),
            stays=tuple(Affected(pod=pod, why=_why_it_stays(pod)) for pod in stays),
            rounds=tuple(map(tuple, rounds)),
            placements=tuple(self._simulation.placements),
            are_cordoned=all(node.spec.unschedulable for node in self._nodes.values()),
            after=self._simulation.nodes,
        )

    def _held(self, pod: Pod) -> Blocked | None:
        """Return what keeps the pod from leaving whatever budgets say; None if nothing is seen."""
        by_finalizer = self._held_by_finalizer(pod)
        if by_finalizer is not None:
            return by_finalizer
        node = self._nodes[pod.spec.node_name]
        ready = find_condition(node.status.conditions, "Ready")
        if ready is not None and ready.status == "Unknown":
            why = f"the kubelet of {node.name} does not answer, so the pod stays Terminating"
            return Blocked(pod=pod, by=f"Node/{node.name}", why=why)
        if self._is_overdue(pod):
            since = pod.metadata.deletion_timestamp
            why = f"it is terminating since {since}, and the kubelet of {node.name} has not ended it"
            return Blocked(pod=pod, by=f"Node/{node.name}", why=why)
        budgets = self._budgets.asked_for(pod)
        if len(budgets) > 1:
            named = " and ".join(sorted(each.name for each in budgets))
            least = min(each.status.disruptions_allowed for each in budgets)
            why = f"budgets {named} both cover it, and eviction supports one budget a pod"
            return Blocked(pod=pod, by=f"PodDisruptionBudget/{budgets[0].key}", allowed=least, why=why)
        return None

    def _held_by_finalizer(self, pod: Pod) -> Blocked | None:
        """Return the finalizer that keeps a terminating pod, ended or not, for which kubectl drain waits."""
        finalizers = [each for each in pod.metadata.finalizers if each != _JOB_FINALIZER]
        if not finalizers or not self._is_overdue(pod):
            return None
        since = pod.metadata.deletion_timestamp
        why = f"it is terminating since {since} and waits for whoever takes its finalizer off"
        return Blocked(pod=pod, by=f"Finalizer/{finalizers[0]}", why=why)

    def _is_overdue(self, pod: Pod) -> bool:
        """Report whether the kubelet should have reported the end of the pod by now."""
        overdue = seconds_between(pod.metadata.deletion_timestamp, self._now)
        return overdue is not None and overdue > _OVERDUE_SECONDS

    def _moves_though(self, pod: Pod) -> bool:
        """Report whether its controller makes the next pod while this one terminates on a node that does not answer."""
        owner, budgets = pod.metadata.controller, self._budgets.asked_for(pod)
        may_go = pod.metadata.deletion_timestamp is None and len(budgets) <= 1
        return may_go and owner is not None and owner.kind in REPLACED_AT_ONCE

    def _evicted(self, pods: Sequence[Pod]) -> tuple[list[list[Pod]], list[Pod]]:
        """Evict the pods in rounds; return these, and the pods that budgets never let go."""
        allowed: dict[str, int] = {}
        rounds: list[list[Pod]] = []
        left = list(pods)
        while left:
            room = dict(allowed)
            chosen: list[Pod] = []
            kept: list[Pod] = []
            for pod in left:
                budget = self._budget(pod)
                if budget is not None:
                    room.setdefault(budget.key, budget.status.disruptions_allowed)
                    room[budget.key] -= 1
                (chosen if budget is None or room[budget.key] >= 0 else kept).append(pod)
            if not chosen:
                break
            landed = self._evict(chosen)
            for pod in chosen:
                budget = self._budget(pod)
                if budget is not None:
                    before = allowed.get(budget.key, budget.status.disruptions_allowed)
                    allowed[budget.key] = before - (pod.key not in landed)
            rounds.append(chosen)
            left = kept
        return rounds, left

    def _budget(self, pod: Pod) -> PodDisruptionBudget | None:
        return next(iter(self._budgets.asked_for(pod)), None)

    def _evict(self, pods: Sequence[Pod]) -> set[str]:
        """Take the pods off their nodes and place their successors; return the keys of those that have a node."""
        again: list[Pod] = []
        nodes = self._simulation.nodes
        for pod in pods:
            successor = recreated(pod) if comes_back(pod, self._jobs) else None
            nodes = without_pod(nodes, pod, successor)
            again += [successor] if successor is not None else []
        self._simulation.nodes = nodes
        before = predecessors((), again, self._others)
        self._simulation.enqueue(
            QueuedPod(pod=pod, owner=owner_of(pod), waits_for=before.get(pod.metadata.uid))
            for pod in sets_in_order(again)
        )
        self._simulation.run()
        return {each.pod.key for each in self._simulation.placements if each.is_placed}

    def _held_by_budget(self, pod: Pod) -> Blocked:
        budget = self._budgets.asked_for(pod)[0]
        allowed = budget.status.disruptions_allowed
        why = _why_no_disruption(budget) if allowed <= 0 else "pods that went before it have no node"
        by = f"PodDisruptionBudget/{budget.key}"
        return Blocked(pod=pod, by=by, allowed=allowed, why=why, is_after_others=allowed > 0)

    def _lost(self, pods: Sequence[Pod]) -> Iterator[Affected]:
        is_local = with_local_volumes(self._others)
        for pod in pods:
            clauses = list(self._losses(pod, is_local))
            if clauses:
                yield Affected(pod=pod, why="; ".join(clauses))

    def _losses(self, pod: Pod, is_local: Callable[[Pod], bool]) -> Iterator[str]:
        if not comes_back(pod, self._jobs) and not is_replaced(pod, self._jobs):
            yield "no controller re-creates it"
        scratch = [volume.name for volume in pod.spec.volumes if volume.empty_dir is not None]
        if scratch:
            yield f"its emptyDir {' and '.join(scratch)} is deleted"
        if is_local(pod):
            yield f"its local volume stays on {pod.spec.node_name}"


def _why_it_stays(pod: Pod) -> str:
    if pod.is_static:
        return "static pod"
    owner = pod.metadata.controller
    return f"DaemonSet/{owner.name}" if owner is not None else ""


def _why_no_disruption(budget: PodDisruptionBudget) -> str:
    """Return why a budget allows no disruption, with what would change that as far as its status tells."""
    status, spec = budget.status, budget.spec
    counts = f"{status.current_healthy} of {status.expected_pods} ready, {status.desired_healthy} needed"
    if spec.max_unavailable in {0, "0%"} or spec.min_available == "100%":
        return f"{counts}; as it is written it never allows one"
    if not status.expected_pods:
        return "its status does not say why"
    if status.current_healthy < status.expected_pods:
        return f"{counts}; make the others ready first"
    return f"{counts}; one more ready pod would let one go"
