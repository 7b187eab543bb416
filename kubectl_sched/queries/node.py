"""`explain node NAME`: which pending pods fit there, who requests it, and why it stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.queries.drain import nodes_named
from kubectl_sched.queries.provisioning.node_removal import removal_of
from kubectl_sched.queries.unreadable_kinds import UnreadableKinds
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.scheduler import SeveralSchedulers
from kubectl_sched.simulation.drain_plan import drain_plan
from kubectl_sched.simulation.node_edits import Cluster
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay, snapshot_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.status import Status
    from kubectl_sched.queries.provisioning.node_removal import Removal
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.drain_plan import DrainPlan
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources.dump.dump import Dump

PODS: Final = "pods"
_MOST_PENDING: Final = 100
_MOST_NODES: Final = 100


class Question(Record, frozen=True, kw_only=True):
    """The nodes, each a name, a shell pattern or a selector in parentheses; all of them where none is named."""

    nodes: tuple[str, ...] = ()
    profile: str | None = None
    replay: Replay = Replay()


class PendingThere(Record, frozen=True, kw_only=True):
    """A pending pod, and kube-scheduler's verdict on it for the node; None where it fits."""

    pod: Pod
    status: Status | None


class NodeExplanation(CachingRecord, frozen=True, kw_only=True):
    """A node: what is free on it, who has the rest, which pending pods fit, and why it stays."""

    node: Node
    free: Mapping[str, int]
    allocatable: Mapping[str, int]
    requested: Mapping[str, int]
    of_daemons: Mapping[str, int]
    deferred: tuple[Pod, ...]
    """Pods whose resize waits for room on the node."""

    pending: tuple[PendingThere, ...]
    plan: DrainPlan
    removal: Removal

    @property
    def waste(self) -> float:
        """The share of cpu or memory that is free, whichever is less."""
        shares = [self.free[name] / whole for name in ("cpu", "memory") if (whole := self.allocatable.get(name, 0)) > 0]
        return min(shares, default=0.0)


class NodeAnswer(CachingRecord, frozen=True, kw_only=True):
    """The nodes, in the order of the question, or those that waste most first."""

    nodes: tuple[NodeExplanation, ...]
    is_list: bool
    unreadable: UnreadableKind | None
    kubernetes_version: str
    notes: tuple[str, ...]


def explain_nodes(question: Question, dump: Dump) -> NodeAnswer:
    """Explain the nodes. Raises SchedError for a node that there is not."""
    schedulers = ClusterSchedulers(dump, question.replay, question.profile)
    schedulers.check_profile()
    cluster = Cluster.of(dump.objects, lambda pod: pod)

    def configuration_of(name: str) -> Configuration:
        return schedulers.assumed(name).configuration

    snapshot, left_out = snapshot_of(dump.objects, configuration_of(DEFAULT_SCHEDULER_NAME))
    scheduler = SeveralSchedulers(configuration_of, snapshot)
    names = nodes_named(question.nodes, cluster, "explain node") if question.nodes else [*cluster.nodes]
    names = [name for name in names if name in scheduler.nodes.row_of]
    notes: list[str] = []
    if not question.nodes and len(names) > _MOST_NODES:
        names = sorted(names, key=lambda name: -_free(scheduler.nodes, name).get("cpu", 0))[:_MOST_NODES]
        notes.append(f"the {_MOST_NODES} nodes with the most free cpu are judged; name a node or a pattern for others")
    waiting = scheduler.waiting
    if len(waiting) > _MOST_PENDING:
        notes.append(f"{_MOST_PENDING} of {len(waiting):,} pending pods are tried")
    cycles: list[ScheduleResult] = []
    for pod in waiting[:_MOST_PENDING]:
        try:
            cycles.append(scheduler.cycle(pod, scheduler.nodes, question.profile))
        except InvalidQuantity as error:
            notes.append(f"pod {pod.key} is left out: {error}")
    chosen = set(names)
    unreadable = UnreadableKinds(dump=dump).budgets_of(pod for pod in dump.pods if pod.spec.node_name in chosen)
    budgets_known = unreadable is None or not unreadable.is_known
    found = []
    for name in names:
        plan = drain_plan([name], dump.objects, scheduler, question.profile, dump.at)
        found.append(_explained(cluster.nodes[name], plan, cycles, scheduler.nodes, dump, budgets_known=budgets_known))
    if not question.nodes:
        found.sort(key=lambda each: (-each.waste, each.node.name))
    version = configuration_of(question.profile or DEFAULT_SCHEDULER_NAME).version
    return NodeAnswer(
        nodes=tuple(found),
        is_list=not question.nodes or len(found) > 1,
        unreadable=unreadable,
        kubernetes_version=str(version),
        notes=(*notes, *left_out, *schedulers.notes, *dump.warnings, *schedulers.warnings),
    )


def _explained(
    node: Node,
    plan: DrainPlan,
    cycles: Sequence[ScheduleResult],
    nodes: Snapshot,
    dump: Dump,
    *,
    budgets_known: bool,
) -> NodeExplanation:
    row = nodes.row_of[node.name]
    there = [
        pod for pod, at in zip(nodes.existing_pods.pods, nodes.existing_pods.rows.tolist(), strict=True) if at == row
    ]
    daemons = [nodes.resource_of(pod).requested for pod in there if pod.is_daemon]
    of_daemons = {name: sum(each.get(name, 0) for each in daemons) for name in nodes.table.allocatable}
    of_daemons[PODS] = len(daemons)
    return NodeExplanation(
        node=node,
        free=_free(nodes, node.name),
        allocatable={name: int(amounts[row]) for name, amounts in nodes.table.allocatable.items()},
        requested={name: _requested(nodes, name, row) for name in nodes.table.allocatable},
        of_daemons=of_daemons,
        deferred=tuple(pod for pod in there if pod.is_resize_deferred),
        pending=tuple(_pending_there(each, row) for each in cycles),
        plan=plan,
        removal=removal_of(node, plan, nodes, dump, budgets_known=budgets_known),
    )


def _requested(nodes: Snapshot, resource: str, row: int) -> int:
    return int(nodes.pod_count[row] if resource == PODS else nodes.requested(resource)[row])


def _free(nodes: Snapshot, name: str) -> dict[str, int]:
    row = nodes.row_of[name]
    return {
        resource: max(0, int(amounts[row]) - _requested(nodes, resource, row))
        for resource, amounts in nodes.table.allocatable.items()
        if amounts[row] > 0
    }


def _pending_there(result: ScheduleResult, row: int) -> PendingThere:
    status = result.verdict[row] if result.verdict is not None else None
    return PendingThere(pod=result.pod, status=None if status is None or status.is_success else status)
