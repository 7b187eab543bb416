"""Rules about which pods run near to which: spread constraints, affinity and anti-affinity, and how to ease them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.affinity import PodAffinity, WeightedPodAffinityTerm
from kubectl_sched.api.meta import with_spec
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.node_evictions import evictable, eviction
from kubectl_sched.suggestions.remedies.node_changes import give_topology_key, join_a_domain, lacking_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_sched.api.affinity import Affinity, PodAffinityTerm, TopologySpreadConstraint
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.evidence import JSON, Evidence
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

_WEIGHT = 100
_NAMESPACES_TRIED = 3
_REVISIONS = ("pod-template-hash", "controller-revision-hash")
_WORDS = {"pod_affinity": "pod affinity", "pod_anti_affinity": "pod anti-affinity"}
_CAUTIONS = {
    "pod_affinity": "it may then run far from the pods that it has to be near now",
    "pod_anti_affinity": "it may then run beside the pods that it has to be away from now",
}


def spread(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Give the node the keys that it lacks; else leave out nodes that cannot be used, allow more skew, or prefer."""
    yield from join_a_domain(result, row)
    skews = {
        str(fact.facts["topologyKey"]): (fact, fact.facts["skew"])
        for fact in result.filter_evidence("PodTopologySpread", row)
        if "skew" in fact.facts
    }
    own = [
        each
        for each in result.pod.spec.topology_spread_constraints
        if each.when_unsatisfiable == "DoNotSchedule" and each.topology_key in skews
    ]
    if own and all(_leaves_out_taints(skews[each.topology_key][0]) for each in own):
        yield tuple(_honoring_taints(each) for each in own)
    if own and all(_revision_key(result.pod, each) for each in own):
        yield tuple(_of_own_revision(result.pod, each) for each in own)
    wanting = [each for each in own if _lacks_domains(each, skews[each.topology_key][0])]
    if own and wanting == own:
        yield tuple(_with_domains(each, skews[each.topology_key][0]) for each in own)
    if own:
        yield tuple(_with_skew(each, skews[each.topology_key][1]) for each in own)
    violated = own or lacking_keys(result, row)
    if violated:
        yield tuple(_softly(each) for each in violated)


def _leaves_out_taints(fact: Evidence) -> bool:
    return any("nodeTaintsPolicy: Honor" in hint for hint in fact.hints)


def _honoring_taints(constraint: TopologySpreadConstraint) -> Change:
    return Change(
        kind=Kind.HONOR_TAINTS,
        text=f"with nodeTaintsPolicy: Honor for {constraint.topology_key}",
        step=f"set nodeTaintsPolicy: Honor for {constraint.topology_key}",
        pod=lambda pod: _with_constraint(pod, constraint, replace(constraint, node_taints_policy="Honor")),
    )


def _revision_key(pod: Pod, constraint: TopologySpreadConstraint) -> str:
    """Return the label that tells the revisions of the pod's workload apart; empty if the constraint goes by it."""
    selector = constraint.label_selector
    stated = {*constraint.match_label_keys, *(selector.match_labels if selector is not None else ())}
    found = (key for key in _REVISIONS if key in pod.metadata.labels and selector is not None and key not in stated)
    return next(found, "")


def _of_own_revision(pod: Pod, constraint: TopologySpreadConstraint) -> Change:
    keys = (*constraint.match_label_keys, _revision_key(pod, constraint))
    what = f"matchLabelKeys: [{', '.join(keys)}] for {constraint.topology_key}"
    return Change(
        kind=Kind.MATCH_REVISION,
        text=f"with {what}",
        step=f"set {what}",
        pod=lambda pod: _with_constraint(pod, constraint, replace(constraint, match_label_keys=keys)),
        caution="each revision of the workload is then spread by itself",
    )


def _lacks_domains(constraint: TopologySpreadConstraint, fact: Evidence) -> bool:
    """Report whether fewer domains exist than the constraint wants, so that skew is measured from 0."""
    return 0 < _domain_count(fact) < (constraint.min_domains or 1)


def _domain_count(fact: Evidence) -> int:
    number = fact.facts.get("domainCount")
    return number if isinstance(number, int) else 0


def _with_domains(constraint: TopologySpreadConstraint, fact: Evidence) -> Change:
    number = _domain_count(fact)
    return Change(
        kind=Kind.MIN_DOMAINS,
        text=f"with minDomains: {number} instead of {constraint.min_domains} for {constraint.topology_key}",
        step=f"set minDomains: {number} instead of {constraint.min_domains} for {constraint.topology_key}",
        pod=lambda pod: _with_constraint(pod, constraint, replace(constraint, min_domains=number)),
        caution=f"its pods may then run in {number} {constraint.topology_key} only",
        cost=((constraint.min_domains or number) - number,),
    )


def _with_skew(constraint: TopologySpreadConstraint, skew: object) -> Change:
    assert isinstance(skew, int)  # noqa: S101 - a number of pods
    return Change(
        kind=Kind.RAISE_SKEW,
        text=f"with maxSkew: {skew} instead of {constraint.max_skew} for {constraint.topology_key}",
        step=f"set maxSkew: {skew} instead of {constraint.max_skew} for {constraint.topology_key}",
        pod=lambda pod: _with_constraint(pod, constraint, replace(constraint, max_skew=skew)),
        caution="its pods may then be spread less evenly",
        cost=(skew - constraint.max_skew,),
    )


def _softly(constraint: TopologySpreadConstraint) -> Change:
    soft = replace(constraint, when_unsatisfiable="ScheduleAnyway", min_domains=None)  # which only hard ones may have
    return Change(
        kind=Kind.SPREAD_SOFTLY,
        text=f"with whenUnsatisfiable: ScheduleAnyway for {constraint.topology_key}",
        step=f"set whenUnsatisfiable: ScheduleAnyway for {constraint.topology_key}",
        pod=lambda pod: _with_constraint(pod, constraint, soft),
        caution="its pods may then be spread less evenly",
    )


def _with_constraint(pod: Pod, constraint: TopologySpreadConstraint, meant: TopologySpreadConstraint) -> Pod:
    """With `meant` in its place, but for a second one of the same key and kind, which the API server refuses."""
    present = [each for each in pod.spec.topology_spread_constraints if each != constraint]
    is_there = any(_key_and_kind(each) == _key_and_kind(meant) for each in present)
    constraints = tuple(
        meant if each == constraint else each
        for each in pod.spec.topology_spread_constraints
        if each != constraint or not is_there
    )
    return with_spec(pod, topology_spread_constraints=constraints)


def _key_and_kind(constraint: TopologySpreadConstraint) -> tuple[str, str]:
    return constraint.topology_key, constraint.when_unsatisfiable


def near(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Correct what the affinity asks for, make what is required a preference, or evict the pods that keep it away.

    A node without the topology key is given it.
    """
    yield from give_topology_key(result, row)
    facts = [fact.facts for fact in result.filter_evidence("InterPodAffinity", row)]
    for fact in facts if len(facts) == 1 else ():
        yield from ((change,) for change in _corrected(str(fact.get("topologyKey")), fact))
    rules = {str(fact.get("rule")) for fact in facts}
    parts = {"affinity": "pod_affinity", "antiAffinity": "pod_anti_affinity"}
    if rules <= parts.keys():
        yield tuple(_softened(parts[rule]) for rule in sorted(rules))
    keepers = {str(name) for fact in facts for name in _listed(fact.get("pods"))}
    complete = all(fact.get("podCount") == len(_listed(fact.get("pods"))) for fact in facts)
    may_go = {pod.key: pod for pod in evictable(result, row)}
    if keepers and complete and "affinity" not in rules and keepers <= may_go.keys():
        yield (eviction(result, [may_go[key] for key in sorted(keepers)]),)


def _corrected(topology_key: str, fact: Mapping[str, JSON]) -> Iterator[Change]:
    """Ask for the label that pods have, or look in the namespace where they are."""
    for near in _listed(fact.get("nearLabels")):
        key, value, near_key, near_value = map(str, _listed(near))
        text = f"if its pod affinity asked for {near_key}={near_value} instead of {key}={value}"
        step = f"ask for {near_key}={near_value} instead of {key}={value} in its pod affinity"
        changed = partial(_with_label, old=(key, value), new=(near_key, near_value))
        yield Change(kind=Kind.CORRECT, text=text, step=step, pod=partial(_with_terms, topology_key, changed))
    for name in _listed(fact.get("namespacesWithPods"))[:_NAMESPACES_TRIED]:
        looks = f"namespaces: [{name}] in its pod affinity"
        changed = partial(_with_namespace, name=str(name))
        pod = partial(_with_terms, topology_key, changed)
        yield Change(kind=Kind.CORRECT, text=f"with {looks}", step=f"set {looks}", pod=pod)


def _with_label(term: PodAffinityTerm, old: tuple[str, str], new: tuple[str, str]) -> PodAffinityTerm:
    selector = term.label_selector
    if selector is None or (old[0], old[1]) not in selector.match_labels.items():
        return term
    labels = {key: value for key, value in selector.match_labels.items() if key != old[0]} | {new[0]: new[1]}
    return replace(term, label_selector=replace(selector, match_labels=labels))


def _with_namespace(term: PodAffinityTerm, name: str) -> PodAffinityTerm:
    return term if term.namespace_selector is not None else replace(term, namespaces=(*term.namespaces, name))


def _with_terms(topology_key: str, changed: Callable[[PodAffinityTerm], PodAffinityTerm], pod: Pod) -> Pod:
    """The pod with each required term of pod affinity changed that has the topology key."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_affinity is None:
        return pod
    terms = affinity.pod_affinity.required
    required = tuple(changed(term) if term.topology_key == topology_key else term for term in terms)
    return with_spec(pod, affinity=replace(affinity, pod_affinity=replace(affinity.pod_affinity, required=required)))


def _listed(fact: object) -> list[object]:
    return fact if isinstance(fact, list) else []


def _softened(part: str) -> Change:
    return Change(
        kind=Kind.REQUIRE_SOFTLY,
        text=f"with its required {_WORDS[part]} as a preference",
        step=f"make its required {_WORDS[part]} a preference",
        pod=lambda pod: _with_affinity(pod, part),
        caution=_CAUTIONS[part],
    )


def _with_affinity(pod: Pod, part: str) -> Pod:
    """The pod with the required terms of one kind as preferences."""
    affinity: Affinity | None = pod.spec.affinity
    terms: PodAffinity | None = getattr(affinity, part, None)
    if affinity is None or terms is None:
        return pod
    softened = tuple(WeightedPodAffinityTerm(weight=_WEIGHT, pod_affinity_term=term) for term in terms.required)
    eased = replace(terms, required=(), preferred=(*terms.preferred, *softened))
    return with_spec(pod, affinity=replace(affinity, **{part: eased}))
