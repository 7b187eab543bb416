"""Copies of a node, as a cloud or an administrator would add them, with the DaemonSet pods that come along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.api.meta import Condition, ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.resource import ResourceSlice
from kubectl_sched.controllers.controller_reference import controller_reference
from kubectl_sched.controllers.daemon_set import pinned, with_daemon_tolerations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.core import Node, Taint
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import PodSpec

_TRANSIENT_PREFIXES = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_TRANSIENT_KEYS = frozenset({"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler"})


def fresh_copy(node: Node, name: str) -> Node:
    """The node under another name: Ready, uncordoned, without transient taints, images and attached volumes."""
    labels = {**node.metadata.labels, HOSTNAME: name}
    ready = Condition(type="Ready", status="True", reason="KubeletReady")
    return structs.replace(
        node,
        metadata=ObjectMeta(name=name, uid=f"whatif/Node/{name}", labels=labels, annotations=node.metadata.annotations),
        spec=structs.replace(
            node.spec,
            unschedulable=False,
            provider_id="",
            taints=tuple(taint for taint in node.spec.taints if not _is_transient(taint)),
        ),
        status=structs.replace(node.status, conditions=(ready,), images=()),
    )


def slices_of_copy(node: str, copy: str, objects: Iterable[KubernetesObject]) -> Iterator[ResourceSlice]:
    """The node's own devices, as its drivers will publish them on the copy; nobody has them yet."""
    for item in objects:
        if isinstance(item, ResourceSlice) and item.spec.node_name == node:
            name, pool = (_of_copy(text, node, copy) for text in (item.name, item.spec.pool.name))
            spec = structs.replace(item.spec, node_name=copy, pool=structs.replace(item.spec.pool, name=pool))
            yield structs.replace(item, metadata=ObjectMeta(name=name, uid=f"whatif/ResourceSlice/{name}"), spec=spec)


def _of_copy(text: str, node: str, copy: str) -> str:
    return text.replace(node, copy) if node in text else f"{text}-{copy}"


def _is_transient(taint: Taint) -> bool:
    return taint.key.startswith(_TRANSIENT_PREFIXES) or taint.key in _TRANSIENT_KEYS


def daemon_templates(objects: Iterable[KubernetesObject], pods: Iterable[Pod]) -> list[Pod]:
    """A pod of each DaemonSet, bound to no node: from its template, or where that is not known from one of its pods."""
    found: dict[str, Pod] = {}
    for item in objects:
        if isinstance(item, DaemonSet):
            template = item.spec.template
            owners = (controller_reference(item, "apps/v1"),)
            metadata = structs.replace(
                template.metadata, name=item.name, namespace=item.namespace, owner_references=owners
            )
            found[item.key] = Pod(metadata=metadata, spec=with_daemon_tolerations(template.spec))
    for pod in pods:
        controller = pod.metadata.controller
        if controller is not None and pod.is_daemon and f"{pod.namespace}/{controller.name}" not in found:
            metadata = structs.replace(pod.metadata, name=controller.name)
            found[f"{pod.namespace}/{controller.name}"] = Pod(metadata=metadata, spec=_off_its_node(pod.spec))
    return list(found.values())


def _off_its_node(spec: PodSpec) -> PodSpec:
    """Without the affinity that pins it; what the template itself required of nodes is lost in its pods."""
    affinity = spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        affinity = structs.replace(affinity, node_affinity=structs.replace(affinity.node_affinity, required=None))
    return structs.replace(spec, node_name="", affinity=affinity)


def daemon_on(node: Node, template: Pod) -> Pod:
    """The DaemonSet's pod on the node."""
    name = f"{template.name}-{node.name}"
    metadata = structs.replace(template.metadata, name=name, uid=f"whatif/{template.namespace}/{name}")
    spec = structs.replace(pinned(template.spec, node.name), node_name=node.name)
    return structs.replace(template, metadata=metadata, spec=spec)
