"""The constraints of a pod, its own or the defaults, and the nodes that each of them counts.

Answers to common.go and getConstraints in plugin.go of pkg/scheduler/framework/plugins/podtopologyspread, and to
DefaultSelector in pkg/scheduler/framework/plugins/helper/spread.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.affinity import TopologySpreadConstraint
from kubectl_sched.api.apimachinery.labels import InvalidSelector, Selector, selector_from_set, selector_of
from kubectl_sched.api.apps import ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.component_helpers.node_affinity import RequiredNodeAffinity
from kubectl_sched.api.component_helpers.taints import Tolerations
from kubectl_sched.api.core import HOSTNAME, ZONE, Service
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.record import Record
from kubectl_sched.snapshot.node_selection import nodes_required

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.core import Node, Taint
    from kubectl_sched.api.meta import Labels, LabelSelector, OwnerReference
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.features import Features
    from kubectl_sched.config.types import PodTopologySpreadArgs
    from kubectl_sched.framework.cycle_budget import CycleBudget
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.snapshot.objects import Objects

DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"
_HONOR: Final = "Honor"

SYSTEM_DEFAULTS: Final = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable=SCHEDULE_ANYWAY),
)


_STEPS_A_CONSTRAINT: Final = 40
_OPERATIONS: Final = 6
"""Operations on arrays of nodes and of pods for each constraint."""

_BYTES_A_NODE: Final = 20
"""Of the counts and masks that are kept for each constraint."""


class Constraint(Record, frozen=True, kw_only=True):
    """A constraint whose selector is parsed and whose defaults are filled in."""

    max_skew: int
    topology_key: str
    selector: Selector
    counts_nothing: bool = False
    """No existing pod counts, whatever the selector selects: up to 1.37 so it is with an empty selector."""
    min_domains: int = 1
    honors_node_affinity: bool = True
    honors_node_taints: bool = False


class Constraints:
    """Finds a pod's constraints, as one configured plugin does."""

    def __init__(
        self, args: PodTopologySpreadArgs | None, features: Features, *, empty_selector_counts: bool = False
    ) -> None:
        self._empty_selector_counts = empty_selector_counts
        self._system_defaulted = args is None or args.defaulting_type == "System"
        self._defaults = SYSTEM_DEFAULTS if args is None or self._system_defaulted else args.default_constraints
        self._merges_label_keys = features.enabled("MatchLabelKeysInPodTopologySpread")
        self._has_policies = features.enabled("NodeInclusionPolicyInPodTopologySpread")
        self._features = features

    def spend(self, budget: CycleBudget, pod: Pod, nodes: Snapshot) -> None:
        """Count what it takes to parse the pod's constraints and to count the pods that each of them selects."""
        own = pod.spec.topology_spread_constraints
        if not own:
            return
        budget.spend(_STEPS_A_CONSTRAINT * len(own))
        expressions = sum(1 + len(each.label_selector.match_expressions) for each in own if each.label_selector)
        values = sum(
            len(term.values) for each in own if each.label_selector for term in each.label_selector.match_expressions
        )
        keys = {each.topology_key for each in own}
        budget.spend_on_entries(values + nodes.table.unread_labels(keys))
        budget.spend_on_arrays(2 * expressions, len(nodes.existing_pods.identity.values))
        budget.spend_on_arrays(_OPERATIONS * len(own), len(nodes) + len(nodes.existing_pods))
        budget.hold(_BYTES_A_NODE * len(own) * len(nodes))

    @property
    def has_defaults(self) -> bool:
        """Report whether pods without constraints may have default ones."""
        return bool(self._defaults)

    def hard(self, pod: Pod, nodes: Snapshot) -> tuple[Constraint, ...]:
        """Constraints that keep nodes out."""
        return self._of(pod, nodes, DO_NOT_SCHEDULE, "hard")

    def soft(self, pod: Pod, nodes: Snapshot) -> tuple[Constraint, ...]:
        """Constraints that give points."""
        return self._of(pod, nodes, SCHEDULE_ANYWAY, "soft")

    def origin(self, pod: Pod) -> str:
        """Return the source of the pod's constraints: the pod, the configuration, or the system's defaults."""
        if pod.spec.topology_spread_constraints:
            return "pod"
        return "system default" if self._system_defaulted else "configured default"

    def requires_all_keys(self, pod: Pod) -> bool:
        """Report whether a node must carry every topology key to be scored; the system's defaults do without."""
        return bool(pod.spec.topology_spread_constraints) or not self._system_defaulted

    def _of(self, pod: Pod, nodes: Snapshot, action: str, kind: str) -> tuple[Constraint, ...]:
        try:
            own = pod.spec.topology_spread_constraints
            if own:
                return self._parsed(own, pod.metadata.labels, action)
            return self._defaulted(pod, nodes.objects, action)
        except InvalidSelector as failure:
            doing = "obtaining pod's" if pod.spec.topology_spread_constraints else "setting default"
            raise PluginError(f"{doing} {kind} topology spread constraints: {failure.reason}") from failure

    def _defaulted(self, pod: Pod, objects: Objects, action: str) -> tuple[Constraint, ...]:
        constraints = self._parsed(self._defaults, pod.metadata.labels, action)
        if not constraints:
            return ()
        selector = default_selector(pod, objects)
        if selector.is_empty:
            return ()
        return tuple(_with_selector(constraint, selector) for constraint in constraints)

    def _parsed(
        self, stored: Sequence[TopologySpreadConstraint], labels: Labels, action: str
    ) -> tuple[Constraint, ...]:
        return tuple(self._parse(each, labels) for each in stored if each.when_unsatisfiable == action)

    def _parse(self, stored: TopologySpreadConstraint, labels: Labels) -> Constraint:
        selector = selector_of(stored.label_selector)
        if self._merges_label_keys:
            selector = _merged({key: labels[key] for key in stored.match_label_keys if key in labels}, selector)
        affinity, taints = stored.node_affinity_policy, stored.node_taints_policy
        return Constraint(
            max_skew=stored.max_skew,
            topology_key=stored.topology_key,
            selector=selector,
            counts_nothing=selector.nothing or (selector.is_empty and not self._empty_selector_counts),
            min_domains=1 if stored.min_domains is None else stored.min_domains,
            honors_node_affinity=affinity is None or not self._has_policies or affinity == _HONOR,
            honors_node_taints=self._has_policies and taints == _HONOR,
        )

    def counted_nodes(self, pod: Pod, nodes: Snapshot, constraints: Sequence[Constraint]) -> tuple[Mask, ...]:
        """For each constraint bool[n]: the nodes that its inclusion policies let count."""
        required = RequiredNodeAffinity.of(pod)
        everywhere = np.ones(len(nodes), dtype=np.bool_)
        admitted = everywhere if required.is_empty else nodes_required(nodes.table, required)
        untainted = everywhere
        if any(constraint.honors_node_taints for constraint in constraints):
            untainted = nodes.taints.where(lambda taints: self.tolerates(pod, taints))
        return tuple(
            (admitted if constraint.honors_node_affinity else everywhere)
            & (untainted if constraint.honors_node_taints else everywhere)
            for constraint in constraints
        )

    def counts_node(self, pod: Pod, node: Node, constraint: Constraint) -> bool:
        """Report whether the constraint's inclusion policies let the node count (matchNodeInclusionPolicies)."""
        if constraint.honors_node_affinity and not RequiredNodeAffinity.of(pod).matches(
            node.metadata.labels, node.metadata.name
        ):
            return False
        return not constraint.honors_node_taints or self.tolerates(pod, node.spec.taints)

    def tolerates(self, pod: Pod, taints: tuple[Taint, ...]) -> bool:
        """Report whether no taint keeps the pod off a node."""
        return Tolerations.of(pod, self._features).first_untolerated(taints) is None


def default_selector(pod: Pod, objects: Objects) -> Selector:
    """The selector of the services and the controller that a pod belongs to; empty where it has none."""
    namespace, labels = pod.metadata.namespace, pod.metadata.labels
    wanted: dict[str, str] = {}
    for service in objects.in_namespace(Service, namespace):
        if service.spec.selector and selector_from_set(service.spec.selector).matches(labels):
            wanted |= service.spec.selector
    owner = pod.metadata.controller
    if owner is None:
        return selector_from_set(wanted)
    match _group_version_kind(owner):
        case ("", "v1", "ReplicationController"):
            controller = objects.get(ReplicationController, owner.name, namespace)
            return selector_from_set(wanted | (controller.spec.selector if controller else {}))
        case ("apps", "v1", "ReplicaSet"):
            replica_set = objects.get(ReplicaSet, owner.name, namespace)
            return _added(wanted, replica_set.spec.selector if replica_set else None)
        case ("apps", "v1", "StatefulSet"):
            stateful_set = objects.get(StatefulSet, owner.name, namespace)
            return _added(wanted, stateful_set.spec.selector if stateful_set else None)
        case _:
            return selector_from_set(wanted)


def selects_itself(pod: Pod, constraint: Constraint) -> bool:
    """Report whether the pod counts in its own constraint once it runs; an empty selector selects it, too."""
    return constraint.selector.matches(pod.metadata.labels)


def _group_version_kind(owner: OwnerReference) -> tuple[str, str, str]:
    group, slash, version = owner.api_version.rpartition("/")
    return (group if slash else "", version, owner.kind)


def _added(labels: Labels, stored: LabelSelector | None) -> Selector:
    selector = selector_from_set(labels)
    try:
        other = selector_of(stored)
    except InvalidSelector:
        return selector
    return selector if other.nothing else selector.add(*other.requirements)


def _merged(labels: Labels, selector: Selector) -> Selector:
    if not labels or selector.nothing:
        return selector
    return selector_from_set(labels).add(*selector.requirements)


def _with_selector(constraint: Constraint, selector: Selector) -> Constraint:
    return Constraint(
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        selector=selector,
        counts_nothing=selector.nothing,
        min_domains=constraint.min_domains,
        honors_node_affinity=constraint.honors_node_affinity,
        honors_node_taints=constraint.honors_node_taints,
    )
