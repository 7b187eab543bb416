"""`explain node NAME`: which pending pods fit there, who requests it, and why it stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.component_helpers.resource_names import is_extended_resource_name, is_huge_page_resource_name
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.status import Code, Status
from kubectl_sched.queries.drain import nodes_named
from kubectl_sched.queries.provisioning.node_removal import NodeRemovals
from kubectl_sched.queries.unread_placements import left_open_placements
from kubectl_sched.queries.unreadable_kinds import UnreadableKinds, left_open, without_unreadable
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.scheduler import SeveralSchedulers
from kubectl_sched.simulation.drain_plan import drain_plan
from kubectl_sched.simulation.edited_cluster import Cluster
from kubectl_sched.simulation.queue_simulation import owner_of
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay, snapshot_of
from kubectl_sched.sources.dump.completeness import old_age

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.queries.provisioning.removal_verdict import Removal
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.drain_plan import DrainPlan
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources.dump.dump import Dump

PODS: Final = "pods"
_MOST_PENDING: Final = 100
_MOST_NODES: Final = 100
_MOST_ELSEWHERE: Final = 20


class NodeQuestion(Record, frozen=True, kw_only=True):
    """The nodes, each a name, a shell pattern or a selector in parentheses; all of them where none is named."""

    nodes: tuple[str, ...] = ()
    profile: str | None = None
    replay: Replay = Replay()
    instance_types: tuple[bytes, str] | None = None
    """The content of a file with instance types and their prices, and its path."""


class PodThere(Record, frozen=True, kw_only=True):
    """A pod, and kube-scheduler's verdict on it for the node; None if it fits."""

    pod: Pod
    status: Status | None
    points: int | None = None
    """The node's total, where the pod fits and nodes were scored."""

    best: str = ""
    """A node with the highest total."""

    best_points: int | None = None

    @property
    def fits(self) -> bool | None:
        """Report whether the node takes the pod; None if that rests on a kind that was not read."""
        if self.status is not None and self.status.code is Code.UNKNOWN:
            return None
        return self.status is None


class NodeExplanation(CachingRecord, frozen=True, kw_only=True):
    """A node: what is free on it, who has the rest, which pending pods fit, and why it stays."""

    node: Node
    free: Mapping[str, int]
    allocatable: Mapping[str, int]
    requested: Mapping[str, int]
    of_daemons: Mapping[str, int]
    deferred: tuple[Pod, ...]
    """Pods whose resize waits for room on the node."""

    by_namespace: Mapping[str, Mapping[str, int]]
    """The requests of each namespace's pods, those of DaemonSets left out."""

    pending: tuple[PodThere, ...]
    elsewhere: tuple[PodThere, ...]
    """A running pod of each workload of other nodes; none where the node runs pods of its own, or among many nodes."""

    plan: DrainPlan
    removal: Removal
    unread: tuple[UnreadableKind, ...] = ()
    """The kinds that successors of the node's pods need and that were not read."""

    @property
    def not_offered(self) -> tuple[tuple[str, str, str], ...]:
        """Devices and huge pages of which less is allocatable than the node has: the name, the capacity, the rest."""
        has, offered = self.node.status.capacity, self.node.status.allocatable
        named = [each for each in has if is_extended_resource_name(each) or is_huge_page_resource_name(each)]
        try:
            less = [each for each in named if parse_quantity(offered.get(each, "0")) < parse_quantity(has[each])]
        except InvalidQuantity:
            return ()
        return tuple((each, str(has[each]), str(offered.get(each, "0"))) for each in less)

    @property
    def waste(self) -> float:
        """The share of cpu or memory that is free, whichever is less."""
        shares = [self.free[name] / whole for name in ("cpu", "memory") if (whole := self.allocatable.get(name, 0)) > 0]
        return min(shares, default=0.0)


class NodeAnswer(CachingRecord, frozen=True, kw_only=True):
    """The nodes, in the order of the question, or those that waste most first."""

    nodes: tuple[NodeExplanation, ...]
    is_list: bool
    unreadable: tuple[UnreadableKind, ...]
    """PodDisruptionBudgets where none was read, and the kinds that successors of moved pods need."""

    kubernetes_version: str
    notes: tuple[str, ...]
    kubernetes_patch: str | None = None
    limits: tuple[str, ...] = ()
    """The warnings that the dump is old, and that the snapshot leaves pods out."""

    names: Sequence[str] = ()
    """The names of all nodes, those that are not asked about among them."""


def explain_nodes(question: NodeQuestion, dump: Dump) -> NodeAnswer:
    """Explain the nodes. Raises SchedError for a node that there is not, and for an unusable file."""
    schedulers = ClusterSchedulers(dump, question.replay, question.profile)
    schedulers.check_profile()
    cluster = Cluster.of(dump.objects, lambda pod: pod)

    def configuration_of(name: str) -> Configuration:
        return schedulers.assumed(name).configuration

    snapshot, left_out = snapshot_of(dump.objects, configuration_of(DEFAULT_SCHEDULER_NAME))
    scheduler = SeveralSchedulers(configuration_of, snapshot)
    notes: list[str] = []
    names = _chosen(question, cluster, scheduler.nodes, notes)
    kinds = UnreadableKinds(dump=dump)
    judge = _Judge(
        question=question,
        scheduler=scheduler,
        dump=dump,
        cycles=_cycles(scheduler, question, kinds, notes),
        removals=NodeRemovals(scheduler.nodes, dump, question.instance_types),
        kinds=kinds,
    )
    found = [judge.explained(cluster.nodes[name], is_alone=len(names) == 1) for name in names]
    if not question.nodes:
        found.sort(key=lambda each: (-each.waste, each.node.name))
    old = old_age(dump)
    budgets = kinds.budgets_of(pod for each in found for pod in each.plan.concerned)
    release = configuration_of(question.profile or DEFAULT_SCHEDULER_NAME).release
    return NodeAnswer(
        nodes=tuple(found),
        is_list=not question.nodes or len(found) > 1,
        unreadable=tuple(
            dict.fromkeys((*(() if budgets is None else (budgets,)), *(kind for each in found for kind in each.unread)))
        ),
        kubernetes_version=str(release.version),
        kubernetes_patch=release.patch_name,
        limits=(*old, *dump.limits),
        names=tuple(cluster.nodes),
        notes=(*old, *notes, *left_out, *schedulers.notes, *dump.warnings, *schedulers.warnings),
    )


def _chosen(question: NodeQuestion, cluster: Cluster, nodes: Snapshot, notes: list[str]) -> list[str]:
    """Return the nodes of the question; of all nodes those with the most free cpu."""
    if not cluster.nodes:
        raise SchedError("explain nodes: no nodes were read (`kubectl get nodes -o json` has them)")
    names = nodes_named(question.nodes, cluster, "explain node") if question.nodes else [*cluster.nodes]
    names = [name for name in names if name in nodes.row_of]
    if not question.nodes and len(names) > _MOST_NODES:
        names = sorted(names, key=lambda name: -_free(nodes, name).get("cpu", 0))[:_MOST_NODES]
        notes.append(f"the {_MOST_NODES} nodes with the most free cpu are judged; name a node or a pattern for others")
    return names


def _cycles(
    scheduler: SeveralSchedulers, question: NodeQuestion, kinds: UnreadableKinds, notes: list[str]
) -> list[ScheduleResult]:
    """Run the cycle of each pending pod, as far as there are not too many."""
    waiting = scheduler.waiting
    if len(waiting) > _MOST_PENDING:
        notes.append(f"{_MOST_PENDING} of {len(waiting):,} pending pods are tried")
    cycles: list[ScheduleResult] = []
    for pod in waiting[:_MOST_PENDING]:
        try:
            cycles.append(
                _as_far_as_read(pod, kinds, lambda pod: scheduler.cycle(pod, scheduler.nodes, question.profile))
            )
        except InvalidQuantity as error:
            notes.append(f"pod {pod.key} is left out: {error}")
    return cycles


def _as_far_as_read(pod: Pod, kinds: UnreadableKinds, cycle: Callable[[Pod], ScheduleResult]) -> ScheduleResult:
    """Run the pod's cycle; what rests on kinds that are known to be missing is left open."""
    missing = tuple(each for each in kinds.needed_by(pod) if each.is_known)
    return left_open(cycle(without_unreadable(pod, missing)), pod, missing) if missing else cycle(pod)


class _Judge(CachingRecord, frozen=True, kw_only=True):
    """The state of the cluster, and what was asked of all nodes at once."""

    question: NodeQuestion
    scheduler: SeveralSchedulers
    dump: Dump
    cycles: list[ScheduleResult]
    removals: NodeRemovals
    kinds: UnreadableKinds

    def explained(self, node: Node, *, is_alone: bool) -> NodeExplanation:
        """Explain one node; where it is the only one, also why pods of other nodes are not there."""
        nodes = self.scheduler.nodes
        row = nodes.row_of[node.name]
        there = [
            pod
            for pod, at in zip(nodes.existing_pods.pods, nodes.existing_pods.rows.tolist(), strict=True)
            if at == row
        ]
        resources = tuple(nodes.table.allocatable)
        own = [pod for pod in there if not pod.is_daemon and not pod.is_static]
        plan = drain_plan([node.name], self.dump.objects, self.scheduler, self.question.profile, self.dump.at)
        placements, unread = left_open_placements(plan.placements, self.kinds, rejected_by_mixed_lists=True)
        plan = replace(plan, placements=placements)
        budgets = self.kinds.budgets_of(plan.concerned)
        return NodeExplanation(
            node=node,
            free=_free(nodes, node.name),
            allocatable={name: int(amounts[row]) for name, amounts in nodes.table.allocatable.items()},
            requested={name: _requested(nodes, name, row) for name in resources},
            of_daemons=_sum(nodes, [pod for pod in there if pod.is_daemon], resources),
            deferred=tuple(pod for pod in there if pod.is_resize_deferred),
            by_namespace={
                name: _sum(nodes, [pod for pod in own if pod.namespace == name], resources)
                for name in sorted({pod.namespace for pod in own})
            },
            pending=tuple(_there(each, row) for each in self.cycles),
            elsewhere=self._elsewhere(node, row) if is_alone and not own else (),
            plan=plan,
            removal=self.removals.of(node, plan, budgets_known=budgets is None or not budgets.is_known),
            unread=unread,
        )

    def _elsewhere(self, node: Node, row: int) -> tuple[PodThere, ...]:
        """Judge one running pod of each workload of other nodes, as if it were pending."""
        by_owner: dict[str, Pod] = {}
        for pod in self.scheduler.nodes.existing_pods.pods:
            owner = owner_of(pod)
            if owner is not None and not pod.is_daemon and pod.spec.node_name != node.name:
                by_owner.setdefault(f"{pod.namespace} {owner}", pod)
        pods = list(by_owner.values())[:_MOST_ELSEWHERE]
        cycles = (
            _as_far_as_read(pod, self.kinds, lambda pod: self.scheduler.schedule_one(pod, self.question.profile))
            for pod in pods
        )
        return tuple(_there(each, row) for each in cycles)


def _sum(nodes: Snapshot, pods: Sequence[Pod], resources: Sequence[str]) -> dict[str, int]:
    """Return what the pods request, and how many they are."""
    amounts = [nodes.resource_of(pod).requested for pod in pods]
    return {name: sum(each.get(name, 0) for each in amounts) for name in resources} | {PODS: len(pods)}


def _requested(nodes: Snapshot, resource: str, row: int) -> int:
    return int(nodes.pod_count[row] if resource == PODS else nodes.requested(resource)[row])


def _free(nodes: Snapshot, name: str) -> dict[str, int]:
    row = nodes.row_of[name]
    return {
        resource: max(0, int(amounts[row]) - _requested(nodes, resource, row))
        for resource, amounts in nodes.table.allocatable.items()
        if amounts[row] > 0
    }


def _there(result: ScheduleResult, row: int) -> PodThere:
    """Return the verdict on a pod for one node, and how far its points are from the highest."""
    status = result.verdict[row] if result.verdict is not None else _of_pod(result)
    if not status.is_success:
        return PodThere(pod=result.pod, status=status)
    place = int(np.searchsorted(result.feasible, row))
    is_scored = place < len(result.totals) and int(result.feasible[place]) == row
    if not is_scored or not result.best:
        return PodThere(pod=result.pod, status=None)
    points, most = int(result.totals[place]), int(result.totals.max())
    return PodThere(pod=result.pod, status=None, points=points, best=result.best[0], best_points=most)


def _of_pod(result: ScheduleResult) -> Status:
    """Return the status of a pod whose cycle ended before any node was judged, such as a gated one."""
    as_a_whole = (each for each in (result.pre_enqueue, result.pre_filter) if not each.is_success)
    why = result.error or result.failure or result.unread or result.outcome.value
    return next(as_a_whole, Status(Code.UNKNOWN, (why,)))
