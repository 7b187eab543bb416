"""The devices of a cluster as the simulation begins (pkg/controllers/provisioning/dra.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from kubectl_sched.config.versions import RELEASES, KubeVersion
from kubectl_sched.dynamic_resource_allocation.devices import PoolSlice
from kubectl_sched.dynamic_resource_allocation.selectors import Selectors
from kubectl_sched.node_provisioning.karpenter.dynamicresources.claim_allocator import ClaimAllocator, DevicesOfCluster
from kubectl_sched.node_provisioning.karpenter.dynamicresources.held_devices import held_devices
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import INSTANCE_TYPE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode
    from kubectl_sched.node_provisioning.karpenter.topology.ties import Ties

_SELECTORS_OF: Final = KubeVersion(1, 35, 0)
"""The Kubernetes release whose selectors of devices Karpenter is built with."""


def claim_allocator(
    cluster: Cluster, nodes: Sequence[StateNode], leaving: Collection[str], options: Options, ties: Ties
) -> ClaimAllocator | None:
    """Return the devices of the nodes and of the whole cluster; None if Karpenter ignores claims.

    `leaving` are the UIDs of pods that move off their nodes.
    """
    if options.ignores_devices:
        return None
    claims = cluster.of(ResourceClaim)
    devices = DevicesOfCluster(
        [PoolSlice(published=each) for each in cluster.of(ResourceSlice) if _counts(each, nodes)],
        held_devices(claims, leaving),
        {each.name: each for each in cluster.of(DeviceClass)},
        {each.key: each for each in claims},
        leaving,
    )
    selectors = Selectors(RELEASES[_SELECTORS_OF].devices, list_attributes=False, sees_sharing=True)
    return ClaimAllocator(
        devices, selectors, options.well_known, ties, knows_alternatives=options.release.reads_alternatives
    )


def with_observed_devices(types: Iterable[InstanceType], cluster: Cluster) -> tuple[InstanceType, ...]:
    """Return the types with the devices that drivers publish of a node of each type, where there is one."""
    published: dict[str, list[PoolSlice]] = {}
    for each in cluster.of(ResourceSlice):
        owner = _owning_node(each)
        if owner is not None:
            published.setdefault(owner, []).append(PoolSlice(published=each))
    shown: dict[str, tuple[PoolSlice, ...]] = {}
    for node in cluster.state_nodes:
        if node.is_initialized and node.name in published:
            shown.setdefault(node.labels.get(INSTANCE_TYPE, ""), tuple(published[node.name]))
    return tuple(each.with_devices(shown[each.name]) if each.name in shown else each for each in types)


def expected_devices(node: StateNode, types: Iterable[InstanceType]) -> tuple[PoolSlice, ...]:
    """Return the devices that drivers will publish of a node that is not initialized yet."""
    if node.is_initialized:
        return ()
    kind = node.labels.get(INSTANCE_TYPE)
    return next((each.device_slices for each in types if each.name == kind), ())


def _counts(published: ResourceSlice, nodes: Iterable[StateNode]) -> bool:
    """Report whether a slice is of no node, or of one that takes pods and is initialized (gatherResourceSlices)."""
    owner = _owning_node(published)
    return owner is None or any(each.is_initialized and each.node is not None and each.name == owner for each in nodes)


def _owning_node(published: ResourceSlice) -> str | None:
    return next((each.name for each in published.metadata.owner_references if each.kind == "Node"), None)
