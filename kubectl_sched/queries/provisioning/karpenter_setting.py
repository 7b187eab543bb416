"""The setting of a replay of Karpenter: its options, its provider's labels, and the instance types that are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.apps import Deployment
from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.api.meta import Condition
from kubectl_sched.api.pod import Pod
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_types_file import (
    instance_types_of_file,
    well_known_labels,
)
from kubectl_sched.node_provisioning.karpenter.cloudprovider.observed_instance_types import observed_instance_types
from kubectl_sched.node_provisioning.karpenter.cloudprovider.providers import (
    providers_of,
    reservation_label,
    with_provider_labels,
)
from kubectl_sched.node_provisioning.karpenter.dynamicresources.cluster_devices import with_observed_devices
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CORE_WELL_KNOWN
from kubectl_sched.node_provisioning.karpenter.operator_options import options_of
from kubectl_sched.node_provisioning.karpenter.provisionable_pods import failed_to_schedule
from kubectl_sched.sources.discovery.karpenter_deployment import find_karpenter

if TYPE_CHECKING:
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options


class Setting(NamedTuple):
    """The instance types, Karpenter's options, and what is assumed about both."""

    types: tuple[InstanceType, ...]
    options: Options
    assumed: tuple[str, ...]
    pools: tuple[str, ...]
    """The names of all NodePools."""

    knows_all_types: bool
    """All instance types were handed over; else they are those that nodes show."""

    unknown_groups: frozenset[str]
    """The API groups of NodeClasses whose provider's labels are not known here."""


def setting(cluster: Cluster, instance_types: tuple[bytes, str] | None) -> Setting:
    """Read the setting of a cluster; `instance_types` is the content of a file and its path.

    Raises SchedError if the file is unusable.
    """
    karpenter = find_karpenter((*cluster.of(Pod), *cluster.of(Deployment)))
    groups = {pool.spec.template.spec.node_class_ref.group for pool in cluster.of(NodePool)}
    found = providers_of(groups)
    unknown = frozenset(groups - {each.group for each in found})
    if instance_types is not None:
        types = instance_types_of_file(*instance_types)
        well_known = CORE_WELL_KNOWN | well_known_labels(types)
    else:
        types = observed_instance_types(cluster.state_nodes, found)
        well_known = CORE_WELL_KNOWN | {key for each in types for key in each.requirements}
    types = tuple(with_provider_labels(each, found) for each in types)
    options = options_of(
        karpenter.flags,
        well_known.union(*(each.well_known for each in found)),
        [each.restricted_domain for each in found],
        reservation_label(found, types),
        karpenter.release,
        karpenter.default_constraints,
    )
    assumed = (*karpenter.assumed, *_about_types(types, is_file=instance_types is not None))
    if not options.ignores_devices:
        types = with_observed_devices(types, cluster)
    assumed += tuple(f"the labels of the provider {each} are not known here" for each in sorted(unknown))
    pools = tuple(pool.name for pool in cluster.of(NodePool))
    return Setting(types, options, assumed, pools, instance_types is not None, unknown)


def unschedulable(pod: Pod, nominated_node: str = "") -> Pod:
    """The pod as kube-scheduler leaves one that fits nowhere, or not before its preemption is over."""
    if failed_to_schedule(pod):
        return pod
    others = tuple(each for each in pod.status.conditions if each.type != "PodScheduled")
    said = Condition(type="PodScheduled", status="False", reason="Unschedulable")
    status = replace(pod.status, phase="Pending", nominated_node_name=nominated_node, conditions=(*others, said))
    return replace(pod, status=status)


def _about_types(types: tuple[InstanceType, ...], *, is_file: bool) -> tuple[str, ...]:
    unseen: tuple[str, ...] = ("no instance type is out of stock",)
    if is_file:
        return unseen
    if any(offering.is_reserved for each in types for offering in each.offerings):
        unseen = (*unseen, "no reservation is used up")
    seen = (
        f"the instance types are the {len(types)} that nodes of NodePools have, where they have them, at equal prices; "
        "--instance-types FILE names all"
        if types
        else "no instance type is known, as no node of a NodePool shows one; --instance-types FILE names them"
    )
    return (*unseen, seen)
