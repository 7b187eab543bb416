"""One scheduling cycle for a group of pods, on one page (pkg/scheduler/schedule_one_podgroup.go since 1.36).

Where kube-scheduler leaves the order of placements or a choice among ties to chance, name order decides here.
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
    PlacementProgress,
    PodGroupInfo,
    TriedMember,
)
from kubectl_sched.framework.status import Code, Status, error, unschedulable
from kubectl_sched.scheduler.placement_choice import nominated_placement, placements_to_try, score_placements
from kubectl_sched.scheduler.podgroup_algorithm import Algorithm, all_rows
from kubectl_sched.scheduler.podgroup_completion import completed, with_post_filter
from kubectl_sched.scheduler.podgroup_post_filter import run_pod_group_post_filter
from kubectl_sched.scheduler.podgroup_result import POD_GROUP_UNSCHEDULABLE, PlacementResult
from kubectl_sched.scheduler.podgroup_submission import deleted_members, not_judged, submit
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.config.versions import Release
    from kubectl_sched.framework.cycle_budget import GroupBudget
    from kubectl_sched.framework.podgroup_info import NodeRanking
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.opportunistic_batch import OpportunisticBatch
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.snapshot import Snapshot

_NO_NEW_MEMBER = unschedulable("nominated placement is feasible but no pending pod was scheduled")


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
    result = completed(_place(algorithm, nodes), framework.handle.release)
    if preempts and result.status.code is Code.UNSCHEDULABLE:
        result = _post_filter(algorithm, nodes, result)
        if framework.handle.release.unusable_order_is_dropped:
            batch.forget()
    return submit(result, framework.handle.release) if budget.ended is None else not_judged(result, budget.ended)


def _place(algorithm: Algorithm, nodes: Snapshot) -> PodGroupResult:
    """Try the group on every placement and take the best of those where it fits."""
    result = _on_best_placement(algorithm, nodes, Placement(name="", rows=all_rows(nodes)), is_root=True)
    assigned = result.chosen.assigned if result.chosen is not None else ()
    if (
        algorithm.is_by_feasibility
        and result.status.is_success
        and not any(each.status.is_success for each in assigned)
    ):
        return replace(result, status=algorithm.nothing_fits)
    return result


def _on_best_placement(
    algorithm: Algorithm, nodes: Snapshot, within: Placement, *, is_root: bool = False
) -> PodGroupResult:
    result, release = algorithm.untried, algorithm.framework.handle.release
    if not algorithm.framework.handle.features.enabled("TopologyAwareWorkloadScheduling"):
        tried = algorithm.run(nodes, within)
        return replace(result, placements=(tried,), chosen=tried, status=tried.status)
    placements = _generate(algorithm, nodes, within)
    if isinstance(placements, Status):
        return replace(result, status=placements)
    run = _run_children if algorithm.info.is_tree else Algorithm.run
    nominated = None
    if release.nominated_placement_is_first and is_root and not algorithm.info.is_tree:
        nominated = nominated_placement(placements, algorithm.info, nodes)
    keeps_failed = release.failures_name_their_group or not algorithm.info.is_tree
    found: list[PlacementResult] = []
    for placement, enough in placements_to_try(placements, nominated, algorithm.framework):
        found.append(run(algorithm, nodes, placement))
        if found[-1].status.code is Code.ERROR:
            failed = found[-1] if keeps_failed else None
            return replace(result, placements=tuple(found), chosen=failed, status=found[-1].status)
        if placement is nominated:
            found[-1] = _with_new_members(found[-1])
        if sum(each.is_feasible for each in found) >= enough:
            break
    is_nominated = nominated is not None and found[0].is_feasible
    left = 0 if is_nominated else len(placements) - len(found)
    result = replace(result, placements=tuple(found), placements_left=left)
    if not result.feasible:
        return replace(result, chosen=found[0], status=_none_available(found[0].status, len(placements), algorithm))
    return _best(algorithm, nodes, result)


def _with_new_members(result: PlacementResult) -> PlacementResult:
    """Return the nominated placement's result, a rejection if the group fits there, but with none that waits."""
    if not result.status.is_success or result.assigned:
        return result
    return replace(result, status=_NO_NEW_MEMBER)


def _run_children(algorithm: Algorithm, nodes: Snapshot, placement: Placement) -> PlacementResult:
    """Try the groups below on a placement, each beside those that fit before it."""
    progress = PlacementProgress(0, len(algorithm.info.children))
    status = algorithm.feasible(progress)
    if status.code is Code.UNSCHEDULABLE:
        return PlacementResult(placement=placement, attempts=(), status=status)
    found: list[PodGroupResult] = []
    for child in algorithm.info.children:
        result = _on_best_placement(replace(algorithm, info=child), nodes, placement)
        found.append(result)
        if result.status.code is Code.ERROR:
            status = _failed_below(algorithm, result)
            break
        fits = result.status.is_success and result.chosen is not None
        if fits and result.chosen is not None:
            nodes = result.chosen.after or nodes
        progress = progress.after(success=fits)
        status = algorithm.feasible(progress)
        if status.code is Code.UNSCHEDULABLE:
            break
    if status.code is Code.WAIT:
        status = algorithm.rejected(status.reasons)
    attempts = tuple(attempt for each in found if each.chosen is not None for attempt in each.chosen.attempts)
    return PlacementResult(placement=placement, attempts=attempts, status=status, after=nodes, children=tuple(found))


def _failed_below(algorithm: Algorithm, child: PodGroupResult) -> Status:
    names = algorithm.framework.handle.release.failures_name_their_group
    own, below = (f' "{each.group.name}"' if names else "" for each in (algorithm.info, child.info))
    why = child.status.message
    return error(f"composite pod group{own} evaluation failed due to child{below} error: {why}")


def _generate(algorithm: Algorithm, nodes: Snapshot, within: Placement) -> tuple[Placement, ...] | Status:
    plugins = algorithm.framework.placement_generate_plugins
    if not plugins:
        return (within,)
    try:
        placements = plugins[0].generate_placements(algorithm.info, nodes, within)
    except PluginError as failure:
        return error(str(failure))
    return placements or unschedulable("no feasible placements found")


def _none_available(first: Status, count: int, algorithm: Algorithm) -> Status:
    """Say so, with what is wrong on the first placement; in 1.37 the message begins as that of a failed group."""
    why = POD_GROUP_UNSCHEDULABLE if POD_GROUP_UNSCHEDULABLE in first.reasons[:1] else first.message
    text = f"0/{count} placements are available, first placement status: {why}"
    return algorithm.rejected((text,)) if algorithm.is_by_feasibility else unschedulable(text)


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
    budget, release = algorithm.budget.for_dry_run(len(nodes.existing_pods)), algorithm.framework.handle.release

    def trial(changed: Snapshot, ranking: NodeRanking | None) -> GroupTrial:
        tried = _place(algorithm.of_trial(budget, ranking), changed)
        budget.release(budget.memory)  # nearly all of it goes with the results
        return GroupTrial(status=tried.status, attempts=_found(tried.chosen, release))

    cycle = GroupCycle(tried=tuple(_tried(result)), trial=trial)
    found = run_pod_group_post_filter(algorithm.info, nodes, algorithm.framework, cycle)
    return result if found is None else with_post_filter(result, found, release)


def _tried(result: PodGroupResult) -> Iterator[TriedMember]:
    cycles = (attempt.result for attempt in result.attempts)
    return (TriedMember(pod=each.pod, nodes=each.nodes, state=each.state, verdict=each.verdict) for each in cycles)


def _found(chosen: PlacementResult | None, release: Release) -> tuple[GroupAttempt, ...]:
    """The members that found a node, since 1.38 those of groups that fit."""
    if chosen is None:
        return ()
    attempts = chosen.assigned if release.preemption_ranks_nodes else chosen.attempts
    return tuple(
        GroupAttempt(pod=each.pod, node_name=each.node_name, state=each.result.state)
        for each in attempts
        if each.status.is_success and each.node_name is not None
    )
