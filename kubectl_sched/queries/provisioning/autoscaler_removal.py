"""cluster-autoscaler's word on the removal of a node (core/scaledown, simulator/drainability and utilization)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import moment, seconds_between
from kubectl_sched.api.core import Node
from kubectl_sched.api.meta import find_condition
from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import DELETION_CANDIDATE, TO_BE_DELETED
from kubectl_sched.node_provisioning.cluster_autoscaler.node_groups import node_groups
from kubectl_sched.queries.provisioning.removal_verdict import (
    BUDGET,
    CLUSTER_AUTOSCALER,
    HELD,
    NODE,
    POD,
    REMOVABLE,
    ROOM,
    Reason,
    Removal,
    reasons_of_drain,
)
from kubectl_sched.simulation.eviction_budgets import EvictionBudgets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.pod_volumes import Volume
    from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import AutoscalerOptions
    from kubectl_sched.node_provisioning.cluster_autoscaler.node_groups import NodeGroup
    from kubectl_sched.simulation.drain_plan import DrainPlan
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources.discovery.cluster_autoscalers import FoundAutoscaler
    from kubectl_sched.sources.dump.dump import Dump

_UNNEEDED: Final = "how long the node has been unneeded is in cluster-autoscaler's memory"
_GRACE_SECONDS: Final = 30
_EXTRA_SECONDS: Final = 30
"""The time beyond its grace after which a pod that is being deleted is not counted (IsPodLongTerminating)."""

_SAID: Final = {BUDGET: "BlockedByPod: NotEnoughPdb", POD: "BlockedByPod: NotReplicated", ROOM: "NoPlaceToMovePods"}


class AutoscalerRemovals:
    """The scale-down of a cluster-autoscaler over a dump."""

    def __init__(self, found: FoundAutoscaler, nodes: Snapshot, dump: Dump) -> None:
        self._options = found.options
        self._nodes = nodes
        self._now = dump.at
        self._budgets = EvictionBudgets.of(nodes.objects)
        there = [each for each in dump.objects if isinstance(each, Node)]
        self._groups: dict[str, NodeGroup] = {
            node.name: group for group in node_groups(there, (), found.groups or (), None) for node in group.nodes
        }
        self._has_status = found.groups is not None

    def of(self, node: Node, plan: DrainPlan) -> Removal:
        """Judge the removal of a node by its own arithmetic and rules."""
        reasons = (
            *self._of_node(node),
            *self._of_group(node),
            *self._of_utilization(node, plan),
            *_of_pods(plan, self._options, self._budgets),
            *(
                Reason(text=each.text, pod=each.pod, kind=each.kind, said=_SAID.get(each.kind, ""))
                for each in reasons_of_drain(plan)
                if each.pod is None or not (each.kind == POD and _is_safe(each.pod))
            ),
        )
        once = {(each.pod.key if each.pod is not None else "", each.text): each for each in reasons}
        unneeded = self._unneeded_for(node)
        unknown = (_UNNEEDED,) if unneeded is None else ()
        return Removal(
            by=CLUSTER_AUTOSCALER,
            verdict=HELD if once else REMOVABLE,
            reasons=tuple(once.values()),
            facts=tuple(self._facts(node, plan)),
            unknown=unknown,
        )

    def _of_node(self, node: Node) -> Iterator[Reason]:
        if not self._options.scales_down:
            yield Reason(text="cluster-autoscaler runs with --scale-down-enabled=false")
        if any(each.key == TO_BE_DELETED for each in node.spec.taints):
            yield Reason(text="the node is being deleted", kind=NODE, said="CurrentlyBeingDeleted")
        if node.metadata.annotations.scale_down_disabled == "true":
            text = "the node is annotated cluster-autoscaler.kubernetes.io/scale-down-disabled"
            yield Reason(text=text, kind=NODE, said="ScaleDownDisabledAnnotation")
        ready = find_condition(node.status.conditions, "Ready")
        if not self._options.scales_down_unready and ready is not None and ready.status != "True":
            text = "the node is not ready (--scale-down-unready-enabled=false)"
            yield Reason(text=text, kind=NODE, said="ScaleDownUnreadyDisabled")

    def _of_group(self, node: Node) -> Iterator[Reason]:
        group = self._groups.get(node.name)
        status = group.status if group is not None else None
        if status is not None and status.size <= status.min:
            text = f"its node group {status.name} has its minimum of {status.min} nodes"
            yield Reason(text=text, said="NodeGroupMinSizeReached")
        if group is None and self._has_status:
            text = "no node group of cluster-autoscaler's status is known to have it"
            yield Reason(text=text, said="NotAutoscaled")

    def _of_utilization(self, node: Node, plan: DrainPlan) -> Iterator[Reason]:
        resource, used = self._utilization(node, plan)
        threshold = self._threshold(resource)
        if used >= threshold:
            text = f"{resource} is {used:.0%} requested: only below {threshold:.0%} it may go"
            yield Reason(text=text, said="NotUnderutilized")

    def _threshold(self, resource: str) -> float:
        is_gpu = resource not in {"cpu", "memory"}
        return self._options.gpu_utilization_threshold if is_gpu else self._options.utilization_threshold

    def _utilization(self, node: Node, plan: DrainPlan) -> tuple[str, float]:
        """Return the resource that decides and the share of it that is requested (utilization/info.go).

        GPUs alone count where the node has any, else the larger of cpu and memory. Pods that should have ended are
        not counted, and DaemonSet and static pods leave both sides where flags say so.
        """
        nodes, row = self._nodes, self._nodes.row_of[node.name]
        gpus = [name for name in nodes.table.allocatable if name.endswith("/gpu") and nodes.allocatable(name)[row] > 0]
        pods = [*plan.concerned, *(each.pod for each in plan.stays)]
        left_out = [pod for pod in pods if self._is_left_out(pod)]
        overdue = [pod for pod in pods if pod not in left_out and self._is_overdue(pod)]
        shares = {}
        for name in gpus[:1] or ("memory", "cpu"):
            aside, gone = (
                sum(nodes.resource_of(pod).requested.get(name, 0) for pod in some) for some in (left_out, overdue)
            )
            whole = int(nodes.allocatable(name)[row]) - aside
            shares[name] = (int(nodes.requested(name)[row]) - aside - gone) / whole if whole > 0 else 0.0
        most = max(shares, key=lambda name: shares[name])
        return most, shares[most]

    def _is_left_out(self, pod: Pod) -> bool:
        options = self._options
        return (options.leaves_daemon_sets_out and pod.is_daemon) or (options.leaves_static_pods_out and pod.is_static)

    def _is_overdue(self, pod: Pod) -> bool:
        since = seconds_between(pod.metadata.deletion_timestamp, self._now)
        grace = pod.spec.termination_grace_period_seconds
        return since is not None and since > (_GRACE_SECONDS if grace is None else grace) + _EXTRA_SECONDS

    def _unneeded_for(self, node: Node) -> float | None:
        """Return for how many seconds the node has been unneeded, by the taint that tells; None without it."""
        taint = next((each for each in node.spec.taints if each.key == DELETION_CANDIDATE), None)
        now = moment(self._now)
        if taint is None or now is None or not (taint.value.isascii() and taint.value.isdecimal()):
            return None
        return now.timestamp() - int(taint.value[:12])

    def _facts(self, node: Node, plan: DrainPlan) -> Iterator[tuple[str, str]]:
        resource, used = self._utilization(node, plan)
        is_gpu = resource not in {"cpu", "memory"}
        name = "scale-down-gpu-utilization-threshold" if is_gpu else "scale-down-utilization-threshold"
        yield "utilization", f"{used:.3f} ({resource})"
        yield name, f"{self._threshold(resource):g}"
        yield "scale-down-unneeded-time", self._options.unneeded_time
        yield "scale-down-delay-after-add", self._options.delay_after_add
        unneeded = self._unneeded_for(node)
        if unneeded is not None:
            yield "unneededFor", f"{unneeded / 60:.0f} min"
        group = self._groups.get(node.name)
        if group is not None and group.status is not None:
            status = group.status
            yield "nodeGroup", f"{status.name}, {status.size} of {status.min} to {status.max} nodes"
            if status.scale_down:
                yield "scaleDown", f"{status.scale_down}, {status.candidates} candidates"


def _is_safe(pod: Pod) -> bool:
    return pod.metadata.annotations.safe_to_evict == "true"


def _is_on_disk(volume: Volume) -> bool:
    return volume.empty_dir is not None and volume.empty_dir.medium != "Memory"


def _of_pods(plan: DrainPlan, options: AutoscalerOptions, budgets: EvictionBudgets) -> Iterator[Reason]:
    """Yield pods that cluster-autoscaler does not move (simulator/drainability/rules)."""
    for pod in plan.concerned:
        if pod.metadata.annotations.safe_to_evict == "false":
            text = "annotated cluster-autoscaler.kubernetes.io/safe-to-evict: false"
            yield Reason(pod=pod, text=text, kind=POD, said="BlockedByPod: NotSafeToEvictAnnotation")
        if _is_safe(pod):
            continue
        local = any(each.host_path is not None or _is_on_disk(each) for each in pod.spec.volumes)
        if local and options.skips_local_storage:
            text = "it has local storage (--skip-nodes-with-local-storage)"
            yield Reason(pod=pod, text=text, kind=POD, said="BlockedByPod: LocalStorageRequested")
        if pod.namespace == "kube-system" and options.skips_system_pods and not budgets.covering(pod):
            text = "a kube-system pod without a budget (--skip-nodes-with-system-pods)"
            yield Reason(pod=pod, text=text, kind=POD, said="BlockedByPod: UnmovableKubeSystemPod")
