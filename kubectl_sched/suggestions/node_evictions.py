"""The pods of a node that would have to go to make room on it: as few as possible, the least important first."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.resource_names import PODS
from kubectl_sched.framework.amounts import amount_texts
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.plugins.default_preemption.budgets import Budgets
from kubectl_sched.suggestions.change import Change, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

_MOST = 8
"""Nobody evicts more pods than this to make room for one."""

_PAIRED = 60
"""Among how many pods every pair is tried."""

_NAMED = 3
_COMES_BACK = frozenset({"DaemonSet", "Node"})
"""Pods of these are made again on the same node."""


def evictable(result: ScheduleResult, row: int) -> list[Pod]:
    """The row's pods that may be asked to go, the least important first.

    Never one of a higher priority, nor one that would come back to this very node (static pods, DaemonSets'), nor one
    that is going already, nor another of the pod's own controller, which would make it again in the pod's place.
    """
    own = result.pod.metadata.controller
    pods = (
        pod
        for pod in result.nodes.node(row).pods
        if _may_go(pod) and pod.priority <= result.pod.priority and (own is None or pod.metadata.controller != own)
    )
    return sorted(pods, key=lambda pod: (pod.priority, pod.key))


def _may_go(pod: Pod) -> bool:
    annotations, owner = pod.metadata.annotations, pod.metadata.controller
    is_static = annotations.config_mirror is not None or annotations.config_source in {"file", "http"}
    comes_back = owner is not None and owner.kind in _COMES_BACK
    return not is_static and not comes_back and pod.metadata.deletion_timestamp is None


def making_room(result: ScheduleResult, row: int, missing: Mapping[str, int]) -> tuple[Pod, ...]:
    """The fewest pods whose requests cover what is missing (by resource, `pods` too), `()` where none do."""
    holding = [(pod, _freed_by(result, pod, missing)) for pod in evictable(result, row)]
    useful = [(pod, freed) for pod, freed in holding if any(freed.values())]
    small = useful if len(useful) <= _PAIRED else _most_useful(useful, missing)[:_PAIRED]
    for size, among in ((1, useful), (2, small)):
        covering = [some for some in combinations(among, size) if _cover(some, missing)]
        if covering:
            best = min(covering, key=lambda some: ([pod.priority for pod, _ in some][::-1], _excess(some, missing)))
            return tuple(pod for pod, _ in best)
    return _one_after_the_other(_most_useful(useful, missing), missing)


def _freed_by(result: ScheduleResult, pod: Pod, missing: Mapping[str, int]) -> dict[str, int]:
    requested = result.nodes.resource_of(pod).requested
    return {resource: 1 if resource == "pods" else requested.get(resource, 0) for resource in missing}


def _cover(some: Iterable[tuple[Pod, Mapping[str, int]]], missing: Mapping[str, int]) -> bool:
    some = tuple(some)
    return all(sum(freed[resource] for _, freed in some) >= amount for resource, amount in missing.items())


def _share(freed: Mapping[str, int], missing: Mapping[str, int]) -> float:
    return sum(min(freed[resource] / amount, 1.0) for resource, amount in missing.items())


def _excess(some: Iterable[tuple[Pod, Mapping[str, int]]], missing: Mapping[str, int]) -> float:
    """Return the amount that is freed beyond what is missing."""
    return sum(freed[resource] / amount for _, freed in some for resource, amount in missing.items())


def _most_useful(
    useful: list[tuple[Pod, dict[str, int]]], missing: Mapping[str, int]
) -> list[tuple[Pod, dict[str, int]]]:
    return sorted(useful, key=lambda each: (-_share(each[1], missing), each[0].priority, each[0].key))


def _one_after_the_other(useful: list[tuple[Pod, dict[str, int]]], missing: Mapping[str, int]) -> tuple[Pod, ...]:
    """The most useful until they are enough, without those that turn out not to be needed."""
    chosen: list[tuple[Pod, dict[str, int]]] = []
    for each in useful[:_MOST]:
        chosen.append(each)
        if _cover(chosen, missing):
            for spare in sorted(chosen, key=lambda found: -found[0].priority):
                without = [other for other in chosen if other is not spare]
                chosen = without if _cover(without, missing) else chosen
            return tuple(pod for pod, _ in chosen)
    return ()


def eviction(result: ScheduleResult, victims: Sequence[Pod]) -> Change:
    """These pods of one node gone, with how much that frees of what there is too little of."""
    return Change(
        kind=Kind.EVICT,
        text=f"once {first_few([pod.key for pod in victims])} {'is' if len(victims) == 1 else 'are'} gone"
        f"{_freeing(result, victims)}",
        evicts=tuple(victims),
        caution=_caution(result, victims),
        cost=(len(victims), max(pod.priority for pod in victims)),
    )


def _freeing(result: ScheduleResult, victims: Sequence[Pod]) -> str:
    """`, which frees 2 cpu, 1Gi memory`; nothing where the node is not short of anything that they request."""
    row = result.nodes.row_of[victims[0].spec.node_name]
    short = [
        str(fact.facts["resource"]) for fact in result.filter_evidence("NodeResourcesFit", row) if "free" in fact.facts
    ]
    freed = {
        resource: sum(result.nodes.resource_of(pod).requested.get(resource, 0) for pod in victims)
        for resource in short
        if resource != PODS
    }
    told = [f"{amount_texts(resource, amount)[0]} {resource}" for resource, amount in freed.items() if amount]
    return f", which frees {', '.join(told)}" if told else ""


def in_one(result: ScheduleResult, way: Way) -> Way:
    """The way with one eviction of all who must go, where there are several: that is one thing to do."""
    evictions = [change for change in way if change.evicts]
    if len(evictions) < 2:
        return way
    victims = {victim.key: victim for change in evictions for victim in change.evicts}
    return (*(change for change in way if not change.evicts), eviction(result, list(victims.values())))


def _caution(result: ScheduleResult, victims: Sequence[Pod]) -> str:
    """Name the pods that end, those that are not made again, and the budgets that are not asked."""
    assert result.framework is not None  # noqa: S101 - asked only of results of a cycle
    told = [f"this ends {', '.join(f'{pod.metadata.name} of priority {pod.priority}' for pod in victims[:_NAMED])}"]
    if len(victims) > _NAMED:
        told[0] += f" and {len(victims) - _NAMED} more"
    bare = [pod.key for pod in victims if pod.metadata.controller is None]
    if bare:
        told.append(f"nothing makes {first_few(bare)} again")
    once = result.framework.handle.release.one_violated_budget_is_enough
    _, _, violated = Budgets(result.nodes.objects, one_violation_is_enough=once).split(list(victims))
    if violated:
        told.append(f"PodDisruptionBudget {first_few(violated)} forbids it, but kubectl delete does not check")
    return "; ".join(told)
