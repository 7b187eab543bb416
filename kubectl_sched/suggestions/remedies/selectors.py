"""Changes that might allow a pod on a node that its nodeSelector or required node affinity excludes."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.affinity import NodeAffinity, NodeSelector, NodeSelectorTerm, PreferredSchedulingTerm
from kubectl_sched.api.component_helpers.node_affinity import parse_node_selector, with_node_affinity
from kubectl_sched.api.core import HOSTNAME, Namespace
from kubectl_sched.api.meta import with_spec
from kubectl_sched.framework.confusable_texts import nearest
from kubectl_sched.suggestions.change import Change, Kind, distinct
from kubectl_sched.suggestions.remedies.node_changes import is_free, said_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_sched.api.affinity import NodeSelectorRequirement
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

_WAYS = 12
_OF_THE_MACHINE = ("kubernetes.io/arch", "kubernetes.io/os")
"""Without these an image may come to a machine that cannot run it."""

_WEIGHT = 100
"""Of what was required and is then preferred; the most that a preference may have."""


class _Place(NamedTuple):
    """A node and what the pod asks of it."""

    result: ScheduleResult
    row: int
    labels: Mapping[str, str]
    added: Mapping[str, str]
    """The labels that admission adds to the selector again, whatever the pod has."""


def match(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Make the pod ask for what the node has, label the node, or ask for less."""
    namespace = result.nodes.objects.get(Namespace, result.pod.namespace)
    selectors = namespace.added_node_selectors.values() if namespace is not None else ()
    added = {key: value for selector in selectors for key, value in selector.items()}
    place = _Place(result, row, result.nodes.node_objects[row].metadata.labels, added)
    of_selector = [
        list(_for_label(place, key, wanted))
        for key, wanted in (result.pod.spec.node_selector or {}).items()
        if place.labels.get(key) != wanted
    ]
    required = _required(result.pod)
    name = result.nodes.names[row]
    if required is not None and not parse_node_selector(required).matches(place.labels, name):
        of_selector.append(list(_for_affinity(place, required)))
    for way in islice(product(*of_selector), _WAYS):
        if way:
            yield distinct(way)


def ask_less(result: ScheduleResult) -> Iterator[Way]:
    """Prefer what no node at all can have, such as two names, instead of requiring it."""
    required = _required(result.pod)
    if required is not None and not result.pod.is_daemon:
        yield (_required_softly(required),)


def _required(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity
    return affinity.node_affinity.required if affinity is not None and affinity.node_affinity is not None else None


def _for_label(place: _Place, key: str, wanted: str) -> Iterator[Change]:
    """For one key of the nodeSelector: correct it, label the node, leave it out."""
    has = place.labels.get(key)
    is_own = place.added.get(key) != wanted
    if is_own and has is not None and nearest(wanted, (has,)) is not None:
        yield _selects(key, wanted, key, has)
    if has is None:
        meant = nearest(key, tuple(place.labels)) if is_own else None
        if meant is not None and meant not in _selector(place.result.pod) and place.labels[meant] == wanted:
            yield _selects(key, wanted, meant, wanted)
        if is_free(key):
            yield said_of(place.result, place.row, key, wanted)
    if is_own and not key.endswith(_OF_THE_MACHINE):
        yield Change(
            kind=Kind.SELECT_LESS,
            text=f"without {key}={wanted} in its nodeSelector",
            step=f"remove {key}={wanted} from its nodeSelector",
            pod=lambda pod: with_spec(pod, node_selector=_without(pod, key)),
            caution=f"it may then run on nodes without {key}={wanted}",
        )


def _selects(key: str, wanted: str, meant: str, value: str) -> Change:
    def corrected(pod: Pod) -> Pod:
        return with_spec(pod, node_selector={**_without(pod, key), meant: value})

    text = f"if its nodeSelector asked for {meant}={value} instead of {key}={wanted}"
    step = f"select {meant}={value} instead of {key}={wanted} in its nodeSelector"
    return Change(kind=Kind.CORRECT, text=text, step=step, pod=corrected)


def _selector(pod: Pod) -> dict[str, str]:
    return pod.spec.node_selector or {}


def _without(pod: Pod, key: str) -> dict[str, str]:
    return {each: has for each, has in _selector(pod).items() if each != key}


def _for_affinity(place: _Place, required: NodeSelector) -> Iterator[Change]:
    """Correct or widen a term of which the node lacks but one requirement, label the node, require nothing."""
    if place.result.pod.is_daemon:
        return
    for index, term in enumerate(required.node_selector_terms):
        unmet = [each for each in term.match_expressions if not _is_met(each, place.labels)]
        if term.match_fields and not unmet:
            yield from _naming(place, required, index)
        if term.match_fields or len(unmet) != 1:
            continue
        (requirement,) = unmet
        has = place.labels.get(requirement.key)
        if requirement.operator == "In" and has is not None:
            yield _allowing(required, index, requirement, has)
        elif has is None and requirement.operator in {"In", "Exists"} and is_free(requirement.key):
            yield said_of(place.result, place.row, requirement.key, next(iter(requirement.values), "true"))
    yield _required_softly(required)


def _naming(place: _Place, required: NodeSelector, index: int) -> Iterator[Change]:
    """The node's name in the place of one that nearly is it."""
    term, name = required.node_selector_terms[index], place.result.nodes.names[place.row]
    (field, *more), values = term.match_fields, term.match_fields[0].values
    if not more and field.operator == "In" and len(values) == 1 and nearest(values[0], (name,)) is not None:
        meant = replace(term, match_fields=(replace(field, values=(name,)),))
        text = f"if its required node affinity named the node {name} instead of {values[0]}"
        step = f"name node {name} instead of {values[0]} in its required node affinity"
        yield Change(kind=Kind.CORRECT, text=text, step=step, pod=_requires(_with_term(required, index, meant)))


def _is_met(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    term = NodeSelectorTerm(match_expressions=(requirement,))
    return parse_node_selector(NodeSelector(node_selector_terms=(term,))).matches(labels, "")


def _allowing(required: NodeSelector, index: int, requirement: NodeSelectorRequirement, has: str) -> Change:
    """The node's own value among those of the requirement, or in the place of the one that nearly is it."""
    term = required.node_selector_terms[index]
    near = next((value for value in requirement.values if nearest(value, (has,)) is not None), None)
    values = tuple(has if value == near else value for value in requirement.values)
    meant = replace(requirement, values=values if near is not None else (*requirement.values, has))
    expressions = tuple(meant if each == requirement else each for each in term.match_expressions)
    pod = _requires(_with_term(required, index, replace(term, match_expressions=expressions)))
    if near is not None:
        change = f"{requirement.key}={has} instead of {requirement.key}={near}"
        text = f"if its required node affinity asked for {change}"
        return Change(kind=Kind.CORRECT, text=text, step=f"require {change} in its node affinity", pod=pod)
    return Change(
        kind=Kind.ALLOW_MORE,
        text=f"if its required node affinity allowed {requirement.key}={has}, too",
        step=f"allow {requirement.key}={has}, too, in its required node affinity",
        pod=pod,
        caution="only if the pod is meant to run there",
    )


def _with_term(required: NodeSelector, index: int, term: NodeSelectorTerm) -> NodeSelector:
    terms = required.node_selector_terms
    return replace(required, node_selector_terms=(*terms[:index], term, *terms[index + 1 :]))


def _requires(required: NodeSelector | None) -> Callable[[Pod], Pod]:
    return lambda pod: with_node_affinity(pod, replace(_node_affinity(pod), required=required))


def _required_softly(required: NodeSelector) -> Change:
    """Return the requirements as preferences."""
    terms = required.node_selector_terms
    added = tuple(PreferredSchedulingTerm(weight=_WEIGHT, preference=term) for term in terms)

    def softened(pod: Pod) -> Pod:
        changed = replace(_node_affinity(pod), required=None, preferred=(*preferences(pod), *added))
        return with_node_affinity(pod, changed)

    return Change(
        kind=Kind.REQUIRE_SOFTLY,
        text="with its required node affinity as a preference",
        step="make its required node affinity a preference",
        pod=softened,
        caution="it may then run on nodes that it excludes now",
    )


def _node_affinity(pod: Pod) -> NodeAffinity:
    affinity = pod.spec.affinity
    present = affinity.node_affinity if affinity is not None else None
    return present if present is not None else NodeAffinity()


def prefers(pod: Pod, term: PreferredSchedulingTerm) -> Pod:
    """The pod with one more preference."""
    present = _node_affinity(pod)
    return with_node_affinity(pod, replace(present, preferred=(*(present.preferred or ()), term)))


def preferences(pod: Pod) -> tuple[PreferredSchedulingTerm, ...]:
    """The nodes that the pod prefers."""
    return _node_affinity(pod).preferred or ()


def with_preferences(pod: Pod, preferred: tuple[PreferredSchedulingTerm, ...]) -> Pod:
    """The pod with these preferences in place of its own."""
    return with_node_affinity(pod, replace(_node_affinity(pod), preferred=preferred))


def selects_host(pod: Pod, hostname: str) -> Pod:
    """The pod for the one node of that hostname label."""
    return with_spec(pod, node_selector={**_selector(pod), HOSTNAME: hostname})
