"""Names the pods behind a verdict or a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.framework.clauses import counted, first_few, missing_key_hints, pods
from kubectl_sched.framework.confusable_texts import nearest
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.plugins.inter_pod_affinity.filtering import (
    AFFINITY,
    ANTI_AFFINITY,
    EXISTING_ANTI_AFFINITY,
    admitted_by_affinity,
    counted_affinity,
    is_counted,
    meeting,
    meeting_all,
    rejected_by_anti_affinity,
    rejected_by_existing,
    repelling_keys,
    repelling_pods,
    verdicts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.plugins.inter_pod_affinity.filtering import PreFilterState
    from kubectl_sched.plugins.inter_pod_affinity.scoring import PreScoreState
    from kubectl_sched.plugins.inter_pod_affinity.terms import AffinityTerm
    from kubectl_sched.snapshot import PodTable, Snapshot
    from kubectl_sched.snapshot.array_types import Mask, Rows

_PODS_LISTED: Final = 20
_SEARCHED_AT_MOST: Final = 2000


def rejection(state: PreFilterState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
    """Every rule that the node breaks: the pod's affinity, its anti-affinity, that of existing pods."""
    one = nodes.take(np.array([row], dtype=np.intp))
    told: list[Evidence] = []
    if not admitted_by_affinity(state, one)[0]:
        told += _unmet_affinity(state, pod, nodes, row)
    if rejected_by_anti_affinity(state, one)[0]:
        told += _met_anti_affinity(state, pod, nodes, row)
    if rejected_by_existing(state, pod, one)[0]:
        told += _repelled(state, pod, nodes, row)
    return tuple(told)


def described(term: AffinityTerm, pod: Pod) -> str:
    """`pods matching app=web in namespace team-b`, the namespace being left out where it is the pod's own."""
    selector = "no labels at all (no labelSelector)" if term.selector.nothing else str(term.selector)
    what = f"pods matching {selector}" if selector else "pods"
    if term.namespace_selector.matches({}):
        return f"{what} in any namespace"
    if term.namespaces == {pod.metadata.namespace}:
        return what
    if not term.namespaces:
        return f"{what} in no namespace"
    return (
        f"{what} in {'namespace' if len(term.namespaces) == 1 else 'namespaces'} {first_few(sorted(term.namespaces))}"
    )


def _namespace_hints(term: AffinityTerm) -> tuple[str, ...]:
    """Said where a selector that is meant for some namespaces selects all."""
    if term.namespace_selector.is_empty or not term.namespace_selector.matches({}):
        return ()
    selector = term.namespace_selector
    return (f"kube-scheduler matches the namespaceSelector {selector} against no labels, too: every namespace counts",)


def _facts(rule: str, term: AffinityTerm, domain: str | None) -> dict[str, JSON]:
    return {
        "rule": rule,
        "topologyKey": term.topology_key,
        "domain": domain,
        "selector": str(term.selector),
        "namespaces": [*sorted(term.namespaces)],
    }


def _unmet_affinity(state: PreFilterState, pod: Pod, nodes: Snapshot, row: int) -> list[Evidence]:
    labels = nodes.node_objects[row].metadata.labels
    told = []
    everywhere = meeting_all(nodes.whole.existing_pods, state.required_affinity)
    counted = {term.topology_key for term in counted_affinity(state)}
    for term in state.required_affinity:
        key = term.topology_key
        value = labels.get(key)
        if value is None:
            text = f"has no label {key}, which the pod's affinity to {described(term, pod)} needs"
            told.append(Evidence(text=text, facts=_facts("affinity", term, None), hints=missing_key_hints(nodes, key)))
        elif not _near(nodes, row, key, everywhere, on_node=key not in counted).any():
            told.append(_none_near(term, pod, nodes.whole, value, everywhere))
    return told or [_from_state("affinity", "no pod that the pod must be near to")]


def _none_near(term: AffinityTerm, pod: Pod, nodes: Snapshot, value: str, everywhere: Mask) -> Evidence:
    key = term.topology_key
    where = sorted(
        {found for found in nodes.label(key).take(nodes.existing_pods.rows[everywhere]) if found is not None}
    )
    facts = _facts("affinity", term, value) | {"domains": list(where[:_PODS_LISTED])}
    text = f"{key}={value} has none of the {described(term, pod)} that the pod must be near to"
    if where:
        return Evidence(
            text=f"{text}; {first_few(where)} {'has' if len(where) == 1 else 'have'}",
            facts=facts,
            hints=(),
            distance=0.5,
        )
    hints, near = _nowhere_hints(term, pod, nodes)
    return Evidence(text=f"{text}, nor has any other", facts=facts | near, hints=tuple(hints))


def _nowhere_hints(term: AffinityTerm, pod: Pod, nodes: Snapshot) -> tuple[list[str], dict[str, JSON]]:
    """Return hints, and as facts the namespaces with such pods or the labels that pods have in place of the term's."""
    existing = nodes.existing_pods
    if meeting(existing, term).any():
        return ["pods match this term, but none matches all terms of the pod's affinity"], {}
    hints: list[str] = []
    facts: dict[str, JSON] = {}
    elsewhere = np.flatnonzero(existing.selected(term.selector, lambda _: True))
    if len(elsewhere) and not term.selector.nothing:
        namespaces = sorted({existing.pods[index].metadata.namespace for index in elsewhere.tolist()})
        hints.append(f"{pods(len(elsewhere))} in {first_few(namespaces)} match, where the term does not look")
        facts["namespacesWithPods"] = list(namespaces[:_PODS_LISTED])
    if not term.selector.matches(pod.metadata.labels):
        told, near = _near_selector_hints(term.selector, existing)
        hints += told
        if near:
            facts["nearLabels"] = [[*labels] for labels in near]
    return hints, facts


def _met_anti_affinity(state: PreFilterState, pod: Pod, nodes: Snapshot, row: int) -> list[Evidence]:
    labels = nodes.node_objects[row].metadata.labels
    told = []
    for term in state.required_anti_affinity:
        value = labels.get(term.topology_key)
        if value is None:
            continue
        meant = meeting(nodes.whole.existing_pods, term)
        near = _near(nodes, row, term.topology_key, meant, on_node=not is_counted(state, term))
        if near.any():
            text = f"{term.topology_key}={value} has {described(term, pod)}, which the pod must be away from: "
            told.append(_naming(text, _facts("antiAffinity", term, value), nodes.whole, near, _namespace_hints(term)))
    return told or [_from_state("antiAffinity", "pods that the pod must be away from")]


def _repelled(state: PreFilterState, pod: Pod, nodes: Snapshot, row: int) -> list[Evidence]:
    labels = nodes.node_objects[row].metadata.labels
    whole = nodes.whole
    told = []
    for key in repelling_keys(state, pod, whole):
        if key not in labels:
            continue
        on_node = key == HOSTNAME and state.host_scoped is not None
        near = _near(nodes, row, key, repelling_pods(state, pod, whole, key), on_node=on_node)
        if near.any():
            facts: dict[str, JSON] = {"rule": "existingAntiAffinity", "topologyKey": key, "domain": labels[key]}
            text = f"{key}={labels[key]} has pods whose anti-affinity keeps the pod away: "
            told.append(_naming(text, facts, whole, near))
    return told or [_from_state("existingAntiAffinity", "pods whose anti-affinity keeps the pod away")]


def _from_state(rule: str, what: str) -> Evidence:
    """Return evidence for pods that are not in the snapshot but were added to the state (nominated pods)."""
    return Evidence(text=f"would be near to {what}", facts={"rule": rule})


def _naming(text: str, facts: dict[str, JSON], nodes: Snapshot, near: Mask, hints: tuple[str, ...] = ()) -> Evidence:
    existing = nodes.existing_pods
    indices = np.flatnonzero(near).tolist()
    names = [existing.pods[index].key for index in indices[:_PODS_LISTED]]
    more = len(indices) - len(names)
    told = first_few([*names, *[""] * more])
    leaving = [
        name for name, index in zip(names, indices, strict=False) if existing.pods[index].metadata.deletion_timestamp
    ]
    if leaving:
        gone = "is being deleted, and counts until it is gone" if len(leaving) == 1 else "are being deleted, and count"
        hints = (*hints, f"{first_few(leaving)} {gone}")
    distance = len(indices) / (1 + len(indices))
    return Evidence(
        text=text + told, facts=facts | {"pods": [*names], "podCount": len(indices)}, hints=hints, distance=distance
    )


def _near(nodes: Snapshot, row: int, key: str, chosen: Mask, *, on_node: bool) -> Mask:
    """bool[m]: the chosen pods that are in a node's domain, or on the node itself if that is what counts."""
    whole = nodes.whole
    rows = whole.existing_pods.rows
    if on_node:
        on_it: Mask = rows == whole.row_of[nodes.names[row]]
        return chosen & on_it
    value = nodes.label(key)[row]
    inside = whole.label(key).where(lambda other: other == value)
    return chosen & inside[rows]


def summary(state: PreFilterState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
    """A clause about many rejected nodes: the rule that rejects them, or how many nodes each rule rejects."""
    codes = verdicts(state, pod, nodes).codes[rows]
    clauses: dict[int, Callable[[Rows], str]] = {
        AFFINITY: lambda some: _unmet_clause(state, pod, nodes, some),
        ANTI_AFFINITY: lambda _: _met_clause(state, pod),
        EXISTING_ANTI_AFFINITY: lambda some: _repelled_clause(state, pod, nodes, some),
    }
    told = [(rows[codes == code], clause) for code, clause in clauses.items() if (codes == code).any()]
    if len(told) == 1:
        return told[0][1](told[0][0])
    parts = (counted(len(some), clause(some)) for some, clause in told)
    return f"fail pod affinity rules: {'; '.join(parts)}"


def _unmet_clause(state: PreFilterState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
    whole = nodes.whole
    everywhere = whole.existing_pods.rows[meeting_all(whole.existing_pods, state.required_affinity)]
    for term in state.required_affinity:
        key = term.topology_key
        if not nodes.table.has_label(key)[rows].any():
            return f"have no label {key}" + (", which no node carries" if missing_key_hints(nodes, key) else "")
        if not len(everywhere):
            return f"are not near to {described(term, pod)}, as no pod anywhere matches"
        where = sorted({value for value in whole.label(key).take(everywhere) if value is not None})
        inside = nodes.label(key).where(frozenset(where).__contains__)
        if where and not inside[rows].any():
            return f"are not in {key}={first_few(where)}, where the {described(term, pod)} are"
    return f"are not near to {first_few([described(term, pod) for term in state.required_affinity])}"


def _met_clause(state: PreFilterState, pod: Pod) -> str:
    keys = list(dict.fromkeys(term.topology_key for term in state.required_anti_affinity))
    what = list(dict.fromkeys(described(term, pod) for term in state.required_anti_affinity))
    return f"have {first_few(what)} in the same {first_few(keys)}, which the pod must be away from"


def _repelled_clause(state: PreFilterState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
    whole = nodes.whole
    names = dict[str, None]()
    for key in repelling_keys(state, pod, whole):
        repelling = np.flatnonzero(repelling_pods(state, pod, whole, key))
        domains = frozenset(nodes.label(key).take(rows)) - {None}
        for index, value in zip(repelling, whole.label(key).take(whole.existing_pods.rows[repelling]), strict=True):
            if value in domains:
                names[whole.existing_pods.pods[int(index)].key] = None
    return f"are near to {pods(len(names))} whose anti-affinity keeps the pod away: {first_few(list(names))}"


def points(state: PreScoreState, pod: Pod, nodes: Snapshot, row: int) -> tuple[Evidence, ...]:
    """The points of each of the node's domains, and whose terms they come from."""
    labels = nodes.node_objects[row].metadata.labels
    told = []
    for key, counts in state.topology_score.items():
        value = labels.get(key)
        score = 0 if value is None else counts.at(value)
        if value is None or not score:
            continue
        own = [term for term in state.preferences.terms if term.topology_key == key]
        facts: dict[str, JSON] = {"topologyKey": key, "domain": value, "points": score}
        whose = f": the pod prefers to be {_preferences(own, pod)}" if own else ", all from the terms of existing pods"
        told.append(Evidence(text=f"{key}={value} is worth {score} points{whose}", facts=facts))
    return tuple(told) or (Evidence(text="no preferred pod is near", facts={"points": 0}),)


def _preferences(terms: list[AffinityTerm], pod: Pod) -> str:
    return first_few(
        [
            f"{'near' if term.weight > 0 else 'away from'} {described(term, pod)} ({term.weight:+d} each)"
            for term in terms
        ]
    )


def _near_selector_hints(selector: Selector, existing: PodTable) -> tuple[list[str], list[tuple[str, str, str, str]]]:
    """Return a hint for each requirement whose value or key is a near miss of one that pods have.

    Beside the hints stand such labels with those that are meant: the key, the value, the near key and the near value.
    """
    identities = existing.identity.values[:_SEARCHED_AT_MOST]
    hints: list[str] = []
    near: list[tuple[str, str, str, str]] = []
    for requirement in selector.requirements:
        key = requirement.key
        values = frozenset(labels[key] for _, labels in identities if key in labels)
        if not values:
            meant = nearest(key, frozenset(other for _, labels in identities for other in labels))
            hints.append(f"no pod has a label {key}" + (f"; did you mean {meant}?" if meant else ""))
            near += [
                (key, value, meant, value)
                for value in requirement.values
                if meant and any(labels.get(meant) == value for _, labels in identities)
            ]
            continue
        for value in requirement.values:
            meant = None if value in values else nearest(value, values)
            if meant is not None:
                hints.append(f"no pod has {key}={value}; did you mean {key}={meant}?")
                near.append((key, value, key, meant))
    return hints, near
