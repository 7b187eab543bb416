"""Changes that might make a feasible node win: of the pod's preferences, of the node, of a plugin's weight."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.affinity import Affinity
from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.api.meta import with_spec
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.node_evictions import evictable, eviction
from kubectl_sched.suggestions.remedies import preferences, tolerations
from kubectl_sched.suggestions.remedies.selectors import selects_host
from kubectl_sched.suggestions.weight_margins import points_lost, weight_to_tie, weight_to_win

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.affinity import PodAffinity
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

_EVICTIONS_TRIED = (1, 2, 4)


def ways_to_win(result: CycleResult, row: int) -> list[Way]:
    """The candidates, those that touch less first; whether the node then wins is for a replay to say."""
    lost = {plugin for plugin, difference in points_lost(result, row) if difference < 0}
    preferring = (*preferences.weigh_preferences(result, row), *preferences.prefer(result, row))
    ways: list[Way] = [(change,) for change in (*preferring, *tolerations.keep_away(result, row))]
    if "TaintToleration" in lost:
        ways += tolerations.repel_less(result, row)
    if "NodeAffinity" in lost:
        ways += [(change,) for change in preferences.say_what_is_preferred(result, row)]
        ways += [(change,) for change in preferences.prefer_less(result, row)]
    if "InterPodAffinity" in lost:
        ways += [(change,) for change in _near_less(result)]
    if "PodTopologySpread" in lost:
        ways += [(change,) for change in _spreading_less(result)]
    if lost & {"NodeResourcesFit", "NodeResourcesBalancedAllocation"}:
        ways += [(change,) for change in _emptying(result, row)]
    ways += [(change,) for change in _weighing(result, row)]
    ways += [(change,) for change in _pinning(result, row)]
    return sorted(ways, key=lambda way: (len(way), [change.touches for change in way]))


def _near_less(result: ScheduleResult) -> Iterator[Change]:
    """One preference less about pods that are near."""
    affinity = result.pod.spec.affinity
    for part, words, where in (
        ("pod_affinity", "pod affinity", "far from the pods that it prefers to be near"),
        ("pod_anti_affinity", "pod anti-affinity", "near the pods that it prefers to be away from"),
    ):
        terms = getattr(affinity, part, None)
        for index, term in enumerate(terms.preferred if terms is not None else ()):
            yield Change(
                kind=Kind.PREFER_LESS,
                text=(
                    f"without its preferred {words} over {term.pod_affinity_term.topology_key} "
                    f"with weight {term.weight}"
                ),
                pod=partial(_without_near_preference, part=part, index=index),
                caution=f"it may then run {where}",
                cost=(term.weight,),
            )


def _without_near_preference(pod: Pod, part: str, index: int) -> Pod:
    affinity = pod.spec.affinity if pod.spec.affinity is not None else Affinity()
    terms: PodAffinity = getattr(affinity, part)
    kept = replace(terms, preferred=(*terms.preferred[:index], *terms.preferred[index + 1 :]))
    return with_spec(pod, affinity=replace(affinity, **{part: kept}))


def _spreading_less(result: ScheduleResult) -> Iterator[Change]:
    for constraint in result.pod.spec.topology_spread_constraints:
        if constraint.when_unsatisfiable == "ScheduleAnyway":
            yield Change(
                kind=Kind.PREFER_LESS,
                text=f"without its soft spread constraint over {constraint.topology_key}",
                step=f"remove its soft spread constraint over {constraint.topology_key}",
                pod=partial(_without_constraint, gone=constraint),
                caution="its pods may then be spread less evenly",
            )


def _without_constraint(pod: Pod, gone: object) -> Pod:
    kept = tuple(each for each in pod.spec.topology_spread_constraints if each != gone)
    return with_spec(pod, topology_spread_constraints=kept)


def _emptying(result: ScheduleResult, row: int) -> Iterator[Change]:
    """Some of the pods that request the most there, of the lowest priority."""
    allocatable = {name: max(int(result.nodes.allocatable(name)[row]), 1) for name in ("cpu", "memory")}

    def share(pod: Pod) -> float:
        requested = result.nodes.resource_of(pod).requested
        return sum(requested.get(name, 0) / of for name, of in allocatable.items())

    pods = sorted(evictable(result, row), key=lambda pod: (pod.priority, -share(pod)))
    for number in _EVICTIONS_TRIED:
        if number <= len(pods):
            yield eviction(result, pods[:number])


def _weighing(result: CycleResult, row: int) -> Iterator[Change]:
    """Another weight for one plugin, the least different from its present one."""
    names = {plugin.name for plugin in result.framework.score_plugins}
    for each in result.scores:
        weight = weight_to_win(result, row, each.plugin) or weight_to_tie(result, row, each.plugin)
        if weight is not None and weight != each.weight and each.plugin in names:
            yield Change(
                kind=Kind.WEIGH,
                text=f"if {each.plugin} had weight {weight} instead of {each.weight}",
                step=f"give {each.plugin} weight {weight} instead of {each.weight}",
                weight=(each.plugin, weight),
                caution=f"this changes the scores of every pod of {result.framework.profile.scheduler_name}",
                cost=(abs(weight - each.weight),),
            )


def _pinning(result: ScheduleResult, row: int) -> Iterator[Change]:
    """Nowhere but there."""
    hostname = result.nodes.node_objects[row].metadata.labels.get(HOSTNAME)
    is_alone = result.pod.metadata.controller is None
    if hostname is not None:
        yield Change(
            kind=Kind.PIN,
            text=f"with {HOSTNAME}={hostname} in its nodeSelector",
            step=f"add {HOSTNAME}={hostname} to its nodeSelector",
            pod=lambda pod: selects_host(pod, hostname),
            caution="it can then run nowhere else"
            if is_alone
            else "the pod and all its replicas can then run nowhere else",
        )
