"""The affinity and anti-affinity terms of pods, parsed.

Answers to AffinityTerm in k8s.io/kube-scheduler/framework/types.go, to PodInfo.Update in
pkg/scheduler/framework/types.go and to plugin.go of pkg/scheduler/framework/plugins/interpodaffinity.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.labels import NOTHING, InvalidSelector, Selector, selector_of
from kubectl_sched.api.apimachinery.validation import aggregate
from kubectl_sched.api.component_helpers.parsed_pods import ParsedPods
from kubectl_sched.api.core import Namespace
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from kubectl_sched.api.affinity import Affinity, PodAffinity, PodAffinityTerm
    from kubectl_sched.api.meta import Labels, LabelSelector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Column, PodTable
    from kubectl_sched.snapshot.objects import Objects

_NO_LABELS: Final[Labels] = {}


class AffinityTerm(Record, frozen=True, kw_only=True):
    """Pods of some namespaces that a selector selects, and the node label that says what is near.

    Only preferred terms have a weight.
    """

    namespaces: frozenset[str]
    selector: Selector
    topology_key: str
    namespace_selector: Selector = NOTHING
    weight: int = 0

    def admits_namespace(self, namespace: str, namespace_labels: Labels = _NO_LABELS) -> bool:
        """Report whether pods of a namespace are meant, the namespace having these labels."""
        return namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)

    def matches(self, pod: Pod, namespace_labels: Labels = _NO_LABELS) -> bool:
        """Report whether a pod is meant, its namespace having these labels."""
        metadata = pod.metadata
        return self.admits_namespace(metadata.namespace, namespace_labels) and self.selector.matches(metadata.labels)

    def merged(self, objects: Objects, *, selector_stays: bool) -> AffinityTerm:
        """The term of a pod to be scheduled, the namespaces that its selector selects now being listed.

        An empty namespace selector needs no list: it matches whatever labels. See Release.namespace_selector_stays.
        """
        if self.namespace_selector.is_empty:
            return self
        selected = (
            namespace.metadata.name
            for namespace in objects.all(Namespace)
            if self.namespace_selector.matches(namespace.metadata.labels)
        )
        kept = self.namespace_selector if selector_stays else NOTHING
        return replace(self, namespaces=self.namespaces.union(selected), namespace_selector=kept)


class PodTerms:
    """All terms of a pod that has any, parsed when first asked for.

    Where one term of a list cannot be parsed, the whole list counts as empty.
    """

    def __init__(self, namespace: str, affinity: Affinity) -> None:
        self.namespace = namespace
        self.affinity = affinity

    @cached_property
    def key(self) -> Hashable:
        """Equal for pods with equal terms."""
        both = (self.affinity.pod_affinity, self.affinity.pod_anti_affinity)
        return self.namespace, msgspec.msgpack.encode(both)

    @cached_property
    def required_affinity(self) -> tuple[AffinityTerm, ...]:
        """Terms of which all must hold."""
        return self._parsed[0]

    @cached_property
    def required_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Terms of which none may hold."""
        return self._parsed[1]

    @cached_property
    def preferred_affinity(self) -> tuple[AffinityTerm, ...]:
        """Weighted terms."""
        return self._parsed[2]

    @cached_property
    def preferred_anti_affinity(self) -> tuple[AffinityTerm, ...]:
        """Weighted terms to be away from."""
        return self._parsed[3]

    @property
    def error(self) -> str | None:
        """All parse errors in upstream's words, None if there are none (what NewPodInfo fails with)."""
        return aggregate(self._errors) if self._errors else None

    @cached_property
    def _errors(self) -> tuple[str, ...]:
        return tuple(error for _, error in self._lists if error is not None)

    @cached_property
    def _parsed(self) -> tuple[tuple[AffinityTerm, ...], ...]:
        return tuple(terms for terms, _ in self._lists)

    @cached_property
    def _lists(self) -> tuple[tuple[tuple[AffinityTerm, ...], str | None], ...]:
        near, away = self.affinity.pod_affinity, self.affinity.pod_anti_affinity
        return (
            self._list("requiredAffinityTerms", _unweighted(near)),
            self._list("requiredAntiAffinityTerms", _unweighted(away)),
            self._list("preferredAffinityTerms", _weighted(near)),
            self._list("preferredAntiAffinityTerms", _weighted(away)),
        )

    def _list(
        self, name: str, stored: Iterable[tuple[PodAffinityTerm, int]]
    ) -> tuple[tuple[AffinityTerm, ...], str | None]:
        try:
            return tuple(_parse(self.namespace, term, weight) for term, weight in stored), None
        except InvalidSelector as failure:
            return (), f"{name}: {failure.reason}"


def terms_of(pod: Pod) -> PodTerms | None:
    """The terms of a pod, None for a pod with neither affinity to pods nor anti-affinity."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return None
    namespace = pod.metadata.namespace
    size = _listed(affinity.pod_affinity) + _listed(affinity.pod_anti_affinity)
    return _TERMS.of(pod, (affinity, namespace), size, lambda: PodTerms(namespace, affinity))


def listed_terms(pod: Pod) -> int:
    """Return how many terms the pod lists, of all four kinds, with their namespaces and values."""
    affinity = pod.spec.affinity
    return 0 if affinity is None else _listed(affinity.pod_affinity) + _listed(affinity.pod_anti_affinity)


def _listed(affinity: PodAffinity | None) -> int:
    if affinity is None:
        return 0
    terms = (*affinity.required, *(each.pod_affinity_term for each in affinity.preferred))
    return sum(1 + len(term.namespaces) + _values(term.label_selector) for term in terms)


def _values(selector: LabelSelector | None) -> int:
    return 0 if selector is None else sum(len(each.values) for each in selector.match_expressions)


_TERMS: Final[ParsedPods[PodTerms]] = ParsedPods()


def existing_terms(existing: PodTable) -> Column[PodTerms | None]:
    """The terms of every existing pod, parsed once per distinct terms."""
    return existing.column("affinity_terms", terms_of, key=lambda terms: None if terms is None else terms.key)


def namespace_labels(namespace: str, objects: Objects) -> Labels:
    """The labels of a namespace, none if it is not known (GetNamespaceLabelsSnapshot)."""
    found = objects.get(Namespace, namespace)
    return _NO_LABELS if found is None else found.metadata.labels


def matches_all(terms: tuple[AffinityTerm, ...], pod: Pod) -> bool:
    """Report whether there are terms and a pod meets them all (podMatchesAllAffinityTerms)."""
    return bool(terms) and all(term.matches(pod) for term in terms)


def _unweighted(affinity: PodAffinity | None) -> list[tuple[PodAffinityTerm, int]]:
    return [(term, 0) for term in affinity.required] if affinity else []


def _weighted(affinity: PodAffinity | None) -> list[tuple[PodAffinityTerm, int]]:
    return [(term.pod_affinity_term, term.weight) for term in affinity.preferred] if affinity else []


def _parse(pod_namespace: str, stored: PodAffinityTerm, weight: int) -> AffinityTerm:
    own_only = not stored.namespaces and stored.namespace_selector is None
    return AffinityTerm(
        namespaces=frozenset((pod_namespace,) if own_only else stored.namespaces),
        selector=selector_of(stored.label_selector),
        topology_key=stored.topology_key,
        namespace_selector=selector_of(stored.namespace_selector),
        weight=weight,
    )
