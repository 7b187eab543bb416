"""Labels that hold a pod's place among its replicas, which tell the pods of a StatefulSet or an indexed Job apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apps import ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.core import Service
from kubectl_sched.plugins.inter_pod_affinity.terms import existing_terms, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.affinity import Affinity
    from kubectl_sched.api.meta import LabelSelector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Snapshot

_LABELS = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
        "statefulset.kubernetes.io/pod-name",
    }
)


class Ordinals:
    """Such labels of a pod that no selector tells from those of others: the pod's own selectors or the cluster's.

    Pods that differ in these alone are selected alike, by affinity terms and spread constraints as by the services and
    controllers that default constraints go by. A service that selects by the value of such a label is no service of the
    pods of other values.
    """

    def __init__(self, pod: Pod, nodes: Snapshot) -> None:
        ordinals = _LABELS & pod.metadata.labels.keys()
        self._asked: frozenset[tuple[str, str]] = frozenset()
        if ordinals:
            ordinals -= frozenset((*_asked_by_pods(pod, nodes), *_asked_by_controllers(nodes)))
            of_services = (label for item in nodes.objects.all(Service) for label in item.spec.selector.items())
            self._asked = frozenset(label for label in of_services if label[0] in ordinals)
        self.unasked = ordinals if self.are_unasked(pod) else frozenset()

    def are_unasked(self, pod: Pod) -> bool:
        """Report whether no service selects by the values that the pod has."""
        return self._asked.isdisjoint(pod.metadata.labels.items())


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
