"""The instance types that a cluster's own nodes show: what Karpenter has made before, it can make again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.core import ZONE
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType, Offering
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import DOES_NOT_EXIST, IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import label_requirements, merged
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import subtract

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.providers import Provider
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode

_OF_THE_TYPE: Final = frozenset(
    {INSTANCE_TYPE, "kubernetes.io/arch", "kubernetes.io/os", "topology.kubernetes.io/region"}
)
_NOT_USED_UP: Final = 2**31
"""Instances assumed to be left in each reservation: only the cloud knows how many are."""


def observed_instance_types(nodes: Iterable[StateNode], found: Sequence[Provider]) -> tuple[InstanceType, ...]:
    """The type of each node of a NodePool, offered where such nodes are; prices are not known.

    A label of types that these nodes lack, though they have others of the provider, is one that the type has not.
    """
    by_name: dict[str, list[StateNode]] = {}
    for node in nodes:
        name = node.labels.get(INSTANCE_TYPE)
        if name and node.labels.get(NODE_POOL) and node.allocatable:
            by_name.setdefault(name, []).append(node)
    prefixes = tuple(each.type_prefix for each in found)
    of_types = {each.type_prefix + name for each in found for name in each.type_labels}
    return tuple(_instance_type(name, by_name[name], prefixes, of_types) for name in sorted(by_name))


def _instance_type(
    name: str, nodes: Sequence[StateNode], prefixes: tuple[str, ...], of_types: set[str]
) -> InstanceType:
    first = nodes[0]
    own = {key: value for key, value in first.labels.items() if key in _OF_THE_TYPE or key.startswith(prefixes)}
    shows_provider = any(key.startswith(prefixes) for key in own)
    absent = [requirement(key, DOES_NOT_EXIST) for key in of_types - own.keys() if shows_provider]
    where = {(each.labels.get(ZONE, ""), each.labels.get(CAPACITY_TYPE, "")) for each in nodes}
    requirements = merged(
        label_requirements(own).values(),
        absent,
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
