"""One topology constraint of many pods, and how many pods it counts in each domain (topologygroup.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, Requirement, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import (
    is_compatible,
    label_requirements,
    merged,
    selector_requirements,
)
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.affinity import Toleration
    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.meta import LabelSelector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.topology.ties import Ties

SPREAD: Final = "topology spread"
AFFINITY: Final = "pod affinity"
ANTI_AFFINITY: Final = "pod anti-affinity"
MAX_INT32: Final = 2**31 - 1
_SHOWN_DOMAINS: Final = 25


class NodeFilter(NamedTuple):
    """The nodes on which pods are counted; without any requirement, on all (topologynodefilter.go)."""

    requirements: tuple[Requirements, ...] = ()
    taint_policy: str = ""
    affinity_policy: str = ""
    tolerations: tuple[Toleration, ...] = ()

    def matches(self, taints: Sequence[Taint], requirements: Requirements) -> bool:
        """Report whether pods on a node of these taints and requirements are counted."""
        honors = self.affinity_policy == "Honor" and bool(self.requirements)
        if honors and not any(is_compatible(requirements, each) for each in self.requirements):
            return False
        return self.taint_policy != "Honor" or tolerates_all(taints, self.tolerations)


def node_filter(pod: Pod, taint_policy: str, affinity_policy: str) -> NodeFilter:
    """The nodes that a pod's spread constraint counts on (MakeTopologyNodeFilter)."""
    selected = label_requirements(pod.spec.node_selector or {})
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    tolerations = pod.spec.tolerations
    if affinity is None or affinity.required is None:
        return NodeFilter((selected,), taint_policy, affinity_policy, tolerations)
    terms = tuple(
        merged(selected.values(), selector_requirements(term.match_expressions).values())
        for term in affinity.required.node_selector_terms
    )
    return NodeFilter(terms, taint_policy, affinity_policy, tolerations)


class Constraint(NamedTuple):
    """A topology constraint without its counts."""

    type: str
    key: str
    namespaces: frozenset[str]
    selector: Selector
    raw_selector: LabelSelector | None
    max_skew: int = MAX_INT32
    min_domains: int | None = None
    node_filter: NodeFilter = NodeFilter()

    def selects(self, pod: Pod) -> bool:
        """Report whether the constraint counts the pod."""
        return pod.namespace in self.namespaces and self.selector.matches(pod.metadata.labels)


class TopologyGroup:
    """A constraint, the pods that have it, and the count of each domain."""

    def __init__(self, constraint: Constraint, domains: Iterable[str]) -> None:
        self.constraint = constraint
        self.key = constraint.key
        self.owners: set[str] = set()
        self.domains = dict.fromkeys(domains, 0)
        self.empty_domains = set(self.domains)

    def record(self, domains: Iterable[str]) -> None:
        """Count a pod in each of the domains (Record)."""
        for domain in domains:
            self.domains[domain] = self.domains.get(domain, 0) + 1
            self.empty_domains.discard(domain)

    def register(self, domain: str) -> None:
        """Make a domain known (Register)."""
        if domain not in self.domains:
            self.domains[domain] = 0
            self.empty_domains.add(domain)

    def counts(self, pod: Pod, taints: Sequence[Taint], requirements: Requirements) -> bool:
        """Report whether a pod would be counted on a node of these taints and requirements (Counts)."""
        return self.constraint.selects(pod) and self.constraint.node_filter.matches(taints, requirements)

    def next_domains(self, pod: Pod, wanted: Requirement, offered: Requirement, ties: Ties) -> Requirement:
        """The domains that the pod may go to, out of those it wants and a node offers (Get)."""
        if self.constraint.type == SPREAD:
            return self._next_spread(pod, wanted, offered, ties)
        if self.constraint.type == AFFINITY:
            return self._next_affinity(pod, wanted, offered, ties)
        return self._next_anti_affinity(wanted, offered)

    def violation(self, wanted: Requirement, offered: Requirement) -> str:
        """Karpenter's words for a constraint that no domain meets, with the counts of now (topologyError)."""
        shown = ", ".join(f"{domain}: {self.domains[domain]}" for domain in sorted(self.domains)[:_SHOWN_DOMAINS])
        if len(self.domains) > _SHOWN_DOMAINS:
            shown += f" and {len(self.domains) - _SHOWN_DOMAINS} other(s)"
        return (
            f"unsatisfiable topology constraint for {self.constraint.type}, key={self.key} "
            f"(counts = {shown}, podDomains = {wanted}, nodeDomains = {offered}"
        )

    def _next_spread(self, pod: Pod, wanted: Requirement, offered: Requirement, ties: Ties) -> Requirement:
        own = int(self.constraint.selects(pod))
        if self.key == HOSTNAME and len(offered.values) == 1:
            (hostname,) = offered.values
            allowed = self.domains.get(hostname, 0) + own <= self.constraint.max_skew
            return Requirement(self.key, values=offered.values if allowed else frozenset())
        least = self._least_count(wanted)
        candidates = {
            domain: self.domains[domain] + own
            for domain in self._known(offered)
            if self.domains[domain] + own - least <= self.constraint.max_skew
        }
        if not candidates:
            return Requirement(self.key)
        lowest = min(candidates.values())
        best = sorted(domain for domain, count in candidates.items() if count == lowest)
        if lowest >= MAX_INT32:
            return Requirement(self.key)
        if len(best) > 1:
            ties.mark("domain")
        return requirement(self.key, IN, ties.chosen(best))

    def _least_count(self, wanted: Requirement) -> int:
        """The global minimum (domainMinCount): of host names always 0, as a node can be made."""
        if self.key == HOSTNAME:
            return 0
        counts = [count for domain, count in self.domains.items() if wanted.has(domain)]
        if self.constraint.min_domains is not None and len(counts) < self.constraint.min_domains:
            return 0
        return min(counts, default=MAX_INT32)

    def _next_affinity(self, pod: Pod, wanted: Requirement, offered: Requirement, ties: Ties) -> Requirement:
        if self.key == HOSTNAME and len(offered.values) == 1:
            (hostname,) = offered.values
            allowed = wanted.has(hostname) and (self.domains.get(hostname, 0) > 0 or self._may_begin(pod, wanted))
            return Requirement(self.key, values=offered.values if allowed else frozenset())
        found = frozenset(domain for domain in self._known(offered) if self.domains[domain] > 0 and wanted.has(domain))
        if found or not self._may_begin(pod, wanted):
            return Requirement(self.key, values=found)
        return Requirement(self.key, values=self._first_domains(wanted, offered, ties))

    def _first_domains(self, wanted: Requirement, offered: Requirement, ties: Ties) -> frozenset[str]:
        """A domain at random that both allow, and one at random that the pod wants."""
        both = wanted.intersection(offered)
        common = sorted(domain for domain in self.domains if both.has(domain))
        if len(common) > 1:
            ties.mark("domain")
        return frozenset((*ties.chosen(common), *ties.chosen(sorted(filter(wanted.has, self.domains)))))

    def _may_begin(self, pod: Pod, wanted: Requirement) -> bool:
        """Report whether the pod would be the first that its own affinity selects."""
        if not self.constraint.selects(pod):
            return False
        none_yet = len(self.domains) == len(self.empty_domains)
        return none_yet or not any(count > 0 and wanted.has(domain) for domain, count in self.domains.items())

    def _next_anti_affinity(self, wanted: Requirement, offered: Requirement) -> Requirement:
        if self.key == HOSTNAME and len(offered.values) == 1:
            (hostname,) = offered.values
            return Requirement(self.key, values=frozenset() if self.domains.get(hostname, 0) else offered.values)
        empty = frozenset(domain for domain in self.empty_domains if offered.has(domain) and wanted.has(domain))
        return Requirement(self.key, values=empty)

    def _known(self, offered: Requirement) -> Iterable[str]:
        """The known domains that a node offers."""
        if offered.operator == IN:
            return [domain for domain in offered.values if domain in self.domains]
        return [domain for domain in self.domains if offered.has(domain)]
