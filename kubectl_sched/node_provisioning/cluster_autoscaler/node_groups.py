"""Node groups by the labels of their providers, joined to the names in cluster-autoscaler's status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.core import ZONE
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubectl_sched.api.core import Node
    from kubectl_sched.node_provisioning.cluster_autoscaler.status_config_map import GroupStatus

_OF_KARPENTER = "karpenter.sh/nodepool"
_EKSCTL_CLUSTER = "alpha.eksctl.io/cluster-name"
_SCALE_SET = "/virtualmachinescalesets/"
_GKE_GROUP = pattern(r".{0,400}/zones/([a-z0-9-]{1,63})/instanceGroups/(gke-[a-z0-9-]{1,63})-[0-9a-f]{8}-grp")
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"

EKS = "eks.amazonaws.com/nodegroup"
EKSCTL = "alpha.eksctl.io/nodegroup-name"
GKE = "cloud.google.com/gke-nodepool"
AKS = ("kubernetes.azure.com/agentpool", "agentpool")
KOPS = "kops.k8s.io/instancegroup"
CLUSTER_API = "node.cluster.x-k8s.io/nodegroup"
LABELS = (EKS, EKSCTL, GKE, *AKS, KOPS, CLUSTER_API)
"""The labels by which providers name node groups."""


class NodeGroup(CachingRecord, frozen=True, kw_only=True):
    """A node group: its nodes, those of --node-template, and its status if that could be joined."""

    name: str
    nodes: tuple[Node, ...] = ()
    templates: tuple[Node, ...] = ()
    status: GroupStatus | None = None


class _Membership(NamedTuple):
    """The group of one node: its name, and a test of a name in the status."""

    name: str
    is_named: Callable[[str], bool]


def node_groups(
    nodes: Iterable[Node], templates: Iterable[Node], statuses: Iterable[GroupStatus], label: str | None
) -> tuple[NodeGroup, ...]:
    """Return the groups of the nodes and of the status, by name.

    `label` is looked at before the labels of providers. A template that no rule gives a group is a group of its own.
    """
    found: dict[str, NodeGroup] = {}
    known = tuple(statuses)
    for node, is_template in (*((node, False) for node in nodes), *((node, True) for node in templates)):
        membership = _membership(node, label) or (_exactly(node.name) if is_template else None)
        if membership is None:
            continue
        fitting = [each for each in known if membership.is_named(each.name)]
        status = fitting[0] if len(fitting) == 1 else None
        group = found.get(membership.name, NodeGroup(name=membership.name, status=status))
        found[membership.name] = NodeGroup(
            name=group.name,
            nodes=group.nodes if is_template else (*group.nodes, node),
            templates=(*group.templates, node) if is_template else group.templates,
            status=group.status if group.status == status else None,
        )
    joined = {group.status.name for group in found.values() if group.status is not None}
    empty = (NodeGroup(name=each.name, status=each) for each in known if each.name not in joined)
    return tuple(sorted((*found.values(), *empty), key=lambda group: group.name))


def gke_pool(group: NodeGroup) -> str:
    """Return what the names of one node pool's instance groups have in common; empty for other groups."""
    found = _GKE_GROUP.fullmatch(group.status.name) if group.status is not None else None
    return found[2] if found is not None else ""


def gke_zone(group: NodeGroup) -> str:
    """Return the zone of an instance group, as its address says; empty for other groups."""
    found = _GKE_GROUP.fullmatch(group.status.name) if group.status is not None else None
    return found[1] if found is not None else ""


def _membership(node: Node, label: str | None) -> _Membership | None:
    labels = node.metadata.labels
    if label is not None and label in labels:
        return _exactly(labels[label])
    if _OF_KARPENTER in labels:
        return None
    key = next((key for key in LABELS if key in labels), "")
    name = re.escape(labels.get(key, ""))
    if key == GKE:
        return _of_instance_group(node)
    if not key or key == CLUSTER_API:
        return _of_machines(node)
    forms = {
        EKS: rf"eks-{name}-{_UUID}",
        EKSCTL: rf"eksctl-{re.escape(labels.get(_EKSCTL_CLUSTER, ''))}-nodegroup-{name}-NodeGroup-\w+",
        KOPS: rf"{name}(?:\..+)?",
    }
    return _Membership(labels[key], _matching(forms[key]) if key in forms else _of_scale_set(node, name))


def _exactly(name: str) -> _Membership:
    return _Membership(name, lambda status: status == name)


def _matching(text: str) -> Callable[[str], bool]:
    form = re.compile(text)
    return lambda status: form.fullmatch(status) is not None


def _of_instance_group(node: Node) -> _Membership:
    """The managed instance group of a GKE node: it has the node's name but for the last part, and `grp`."""
    group = f"{node.name.rpartition('-')[0]}-grp"
    zone = node.metadata.labels.get(ZONE)
    path = f"/instanceGroups/{group}"
    return _Membership(group, lambda status: status.endswith(path if zone is None else f"/zones/{zone}{path}"))


def _of_scale_set(node: Node, pool: str) -> Callable[[str], bool]:
    """The virtual machine scale set that the providerID of an AKS node names; without one, the pool's name tells."""
    _, found, rest = node.spec.provider_id.casefold().partition(_SCALE_SET)
    if found:
        return lambda status: status.casefold() == rest.partition("/")[0]
    return _matching(rf"(?:aks-)?{pool}(?:-\w+-vmss)?")


def _of_machines(node: Node) -> _Membership | None:
    """The MachineDeployment, MachineSet or MachinePool that a node of the Cluster API names as its machine's owner.

    Other owners, such as a KubeadmControlPlane, cannot be scaled.
    """
    annotations = node.metadata.annotations
    owner, namespace = annotations.machine_owner, annotations.machine_namespace or ""
    own = node.metadata.labels.get(CLUSTER_API)
    if own is None and annotations.machine_owner_kind not in {None, "MachineSet", "MachinePool"}:
        return None
    if owner is None:
        return _exactly(own) if own is not None else None
    deployment = owner.rpartition("-")[0]
    names = {f"{kind}/{namespace}/{owner}" for kind in ("MachineSet", "MachinePool")}
    return _Membership(own or owner, (names | {f"MachineDeployment/{namespace}/{deployment}"}).__contains__)
