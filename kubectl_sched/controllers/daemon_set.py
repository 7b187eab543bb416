"""DaemonSet pods: one for each node that admits it (pkg/controller/daemon)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Toleration,
)
from kubectl_sched.api.component_helpers.node_affinity import METADATA_NAME, RequiredNodeAffinity
from kubectl_sched.api.component_helpers.taints import NO_EXECUTE, Tolerations
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.controllers.controller_reference import controller_reference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.apps import DaemonSet
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import PodSpec

_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_TOLERATED_ON_HOST_NETWORK = (("node.kubernetes.io/network-unavailable", "NoSchedule"),)


def daemon_pods(item: DaemonSet, nodes: Sequence[Node]) -> list[Pod]:
    """A pod for each node on which the DaemonSet runs, each bound to its node by affinity, in name order."""
    template = item.spec.template
    spec = with_daemon_tolerations(template.spec)
    owner = controller_reference(item, "apps/v1")

    def made(node: Node) -> Pod:
        name = f"{item.name}-{node.name}"
        metadata = ObjectMeta(
            name=name,
            namespace=item.namespace,
            uid=f"whatif/{item.namespace}/{name}",
            labels=template.metadata.labels,
            annotations=template.metadata.annotations,
            owner_references=(owner,),
        )
        return Pod(metadata=metadata, spec=pinned(spec, node.name))

    return [made(node) for node in sorted(nodes, key=lambda node: node.name) if runs_on(spec, node)]


def with_daemon_tolerations(spec: PodSpec) -> PodSpec:
    """Add the tolerations that every DaemonSet pod has (AddOrUpdateDaemonPodTolerations)."""
    tolerated = _TOLERATED + (_TOLERATED_ON_HOST_NETWORK if spec.host_network else ())
    tolerations = spec.tolerations
    for key, effect in tolerated:
        added = Toleration(key=key, operator="Exists", effect=effect)
        if added not in tolerations:
            tolerations = (*tolerations, added)
    return structs.replace(spec, tolerations=tolerations)


def runs_on(spec: PodSpec, node: Node) -> bool:
    """Report whether the controller makes a pod for the node (NodeShouldRunDaemonPod)."""
    return stays_on(spec, node) and Tolerations(each=spec.tolerations).first_untolerated(node.spec.taints) is None


def stays_on(spec: PodSpec, node: Node) -> bool:
    """Report whether the controller leaves a running pod on the node: of taints, only NoExecute ends it."""
    if spec.node_name not in {"", node.name}:
        return False
    taints = (taint for taint in node.spec.taints if taint.effect == NO_EXECUTE)
    required = RequiredNodeAffinity.of(Pod(spec=spec))
    tolerations = Tolerations(each=spec.tolerations)
    return required.matches(node.metadata.labels, node.name) and tolerations.first_untolerated(taints) is None


def pinned(spec: PodSpec, node_name: str) -> PodSpec:
    """With a required affinity for the node in place of any other (ReplaceDaemonSetPodNodeNameNodeAffinity)."""
    field = NodeSelectorRequirement(key=METADATA_NAME, operator="In", values=(node_name,))
    required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
    affinity = spec.affinity or Affinity()
    node_affinity = structs.replace(affinity.node_affinity or NodeAffinity(), required=required)
    return structs.replace(spec, affinity=structs.replace(affinity, node_affinity=node_affinity))


def target_of(pod: Pod) -> str | None:
    """The node that the DaemonSet controller made the pod for, None for other pods."""
    owner = pod.metadata.controller
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    if owner is None or owner.kind != "DaemonSet" or affinity is None or affinity.required is None:
        return None
    fields = (field for term in affinity.required.node_selector_terms for field in term.match_fields)
    return next((field.values[0] for field in fields if field.key == METADATA_NAME and field.values), None)
