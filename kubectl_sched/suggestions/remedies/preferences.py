"""Changes to a pod's node preferences that might make a feasible node win."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PreferredSchedulingTerm
from kubectl_sched.api.component_helpers.node_affinity import parse_node_selector
from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.framework.plugin_scores import default_normalize_score
from kubectl_sched.snapshot.node_selection import nodes_selected
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.remedies.node_changes import is_free, said_of
from kubectl_sched.suggestions.remedies.selectors import preferences, prefers, with_preferences
from kubectl_sched.suggestions.weight_margins import scores_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask

_NODE_AFFINITY = "NodeAffinity"
_OTHER_SCORES = "free room, spreading and other scores then count less"
_WEIGHTS = range(1, 101)
"""The weights of a preference that the API server accepts."""


def prefer(result: CycleResult, row: int) -> Iterator[Change]:
    """A preference for the node, as light as will do."""
    hostname = result.nodes.node_objects[row].metadata.labels.get(HOSTNAME)
    if hostname is None:
        return
    requirement = NodeSelectorRequirement(key=HOSTNAME, operator="In", values=(hostname,))
    preference = NodeSelectorTerm(match_expressions=(requirement,))
    found = _nearest_weight(result, row, preference, present=0)
    if found is not None:
        weight, only_ties = found
        term = PreferredSchedulingTerm(weight=weight, preference=preference)
        yield Change(
            kind=Kind.PREFER_NODE,
            text=f"if it preferred {HOSTNAME}={hostname} with weight {weight}",
            step=f"prefer {HOSTNAME}={hostname} with weight {weight}",
            pod=partial(prefers, term=term),
            caution=_OTHER_SCORES,
            cost=(only_ties, 1, weight),
        )


def weigh_preferences(result: CycleResult, row: int) -> Iterator[Change]:
    """Another weight for one of the pod's preferences, the least different from its present one."""
    for index, term in enumerate(preferences(result.pod)):
        found = _nearest_weight(result, row, term.preference, present=term.weight)
        if found is not None:
            weight, only_ties = found
            yield Change(
                kind=Kind.PREFER_NODE,
                text=f"with weight {weight} instead of {term.weight} for its preference of {_words(term)}",
                step=f"give its preference of {_words(term)} weight {weight} instead of {term.weight}",
                pod=partial(_with_weight, index=index, weight=weight),
                caution=_OTHER_SCORES if weight > term.weight else "that preference then counts less",
                cost=(only_ties, 0, abs(weight - term.weight), weight < term.weight),
            )


def say_what_is_preferred(result: ScheduleResult, row: int) -> Iterator[Change]:
    """A label that one of the pod's preferences asks for, and the node lacks."""
    labels = result.nodes.node_objects[row].metadata.labels
    for term in preferences(result.pod):
        lacking = [each for each in term.preference.match_expressions if each.key not in labels]
        if len(lacking) == 1 and lacking[0].operator in {"In", "Exists"} and is_free(lacking[0].key):
            yield said_of(result, row, lacking[0].key, next(iter(lacking[0].values), "true"))


def prefer_less(result: ScheduleResult, row: int) -> Iterator[Change]:
    """One preference less, of those that the node does not match."""
    for index, term in enumerate(preferences(result.pod)):
        if not _selected(result, term.preference)[row]:
            yield Change(
                kind=Kind.PREFER_LESS,
                text=f"without its preference of {_words(term)} with weight {term.weight}",
                step=f"remove its preference of {_words(term)} with weight {term.weight}",
                pod=partial(_without_preference, index=index),
                caution="nodes that match it are then no better than others",
                cost=(term.weight,),
            )


def _nearest_weight(
    result: CycleResult, row: int, preference: NodeSelectorTerm, present: int
) -> tuple[int, bool] | None:
    """The weight at which the row's node wins, else one at which it only ties, nearest to the present one; and which.

    None if no weight does either, or where nothing is scored by what is preferred. The row must be feasible.
    """
    if all(plugin.name != _NODE_AFFINITY for plugin in result.framework.score_plugins):
        return None
    scores = scores_of(result, _NODE_AFFINITY)
    raw = scores.raw if scores is not None else np.zeros_like(result.totals)
    rest = result.totals - scores.weighted if scores is not None else result.totals
    selected = _selected(result, preference)[result.feasible]
    mine = result.position_of[row]
    ties: list[int] = []
    for weight in sorted((each for each in _WEIGHTS if each != present), key=lambda each: abs(each - present)):
        points = default_normalize_score(raw + (weight - present) * selected)
        totals = rest + points * result.framework.weights[_NODE_AFFINITY]
        if totals[mine] > np.delete(totals, mine).max():
            return weight, False
        if totals[mine] == totals.max():
            ties.append(weight)
    return (ties[0], True) if ties else None


def _selected(result: ScheduleResult, term: NodeSelectorTerm) -> Mask:
    """bool[n]: the nodes that the term matches."""
    return nodes_selected(result.nodes.table, parse_node_selector(NodeSelector(node_selector_terms=(term,))))


def _words(term: PreferredSchedulingTerm) -> str:
    """`disk=ssd`, `disk In (ssd, nvme), zone Exists`."""
    told = []
    for each in (*term.preference.match_expressions, *term.preference.match_fields):
        values = f" ({', '.join(each.values)})" if each.values else ""
        is_one = each.operator == "In" and len(each.values) == 1
        told.append(f"{each.key}={each.values[0]}" if is_one else f"{each.key} {each.operator}{values}")
    return ", ".join(told)


def _with_weight(pod: Pod, index: int, weight: int) -> Pod:
    kept = preferences(pod)
    return with_preferences(pod, (*kept[:index], replace(kept[index], weight=weight), *kept[index + 1 :]))


def _without_preference(pod: Pod, index: int) -> Pod:
    kept = preferences(pod)
    return with_preferences(pod, (*kept[:index], *kept[index + 1 :]))
