"""From a cluster to the nodes that Karpenter would make for its pods (pkg/controllers/provisioning/provisioner.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.api.core import Namespace
from kubectl_sched.api.karpenter import NodeOverlay, NodePool
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.policy import PodDisruptionBudget
from kubectl_sched.api.storage import CSINode
from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_table import InstanceTypeTable
from kubectl_sched.node_provisioning.karpenter.cloudprovider.node_overlays import overlaid
from kubectl_sched.node_provisioning.karpenter.daemons import DaemonOverheadGroup, DaemonPods, daemon_set_pods
from kubectl_sched.node_provisioning.karpenter.default_spread import with_default_spread
from kubectl_sched.node_provisioning.karpenter.disruption_limits import DisruptionLimits
from kubectl_sched.node_provisioning.karpenter.dynamicresources.cluster_devices import claim_allocator, expected_devices
from kubectl_sched.node_provisioning.karpenter.existing_node import ExistingNode, Usage
from kubectl_sched.node_provisioning.karpenter.instance_type_filter import Demand, Filtered, filter_instance_types
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import INSTANCE_TYPE
from kubectl_sched.node_provisioning.karpenter.node_claim import Simulation
from kubectl_sched.node_provisioning.karpenter.node_claim_template import (
    NodeClaimTemplate,
    template_labels,
    template_requirements,
)
from kubectl_sched.node_provisioning.karpenter.outcome import Outcome, outcome_of
from kubectl_sched.node_provisioning.karpenter.provisionable_pods import (
    is_owned_by,
    is_provisionable,
    validation_error,
)
from kubectl_sched.node_provisioning.karpenter.reserved_capacity import Reservations
from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import host_ports
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import (
    label_requirements,
    with_sorted_preferences,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import merge, requests_for_pods, subtract
from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import (
    MissingVolumeObject,
    Storage,
    pod_volumes,
    together,
    volume_requirements,
)
from kubectl_sched.node_provisioning.karpenter.solver import NO_REMOVAL, Removal, Setting, Solver, Template
from kubectl_sched.node_provisioning.karpenter.topology.domains import pool_domains
from kubectl_sched.node_provisioning.karpenter.topology.ties import Ties
from kubectl_sched.node_provisioning.karpenter.topology.topology_constraints import Surroundings, Topology

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeVar

    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode

    T = TypeVar("T", bound=KubernetesObject)

NO_NODE_POOLS = "no dynamic nodepools found"


class Demanders(NamedTuple):
    """The pods that need nodes, and why others are ignored, by namespace/name."""

    pods: list[Pod]
    ignored: dict[str, str]


def provision(
    cluster: Cluster,
    instance_types: Mapping[str, Sequence[InstanceType]],
    options: Options,
    only: str | None = None,
    *,
    left_out: str = "",
    seed: int | None = None,
    removal: Removal = NO_REMOVAL,
) -> Outcome:
    """Replay one round of Karpenter (Schedule); the instance types are by NodePool.

    All pods that need nodes are placed, or `only` the one with this namespace/name. The NodePool of the name
    `left_out` is as if it were not there. With a seed, what Karpenter leaves to chance is decided at random.
    `removal` has the rules of a round that asks whether a node can go.
    """
    needing = demanders(cluster, options)
    if only is not None:
        needing = needing._replace(pods=[pod for pod in needing.pods if pod.key == only])
    pools = [each for each in usable_pools(cluster.of(NodePool)) if each.name != left_out]
    if not pools:
        return Outcome(ignored=needing.ignored, errors=dict.fromkeys((pod.key for pod in needing.pods), NO_NODE_POOLS))
    nodes = [each for each in cluster.state_nodes if not each.is_being_deleted]
    return _solved(cluster, _Round(pools, needing, nodes, instance_types, options, removal), Ties(seed))


def provision_apart(
    cluster: Cluster, pod: Pod, pool: NodePool, types: Sequence[InstanceType], options: Options
) -> Outcome:
    """Replay Karpenter for one pod and one NodePool, as if no node that is there could take the pod."""
    return _solved(
        cluster,
        _Round(
            [pool],
            Demanders([with_sorted_preferences(pod)], {}),
            [],
            {each.name: types for each in cluster.of(NodePool)},
            options,
        ),
        Ties(),
    )


class _Round(NamedTuple):
    """One simulation: the NodePools, the pods, the nodes, the instance types and the settings."""

    pools: Sequence[NodePool]
    needing: Demanders
    nodes: Sequence[StateNode]
    """The nodes that may take pods; all that are there count against limits."""

    instance_types: Mapping[str, Sequence[InstanceType]]
    options: Options
    removal: Removal = NO_REMOVAL


def _solved(cluster: Cluster, asked: _Round, ties: Ties) -> Outcome:
    pools, options = asked.pools, asked.options
    instance_types = asked.instance_types
    if options.applies_overlays:
        instance_types = overlaid(
            instance_types,
            cluster.of(NodePool),
            cluster.of(NodeOverlay),
            options.well_known,
            options.restricted_domains,
        )
    tables = _tables(pools, instance_types, options)
    pods = with_default_spread(asked.needing.pods, cluster, options)
    volumes, reachable = _volume_requirements(pods, cluster.storage)
    active = [each for each in cluster.state_nodes if not each.is_being_deleted]
    topology = Topology(
        _surroundings(cluster, active),
        pool_domains(pools, tables),
        ties.ordered(reachable),
        respects_preferences=options.respects_preferences,
        ties=ties,
    )
    daemons = DaemonPods(
        daemon_set_pods(cluster.of(DaemonSet), cluster.of(Pod)), ignores_devices=options.ignores_devices
    )
    leaving = {pod.metadata.uid for pod in asked.needing.pods if pod.spec.node_name}
    devices = claim_allocator(cluster, asked.nodes, leaving, options, ties)
    templates = _templates(pools, tables, daemons, options)
    reservations = Reservations(tables.values(), options.reservation_label)
    nodes = [
        ExistingNode(
            each,
            _usage(each, cluster, _volume_limits(each, cluster, tables, options)),
            requests_for_pods(*daemons.on_node(each.taints, label_requirements(each.labels))),
            topology,
            devices,
            expected_devices(each, tables[each.node_pool].types) if each.node_pool in tables else (),
        )
        for each in asked.nodes
    ]
    solver = Solver(
        Setting(
            templates,
            sorted(nodes, key=lambda each: (not each.state.is_initialized, each.state.name)),
            remaining_resources(pools, active),
            cluster.storage,
            volumes,
            Simulation(topology, reservations, options.reserves_capacity, ties, not asked.removal.falls_back, devices),
            options,
            any(taint.effect == "PreferNoSchedule" for pool in pools for taint in pool.spec.template.spec.taints),
            asked.removal,
        )
    )
    solver.solve(pods)
    return outcome_of(solver, nodes, asked.needing.ignored, options, ties)


def demanders(cluster: Cluster, options: Options) -> Demanders:
    """The pending pods and those of nodes that go away (GetPendingPods)."""
    pods, ignored = [], {}
    for pod in cluster.of(Pod):
        if is_provisionable(pod):
            wrong = validation_error(pod, cluster.storage, options)
            if wrong:
                ignored[pod.key] = wrong
            else:
                pods.append(with_sorted_preferences(pod))
    leaving = {each.node.name for each in cluster.state_nodes if each.is_being_deleted and each.node is not None}
    if leaving:
        limits = DisruptionLimits(cluster.of(PodDisruptionBudget), cluster.at)
        pods += (pod for pod in cluster.of(Pod) if pod.spec.node_name in leaving and limits.lets_go(pod))
    return Demanders(pods, ignored)


def usable_pools(pools: Iterable[NodePool]) -> list[NodePool]:
    """The NodePools that Karpenter makes nodes of, in the order in which it tries them (OrderByWeight)."""
    usable = [
        each
        for each in pools
        if each.spec.replicas is None and each.is_ready and each.metadata.deletion_timestamp is None
    ]
    by_name = sorted(usable, key=lambda pool: pool.name, reverse=True)
    return sorted(by_name, key=lambda pool: -(pool.spec.weight or 0))


def _tables(
    pools: Sequence[NodePool], instance_types: Mapping[str, Sequence[InstanceType]], options: Options
) -> dict[str, InstanceTypeTable]:
    """The instance types of each NodePool that has any; NodePools with the same share a table."""
    tables: dict[str, InstanceTypeTable] = {}
    for pool in pools:
        types = instance_types.get(pool.name, ())
        if types:
            shared = (table for name, table in tables.items() if instance_types[name] is types)
            tables[pool.name] = next(shared, None) or InstanceTypeTable(types, options.well_known, options.release)
    return tables


def _templates(
    pools: Sequence[NodePool], tables: Mapping[str, InstanceTypeTable], daemons: DaemonPods, options: Options
) -> tuple[Template, ...]:
    templates = []
    for pool in pools:
        if pool.name in tables:
            found = node_claim_template(pool, tables[pool.name], options)
            if found is not None:
                templates.append(Template(found, daemons.overhead_groups(found)))
    return tuple(templates)


def node_claim_template(pool: NodePool, table: InstanceTypeTable, options: Options) -> NodeClaimTemplate | None:
    """A NodePool with the instance types that its requirements leave; None if they leave none."""
    requirements = template_requirements(pool)
    everything = DaemonOverheadGroup(tuple(range(len(table.types))), table.everything, {}, {})
    found = filter_instance_types(
        table,
        table.everything,
        [everything],
        Demand(requirements, {}, {}),
        relaxes_min_values=options.relaxes_min_values,
    )
    if not isinstance(found, Filtered):
        return None
    return NodeClaimTemplate(
        pool.name, template_labels(pool), pool.spec.template.spec.taints, requirements, table, found.mask
    )


def _volume_requirements(
    pods: Iterable[Pod], storage: Storage
) -> tuple[dict[str, tuple[Requirements, ...]], list[Pod]]:
    """The alternatives of each pod's volumes, and the pods of which they are known."""
    found, known = {}, []
    for pod in pods:
        try:
            found[pod.key] = tuple(volume_requirements(pod, storage))
        except MissingVolumeObject:
            continue
        known.append(pod)
    return found, known


def _surroundings(cluster: Cluster, active: Sequence[StateNode]) -> Surroundings:
    known = {each.node.name for each in cluster.state_nodes if each.node is not None}
    anti_affine = [
        (pod, cluster.nodes[name])
        for name, pods in cluster.pods_by_node.items()
        if name in known
        for pod in pods
        if _requires_anti_affinity(pod)
    ]
    return Surroundings(cluster.nodes, active, cluster.pods_by_namespace, cluster.of(Namespace), anti_affine)


def _requires_anti_affinity(pod: Pod) -> bool:
    terms = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity is not None else None
    return terms is not None and bool(terms.required)


def remaining_resources(pools: Iterable[NodePool], nodes: Iterable[StateNode]) -> dict[str, Resources]:
    """Return what each NodePool's limits leave beside its nodes."""
    remaining = {pool.name: parse_resource_list(pool.spec.limits) for pool in pools}
    for node in nodes:
        if node.node_pool in remaining:
            remaining[node.node_pool] = subtract(remaining[node.node_pool], node.capacity)
    return remaining


def _usage(state: StateNode, cluster: Cluster, volume_limits: Mapping[str, int]) -> Usage:
    """Return what the pods on a node use; volumes whose objects are missing are left out."""
    pods = cluster.pods_by_node.get(state.node.name, []) if state.node is not None else []
    volumes: dict[str, frozenset[str]] = {}
    for pod in pods:
        try:
            volumes = together(volumes, pod_volumes(pod, cluster.storage))
        except MissingVolumeObject:
            continue
    owned = [pod for pod in pods if is_owned_by(pod, "apps/v1", "DaemonSet")]
    return Usage(
        merge(*map(requests_for_pods, pods)),
        merge(*map(requests_for_pods, owned)),
        {pod.key: host_ports(pod) for pod in pods},
        volumes,
        volume_limits,
    )


def _volume_limits(
    state: StateNode, cluster: Cluster, tables: Mapping[str, InstanceTypeTable], options: Options
) -> dict[str, int]:
    """Return the volumes that a node takes by driver: as its CSINode says, else as its type does in newer releases.

    Of nodes whose NodePool makes no nodes now, Karpenter does not look at the type.
    """
    name = state.node.name if state.node is not None else None
    found = next((each for each in cluster.of(CSINode) if each.name == name), None)
    drivers = found.spec.drivers if found is not None else ()
    if not options.release.limits_volumes_by_type:
        return {each.name: each.allocatable.count or 0 for each in drivers if each.allocatable is not None}
    kinds = tables[state.node_pool].types if state.node_pool in tables else ()
    kind = next((each for each in kinds if each.name == state.labels.get(INSTANCE_TYPE)), None)
    stated = {each.name: each.allocatable.count if each.allocatable is not None else None for each in drivers}
    limits = {**(kind.volume_limits if kind is not None else {}), **stated}
    return {driver: limit for driver, limit in limits.items() if limit is not None}
