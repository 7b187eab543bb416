"""Removal of a node: what its autoscaler would say, and what keeps it there.

Answers to pkg/controllers/disruption and pkg/controllers/state/statenode.go of Karpenter, and to simulator/drainability
and simulator/utilization of cluster-autoscaler. Prices and timers in memory cannot be read, and are named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.karpenter import NodeClaim, NodePool
from kubectl_sched.api.meta import find_condition
from kubectl_sched.node_provisioning.karpenter.disruption_limits import is_protected_by_annotation
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.simulation.eviction_budgets import EvictionBudgets
from kubectl_sched.simulation.queue_simulation import owner_of
from kubectl_sched.sources.discovery.cluster_autoscalers import find_autoscaler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import Volume
    from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import AutoscalerOptions
    from kubectl_sched.simulation.drain_plan import DrainPlan
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources.dump.dump import Dump

KARPENTER, CLUSTER_AUTOSCALER = "Karpenter", "ClusterAutoscaler"
REMOVABLE, HELD, UNKNOWN = "Removable", "Held", "Unknown"
_NODE_POOL: Final = "karpenter.sh/nodepool"
_INITIALIZED: Final = "karpenter.sh/initialized"
_CONTROL_PLANE: Final = frozenset({"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"})
_NAMES_NONE: Final = "Never"


class Reason(Record, frozen=True, kw_only=True):
    """One thing that keeps a node; `pod` is the pod that it is about, None for the node or its autoscaler."""

    text: str
    pod: Pod | None = None

    @property
    def owner(self) -> str | None:
        """The workload of the pod."""
        return owner_of(self.pod) if self.pod is not None else None


class Removal(CachingRecord, frozen=True, kw_only=True):
    """The verdict of the autoscaler that owns the node; `by` is None where none is seen."""

    by: str | None
    verdict: str
    reasons: tuple[Reason, ...]
    facts: tuple[tuple[str, str], ...] = ()
    """Settings and numbers of the autoscaler by their names."""

    unknown: tuple[str, ...] = ()
    """Facts that the API does not tell."""


def removal_of(node: Node, plan: DrainPlan, nodes: Snapshot, dump: Dump, *, budgets_known: bool) -> Removal:
    """Judge the removal of a node; `plan` is its drain. Without budgets nothing is known to be removable."""
    removal = _judged(node, plan, nodes, dump)
    if budgets_known or removal.verdict != REMOVABLE:
        return removal
    return replace(removal, verdict=UNKNOWN, unknown=("PodDisruptionBudgets were not read", *removal.unknown))


def _judged(node: Node, plan: DrainPlan, nodes: Snapshot, dump: Dump) -> Removal:
    pool_name = node.metadata.labels.get(_NODE_POOL)
    if pool_name is not None:
        return _by_karpenter(node, pool_name, plan, dump)
    autoscaler = find_autoscaler(dump)
    if autoscaler is not None:
        return _by_cluster_autoscaler(node, plan, nodes, autoscaler.options)
    reasons = (*_of_role(node), *_of_drain(plan))
    return Removal(by=None, verdict=HELD if reasons else REMOVABLE, reasons=reasons)


def _of_role(node: Node) -> Iterator[Reason]:
    if not _CONTROL_PLANE.isdisjoint(node.metadata.labels):
        yield Reason(text="a control plane node")


def _of_drain(plan: DrainPlan) -> Iterator[Reason]:
    """Yield what blocks the node's pods, and the pods that have no other place or no controller."""
    for held in plan.blocked:
        kind, _, name = held.by.partition("/")
        budget = f"budget {name.rpartition('/')[2]} allows {held.allowed} disruptions"
        yield Reason(pod=held.pod, text=budget if kind == "PodDisruptionBudget" else held.why)
    for placed in plan.pending:
        yield Reason(pod=placed.pod, text="no other node has a place for it")
    again = {each.pod.key for each in plan.placements}
    for lost in plan.lost:
        if lost.pod.key not in again:
            yield Reason(pod=lost.pod, text="no controller makes it again")


def _by_karpenter(node: Node, pool_name: str, plan: DrainPlan, dump: Dump) -> Removal:
    pool = next((each for each in dump.others if isinstance(each, NodePool) and each.name == pool_name), None)
    claims = (each for each in dump.others if isinstance(each, NodeClaim))
    claim = next((each for each in claims if each.status.node_name == node.name), None)
    reasons = [*_of_karpenter_node(node, pool, pool_name, claim, plan), *_of_karpenter_pods(plan, dump)]
    lacking = [placed.pod for placed in plan.pending]
    unknown: list[str] = []
    if claim is None:
        unknown.append(f"no NodeClaim of {node.name} was read, so neither Consolidatable nor Drifted is known")
    if lacking:
        unknown.append(
            f"{len(lacking)} of its pods need a new node: Karpenter replaces it by a cheaper one only, and prices are "
            "not known"
        )
    unknown.append("whether the node is nominated for a pending pod is in Karpenter's memory")
    verdict = HELD if reasons else UNKNOWN if lacking or claim is None else REMOVABLE
    facts = tuple(_karpenter_facts(pool, claim)) if pool is not None else ()
    return Removal(by=KARPENTER, verdict=verdict, reasons=tuple(reasons), facts=facts, unknown=tuple(unknown))


def _of_karpenter_node(
    node: Node, pool: NodePool | None, pool_name: str, claim: NodeClaim | None, plan: DrainPlan
) -> Iterator[Reason]:
    if node.metadata.annotations.do_not_disrupt == "true":
        yield Reason(text="the node is annotated karpenter.sh/do-not-disrupt")
    if node.metadata.labels.get(_INITIALIZED) != "true":
        yield Reason(text="the node is not initialized yet")
    if pool is None:
        yield Reason(text=f"its NodePool {pool_name} was not found")
        return
    if pool.spec.replicas is not None:
        yield Reason(text=f"NodePool {pool.name} is static: it keeps {pool.spec.replicas} nodes")
    disruption, is_empty = pool.spec.disruption, not plan.leaving and not plan.blocked
    if disruption.consolidate_after == _NAMES_NONE:
        yield Reason(text=f"NodePool {pool.name} has consolidation disabled (consolidateAfter: Never)")
    if disruption.consolidation_policy == "WhenEmpty" and not is_empty:
        yield Reason(text=f"NodePool {pool.name} has consolidationPolicy WhenEmpty, and the node is not empty")
    for budget in disruption.budgets:
        if budget.nodes in {"0", "0%"} and not budget.schedule and not budget.reasons:
            yield Reason(text=f"NodePool {pool.name} has a budget that allows no disruption (nodes: {budget.nodes})")
    condition = find_condition(claim.status.conditions, "Consolidatable") if claim is not None else None
    if claim is not None and (condition is None or condition.status != "True"):
        yield Reason(
            text=f"its NodeClaim is not Consolidatable yet: consolidateAfter is {disruption.consolidate_after}"
        )


def _of_karpenter_pods(plan: DrainPlan, dump: Dump) -> Iterator[Reason]:
    for held in plan.blocked:
        name = held.by.rpartition("/")[2]
        yield Reason(pod=held.pod, text=f"pdb prevents pod evictions ({name}, {held.allowed} disruptions allowed)")
    for pod in (*plan.leaving, *(each.pod for each in plan.stays), *(each.pod for each in plan.blocked)):
        if is_protected_by_annotation(pod, dump.at):
            yield Reason(pod=pod, text="annotated karpenter.sh/do-not-disrupt")


def _karpenter_facts(pool: NodePool, claim: NodeClaim | None) -> Iterator[tuple[str, str]]:
    disruption = pool.spec.disruption
    yield "nodePool", pool.name
    yield "consolidationPolicy", disruption.consolidation_policy
    yield "consolidateAfter", disruption.consolidate_after
    for budget in disruption.budgets:
        when = f" from {budget.schedule} for {budget.duration}" if budget.schedule else ""
        why = f" for {', '.join(budget.reasons)}" if budget.reasons else ""
        yield "budget", f"{budget.nodes} nodes at once{why}{when}"
    if claim is not None:
        drifted = find_condition(claim.status.conditions, "Drifted")
        yield "drifted", "yes" if drifted is not None and drifted.status == "True" else "no"
        yield "expireAfter", claim.spec.expire_after or "not set"


def _by_cluster_autoscaler(node: Node, plan: DrainPlan, nodes: Snapshot, options: AutoscalerOptions) -> Removal:
    resource, used = utilization(node, plan, nodes, options)
    threshold = (
        options.gpu_utilization_threshold if resource not in {"cpu", "memory"} else options.utilization_threshold
    )
    reasons = []
    if not options.scales_down:
        reasons.append(Reason(text="cluster-autoscaler runs with --scale-down-enabled=false"))
    if node.metadata.annotations.scale_down_disabled == "true":
        reasons.append(Reason(text="the node is annotated cluster-autoscaler.kubernetes.io/scale-down-disabled"))
    if used >= threshold:
        reasons.append(Reason(text=f"{resource} is {used:.0%} requested: only below {threshold:.0%} it may go"))
    reasons += [*_of_drain_rules(plan, options, EvictionBudgets.of(nodes.objects)), *_of_drain(plan)]
    facts = (
        ("utilization", f"{used:.3f} ({resource})"),
        ("scale-down-utilization-threshold", f"{threshold:g}"),
        ("scale-down-unneeded-time", options.unneeded_time),
        ("scale-down-delay-after-add", options.delay_after_add),
    )
    unknown = ("how long the node has been unneeded is in cluster-autoscaler's memory",)
    once = {(each.pod.key if each.pod is not None else "", each.text): each for each in reasons}
    verdict = HELD if reasons else REMOVABLE
    return Removal(by=CLUSTER_AUTOSCALER, verdict=verdict, reasons=tuple(once.values()), facts=facts, unknown=unknown)


def utilization(node: Node, plan: DrainPlan, nodes: Snapshot, options: AutoscalerOptions) -> tuple[str, float]:
    """Return the resource that is requested most and its share (simulator/utilization/info.go).

    GPUs alone count where the node has any. With --ignore-daemonsets-utilization DaemonSet pods leave both sides.
    """
    row = nodes.row_of[node.name]
    gpus = [name for name in nodes.table.allocatable if name.endswith("/gpu") and nodes.allocatable(name)[row] > 0]
    daemons = [each.pod for each in plan.stays if each.pod.is_daemon] if options.leaves_daemon_sets_out else []
    shares = {}
    for name in gpus or ("cpu", "memory"):
        left_out = sum(nodes.resource_of(pod).requested.get(name, 0) for pod in daemons) if not gpus else 0
        whole = int(nodes.allocatable(name)[row]) - left_out
        shares[name] = (int(nodes.requested(name)[row]) - left_out) / whole if whole > 0 else 0.0
    most = max(shares, key=lambda name: shares[name])
    return most, shares[most]


def _is_on_disk(volume: Volume) -> bool:
    return volume.empty_dir is not None and volume.empty_dir.medium != "Memory"


def _of_drain_rules(plan: DrainPlan, options: AutoscalerOptions, budgets: EvictionBudgets) -> Iterator[Reason]:
    """Yield pods that cluster-autoscaler does not move (simulator/drainability/rules)."""
    for pod in (*plan.leaving, *(each.pod for each in plan.blocked)):
        annotations = pod.metadata.annotations
        if annotations.safe_to_evict == "false":
            yield Reason(pod=pod, text="annotated cluster-autoscaler.kubernetes.io/safe-to-evict: false")
        if annotations.safe_to_evict == "true":
            continue
        local = any(each.host_path is not None or _is_on_disk(each) for each in pod.spec.volumes)
        if local and options.skips_local_storage:
            yield Reason(pod=pod, text="it has local storage (--skip-nodes-with-local-storage)")
        if pod.namespace == "kube-system" and options.skips_system_pods and not budgets.covering(pod):
            yield Reason(pod=pod, text="a kube-system pod without a budget (--skip-nodes-with-system-pods)")
