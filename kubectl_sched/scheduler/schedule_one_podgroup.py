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
from kubectl_sched.scheduler.podgroup_completion import completed, with_post_filter
from kubectl_sched.scheduler.podgroup_post_filter import run_pod_group_post_filter
from kubectl_sched.scheduler.podgroup_result import POD_GROUP_UNSCHEDULABLE, UNSCHEDULABLE, PlacementResult
from kubectl_sched.scheduler.podgroup_submission import deleted_members, not_judged, submit
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.framework.cycle_budget import GroupBudget
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.opportunistic_batch import OpportunisticBatch
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.snapshot import Snapshot


def schedule_one_podgroup(
    info: PodGroupInfo,
    nodes: Snapshot,
    framework: Framework,
    *,
    preempts: bool,
    budget: GroupBudget,
    batch: OpportunisticBatch,
) -> PodGroupResult:
    """Run the cycle for the group: `info.pods` are the members that wait in the queue, in their order."""
    algorithm = Algorithm(
        info=info.without_deleted(), framework=framework, budget=budget, batch=batch, runs_post_filter=preempts
    )
    if not algorithm.info.pods:
        return replace(algorithm.untried, outcome=Outcome.DELETING, members=deleted_members(algorithm.info))
    result = completed(_place(algorithm, nodes))
    if preempts and result.status.code is Code.UNSCHEDULABLE:
        result = _post_filter(algorithm, nodes, result)
    return submit(result, framework.handle.release) if budget.ended is None else not_judged(result, budget.ended)


def _place(algorithm: Algorithm, nodes: Snapshot) -> PodGroupResult:
    """Try the group on every placement and take the best of those where it fits."""
    result = _on_best_placement(algorithm, nodes, Placement(name="", rows=all_rows(nodes)))
    assigned = result.chosen.assigned if result.chosen is not None else ()
    if (
        algorithm.is_by_feasibility
        and result.status.is_success
        and not any(each.status.is_success for each in assigned)
    ):
        return replace(result, status=UNSCHEDULABLE)
    return result


def _on_best_placement(algorithm: Algorithm, nodes: Snapshot, within: Placement) -> PodGroupResult:
    result = algorithm.untried
    if not algorithm.framework.handle.features.enabled("TopologyAwareWorkloadScheduling"):
        tried = algorithm.run(nodes, within)
        return replace(result, placements=(tried,), chosen=tried, status=tried.status)
    placements = _generate(algorithm, nodes, within)
    if isinstance(placements, Status):
        return replace(result, status=placements)
    run = _run_children if algorithm.info.is_tree else Algorithm.run
    found: list[PlacementResult] = []
    for placement in placements:
        found.append(run(algorithm, nodes, placement))
        if found[-1].status.code is Code.ERROR:
            failed = None if algorithm.info.is_tree else found[-1]
            return replace(result, placements=tuple(found), chosen=failed, status=found[-1].status)
    result = replace(result, placements=tuple(found))
    if not result.feasible:
        return replace(result, chosen=found[0], status=_none_available(found, algorithm))
    return _best(algorithm, nodes, result)


def _run_children(algorithm: Algorithm, nodes: Snapshot, placement: Placement) -> PlacementResult:
    """Try the groups below on a placement, each beside those that fit before it."""
    scheduled, remaining = 0, len(algorithm.info.children)
    status = algorithm.feasible(scheduled, remaining)
    if status.code is Code.UNSCHEDULABLE:
        return PlacementResult(placement=placement, attempts=(), status=status)
    found: list[PodGroupResult] = []
    for child in algorithm.info.children:
        result = _on_best_placement(replace(algorithm, info=child), nodes, placement)
        found.append(result)
        if result.status.code is Code.ERROR:
            status = error(f"composite pod group evaluation failed due to child error: {result.status.message}")
            break
        remaining -= 1
        if result.status.is_success and result.chosen is not None:
            scheduled, nodes = scheduled + 1, result.chosen.after or nodes
        status = algorithm.feasible(scheduled, remaining)
        if status.code is Code.UNSCHEDULABLE:
            break
    if status.code is Code.WAIT:
        status = unschedulable(POD_GROUP_UNSCHEDULABLE, *status.reasons)
    attempts = tuple(attempt for each in found if each.chosen is not None for attempt in each.chosen.attempts)
    return PlacementResult(placement=placement, attempts=attempts, status=status, after=nodes, children=tuple(found))


def _generate(algorithm: Algorithm, nodes: Snapshot, within: Placement) -> tuple[Placement, ...] | Status:
    plugins = algorithm.framework.placement_generate_plugins
    if not plugins:
        return (within,)
    try:
        placements = plugins[0].generate_placements(algorithm.info, nodes, within)
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
    budget = algorithm.budget.for_dry_run(len(nodes.existing_pods))

    def trial(changed: Snapshot) -> GroupTrial:
        tried = _place(algorithm.without_post_filter(budget), changed)
        budget.release(budget.memory)  # nearly all of it goes with the results
        return GroupTrial(status=tried.status, attempts=_found(tried.chosen))

    cycle = GroupCycle(tried=tuple(_tried(result)), trial=trial)
    found = run_pod_group_post_filter(algorithm.info, nodes, algorithm.framework, cycle)
    return result if found is None else with_post_filter(result, found, is_appended=algorithm.is_by_feasibility)


def _tried(result: PodGroupResult) -> Iterator[TriedMember]:
    cycles = (attempt.result for attempt in result.attempts)
    return (TriedMember(pod=each.pod, nodes=each.nodes, state=each.state, verdict=each.verdict) for each in cycles)


def _found(chosen: PlacementResult | None) -> tuple[GroupAttempt, ...]:
    """The members that found a node."""
    attempts = chosen.attempts if chosen is not None else ()
    return tuple(
        GroupAttempt(pod=each.pod, node_name=each.node_name, state=each.result.state)
        for each in attempts
        if each.status.is_success and each.node_name is not None
    )
