"""Relaxes a pod's constraints, one at a time, while it finds no place (preferences.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.component_helpers.node_affinity import with_node_affinity
from kubectl_sched.api.meta import with_spec

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

_PREFER_NO_SCHEDULE = Toleration(operator="Exists", effect="PreferNoSchedule")


def relax(pod: Pod, *, tolerate_prefer_no_schedule: bool) -> Pod | None:
    """The pod with one constraint less; None if none is left to drop (Relax)."""
    return (
        without_first_required_term(pod)
        or _without_preferred_term(pod, "pod_affinity")
        or _without_preferred_term(pod, "pod_anti_affinity")
        or _without_preferred_node_term(pod)
        or _without_schedule_anyway(pod)
        or (tolerates_prefer_no_schedule(pod) if tolerate_prefer_no_schedule else None)
    )


def without_first_required_term(pod: Pod) -> Pod | None:
    """The pod without the first of several required node selector terms."""
    affinity = pod.spec.affinity
    node_affinity = affinity.node_affinity if affinity is not None else None
    if node_affinity is None or node_affinity.required is None or len(node_affinity.required.node_selector_terms) < 2:
        return None
    required = replace(node_affinity.required, node_selector_terms=node_affinity.required.node_selector_terms[1:])
    return with_node_affinity(pod, replace(node_affinity, required=required))


def tolerates_prefer_no_schedule(pod: Pod) -> Pod | None:
    """The pod tolerating all taints that are preferences; None if it does so already."""
    same = ("", "Exists", "", "PreferNoSchedule")
    if any((each.key, each.operator, each.value, each.effect) == same for each in pod.spec.tolerations):
        return None
    return with_spec(pod, tolerations=(*pod.spec.tolerations, _PREFER_NO_SCHEDULE))


def _without_preferred_term(pod: Pod, field: str) -> Pod | None:
    """The pod without its heaviest preference of pod affinity or of anti-affinity."""
    affinity = pod.spec.affinity
    terms = getattr(affinity, field, None)
    if affinity is None or terms is None or not terms.preferred:
        return None
    lighter = tuple(sorted(terms.preferred, key=lambda term: -term.weight))[1:]
    return with_spec(pod, affinity=replace(affinity, **{field: replace(terms, preferred=lighter)}))


def _without_preferred_node_term(pod: Pod) -> Pod | None:
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None or not affinity.node_affinity.preferred:
        return None
    lighter = tuple(sorted(affinity.node_affinity.preferred, key=lambda term: -term.weight))[1:]
    return with_node_affinity(pod, replace(affinity.node_affinity, preferred=lighter))


def _without_schedule_anyway(pod: Pod) -> Pod | None:
    """The pod without its first soft spread constraint, in whose place the last one comes."""
    constraints = list(pod.spec.topology_spread_constraints)
    for index, each in enumerate(constraints):
        if each.when_unsatisfiable == "ScheduleAnyway":
            constraints[index] = constraints[-1]
            return with_spec(pod, topology_spread_constraints=tuple(constraints[:-1]))
    return None
