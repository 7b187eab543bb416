"""The pods of a node that would have to go to make room on it: as few as possible, the least important first."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.api.component_helpers.resource_names import PODS
from kubectl_sched.diagnostics.findings.resources.pending_resizes import shortage_on
from kubectl_sched.diagnostics.findings.resources.room_held_in_vain import is_placeholder
from kubectl_sched.framework.amounts import amount_texts
from kubectl_sched.framework.clauses import agreeing, first_few
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.harm import is_protected
from kubectl_sched.suggestions.workload import is_equal_of

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
_NAMED_OF_EACH = 2
_COMES_BACK = frozenset({"DaemonSet", "Node"})
"""Controllers that re-create their pods on the same node."""


_Reserve: TypeAlias = tuple[bool, bool, bool, bool]


def evictable(result: ScheduleResult, row: int) -> list[Pod]:
    """Return the row's pods that may be evicted: unprotected ones first, one's own before others', the least important.

    A pod of a higher priority stays, and so does one that is ending already. An evicted static pod or pod of a
    DaemonSet would come back to this very node, and a pod of the same workload would be re-created in the pod's place.
    """
    pods = (
        pod
        for pod in result.nodes.node(row).pods
        if _may_go(pod) and pod.priority <= result.pod.priority and not is_equal_of(result.pod, pod)
    )
    return sorted(pods, key=lambda pod: (*_reserve(result, pod), pod.priority, pod.key))


def _reserve(result: ScheduleResult, pod: Pod) -> _Reserve:
    """Return why the pod is asked after others.

    A budget protects it, it is no placeholder, it is another namespace's, nothing makes it again.
    """
    is_foreign, is_bare = pod.namespace != result.pod.namespace, pod.metadata.controller is None
    return is_protected(pod, result.nodes.objects), not is_placeholder(pod), is_foreign, is_bare


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
            best = min(covering, key=partial(_harm, result, missing))
            return tuple(pod for pod, _ in best)
    return _one_after_the_other(_most_useful(useful, missing), missing)


def may_be_freed(result: ScheduleResult, row: int, missing: Mapping[str, int]) -> bool:
    """Report whether pods that no file of the kubelet makes hold what is missing, whoever they are."""
    pods = (pod for pod in result.nodes.node(row).pods if not pod.is_static)
    return _cover(((pod, _freed_by(result, pod, missing)) for pod in pods), missing)


def why_nobody_goes(result: ScheduleResult, row: int, missing: Mapping[str, int]) -> str:
    """Return the clause on the pods that hold most of what is missing, and why none of them is named to go."""
    holding = [(pod, _freed_by(result, pod, missing)) for pod in result.nodes.node(row).pods if not pod.is_static]
    most = _most_useful([(pod, freed) for pod, freed in holding if any(freed.values())], missing)
    told: dict[str, list[str]] = {}
    for pod, _ in most[:_PAIRED]:
        told.setdefault(_why_it_stays(result, pod), []).append(pod.key)
    clauses = (f"{first_few(names, _NAMED_OF_EACH)} {agreeing(len(names), why)}" for why, names in told.items())
    return "; ".join(clauses)


def _why_it_stays(result: ScheduleResult, pod: Pod) -> str:
    if pod.metadata.deletion_timestamp is not None:
        return "are ending"
    if pod.is_daemon:
        return "are of a DaemonSet, which makes them again there"
    if pod.priority > result.pod.priority:
        return "have a higher priority"
    return "are of its own workload" if is_equal_of(result.pod, pod) else f"are among more than {_MOST} to go"


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


def _harm(
    result: ScheduleResult, missing: Mapping[str, int], some: Sequence[tuple[Pod, Mapping[str, int]]]
) -> tuple[list[_Reserve], list[int], float]:
    reserves = sorted((_reserve(result, pod) for pod, _ in some), reverse=True)
    return reserves, [pod.priority for pod, _ in some][::-1], _excess(some, missing)


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
        step=f"evict {first_few([pod.key for pod in victims])}{_freeing(result, victims)}",
        evicts=tuple(victims),
        caution=f"this ends {_named(victims)}",
        cost=(
            *map(sum, zip(*(_reserve(result, pod) for pod in victims), strict=True)),
            len(victims),
            max(pod.priority for pod in victims),
        ),
    )


def _freeing(result: ScheduleResult, victims: Sequence[Pod]) -> str:
    """`, which frees 2 cpu, 1Gi memory`; nothing where the node is not short of anything that they request."""
    row = result.nodes.row_of[victims[0].spec.node_name]
    freed = {
        resource: sum(result.nodes.resource_of(pod).requested.get(resource, 0) for pod in victims)
        for resource in shortage_on(result, row)
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


def _named(victims: Sequence[Pod]) -> str:
    named = ", ".join(f"{pod.metadata.name} of priority {pod.priority}" for pod in victims[:_NAMED])
    return f"{named} and {len(victims) - _NAMED} more" if len(victims) > _NAMED else named
