"""Hints about nodes that have come or changed: isSchedulableAfterNodeChange of each plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
from kubectl_sched.api.component_helpers.node_affinity import RequiredNodeAffinity, terms_listed
from kubectl_sched.api.component_helpers.pod_requests import fit_request, in_scheduler_units
from kubectl_sched.api.component_helpers.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from kubectl_sched.api.component_helpers.taints import Tolerations
from kubectl_sched.api.core import Node
from kubectl_sched.plugins.inter_pod_affinity.terms import listed_terms, terms_of
from kubectl_sched.plugins.node_affinity.plugin import NodeAffinity
from kubectl_sched.plugins.node_resources.insufficient import device_backed, steps_to_sum
from kubectl_sched.plugins.pod_topology_spread.plugin import PodTopologySpread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion


_STEPS_A_CONSTRAINT = 20


def node_affinity(question: HintQuestion) -> bool:
    """The node matches now, and did not match before."""
    node_affinity = question.pod.spec.affinity.node_affinity if question.pod.spec.affinity else None
    listed = node_affinity.required if node_affinity is not None else None
    question.budget.spend(2 * terms_listed(listed.node_selector_terms if listed is not None else ()))
    question.budget.spend(len(question.pod.spec.node_selector or ()))
    added = question.plugin(NodeAffinity).added_required
    required = RequiredNodeAffinity.of(question.pod)
    old, new = question.after(Node)
    if added is not None and not added.matches(new.metadata.labels, new.name):
        return False
    if not required.matches(new.metadata.labels, new.name):
        return False
    return old is None or not required.matches(old.metadata.labels, old.name)


def taint_toleration(question: HintQuestion) -> bool:
    """The pod tolerates the node's taints now, and did not before."""
    old, new = question.after(Node)
    taints = sum(len(each.spec.taints) for each in (old, new) if each is not None)
    question.budget.spend((1 + taints) * len(question.pod.spec.tolerations))
    return not _is_kept_off(question, new) and (old is None or _is_kept_off(question, old))


def _is_kept_off(question: HintQuestion, node: Node) -> bool:
    tolerations = Tolerations.of(question.pod, question.features)
    return tolerations.first_untolerated(node.spec.taints) is not None


def node_unschedulable(question: HintQuestion) -> bool:
    """The node is new or was uncordoned."""
    old, new = question.after(Node)
    return not new.spec.unschedulable and (old is None or old.spec.unschedulable)


def node_declared_features(question: HintQuestion) -> bool:
    """The node declares other features."""
    old, new = question.after(Node)
    return old is None or old.status.declared_features != new.status.declared_features


def node_resources_fit(question: HintQuestion) -> bool:
    """The pod would fit on the node if it were empty, and the node has more of what the pod wants than before.

    Since 1.38 the node that the pod is nominated to, too, if it no longer has what the pod wants.
    """
    old, new = question.after(Node)
    question.budget.spend(steps_to_sum(question.pod))
    options = PodResourcesOptions(
        skip_pod_level_resources=not question.features.enabled("PodLevelResources"),
        saturates=question.release.amounts_saturate,
    )
    requests = {name: amount for name, amount in fit_request(question.pod, options).items() if amount}
    room = _allocatable(new, options)
    backed: frozenset[str] = frozenset()
    if question.features.enabled("DRAExtendedResource"):
        in_first_release = question.release.device_class_hides_missing_resource
        backed = device_backed(requests, question.cluster(), in_first_release=in_first_release)
    if not _fit(requests, room, backed):
        return old is not None and _loses_nomination(
            question, requests, room, _fit(requests, _allocatable(old, options), backed)
        )
    if old is None:
        return True
    before = _allocatable(old, options)
    has_devices = any(room.get(name, 0) <= 0 for name in backed)
    return has_devices or any(room.get(name, 0) > before.get(name, 0) for name in (PODS, *requests))


def _fit(requests: Mapping[str, int], room: Mapping[str, int], backed: frozenset[str]) -> bool:
    """Report whether an empty node has as much (fitsEmptyNode); devices stand in for resources that it lacks."""
    return room.get(PODS, 0) >= 1 and all(
        amount <= room.get(name, 0) or (name in backed and room.get(name, 0) <= 0) for name, amount in requests.items()
    )


def _loses_nomination(
    question: HintQuestion, requests: Mapping[str, int], room: Mapping[str, int], fitted_before: bool
) -> bool:
    """Report whether the pod has to preempt elsewhere, as its nominated node has become too small for it."""
    pod = question.pod
    return (
        question.release.nominated_pods_leave_small_nodes
        and fitted_before
        and pod.spec.scheduling_group is None
        and pod.status.nominated_node_name == question.after(Node)[1].name
        and any(requests.get(name, 0) > room.get(name, 0) for name in (CPU, MEMORY, EPHEMERAL_STORAGE))
    )


def _allocatable(node: Node, options: PodResourcesOptions) -> dict[str, int]:
    allocatable = parse_resource_list(node.status.allocatable)
    return {name: in_scheduler_units(name, each, saturates=options.saturates) for name, each in allocatable.items()}


def inter_pod_affinity(question: HintQuestion) -> bool:
    """The node has come into a domain that an affinity term asks for, or left one that an anti-affinity term avoids."""
    question.budget.spend(listed_terms(question.pod))
    terms = terms_of(question.pod)
    if terms is None:
        return False
    old, new = question.after(Node)
    near = [term.topology_key for term in terms.required_affinity]
    away = [term.topology_key for term in terms.required_anti_affinity]
    labels = new.metadata.labels
    if old is None:
        return bool(away) or any(key in labels for key in near)
    before = old.metadata.labels
    return any(key in labels and labels[key] != before.get(key) for key in near) or any(
        key in before and before[key] != labels.get(key) for key in away
    )


def pod_topology_spread(question: HintQuestion) -> bool:
    """The node counts for the pod's constraints only before or only now, or counts in another way."""
    question.budget.spend(_STEPS_A_CONSTRAINT * len(question.pod.spec.topology_spread_constraints))
    constraints = question.plugin(PodTopologySpread).constraints.hard(question.pod, question.cluster())
    keys = [constraint.topology_key for constraint in constraints]
    old, new = question.both(Node)
    counted = [node is not None and all(key in node.metadata.labels for key in keys) for node in (old, new)]
    if old is None or new is None or counted[0] != counted[1]:
        return any(counted)
    moved = any(old.metadata.labels[key] != new.metadata.labels[key] for key in keys) if counted[1] else False
    return counted[1] and (moved or old.spec.taints != new.spec.taints)
