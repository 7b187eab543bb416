"""All topology constraints of the pods to be placed, and of the pods that are there (topology.go)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.labels import (
    EQUALS,
    EVERYTHING,
    NOTHING,
    OF_LABEL_SELECTOR,
    InvalidSelector,
    requirement,
    selector_of,
)
from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.api.meta import LabelSelectorRequirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import label_requirements, of_key
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all
from kubectl_sched.node_provisioning.karpenter.topology.topology_group import (
    AFFINITY,
    ANTI_AFFINITY,
    SPREAD,
    Constraint,
    TopologyGroup,
    node_filter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.affinity import PodAffinity, PodAffinityTerm, TopologySpreadConstraint
    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.core import Namespace, Node, Taint
    from kubectl_sched.api.meta import LabelSelector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode
    from kubectl_sched.node_provisioning.karpenter.topology.ties import Ties

Domains: TypeAlias = "dict[str, dict[str, list[tuple[Taint, ...]]]]"
"""The domains of each key that NodePools could make, with the taints of the nodes in them."""


class Surroundings(NamedTuple):
    """The part of the cluster that topology constraints see."""

    nodes: Mapping[str, Node]
    state_nodes: Sequence[StateNode]
    pods: Mapping[str, Sequence[Pod]]
    """Every pod of each namespace."""

    namespaces: Sequence[Namespace]
    anti_affine: Sequence[tuple[Pod, Node]]
    """The pods on nodes that require anti-affinity."""


class Violation(NamedTuple):
    """The first constraint that no domain meets; its text has the counts of when it is read."""

    text: Callable[[], str]


class Topology:
    """The groups of constraints. Placing a pod changes their counts."""

    def __init__(
        self,
        around: Surroundings,
        domains: Domains,
        pods: Sequence[Pod],
        *,
        respects_preferences: bool,
        ties: Ties,
    ) -> None:
        self._around = around
        self._domains = domains
        self._excluded = {pod.key for pod in pods}
        self._respects_preferences = respects_preferences
        self._ties = ties
        self.groups: dict[Hashable, TopologyGroup] = {}
        self.inverse_groups: dict[Hashable, TopologyGroup] = {}
        self._owned: dict[str, set[Hashable]] = defaultdict(set)
        for pod, node in around.anti_affine:
            if pod.key not in self._excluded:
                self._add_inverse(pod, node.metadata.labels)
        for pod in pods:
            self.update(pod)

    def update(self, pod: Pod) -> None:
        """Let the pod own the groups of its constraints as they are now, and no others (Update)."""
        key = pod.key
        for known in self._owned.pop(key, ()):
            self.groups[known].owners.discard(key)
        terms = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity is not None else None
        if terms is not None and (terms.required or (self._respects_preferences and terms.preferred)):
            self._add_inverse(pod, {})
        for constraint in (*self._spreads(pod), *self._affinities(pod)):
            identity = _identity(constraint)
            group = self.groups.get(identity)
            if group is None:
                group = self.groups[identity] = self._new_group(constraint, pod)
                self._count(group)
            elif constraint.node_filter != group.constraint.node_filter or (
                constraint.min_domains != group.constraint.min_domains
            ):
                self._ties.mark("shared topology")
            group.owners.add(key)
            self._owned[key].add(identity)

    def record(self, pod: Pod, taints: Sequence[Taint], requirements: Requirements) -> None:
        """Count a pod that was placed on a node of these taints and requirements (Record)."""
        for group in self.groups.values():
            if group.counts(pod, taints, requirements):
                domains = of_key(requirements, group.key)
                if group.constraint.type == ANTI_AFFINITY or domains.only_value is not None:
                    group.record(domains.values)
        for group in self.inverse_groups.values():
            if pod.key in group.owners:
                group.record(of_key(requirements, group.key).values)

    def register(self, key: str, domain: str) -> None:
        """Make a domain known to every group of its key (Register)."""
        for group in (*self.groups.values(), *self.inverse_groups.values()):
            if group.key == key:
                group.register(domain)

    def tightened(
        self, pod: Pod, taints: Sequence[Taint], wanted: Requirements, node: Requirements
    ) -> Requirements | Violation:
        """The requirements on the constraints' keys, narrowed to domains that meet them (AddRequirements)."""
        narrowed: Requirements = {}
        for groups in self._matching(pod, taints, node):
            violated = []
            for group in groups:
                domains = group.next_domains(pod, of_key(wanted, group.key), of_key(node, group.key), self._ties)
                if not domains.values:
                    violated.append(group)
                    continue
                known = narrowed.get(group.key) or node.get(group.key)
                narrowed[group.key] = domains if known is None else domains.intersection(known)
            if violated:
                return _violation(violated, wanted, node)
        return narrowed

    def _matching(self, pod: Pod, taints: Sequence[Taint], node: Requirements) -> Iterator[Iterable[TopologyGroup]]:
        """The groups that the pod owns, then those whose owners repel it (getMatchingTopologies)."""
        yield [self.groups[identity] for identity in self._owned.get(pod.key, ())]
        yield [group for group in self.inverse_groups.values() if group.counts(pod, taints, node)]

    def _add_inverse(self, pod: Pod, labels: Mapping[str, str]) -> None:
        """Remember which pods a pod's required anti-affinity repels (updateInverseAntiAffinity)."""
        terms = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity is not None else None
        for term in terms.required if terms is not None else ():
            constraint = self._of_term(ANTI_AFFINITY, pod, term)
            identity = _identity(constraint)
            group = self.inverse_groups.get(identity)
            if group is None:
                group = self.inverse_groups[identity] = self._new_group(constraint, pod)
            if term.topology_key in labels:
                group.record([labels[term.topology_key]])
            group.owners.add(pod.key)

    def _new_group(self, constraint: Constraint, pod: Pod) -> TopologyGroup:
        """A group with the domains that NodePools could make (NewTopologyGroup, ForEachDomain)."""
        known = self._domains.get(constraint.key, {})
        ignoring = constraint.node_filter.taint_policy == "Ignore"
        reached = [
            domain
            for domain, taint_sets in known.items()
            if ignoring or any(tolerates_all(taints, pod.spec.tolerations) for taints in taint_sets)
        ]
        return TopologyGroup(constraint, reached)

    def _count(self, group: TopologyGroup) -> None:
        """Count the pods on nodes (countDomains)."""
        constraint = group.constraint
        for state in self._around.state_nodes:
            node, domain = state.node, state.labels.get(group.key)
            if node is None or domain is None:
                continue
            if constraint.node_filter.matches(node.spec.taints, label_requirements(node.metadata.labels)):
                group.register(domain)
        selector = _listing(constraint.raw_selector)
        for namespace in constraint.namespaces:
            for pod in self._around.pods.get(namespace, ()):
                node = self._around.nodes.get(pod.spec.node_name)
                if node is None or self._is_ignored(pod) or not selector.matches(pod.metadata.labels):
                    continue
                labels = node.metadata.labels
                domain = labels.get(group.key, node.name if group.key == HOSTNAME else None)
                if domain is not None and constraint.node_filter.matches(node.spec.taints, label_requirements(labels)):
                    group.record([domain])

    def _is_ignored(self, pod: Pod) -> bool:
        """Report whether a pod is not counted: it has ended, is going, or is one of those to be placed."""
        return pod.has_ended or pod.metadata.deletion_timestamp is not None or pod.key in self._excluded

    def _spreads(self, pod: Pod) -> Iterator[Constraint]:
        for each in pod.spec.topology_spread_constraints:
            if self._respects_preferences or each.when_unsatisfiable == "DoNotSchedule":
                yield _of_spread(pod, each)

    def _affinities(self, pod: Pod) -> Iterator[Constraint]:
        affinity = pod.spec.affinity
        if affinity is None:
            return
        for kind, terms in ((AFFINITY, affinity.pod_affinity), (ANTI_AFFINITY, affinity.pod_anti_affinity)):
            if terms is not None:
                for term in self._terms(terms):
                    yield self._of_term(kind, pod, term)

    def _terms(self, terms: PodAffinity) -> Iterable[PodAffinityTerm]:
        preferred = [each.pod_affinity_term for each in terms.preferred] if self._respects_preferences else []
        return (*terms.required, *preferred)

    def _of_term(self, kind: str, pod: Pod, term: PodAffinityTerm) -> Constraint:
        return Constraint(
            kind,
            term.topology_key,
            self._namespaces(pod, term),
            _selector(term.label_selector),
            term.label_selector,
        )

    def _namespaces(self, pod: Pod, term: PodAffinityTerm) -> frozenset[str]:
        """The namespaces of a term (buildNamespaceList)."""
        if not term.namespaces and term.namespace_selector is None:
            return frozenset({pod.namespace})
        if term.namespace_selector is None:
            return frozenset(term.namespaces)
        selector = selector_of(term.namespace_selector)
        chosen = (each.name for each in self._around.namespaces if selector.matches(each.metadata.labels))
        return frozenset((*term.namespaces, *chosen))


def _violation(groups: Sequence[TopologyGroup], wanted: Requirements, node: Requirements) -> Violation:
    """Of several constraints that no domain meets the first by text; upstream's order is left to chance."""

    def text() -> str:
        return min(group.violation(of_key(wanted, group.key), of_key(node, group.key)) for group in groups)

    return Violation(text)


def _of_spread(pod: Pod, spread: TopologySpreadConstraint) -> Constraint:
    selector = spread.label_selector
    added = tuple(
        LabelSelectorRequirement(key=key, operator="In", values=(pod.metadata.labels[key],))
        for key in spread.match_label_keys
        if key in pod.metadata.labels
    )
    if added and selector is not None:
        selector = replace(selector, match_expressions=(*selector.match_expressions, *added))
    return Constraint(
        SPREAD,
        spread.topology_key,
        frozenset({pod.namespace}),
        _selector(selector),
        selector,
        spread.max_skew,
        spread.min_domains,
        node_filter(pod, spread.node_taints_policy or "Ignore", spread.node_affinity_policy or "Honor"),
    )


def _selector(selector: LabelSelector | None) -> Selector:
    try:
        return selector_of(selector)
    except InvalidSelector:
        return NOTHING


def _listing(selector: LabelSelector | None) -> Selector:
    """The pods that are listed to be counted (TopologyListOptions): without a selector all, though it selects none."""
    if selector is None:
        return EVERYTHING
    try:
        return EVERYTHING.add(
            *(requirement(key, EQUALS, (value,)) for key, value in selector.match_labels.items()),
            *(
                requirement(each.key, OF_LABEL_SELECTOR.get(each.operator, ""), each.values)
                for each in selector.match_expressions
            ),
        )
    except InvalidSelector:
        return NOTHING


def _identity(constraint: Constraint) -> Hashable:
    """Return what makes two constraints one group (Hash).

    Upstream's hash leaves out minDomains and everything of a node filter's requirements but their labels, and of equal
    elements of a list each pair cancels out.
    """
    chosen = constraint.node_filter
    terms = _unpaired(frozenset((key, each.min_values) for key, each in term.items()) for term in chosen.requirements)
    tolerations = _unpaired(
        (each.key, each.operator, each.value, each.effect, each.toleration_seconds or 0) for each in chosen.tolerations
    )
    return (
        constraint.key,
        constraint.type,
        constraint.namespaces,
        constraint.max_skew,
        terms,
        chosen.taint_policy,
        chosen.affinity_policy,
        tolerations,
        _selector_identity(constraint.raw_selector),
    )


def _selector_identity(selector: LabelSelector | None) -> Hashable:
    if selector is None:
        return None
    expressions = frozenset((each.key, each.operator, _unpaired(each.values)) for each in selector.match_expressions)
    return expressions, frozenset(selector.match_labels.items())


def _unpaired(items: Iterable[Hashable]) -> frozenset[Hashable]:
    found: set[Hashable] = set()
    for item in items:
        found ^= {item}
    return frozenset(found)
