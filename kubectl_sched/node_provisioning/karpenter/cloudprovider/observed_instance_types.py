"""The instance types that a cluster's own nodes show: what Karpenter has made before, it can make again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.core import ZONE
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType, Offering
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import label_requirements, merged
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import subtract

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode

_OF_THE_TYPE: Final = frozenset(
    {INSTANCE_TYPE, "kubernetes.io/arch", "kubernetes.io/os", "topology.kubernetes.io/region"}
)
_NOT_USED_UP: Final = 2**31
"""Instances assumed to be left in each reservation: only the cloud knows how many are."""

_PROVIDER_PREFIXES: Final = ("karpenter.k8s.aws/instance-", "karpenter.azure.com/sku-", "karpenter.kwok.sh/instance-")


def observed_instance_types(nodes: Iterable[StateNode]) -> tuple[InstanceType, ...]:
    """The type of each node of a NodePool, offered where such nodes are; prices are not known."""
    by_name: dict[str, list[StateNode]] = {}
    for node in nodes:
        name = node.labels.get(INSTANCE_TYPE)
        if name and node.labels.get(NODE_POOL) and node.allocatable:
            by_name.setdefault(name, []).append(node)
    return tuple(_instance_type(name, by_name[name]) for name in sorted(by_name))


def provider_labels(types: Iterable[InstanceType]) -> frozenset[str]:
    """The labels that the provider of these types defines."""
    return frozenset(key for each in types for key in each.requirements)


def _instance_type(name: str, nodes: Sequence[StateNode]) -> InstanceType:
    first = nodes[0]
    own = {
        key: value for key, value in first.labels.items() if key in _OF_THE_TYPE or key.startswith(_PROVIDER_PREFIXES)
    }
    where = {(each.labels.get(ZONE, ""), each.labels.get(CAPACITY_TYPE, "")) for each in nodes}
    requirements = merged(
        label_requirements(own).values(),
        [
            requirement(ZONE, IN, {zone for zone, _ in where}),
            requirement(CAPACITY_TYPE, IN, {capacity_type for _, capacity_type in where}),
        ],
    )
    capacity = {resource: amount for resource, amount in first.capacity.items() if resource != "nodes"}
    overhead = subtract(capacity, first.allocatable)
    kept = {resource: amount for resource, amount in overhead.items() if resource in first.allocatable}
    return InstanceType(name, requirements, tuple(_offering(*each) for each in sorted(where)), capacity, kept)


def _offering(zone: str, capacity_type: str) -> Offering:
    requirements: Requirements = label_requirements({ZONE: zone, CAPACITY_TYPE: capacity_type})
    return Offering(requirements, 0.0, reservation_capacity=_NOT_USED_UP)
