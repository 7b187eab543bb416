"""Hints about pods: those with a node that have come, changed or gone, and the pod itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.pod_requests import pod_requests, pod_resource, scheduler_options
from kubectl_sched.api.component_helpers.taints import UNSCHEDULABLE_TAINT, Tolerations
from kubectl_sched.api.core import Namespace
from kubectl_sched.api.pod import Pod
from kubectl_sched.plugins.inter_pod_affinity.terms import listed_terms, terms_of
from kubectl_sched.plugins.node_declared_features import NodeDeclaredFeatures
from kubectl_sched.plugins.node_resources.insufficient import steps_to_sum
from kubectl_sched.plugins.node_volume_limits.attachable_volumes import attachable_count
from kubectl_sched.plugins.pod_topology_spread.plugin import PodTopologySpread
from kubectl_sched.plugins.volume_restrictions import WantedDisks, claim_names, disks
from kubectl_sched.snapshot.host_ports import WantedPorts, host_ports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
    from kubectl_sched.api.meta import Labels
    from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion
    from kubectl_sched.plugins.inter_pod_affinity.terms import AffinityTerm


_STEPS_A_CONSTRAINT = 20


def never(_: HintQuestion) -> bool:
    """No event helps against this plugin: the others that rejected the pod decide."""
    return False


def has_room(pod: Pod | None) -> bool:
    """Report whether the pod takes room on a node, or keeps it."""
    return pod is not None and bool(pod.spec.node_name or pod.status.nominated_node_name)


def node_ports(question: HintQuestion) -> bool:
    """A pod that had a host port of the pod's is gone."""
    gone, _ = question.both(Pod)
    if gone is None or not has_room(gone):
        return False
    of_sidecars = question.release.sidecar_ports_count
    wanted, freed = (host_ports(each, of_sidecars=of_sidecars) for each in (question.pod, gone))
    question.budget.spend(len(wanted) + len(freed))
    return WantedPorts(wanted).conflicts_with(freed)


def node_resources_fit(question: HintQuestion) -> bool:
    """A pod is gone that took room, or takes less of what the pod wants."""
    old, new = question.both(Pod)
    if new is None:
        return has_room(old)
    if old is None or not question.features.enabled("InPlacePodVerticalScaling"):
        return False
    question.budget.spend(3 * steps_to_sum(question.pod) + steps_to_sum(old) + steps_to_sum(new))
    options = _options(question)
    wanted, before, after = (pod_resource(each, options)[0] for each in (question.pod, old, new))
    return any(before.get(name, 0) > after.get(name, 0) for name, amount in wanted.items() if amount)


def own_requests(question: HintQuestion) -> bool:
    """The pod asks for less of something."""
    old, new = question.after(Pod)
    if old is None or not question.features.enabled("InPlacePodVerticalScaling"):
        return False
    question.budget.spend(steps_to_sum(old) + steps_to_sum(new))
    before, after = (pod_requests(each, _options(question)) for each in (old, new))
    saturates = question.release.amounts_saturate
    return any(
        name not in after or amount.milli_value(saturates=saturates) > after[name].milli_value(saturates=saturates)
        for name, amount in before.items()
    )


def _options(question: HintQuestion) -> PodResourcesOptions:
    return scheduler_options(question.features.enabled, question.release)


def inter_pod_affinity(question: HintQuestion) -> bool:
    """A pod that the pod wants to be near has come, or one is gone that either wants to be away from."""
    old, new = question.both(Pod)
    release = question.release
    if not all(_counts(each, question) for each in (old, new) if each is not None):
        return False
    question.budget.spend(2 * sum(listed_terms(each) for each in (question.pod, old, new) if each is not None))
    terms = terms_of(question.pod)
    near = terms.required_affinity if terms is not None else ()
    away = terms.required_anti_affinity if terms is not None else ()
    matches = any if release.any_anti_affinity_term_wakes else all
    if release.affinity_hints_read_namespaces:
        return _affinity_with_namespaces(question, near, away)
    if new is not None:
        came = _match(near, new, all) and not (old is not None and _match(near, old, all))
        return came or (old is not None and _match(away, old, matches) and not _match(away, new, matches))
    if old is None or _match(away, old, matches):
        return old is not None
    theirs = terms_of(old)
    return (
        theirs is not None
        and release.nominated_pods_wake_others
        and _match(theirs.required_anti_affinity, question.pod, matches)
    )


def _affinity_with_namespaces(
    question: HintQuestion, near: Sequence[AffinityTerm], away: Sequence[AffinityTerm]
) -> bool:
    """Answer with the labels of the namespace; if it is not known where they matter, the pod is tried again."""
    old, new = question.both(Pod)
    pods = [each for each in (old, new) if each is not None]
    terms = [*(near if new is not None else ()), *(away if old is not None else ())]
    labels = _namespace_labels(question, terms, pods)
    if labels is None:
        return True
    if new is not None:
        came = _match(near, new, all, labels) and not (old is not None and _match(near, old, all, labels))
        return came or (old is not None and _match(away, old, any, labels) and not _match(away, new, any, labels))
    if old is None or _match(away, old, any, labels):
        return old is not None
    theirs = terms_of(old)
    if theirs is None:
        return False
    labels = _namespace_labels(question, theirs.required_anti_affinity, [question.pod])
    return labels is None or _match(theirs.required_anti_affinity, question.pod, any, labels)


def _namespace_labels(question: HintQuestion, terms: Sequence[AffinityTerm], pods: Sequence[Pod]) -> Labels | None:
    """The labels of the pods' namespace as far as a term needs them; None if it is not known."""
    if not any(
        not term.namespace_selector.nothing
        and not term.namespace_selector.is_empty
        and pod.namespace not in term.namespaces
        and term.selector.matches(pod.metadata.labels)
        for term in terms
        for pod in pods
    ):
        return {}
    namespace = question.cluster().objects.get(Namespace, pods[0].namespace)
    return None if namespace is None else namespace.metadata.labels


def _counts(pod: Pod, question: HintQuestion) -> bool:
    """Up to 1.35 a pod that is only nominated wakes nobody."""
    return has_room(pod) if question.release.nominated_pods_wake_others else bool(pod.spec.node_name)


def _match(terms: Sequence[AffinityTerm], pod: Pod, combined: object, labels: Labels | None = None) -> bool:
    """Report whether the pod, whose namespace has these labels, matches any or all of the terms."""
    found = (term.matches(pod, labels or {}) for term in terms)
    return any(found) if combined is any else bool(terms) and all(found)


def own_labels_affinity(question: HintQuestion) -> bool:
    """With other labels, another pod's anti-affinity may no longer hit; up to 1.35 that was overlooked."""
    return question.release.nominated_pods_wake_others


def pod_topology_spread(question: HintQuestion) -> bool:
    """A pod that a constraint counts has come or gone, or one counts now that did not before."""
    old, new = question.both(Pod)
    pods = [each for each in (old, new) if each is not None]
    if not all(_counts(each, question) and each.namespace == question.pod.namespace for each in pods):
        return False
    return _spreads_otherwise(question)


def own_topology_spread(question: HintQuestion) -> bool:
    """The pod's labels count for its constraints in another way, or it tolerates more taints and they care."""
    old, new = question.after(Pod)
    question.budget.spend(len(new.spec.tolerations))
    if old is not None and old.spec.tolerations != new.spec.tolerations:
        question.budget.spend(_STEPS_A_CONSTRAINT * len(question.pod.spec.topology_spread_constraints))
        constraints = question.plugin(PodTopologySpread).constraints.hard(question.pod, question.cluster())
        if any(constraint.honors_node_taints for constraint in constraints):
            return True
    return _spreads_otherwise(question)


def _spreads_otherwise(question: HintQuestion) -> bool:
    labels = [each.metadata.labels for each in question.both(Pod) if each is not None]
    if len(labels) > 1 and labels[0] == labels[1]:
        return False
    question.budget.spend(_STEPS_A_CONSTRAINT * len(question.pod.spec.topology_spread_constraints))
    constraints = question.plugin(PodTopologySpread).constraints.hard(question.pod, question.cluster())
    return any(sum(constraint.selector.matches(each) for each in labels) == 1 for constraint in constraints)


def node_volume_limits(question: HintQuestion) -> bool:
    """A pod with a volume that counts is gone."""
    gone, _ = question.both(Pod)
    question.budget.spend(len(gone.spec.volumes) if gone is not None else 0)
    return gone is not None and has_room(gone) and attachable_count(gone) > 0


def volume_restrictions(question: HintQuestion) -> bool:
    """A pod of the same namespace is gone that had one of the pod's disks or claims."""
    gone, _ = question.both(Pod)
    if gone is None or gone.namespace != question.pod.namespace:
        return False
    question.budget.spend(3 * (len(gone.spec.volumes) + len(question.pod.spec.volumes)))
    if not set(claim_names(gone)).isdisjoint(claim_names(question.pod)):
        return True
    wanted, freed = disks(question.pod), disks(gone)
    return WantedDisks(wanted).conflicts_with(freed)


def own_tolerations(question: HintQuestion) -> bool:
    """The pod tolerates cordoned nodes now."""
    _, new = question.after(Pod)
    question.budget.spend(len(new.spec.tolerations))
    return Tolerations.of(new, question.features).tolerate(UNSCHEDULABLE_TAINT)


def own_features(question: HintQuestion) -> bool:
    """The pod needs other features of a node."""
    old, new = question.after(Pod)
    needed = question.plugin(NodeDeclaredFeatures).needed
    question.budget.spend(sum(map(steps_to_sum, (new, *((old,) if old is not None else ())))))
    return old is None or needed(old) != needed(new)
