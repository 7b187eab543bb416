"""`drain`: whether a drain of nodes would finish, what blocks it, what is lost, and where pods move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.core import Node
from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.queries.provisioning.cluster_autoscaler_replay import NodeGroupFlags, cluster_autoscaler_answer
from kubectl_sched.queries.provisioning.provisioned_nodes import provisioned_nodes
from kubectl_sched.queries.unread_placements import left_open_placements
from kubectl_sched.queries.unreadable_kinds import UnreadableKinds
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.scheduler import SeveralSchedulers
from kubectl_sched.simulation.drain_plan import drain_plan
from kubectl_sched.simulation.edited_cluster import Cluster
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay, snapshot_of
from kubectl_sched.sources.dump.completeness import old_age

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.config import Configuration
    from kubectl_sched.queries.provisioning.cluster_autoscaler_replay import ClusterAutoscalerAnswer
    from kubectl_sched.queries.unreadable_kinds import UnreadableKind
    from kubectl_sched.simulation.drain_plan import DrainPlan
    from kubectl_sched.simulation.what_if_result import MadeNode
    from kubectl_sched.sources.dump.dump import Dump

FINISHES, PENDING, BLOCKED, UNKNOWN, NOTHING = "Finishes", "Pending", "Blocked", "Unknown", "NothingToDo"


class DrainQuestion(Record, frozen=True, kw_only=True):
    """The nodes, each a name, a shell pattern or a selector in parentheses, and the flags of the same names."""

    nodes: tuple[str, ...]
    profile: str | None = None
    replay: Replay = Replay()


class DrainAnswer(CachingRecord, frozen=True, kw_only=True):
    """The plan, with what could not be read and what autoscalers would add for the pods without a node."""

    plan: DrainPlan
    unreadable: tuple[UnreadableKind, ...] = ()
    """PodDisruptionBudgets where none was read, and the kinds that successors need."""

    new_nodes: tuple[MadeNode, ...] = ()
    """The nodes that Karpenter would make."""

    node_groups: ClusterAutoscalerAnswer | None = None
    """The answer of cluster-autoscaler for the first pod without a node."""

    kubernetes_version: str = ""
    kubernetes_patch: str | None = None
    notes: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    """The warnings that the dump is old, and that the snapshot leaves pods out."""

    @property
    def outcome(self) -> str:
        """`Finishes`, `Pending` (it finishes, but pods have no node), `Blocked`, `Unknown` or `NothingToDo`."""
        plan = self.plan
        if any(not (each.is_after_others and plan.unread) for each in plan.blocked):
            return BLOCKED
        if plan.unread or self.are_budgets_unread:
            return UNKNOWN
        if plan.pending:
            return PENDING
        return FINISHES if plan.leaving else NOTHING

    @property
    def are_budgets_unread(self) -> bool:
        """Report whether PodDisruptionBudgets are known to be missing."""
        return any(each.kind == "PodDisruptionBudget" and each.is_known for each in self.unreadable)

    @property
    def finishes(self) -> bool | None:
        """Report whether every pod would leave; None if it is not known."""
        return None if self.outcome == UNKNOWN else self.outcome != BLOCKED


def drain(question: DrainQuestion, dump: Dump) -> DrainAnswer:
    """Plan the drain. Raises SchedError for a node that there is not."""
    schedulers = ClusterSchedulers(dump, question.replay, question.profile)
    schedulers.check_profile()
    cluster = Cluster.of(dump.objects, lambda pod: pod)
    names = nodes_named(question.nodes, cluster)

    def configuration_of(name: str) -> Configuration:
        return schedulers.assumed(name).configuration

    answer = planned(names, dump.objects, dump, configuration_of, question.profile)
    release = configuration_of(question.profile or DEFAULT_SCHEDULER_NAME).release
    notes = (*answer.notes, *schedulers.notes, *dump.warnings, *schedulers.warnings)
    return replace(answer, kubernetes_version=str(release.version), kubernetes_patch=release.patch_name, notes=notes)


def nodes_named(texts: Sequence[str], cluster: Cluster, asked_by: str = "drain") -> list[str]:
    """Return the names of the nodes that the texts mean, each once. Raises SchedError for a text that means none."""
    found = [node.name for text in texts for node in cluster.matching(text.removeprefix("node/"), asked_by)]
    return list(dict.fromkeys(found))


def planned(
    names: Sequence[str],
    objects: Sequence[KubernetesObject],
    dump: Dump,
    configuration_of: Callable[[str], Configuration],
    profile: str | None,
) -> DrainAnswer:
    """Plan the drain of nodes of these objects, which may be those of the dump after edits."""
    nodes, left_out = snapshot_of(objects, configuration_of(DEFAULT_SCHEDULER_NAME))
    plan = drain_plan(names, objects, SeveralSchedulers(configuration_of, nodes), profile, dump.at)
    kinds = UnreadableKinds(dump=dump)
    placements, unread = left_open_placements(plan.placements, kinds, rejected_by_mixed_lists=True)
    plan = replace(plan, placements=placements)
    budgets = kinds.budgets_of(plan.concerned)
    made, refused = _made_by_karpenter(plan, objects)
    old = old_age(dump)
    return DrainAnswer(
        plan=plan,
        unreadable=(*(() if budgets is None else (budgets,)), *unread),
        new_nodes=made,
        node_groups=_node_groups(plan, objects, dump),
        notes=(*old, *left_out, *refused),
        limits=(*old, *dump.limits),
    )


def _after(plan: DrainPlan, objects: Sequence[KubernetesObject]) -> list[KubernetesObject]:
    """Return the objects with the pods where the plan has put them; pods without a node are left out."""
    rows = plan.after.existing_pods.rows.tolist()
    there = zip(plan.after.existing_pods.pods, rows, strict=True)
    bound = [pod if pod.spec.node_name else with_spec(pod, node_name=plan.after.names[row]) for pod, row in there]
    nodes = plan.after.node_objects
    others = [item for item in objects if not isinstance(item, (Pod, Node))]
    return [*nodes, *others, *bound]


def _made_by_karpenter(
    plan: DrainPlan, objects: Sequence[KubernetesObject]
) -> tuple[tuple[MadeNode, ...], tuple[str, ...]]:
    if not plan.pending or not any(isinstance(item, NodePool) for item in objects):
        return (), ()
    found = provisioned_nodes(_after(plan, objects), [each.pod for each in plan.pending], None)
    return found.nodes, found.notes


def _node_groups(plan: DrainPlan, objects: Sequence[KubernetesObject], dump: Dump) -> ClusterAutoscalerAnswer | None:
    if not plan.pending:
        return None
    then = replace(dump, objects=tuple(_after(plan, objects)))
    return cluster_autoscaler_answer(plan.pending[0].pod, then, NodeGroupFlags(), in_full=False)
