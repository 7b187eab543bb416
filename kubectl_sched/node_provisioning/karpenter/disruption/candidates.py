"""Nodes that Karpenter considers for removal, and what keeps others from it (NewCandidate, statenode.go)."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.core import ZONE
from kubectl_sched.api.karpenter import NodePool
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.policy import PodDisruptionBudget
from kubectl_sched.node_provisioning.karpenter.disruption_limits import DisruptionLimits, is_protected_by_annotation
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, INSTANCE_TYPE, NODE_POOL
from kubectl_sched.node_provisioning.karpenter.provisionable_pods import is_owned_by, is_reschedulable
from kubectl_sched.record import CachingRecord, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType
    from kubectl_sched.node_provisioning.karpenter.cluster import Cluster
    from kubectl_sched.node_provisioning.karpenter.operator_options import Options
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode

NODE_COST: Final = 1.0
"""The disruption cost of a node without pods (PerNodeBaseDisruptionCost)."""

_PROTECTED: Final = 'Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation'
_MOST_COST: Final = 10.0
_MAX_INT32: Final = 2**31 - 1
_DELETION_COST_UNIT: Final = 2.0**27
_PRIORITY_UNIT: Final = 2.0**25
_WHOLE: Final = re.compile(r"[+-]?\d{1,12}", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class Obstacle(Record, frozen=True, kw_only=True):
    """One thing for which a node is no candidate, in Karpenter's words; `pod` is the pod that it is about."""

    said: str
    pod: Pod | None = None
    budget: str = ""
    """The PodDisruptionBudget that it is about."""


class Candidate(CachingRecord, frozen=True, kw_only=True):
    """A node, its NodePool, and what its removal would cost and save."""

    state: StateNode
    pool: NodePool
    instance_type: InstanceType | None
    cost: float
    """The disruption cost of the node and of its pods that would be placed anew."""

    @property
    def name(self) -> str:
        """The node's name."""
        return self.state.name

    @property
    def capacity_type(self) -> str:
        """On-demand, spot or reserved; empty if the node does not say."""
        return self.state.labels.get(CAPACITY_TYPE, "")

    @property
    def price(self) -> float:
        """The price of the node's offering, 0 if it is not known (resolveNodePrice)."""
        return price_of(self.instance_type, self.state.labels)

    @property
    def is_empty(self) -> bool:
        """Report whether no pod of the node costs anything to place anew."""
        return self.cost <= NODE_COST


class CandidateJudge:
    """The cluster that candidates are looked for in."""

    def __init__(self, cluster: Cluster, types: Mapping[str, Sequence[InstanceType]], options: Options) -> None:
        self._now = cluster.at
        self._options = options
        self._pools = {each.name: each for each in cluster.of(NodePool)}
        self._types = types
        self._limits = DisruptionLimits(cluster.of(PodDisruptionBudget), cluster.at)
        self._pods: dict[str, list[Pod]] = {}
        for pod in cluster.of(Pod):
            self._pods.setdefault(pod.spec.node_name, []).append(pod)

    def pods_of(self, state: StateNode) -> list[Pod]:
        """Return the pods of a node, those that have ended among them."""
        return self._pods.get(state.node.name, []) if state.node is not None else []

    def obstacles(self, state: StateNode) -> list[Obstacle]:
        """Return why the node itself is no candidate, whatever runs there (ValidateNodeDisruptable)."""
        said = self._node_obstacle(state)
        return [Obstacle(said=said)] if said else []

    def pod_obstacles(self, state: StateNode) -> list[Obstacle]:
        """Return the pods that keep the node from being a candidate (ValidatePodsDisruptable).

        Karpenter names the first only: a pod with the annotation, else a pod with a budget.
        """
        pods = self.pods_of(state)
        protected = [pod for pod in pods if is_live(pod) and is_protected_by_annotation(pod, self._now)]
        annotated = [
            Obstacle(said=f'Pod has "karpenter.sh/do-not-disrupt" annotation (Pod={pod.key})', pod=pod)
            for pod in protected
        ]
        return [*annotated, *(found for pod in pods for found in self._budget_obstacles(pod))]

    def candidate(self, state: StateNode) -> Candidate:
        """Return the node as a candidate; only for a node without obstacles of its own."""
        pool = self._pools[state.node_pool]
        name = state.labels.get(INSTANCE_TYPE, "")
        kind = next((each for each in self._types.get(pool.name, ()) if each.name == name), None)
        moved = [pod for pod in self.pods_of(state) if is_reschedulable(pod)]
        return Candidate(state=state, pool=pool, instance_type=kind, cost=disruption_cost(moved, self._options))

    def _node_obstacle(self, state: StateNode) -> str:
        if state.claim is None:
            return "Node isn't managed by karpenter"
        if state.node is None:
            return "Nodeclaim does not have an associated node"
        is_known = state.node_pool in self._pools and bool(self._types.get(state.node_pool))
        checks = (
            *self._stage_checks(state),
            (state.node.metadata.annotations.do_not_disrupt != "true", _PROTECTED),
            (NODE_POOL in state.labels, f"Node doesn't have required label (label={NODE_POOL})"),
            (is_known, f"NodePool not found (NodePool={state.node_pool})"),
        )
        return next((said for holds, said in checks if not holds), "")

    def _stage_checks(self, state: StateNode) -> Iterator[tuple[bool, str]]:
        """Yield whether the node is at a stage of its life at which it can go, and what is said if not."""
        going = (not state.is_being_deleted, "Node is deleting or marked for deletion")
        if not self._options.release.reboots_nodes:
            yield state.is_initialized, "Node isn't initialized"
            yield going
            return
        yield not state.is_rebooting, "Node is rebooting"
        yield going
        yield state.is_initialized or state.is_registered, "Node isn't initialized nor registered"
        yield state.is_initialized, "Node isn't initialized"

    def _budget_obstacles(self, pod: Pod) -> Iterator[Obstacle]:
        if is_protected_by_annotation(pod, self._now):
            return
        holding = self._limits.holding(pod)
        names = [each.key for each in holding]
        if len(names) > 1:
            said = f"Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[{' '.join(names)}])"
            yield Obstacle(said=said, pod=pod, budget=names[0])
        elif names:
            said = f"Pdb prevents pod evictions (PodDisruptionBudget=[{names[0]}])"
            yield Obstacle(said=said, pod=pod, budget=names[0])


def is_live(pod: Pod) -> bool:
    """Report whether a pod has neither ended nor is being deleted (IsActive)."""
    return not pod.has_ended and pod.metadata.deletion_timestamp is None


def price_of(kind: InstanceType | None, labels: Mapping[str, str]) -> float:
    """Return the price of the first offering with the zone and the capacity type of the labels; 0 if there is none."""
    zone, capacity_type = labels.get(ZONE, ""), labels.get(CAPACITY_TYPE, "")
    offerings = kind.offerings if kind is not None else ()
    found = (each.price for each in offerings if (each.zone, each.capacity_type) == (zone, capacity_type))
    price = next(found, 0.0)
    return 0.0 if math.isnan(price) else price


def disruption_cost(pods: Iterable[Pod], options: Options) -> float:
    """Return the disruption cost of a node with these pods; pods whose cost is below 0 make it no less."""
    cost = NODE_COST
    for pod in pods:  # one after the other, as Go adds floats
        cost += max(0.0, eviction_cost(pod, options))
    return cost


def eviction_cost(pod: Pod, options: Options) -> float:
    """Return the cost of evicting a pod: 1, more or less by its deletion cost and its priority (EvictionCost)."""
    cost = 1.0 + _stated_cost(pod, options) / _DELETION_COST_UNIT
    if pod.spec.priority is not None:
        cost += pod.spec.priority / _PRIORITY_UNIT
    return min(max(cost, -_MOST_COST), _MOST_COST)


def _stated_cost(pod: Pod, options: Options) -> float:
    """Return the cost that an annotation states; 0 if none does that can be read."""
    own, general = pod.metadata.annotations.disruption_cost, pod.metadata.annotations.deletion_cost
    if not options.release.reads_disruption_cost:
        return float(general) if general is not None and _NUMBER.fullmatch(general) is not None else 0.0
    if own is None and options.manages_deletion_costs:
        return 0.0
    stated = own if own is not None else general
    is_whole = stated is not None and _WHOLE.fullmatch(stated) is not None
    cost = int(stated) if stated is not None and is_whole else 0
    return float(cost) if -_MAX_INT32 - 1 <= cost <= _MAX_INT32 else 0.0


def stays_with_node(pod: Pod) -> bool:
    """Report whether a pod's cost is not counted against its node: a DaemonSet runs it."""
    return is_owned_by(pod, "apps/v1", "DaemonSet")
