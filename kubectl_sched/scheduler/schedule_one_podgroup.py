"""One scheduling cycle for a group of pods, on one page (pkg/scheduler/schedule_one_podgroup.go, 1.36 and 1.37).

All placements are tried. Where kube-scheduler leaves the order of placements or a choice among ties to chance, name
order decides here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.podgroup_info import (
    GroupAttempt,
    GroupCycle,
    GroupTrial,
    Placement,
    PodGroupInfo,
    TriedMember,
)
from kubectl_sched.framework.status import Code, Status, error, unschedulable
from kubectl_sched.scheduler.placement_scores import score_placements
from kubectl_sched.scheduler.podgroup_algorithm import Algorithm, all_rows
from kubectl_sched.scheduler.podgroup_post_filter import run_pod_group_post_filter
from kubectl_sched.scheduler.podgroup_result import POD_GROUP_UNSCHEDULABLE, UNSCHEDULABLE, PodGroupResult
from kubectl_sched.scheduler.podgroup_submission import submit
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.podgroup_result import PlacementResult
    from kubectl_sched.snapshot import Snapshot


def schedule_one_podgroup(info: PodGroupInfo, nodes: Snapshot, framework: Framework) -> PodGroupResult:
    """Run the cycle for the group: `info.pods` are the members that wait in the queue, in their order."""
    result = PodGroupResult(info=info, outcome=Outcome.UNSCHEDULABLE, kubernetes_version=str(framework.handle.version))
    pods = tuple(pod for pod in info.pods if pod.metadata.deletion_timestamp is None)
    if pods:
        algorithm = Algorithm(
            info=PodGroupInfo(group=info.group, pods=pods, scheduled=info.scheduled), framework=framework
        )
        result = _place(algorithm, nodes, result)
        if result.status.code is Code.UNSCHEDULABLE:
            result = _post_filter(algorithm, nodes, result)
    return submit(result, framework.handle.release)


def _place(algorithm: Algorithm, nodes: Snapshot, result: PodGroupResult) -> PodGroupResult:
    """Try the group on every placement and take the best of those where it fits."""
    result = _on_best_placement(algorithm, nodes, result)
    tried = result.chosen.attempts if result.chosen is not None else ()
    if algorithm.is_by_feasibility and result.status.is_success and not any(each.status.is_success for each in tried):
        return replace(result, status=UNSCHEDULABLE)
    return result


def _on_best_placement(algorithm: Algorithm, nodes: Snapshot, result: PodGroupResult) -> PodGroupResult:
    if not algorithm.framework.handle.features.enabled("TopologyAwareWorkloadScheduling"):
        tried = algorithm.run(nodes, Placement(name="", rows=all_rows(nodes)))
        return replace(result, placements=(tried,), chosen=tried, status=tried.status)
    placements = _generate(algorithm, nodes)
    if isinstance(placements, Status):
        return replace(result, status=placements)
    found: list[PlacementResult] = []
    for placement in placements:
        found.append(algorithm.run(nodes, placement))
        if found[-1].status.code is Code.ERROR:
            return replace(result, placements=tuple(found), chosen=found[-1], status=found[-1].status)
    result = replace(result, placements=tuple(found))
    if not result.feasible:
        return replace(result, chosen=found[0], status=_none_available(found, algorithm))
    return _best(algorithm, nodes, result)


def _generate(algorithm: Algorithm, nodes: Snapshot) -> tuple[Placement, ...] | Status:
    plugins = algorithm.framework.placement_generate_plugins
    if not plugins:
        return (Placement(name="", rows=all_rows(nodes)),)
    try:
        placements = plugins[0].generate_placements(algorithm.info, nodes)
    except PluginError as failure:
        return error(str(failure))
    return placements or unschedulable("no feasible placements found")


def _none_available(found: Sequence[PlacementResult], algorithm: Algorithm) -> Status:
    """Say so, with what is wrong on the first placement; since 1.37 the message begins as that of a failed group."""
    first = found[0].status
    why = POD_GROUP_UNSCHEDULABLE if POD_GROUP_UNSCHEDULABLE in first.reasons[:1] else first.message
    text = f"0/{len(found)} placements are available, first placement status: {why}"
    return unschedulable(POD_GROUP_UNSCHEDULABLE, text) if algorithm.is_by_feasibility else unschedulable(text)


def _best(algorithm: Algorithm, nodes: Snapshot, result: PodGroupResult) -> PodGroupResult:
    feasible = result.feasible
    if len(feasible) == 1:
        return replace(result, chosen=feasible[0], status=feasible[0].status)
    try:
        scores = score_placements(algorithm.info, feasible, nodes, algorithm.framework)
    except PluginError as failure:
        return replace(result, status=error(str(failure)))
    totals = tuple(sum(int(each.weighted[at]) for each in scores) for at in range(len(feasible)))
    chosen = feasible[totals.index(max(totals))]
    return replace(result, scores=scores, totals=totals, chosen=chosen, status=chosen.status)


def _post_filter(algorithm: Algorithm, nodes: Snapshot, result: PodGroupResult) -> PodGroupResult:
    """Preemption for the group as a whole: what it says is appended to the group's status, an error takes its place."""

    def trial(changed: Snapshot) -> GroupTrial:
        tried = _place(algorithm.without_post_filter(), changed, result)
        return GroupTrial(status=tried.status, attempts=_found(tried.chosen))

    result = replace(result, untried=result.status)
    cycle = GroupCycle(tried=tuple(_tried(result)), trial=trial)
    found = run_pod_group_post_filter(algorithm.info, nodes, algorithm.framework, cycle)
    if found is None:
        return result
    if found.status.code is Code.ERROR:
        return replace(result, status=found.status, untried=found.status, post_filter=found)
    status = result.status
    if not found.status.is_success or algorithm.is_by_feasibility:
        status = Status(status.code, (*status.reasons, found.status.message))
    return replace(result, status=status, post_filter=found)


def _tried(result: PodGroupResult) -> Iterator[TriedMember]:
    cycles = (attempt.result for placement in result.placements for attempt in placement.attempts)
    return (
        TriedMember(pod=each.pod, nodes=each.nodes, state=each.state, verdict=each.verdict)
        for each in cycles
        if each.state is not None
    )


def _found(chosen: PlacementResult | None) -> tuple[GroupAttempt, ...]:
    """The members that found a node."""
    attempts = chosen.attempts if chosen is not None else ()
    return tuple(
        GroupAttempt(pod=each.pod, node_name=each.node_name, nodes=each.result.nodes, state=each.result.state)
        for each in attempts
        if each.status.is_success and each.node_name is not None and each.result.state is not None
    )
