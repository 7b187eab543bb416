"""A group's template, made of one of its nodes (simulator/node_info_utils.go, nodeinfosprovider)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import TO_BE_DELETED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.cluster_autoscaler.autoscaler_options import AutoscalerOptions

_TEMPLATE = "cluster-autoscaler.kubernetes.io/template-node"
_BAD_CONDITIONS = frozenset({"DiskPressure", "NetworkUnavailable"})
_NOT_READY_TAINTS = frozenset({"node.kubernetes.io/not-ready", "node.kubernetes.io/disk-pressure",
                               "node.kubernetes.io/network-unavailable"})  # fmt: skip


def example_node(nodes: Sequence[Node], options: AutoscalerOptions) -> Node | None:
    """Return the node that a template is made of: a good one if there is any, the first by name; None of none."""
    ordered = sorted(nodes, key=lambda node: node.name)
    return next((node for node in ordered if _is_good(node, options)), next(iter(ordered), None))


def template_node(example: Node, name: str, options: AutoscalerOptions) -> Node:
    """Return the node under another name, without the taints that pass (createSanitizedNode)."""
    labels = {**example.metadata.labels, HOSTNAME: name, _TEMPLATE: "true"}
    return replace(
        example,
        metadata=replace(example.metadata, name=name, uid=name, labels=labels),
        spec=replace(
            example.spec,
            unschedulable=example.spec.unschedulable and not options.scales_from_unschedulable,
            taints=tuple(taint for taint in example.spec.taints if not options.is_left_out(taint)),
        ),
    )


def staying_pods(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Return the pods of the example that a fresh node would have: of DaemonSets, and mirrors of static pods."""
    present = (pod for pod in pods if pod.metadata.deletion_timestamp is None)
    return tuple(pod for pod in present if is_of_daemon_set(pod) or pod.metadata.annotations.config_mirror is not None)


def is_of_daemon_set(pod: Pod) -> bool:
    """Report whether a pod counts as one of a DaemonSet (IsDaemonSetPod)."""
    return pod.is_daemon or pod.metadata.annotations.daemonset_pod == "true"


def is_added(daemon: Pod, options: AutoscalerOptions) -> bool:
    """Report whether the pod of a DaemonSet that the example lacks is added (isPreemptingSystemNodeCritical)."""
    return options.forces_daemon_sets or (
        daemon.spec.priority_class_name == "system-node-critical"
        and daemon.spec.preemption_policy in {"", None, "PreemptLowerPriority"}
    )


def pod_of_template(pod: Pod, node_name: str) -> Pod:
    """Return the pod on the template, under a name of its own (createSanitizedPod)."""
    name = f"{pod.name}-{node_name}"
    return replace(
        pod, metadata=replace(pod.metadata, name=name, uid=name), spec=replace(pod.spec, node_name=node_name)
    )


def is_ready(node: Node, options: AutoscalerOptions) -> bool:
    """Report whether the node is ready, schedulable and started (ReadyNodeLister, FilterOutNodesWithStartupTaints)."""
    status = {each.type: each.status for each in node.status.conditions}
    return (
        status.get("Ready", "False") == "True"
        and not any(status.get(each) == "True" for each in _BAD_CONDITIONS)
        and not node.spec.unschedulable
        and not any(taint.key in _NOT_READY_TAINTS or options.is_startup_taint(taint) for taint in node.spec.taints)
    )


def _is_good(node: Node, options: AutoscalerOptions) -> bool:
    """Report whether the node is ready and not about to go (isNodeGoodTemplateCandidate)."""
    return is_ready(node, options) and not any(taint.key == TO_BE_DELETED for taint in node.spec.taints)
