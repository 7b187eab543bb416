"""The constraint, the counts of its domains and the skew behind a verdict or a score."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.framework.clauses import counted, first_few, missing_key_hints, pods
from kubectl_sched.framework.evidence import Evidence
from kubectl_sched.plugins.pod_topology_spread.constraints import selects_itself

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.apimachinery.labels import Selector
    from kubectl_sched.api.core import Taint
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.plugins.pod_topology_spread.constraints import Constraints
    from kubectl_sched.plugins.pod_topology_spread.filtering import PreFilterState, Spread
    from kubectl_sched.plugins.pod_topology_spread.scoring import PreScoreState
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Rows

_DOMAINS_TOLD: Final = 10


def rejection(
    state: PreFilterState, pod: Pod, nodes: Snapshot, row: int, constraints: Constraints
) -> tuple[Evidence, ...]:
    """One piece for each constraint that the node would break, in the order of the constraints."""
    labels = nodes.node_objects[row].metadata.labels
    told = []
    for spread in state.spreads:
        value = labels.get(spread.constraint.topology_key)
        if value is None:
            told.append(_missing_label(spread, nodes))
        elif _skew(spread, pod, value) > spread.constraint.max_skew:
            told.append(_skewed(spread, pod, nodes, value, constraints))
    return tuple(told)


def _skew(spread: Spread, pod: Pod, value: str) -> int:
    return spread.matches.at(value) + selects_itself(pod, spread.constraint) - spread.minimum


def _missing_label(spread: Spread, nodes: Snapshot) -> Evidence:
    key = spread.constraint.topology_key
    return Evidence(
        text=f"has no label {key}, over whose values pods matching {selected(spread.constraint.selector)} are spread",
        facts={"topologyKey": key, "selector": str(spread.constraint.selector), "missingLabel": key},
        hints=missing_key_hints(nodes, key),
    )


def _skewed(spread: Spread, pod: Pod, nodes: Snapshot, value: str, constraints: Constraints) -> Evidence:
    constraint, key = spread.constraint, spread.constraint.topology_key
    count, itself, skew = spread.matches.at(value), selects_itself(pod, constraint), _skew(spread, pod, value)
    emptiest = emptiest_domains(spread)
    measured = _measured_from(spread, emptiest)
    text = (
        f"{key}={value} has {pods(count)} matching {selected(constraint.selector)}; {measured}; "
        f"with this pod the skew is {skew}, above maxSkew {constraint.max_skew}"
    )
    facts: dict[str, JSON] = {
        "topologyKey": key,
        "domain": value,
        "matching": count,
        "selfMatch": int(itself),
        "minimum": spread.minimum,
        "skew": skew,
        "maxSkew": constraint.max_skew,
        "minDomains": constraint.min_domains,
        "domainCount": spread.domain_count,
        "selector": str(constraint.selector),
        "emptiest": list(emptiest[:_DOMAINS_TOLD]),
        "domains": domain_counts(spread),
    }
    distance = min(1.0, (skew - constraint.max_skew) / max(skew, 1))
    return Evidence(
        text=text, facts=facts, hints=_skew_hints(spread, pod, nodes, emptiest, constraints), distance=distance
    )


def _measured_from(spread: Spread, emptiest: Sequence[str]) -> str:
    if spread.minimum != spread.fewest or not emptiest:
        wanted = spread.constraint.min_domains
        return f"only {spread.domain_count} of the {wanted} domains of minDomains exist, so skew is measured from 0"
    if len(emptiest) == 1:
        return f"the emptiest, {emptiest[0]}, has {spread.fewest}"
    return f"{len(emptiest)} have {spread.fewest}, as {emptiest[0]}"


def emptiest_domains(spread: Spread) -> tuple[str, ...]:
    """The domains with the fewest matching pods, by name."""
    fewest = (spread.nodes.counts > 0) & (spread.matches.counts == spread.fewest)
    values = spread.matches.values
    return tuple(sorted(value for code in np.flatnonzero(fewest).tolist() if (value := values[code]) is not None))


def domain_counts(spread: Spread) -> dict[str, JSON]:
    """The matching pods of each domain that exists, fewest first; no more than can be read."""
    existing = [
        (int(spread.matches.counts[code]), value)
        for code in np.flatnonzero(spread.nodes.counts > 0).tolist()
        if (value := spread.matches.values[code]) is not None
    ]
    return {value: count for count, value in sorted(existing)[:_DOMAINS_TOLD]}


def _skew_hints(
    spread: Spread, pod: Pod, nodes: Snapshot, emptiest: Sequence[str], constraints: Constraints
) -> tuple[str, ...]:
    constraint = spread.constraint
    hints = []
    if not selects_itself(pod, constraint):
        hints.append(f"the pod's own labels do not match {selected(constraint.selector)}, so it does not count itself")
    tolerates = partial(constraints.tolerates, pod)
    if not constraint.honors_node_taints and emptiest and _all_tainted(nodes.whole, spread, emptiest, tolerates):
        where = emptiest[0] if len(emptiest) == 1 else f"the {len(emptiest)} emptiest domains"
        hints.append(
            f"every node of {where} has a taint that the pod does not tolerate, and yet counts; "
            "nodeTaintsPolicy: Honor would leave them out"
        )
    return tuple(hints)


def _all_tainted(
    nodes: Snapshot, spread: Spread, domains: Sequence[str], tolerates: Callable[[tuple[Taint, ...]], bool]
) -> bool:
    names = frozenset(domains)
    inside = nodes.label(spread.constraint.topology_key).where(lambda value: value in names)
    return bool(inside.any() and not nodes.taints.where(tolerates)[inside].any())


def selected(selector: Selector) -> str:
    """A selector in words."""
    if selector.nothing:
        return "no pod (no labelSelector)"
    # Services and what made the pod often select by the same label, which upstream then asks for twice.
    asked = ",".join(dict.fromkeys(map(str, selector.requirements)))
    return asked or "every pod (empty labelSelector, which counts none that runs)"


def summary(state: PreFilterState, pod: Pod, nodes: Snapshot, rows: Rows) -> str:
    """A clause about many rejected nodes: the constraint they break, or how many nodes break each first."""
    told: list[tuple[int, str]] = []
    for spread in state.spreads:
        key = spread.constraint.topology_key
        labelled = nodes.table.has_label(key)[rows]
        if not labelled.all():
            unknown = ", which no node carries" if missing_key_hints(nodes, key) else ""
            told.append((int(np.count_nonzero(~labelled)), f"have no label {key}{unknown}"))
        skew = spread.matches.on(nodes)[rows] + selects_itself(pod, spread.constraint) - spread.minimum
        skewed = labelled & (skew > spread.constraint.max_skew)
        if skewed.any():
            told.append((int(np.count_nonzero(skewed)), _skew_clause(spread, nodes, rows[skewed])))
        rows = rows[labelled & ~skewed]
    if len(told) == 1:
        return told[0][1]
    return f"break spread constraints: {'; '.join(counted(count, clause) for count, clause in told)}"


def _skew_clause(spread: Spread, nodes: Snapshot, rows: Rows) -> str:
    constraint, key = spread.constraint, spread.constraint.topology_key
    domains = {value: spread.matches.at(value) for value in nodes.label(key).take(rows) if value is not None}
    fullest = sorted(domains, key=lambda value: (-domains[value], value))
    full = first_few([f"{value} has {domains[value]}" for value in fullest])
    return (
        f"would exceed maxSkew {constraint.max_skew} of pods matching {selected(constraint.selector)} over {key}: "
        f"{full}; {_measured_from(spread, emptiest_domains(spread))}"
    )


def points(
    state: PreScoreState, counts: Sequence[Integers], nodes: Snapshot, row: int, origin: str
) -> tuple[Evidence, ...]:
    """One piece for each soft constraint: the matching pods of the node's domain and what they come to."""
    labels = nodes.node_objects[row].metadata.labels
    lacking = [
        spread.constraint.topology_key for spread in state.spreads if spread.constraint.topology_key not in labels
    ]
    if lacking and state.requires_all_keys:
        text = f"has no label {', '.join(lacking)}, so it gets no points"
        return (
            Evidence(text=text, facts={"missingLabels": list(lacking)}, hints=missing_key_hints(nodes, lacking[0])),
        )
    told = []
    for spread, per_node in zip(state.spreads, counts, strict=True):
        constraint, key = spread.constraint, spread.constraint.topology_key
        if key in lacking:
            told.append(Evidence(text=f"has no label {key}, which then adds nothing", facts={"missingLabels": [key]}))
            continue
        count = int(per_node[row])
        whose = "" if origin == "pod" else f" ({origin})"
        text = (
            f"{key}={labels[key]} has {pods(count)} matching {selected(constraint.selector)}{whose}: "
            f"{count} x {spread.weight:.3f} + {constraint.max_skew - 1}, fewer is better"
        )
        facts: dict[str, JSON] = {
            "topologyKey": key,
            "domain": labels[key],
            "matching": count,
            "weight": spread.weight,
            "maxSkew": constraint.max_skew,
            "domainCount": spread.domain_count,
            "selector": str(constraint.selector),
            "origin": origin,
        }
        told.append(Evidence(text=text, facts=facts))
    return tuple(told)
