"""Labels that hold a pod's place among its replicas, which tell the pods of a StatefulSet or an indexed Job apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apps import ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.core import Service, ServiceSpec
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.plugins.inter_pod_affinity.terms import existing_terms, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.affinity import Affinity
    from kubectl_sched.api.meta import Labels, LabelSelector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot

_NOBODY = "\0"
"""An ordinal of nobody's: labels of the cluster have no such character."""

_LABELS = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "statefulset.kubernetes.io/pod-name",
    }
)


class Ordinals:
    """Such labels of equal pods that no selector tells from each other: their own selectors or the cluster's.

    Pods that differ in these alone are selected alike, by affinity terms and spread constraints as by the services and
    controllers that default constraints go by. A service that selects by the value of such a label is that of one pod:
    where each has one, none of them counts another by it.
    """

    def __init__(self, first: Pod, nodes: Snapshot) -> None:
        labels, namespace = first.metadata.labels, first.namespace
        keys = _LABELS & labels.keys()
        self.unasked = keys.difference(_asked_by_pods(first, nodes), _asked_by_controllers(nodes)) if keys else keys
        self._by_label: dict[tuple[str, str], list[Labels]] = {}
        for item in nodes.objects.in_namespace(Service, namespace) if self.unasked else ():
            for label in item.spec.selector.items():
                if label[0] in self.unasked:
                    self._by_label.setdefault(label, []).append(item.spec.selector)
        self._selectors = self._selectors_of(first)
        self._asked = frozenset(label[0] for selector in self._selectors for label in selector) & self.unasked
        self._in_use: set[tuple[str, str]] = set()
        for (of_pod, its_labels), _ in nodes.existing_pods.identity.counts() if self._asked else ():
            if of_pod == namespace:
                self._use(its_labels)

    def are_alike(self, pod: Pod) -> bool:
        """Report whether services select the pod as they select the first one, and no other pod by its ordinals."""
        if not self._by_label:
            return True
        labels = pod.metadata.labels
        return self._selectors_of(pod) == self._selectors and (
            not self._asked or any((key, labels.get(key)) not in self._in_use for key in self._asked)
        )

    def place(self, pod: Pod) -> None:
        """One of the pods has a node."""
        if self._asked:
            self._use(pod.metadata.labels)

    def one_more(self, first: Pod, nodes: Snapshot) -> tuple[Pod, Snapshot]:
        """One more of the pods, with ordinals that no pod has, and the cluster with its services."""
        if not self._asked:
            return first, nodes
        services = [
            Service(
                metadata=ObjectMeta(name=f"{_NOBODY}{number}", namespace=first.namespace),
                spec=ServiceSpec(selector=dict(each)),
            )
            for number, each in enumerate(self._selectors)
        ]
        labels = {key: _NOBODY if key in self.unasked else value for key, value in first.metadata.labels.items()}
        pod = replace(first, metadata=replace(first.metadata, labels=labels))
        return pod, replace(nodes, objects=nodes.objects.with_these(Service, services))

    def _selectors_of(self, pod: Pod) -> frozenset[frozenset[tuple[str, str]]]:
        """The selectors of the pod's services that ask for its ordinals, with nobody's in their places."""
        labels = pod.metadata.labels.items()
        return frozenset(
            frozenset((key, _NOBODY if key in self.unasked else value) for key, value in selector.items())
            for label in labels
            for selector in self._by_label.get(label, ())
            if selector.items() <= labels
        )

    def _use(self, labels: Labels) -> None:
        self._in_use.update((key, labels[key]) for key in self._asked if key in labels)


def asked_labels(pod: Pod, nodes: Snapshot) -> Iterator[str]:
    """Yield the keys of pods' labels that the pod's selectors and those of the cluster name."""
    yield from _asked_by_pods(pod, nodes)
    yield from _asked_by_controllers(nodes)
    yield from (key for item in nodes.objects.all(Service) for key in item.spec.selector)


def _asked_by_pods(pod: Pod, nodes: Snapshot) -> Iterator[str]:
    for terms in (terms_of(pod), *existing_terms(nodes.existing_pods).values):
        if terms is not None:
            yield from _asked_by_affinity(terms.affinity)
    for constraint in pod.spec.topology_spread_constraints:
        yield from (*_keys(constraint.label_selector), *constraint.match_label_keys)


def _asked_by_controllers(nodes: Snapshot) -> Iterator[str]:
    yield from (key for item in nodes.objects.all(ReplicationController) for key in item.spec.selector)
    yield from (key for item in nodes.objects.all(ReplicaSet) for key in _keys(item.spec.selector))
    yield from (key for item in nodes.objects.all(StatefulSet) for key in _keys(item.spec.selector))


def _asked_by_affinity(affinity: Affinity) -> Iterator[str]:
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity):
        if each is not None:
            for term in (*each.required, *(weighted.pod_affinity_term for weighted in each.preferred)):
                yield from (*_keys(term.label_selector), *term.match_label_keys, *term.mismatch_label_keys)


def _keys(selector: LabelSelector | None) -> Iterable[str]:
    if selector is None:
        return ()
    return (*selector.match_labels, *(expression.key for expression in selector.match_expressions))
