"""Finds the terms of existing pods that may mean a given pod, without asking all of them.

Clusters have thousands of distinct terms, nearly all about one namespace and one value of one label. So each is filed
under those, and a pod is looked up by its own.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.labels import HOLDS_VALUE
from kubectl_sched.plugins.inter_pod_affinity.terms import existing_terms

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import TypeAlias

    from kubectl_sched.api.meta import Labels
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.inter_pod_affinity.terms import AffinityTerm, PodTerms
    from kubectl_sched.snapshot import PodTable

    Label: TypeAlias = tuple[str, str]


_MOST_PLACES = 64
"""Pairs of a namespace and a label that one term is filed under."""


class TermKind(Enum):
    """In which list of a pod's affinity a term stands."""

    REQUIRED_AFFINITY = "requiredAffinity"
    REQUIRED_ANTI_AFFINITY = "requiredAntiAffinity"
    PREFERRED_AFFINITY = "preferredAffinity"
    PREFERRED_ANTI_AFFINITY = "preferredAntiAffinity"


class FiledTerm(NamedTuple):
    """A term, and the code that its pods have in the column of existing terms."""

    code: int
    kind: TermKind
    term: AffinityTerm


class TermIndex:
    """Terms by namespace (None: any) and by a label that the pod must have (None: none in particular)."""

    def __init__(self) -> None:
        self._filed: dict[tuple[str | None, Label | None], list[FiledTerm]] = {}
        self._owners: dict[tuple[str | None, Label | None], Counter[str]] = {}
        """By place, the number of terms of each namespace that has such pods."""
        self._size = 0

    def grow(self, distinct: Sequence[PodTerms | None]) -> None:
        """File what has been added since the last time; the sequence only ever grows."""
        for code in range(self._size, len(distinct)):
            terms = distinct[code]
            if terms is not None:
                owner = terms.namespace
                self._file(owner, code, TermKind.REQUIRED_AFFINITY, terms.required_affinity)
                self._file(owner, code, TermKind.REQUIRED_ANTI_AFFINITY, terms.required_anti_affinity)
                self._file(owner, code, TermKind.PREFERRED_AFFINITY, terms.preferred_affinity)
                self._file(owner, code, TermKind.PREFERRED_ANTI_AFFINITY, terms.preferred_anti_affinity)
        self._size = max(self._size, len(distinct))

    def _file(self, owner: str, code: int, kind: TermKind, terms: Sequence[AffinityTerm]) -> None:
        for term in terms:
            if term.selector.nothing:
                continue
            namespaces, labels = _places(term)
            for namespace in namespaces:
                for label in labels:
                    self._filed.setdefault((namespace, label), []).append(FiledTerm(code, kind, term))
                    self._owners.setdefault((namespace, label), Counter())[owner] += 1

    def matching(self, pod: Pod, namespace_labels: Labels) -> Iterator[FiledTerm]:
        """The terms that mean the pod, whose namespace has these labels."""
        for place in _places_of(pod):
            for filed in self._filed.get(place, ()):
                if filed.term.matches(pod, namespace_labels):
                    yield filed

    def asked(self, pod: Pod) -> Iterator[tuple[str, int]]:
        """The number of terms that the pod is compared with, by the namespace whose pods have them."""
        for place in _places_of(pod):
            yield from self._owners.get(place, {}).items()


def _places_of(pod: Pod) -> Iterator[tuple[str | None, Label | None]]:
    labels: list[Label | None] = [None, *pod.metadata.labels.items()]
    return ((namespace, label) for namespace in (pod.metadata.namespace, None) for label in labels)


def _places(term: AffinityTerm) -> tuple[Collection[str | None], list[Label | None]]:
    """The namespaces and the labels that the term is filed under; of many of both, only the fewer are used."""
    namespaces: Collection[str | None] = term.namespaces if term.namespace_selector.nothing else (None,)
    labels = _required_labels(term)
    if len(namespaces) * len(labels) <= _MOST_PLACES:
        return namespaces, labels
    return (namespaces, [None]) if len(namespaces) < len(labels) else ((None,), labels)


def _required_labels(term: AffinityTerm) -> list[Label | None]:
    """The values, of one key, of which a pod must have one; None if the selector requires no value."""
    for requirement in term.selector.requirements:
        if requirement.operator in HOLDS_VALUE:
            return [(requirement.key, value) for value in dict.fromkeys(requirement.values)]
    return [None]


def terms_matching(existing: PodTable, pod: Pod, namespace_labels: Labels) -> Iterator[FiledTerm]:
    """The terms of existing pods that mean the pod, once for each distinct set of terms."""
    return index_of(existing).matching(pod, namespace_labels)


def index_of(existing: PodTable) -> TermIndex:
    """The index of the terms of all existing pods."""
    index = existing.derived("affinity_term_index", TermIndex)
    index.grow(existing_terms(existing).values)
    return index
