"""Affinity, tolerations and topology spread constraints of a pod (k8s.io/api/core/v1/types.go)."""

import msgspec

from kubectl_sched.api.meta import Int32, Int64, LabelSelector, LabelSelectorRequirement, Part


class NodeSelectorRequirement(LabelSelectorRequirement, frozen=True, cache_hash=True):
    """`key operator values`; besides the label operators there are Gt and Lt."""


class NodeSelectorTerm(Part, frozen=True, cache_hash=True):
    """All of its requirements must hold; an empty term matches nothing."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Part, frozen=True):
    """Any of its terms must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Part, frozen=True):
    """A node that matches gets the weight."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Part, frozen=True):
    """The nodes that a pod requires and prefers."""

    required: NodeSelector | None = msgspec.field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: tuple[PreferredSchedulingTerm, ...] | None = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )
    """None is not the same as no term: with an empty list every node gets a score, 0."""


class PodAffinityTerm(Part, frozen=True):
    """Pods to be near to, or away from, in terms of a topology key."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Part, frozen=True):
    """A preferred term."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Part, frozen=True):
    """Required and preferred terms, of affinity or of anti-affinity."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(
        name="requiredDuringSchedulingIgnoredDuringExecution", default=()
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=()
    )


class Affinity(Part, frozen=True):
    """All affinities of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None

    @property
    def pod_terms(self) -> list[PodAffinityTerm]:
        """All terms about other pods: required and preferred, of affinity and of anti-affinity."""
        parts = [each for each in (self.pod_affinity, self.pod_anti_affinity) if each is not None]
        return [
            term for part in parts for term in (*part.required, *(each.pod_affinity_term for each in part.preferred))
        ]


class Toleration(Part, frozen=True):
    """`operator` is Equal (also when empty), Exists, or behind a feature gate Lt or Gt; an empty effect matches all."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(Part, frozen=True):
    """The largest allowed difference in matching pods between the values of a node label."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()
