"""One scheduling cycle for one pod, on one page (pkg/scheduler/schedule_one.go).

All nodes are filtered and all feasible ones scored, so that the whole decision can be shown; what kube-scheduler would
not have looked at is said in `diagnostics/warnings.py`.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import UnsupportedQuantity
from kubectl_sched.api.component_helpers.container_resources import has_absent_requests
from kubectl_sched.api.meta import with_spec
from kubectl_sched.framework.cycle_budget import CycleBudget
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.framework.fit_error import NO_NODES_AVAILABLE, event_note
from kubectl_sched.framework.golang import crash_of
from kubectl_sched.framework.plugin_error_boundary import (
    Unjudged,
    could_not_judge,
    is_unknown,
    unknown_first,
    unknown_nodes,
)
from kubectl_sched.framework.runtime import first_rejections
from kubectl_sched.framework.status import Code, passing, unresolvable
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome, ScheduleResult
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.versions import Release
    from kubectl_sched.framework.handle import ExtenderClient
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.framework.status import NodeToStatus, Status
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows


def schedule_one(pod: Pod, nodes: Snapshot, framework: Framework) -> CycleResult:
    """The whole cycle for the pod, as if it were pending."""
    return cycle(pod, nodes.remove_pod(pod.metadata.namespace, pod.metadata.name), framework)


def cycle(pod: Pod, nodes: Snapshot, framework: Framework, budget: CycleBudget | None = None) -> CycleResult:
    """Run the cycle for a pod that is not among the existing ones; without a budget it has one of its own."""
    result = begin(pod, nodes, framework, budget)
    try:
        return schedule(replace(result, pre_enqueue=framework.run_pre_enqueue(result.pod, nodes)))
    except UnsupportedQuantity as wrong:
        return replace(result, outcome=Outcome.ERROR, error=str(wrong), event=event_note(str(wrong)))


def begin(pod: Pod, nodes: Snapshot, framework: Framework, budget: CycleBudget | None = None) -> CycleResult:
    """The result of the pod before any plugin was asked; without a budget it has one of its own."""
    return CycleResult(
        pod=with_spec(pod, node_name=""),
        nodes=nodes,
        outcome=Outcome.UNSCHEDULABLE,
        kubernetes_version=str(framework.handle.version),
        kubernetes_patch=framework.handle.release.patch_name,
        current_node=pod.spec.node_name or None,
        framework=framework,
        state=CycleState(budget or CycleBudget(framework.handle.limits)),
    )


def schedule(result: CycleResult) -> CycleResult:
    """The scheduling algorithm: find the nodes that fit and score them."""
    crash = _crash_over_a_pod(result)
    if crash is not None:
        result = replace(result, error=crash, event=event_note(crash))
    elif len(result.nodes):
        result = score_feasible(_ranked(_filter(result)))
    else:
        result = replace(result, message=NO_NODES_AVAILABLE, event=NO_NODES_AVAILABLE)
    return replace(result, outcome=outcome_of(result))


def _crash_over_a_pod(result: CycleResult) -> str | None:
    """Return the crash of a scheduler that cannot count the resources in the status of this pod or of one on a node."""
    handle = result.framework.handle
    if not (handle.release.absent_requests_crash and handle.features.enabled("InPlacePodVerticalScaling")):
        return None
    nodes = result.nodes.whole
    crashes = nodes.existing_pods.column("has_absent_requests", has_absent_requests).where(bool)
    placed = (nodes.existing_pods.at(int(index)) for index in np.flatnonzero(crashes))
    others = (pod for pod in (*nodes.stranded, result.pod) if has_absent_requests(pod))
    first = next(chain(placed, others), None)
    if first is None:
        return None
    why = f"pod {first.key} has a container without requests whose status has some"
    return crash_of(f"{why}: assignment to entry in nil map")


def _ranked(result: CycleResult) -> CycleResult:
    """Leave the feasible nodes that rank first."""
    if result.ranking is None or len(result.feasible) < 2:
        return result
    return replace(result, feasible=result.ranking.first(result.nodes, result.feasible))


def outcome_of(result: CycleResult) -> Outcome:
    """Return the outcome that the result's fields add up to."""
    if result.pod.metadata.deletion_timestamp is not None:
        return Outcome.DELETING
    if not result.pre_enqueue.is_success:
        return Outcome.GATED
    if result.budget_ended is not None:
        return Outcome.UNKNOWN
    if result.error is not None:
        return Outcome.ERROR
    return Outcome.SCHEDULABLE if len(result.feasible) or result.nominated_first else Outcome.UNSCHEDULABLE


def _filter(result: CycleResult) -> CycleResult:
    """PreFilter, Filter with nominated pods, and PostFilter where nothing fits."""
    pod, nodes, framework, state = result.pod, result.nodes, result.framework, result.state
    pre_filter = framework.run_pre_filter(state, pod, nodes)
    result = replace(result, pre_filter=pre_filter.status, narrowed_by=pre_filter.narrowed_by)
    if not pre_filter.status.is_success:
        if not pre_filter.status.is_rejected:
            return replace(result, error=pre_filter.status.message, event=event_note(pre_filter.status.message))
        verdicts = {plugin: Column.filled(len(nodes), status) for plugin, status in state.unjudged.items()}
        rejected = Column.filled(len(nodes), pre_filter.status)
        verdict = unknown_first(rejected, verdicts)
        return _post_filter(replace(result, verdicts=verdicts, verdict=verdict), verdict)

    verdicts = framework.filter_each(state, pod, nodes)
    verdict = framework.run_filters_with_nominated_pods(state, pod, nodes, first_rejections(verdicts, len(nodes)))
    nominated = _nominated_row(pod, nodes, result.placement)
    # Where it passes the filters, it wins before any other is asked.
    own_nomination = nodes.names[nominated] if nominated is not None and verdict[nominated].is_success else None
    absent = unresolvable()
    if pre_filter.node_names is not None:
        if framework.handle.release.fit_error.tells_left_out:
            absent = unresolvable(_why_left_out(verdict, nominated, pre_filter.narrowed_by))
        verdict = _outside_left_out(verdict, nodes, pre_filter.node_names, absent, nominated)
    verdict = unknown_first(verdict, verdicts)
    if result.placement is not None:
        verdict = _within_placement(verdict, result.placement)
    result = replace(
        result,
        pre_filter_nodes=pre_filter.node_names,
        verdicts=verdicts,
        verdict=verdict,
        nominated_first=own_nomination,
        feasible=np.flatnonzero(passing(verdict)),
    )
    return _after_filters(result, verdict, absent)


def _after_filters(result: CycleResult, verdict: NodeToStatus, absent: Status) -> CycleResult:
    """Extenders, and PostFilter where nothing fits; neither where the budget ended or a filter failed."""
    if result.budget_ended is not None:
        return result
    failure = next((status for status, _ in verdict.counts() if status.code is Code.ERROR), None)
    if failure is not None and result.nominated_first is None:
        return replace(result, error=failure.message, event=event_note(failure.message))
    client = result.framework.handle.extender_client
    if client is not None:
        return _ask_extenders(result, client, verdict, absent)
    return _post_filter(result, verdict)


def _ask_extenders(result: CycleResult, client: ExtenderClient, verdict: NodeToStatus, absent: Status) -> CycleResult:
    """Filter what is feasible once more; the node of the pod's own nomination is asked about first and by itself."""
    from kubectl_sched.framework.extender_decoding import ExtenderError
    from kubectl_sched.framework.extenders import filter_nodes

    pod, nodes, extenders = result.pod, result.nodes, result.framework.handle.extenders
    statuses: dict[str, Status] = {}  # those of an answer stay even if a later extender fails
    if result.nominated_first is not None:
        nominated = np.array([nodes.row_of[result.nominated_first]], dtype=np.intp)
        try:
            first = filter_nodes(client, extenders, pod, nodes, nominated, statuses)
            stays = len(first.rows) > 0
        except ExtenderError:
            stays = False
        result = result if stays else replace(result, nominated_first=None)
    try:
        extended = filter_nodes(client, extenders, pod, nodes, result.feasible, statuses)
    except ExtenderError as failure:
        return replace(result, error=str(failure), event=event_note(str(failure)))
    verdict = verdict.replacing(np.setdiff1d(result.feasible, extended.rows), absent)
    told: dict[int, Status] = {}
    elsewhere = []
    for name, status in statuses.items():
        row = nodes.row_of.get(name)
        if row is None or (result.placement is not None and row not in result.placement):
            elsewhere.append(status)
        elif row not in extended.rows:
            told[row] = status
    extended = replace(extended, elsewhere=tuple(elsewhere), absent=absent)
    verdict = verdict.with_each(told)
    return _post_filter(replace(result, verdict=verdict, feasible=extended.rows, extended=extended), verdict)


def _nominated_row(pod: Pod, nodes: Snapshot, placement: Rows | None) -> int | None:
    """The node of the pod's nomination, which is asked about first; None outside the placement of a group's cycle."""
    row = nodes.row_of.get(pod.status.nominated_node_name)
    return row if row is not None and (placement is None or row in placement) else None


def _why_left_out(verdict: NodeToStatus, nominated: int | None, narrowed_by: tuple[str, ...]) -> str:
    """The plugins that narrowed the search; whichever rejects the node of the pod's nomination counts among them."""
    if nominated is not None and verdict[nominated].is_rejected:
        narrowed_by = tuple(sorted({*narrowed_by, verdict[nominated].plugin or ""}))
    return f"node(s) didn't satisfy plugin(s) [{' '.join(narrowed_by)}]"


def _outside_left_out(
    verdict: NodeToStatus, nodes: Snapshot, names: frozenset[str], left_out: Status, nominated: int | None
) -> NodeToStatus:
    """Nodes outside PreFilter's result are never looked at, but for the pod's nomination, whose rejection stands."""
    if nominated is not None and verdict[nominated].is_rejected:
        names |= {nodes.names[nominated]}
    outside = [row for row, name in enumerate(nodes.names) if name not in names]
    return verdict.replacing(np.array(outside, dtype=np.intp), left_out)


def _within_placement(verdict: NodeToStatus, placement: Rows) -> NodeToStatus:
    """The cycle of a group looks at the nodes of one placement alone: the others pass nothing and count nowhere."""
    others = np.ones(len(verdict), dtype=np.bool_)
    others[placement] = False
    return verdict.replacing(others, unresolvable())


def _post_filter(result: CycleResult, verdict: NodeToStatus) -> CycleResult:
    """PostFilter, if nothing fits."""
    pod, nodes, framework, state = result.pod, result.nodes, result.framework, result.state
    if len(result.feasible) or result.nominated_first is not None or result.budget_ended is not None:
        return result
    if unknown_nodes(verdict).any():
        return replace(result, error=could_not_judge(verdict))
    message = result.fit_error(verdict)
    if not result.runs_post_filter:
        return replace(result, message=message, event=event_note(message))
    post_filter = framework.run_post_filter(state, pod, nodes, verdict)
    if post_filter is not None and is_unknown(post_filter.status):
        return replace(result, message=message, post_filter=post_filter)
    said = post_filter.status.message if post_filter else ""
    return replace(result, message=message, post_filter=post_filter, event=event_note(result.fit_error(verdict, said)))


def score_feasible(result: CycleResult) -> CycleResult:
    """PreScore, Score and Normalize over the feasible nodes."""
    pod, nodes, framework, state, rows = result.pod, result.nodes, result.framework, result.state, result.feasible
    if result.verdict is None or not len(rows) or result.error is not None or result.budget_ended is not None:
        return result
    client, extenders = framework.handle.extender_client, framework.handle.extenders
    if not framework.score_plugins and client is None:
        return replace(result, totals=np.ones(len(rows), dtype=np.int64))
    if result.extended is not None:
        from kubectl_sched.framework.extenders import scored_snapshot

        nodes = scored_snapshot(nodes, result.extended)
    try:
        framework.run_pre_score(state, pod, nodes, rows)
        scores = framework.run_scores(state, pod, nodes, rows)
        if client is not None and result.extended is not None:
            from kubectl_sched.framework.extenders import prioritize

            scores += prioritize(client, extenders, pod, nodes, result.extended)
    except Unjudged as unjudged:
        return _scored_without(result, result.verdict, unjudged)
    except PluginError as failure:
        text = str(failure)
        if len(rows) == 1 or result.nominated_first is not None:
            return replace(result, score_error=text, totals=np.zeros(len(rows), dtype=np.int64))
        return replace(result, score_error=text, error=text, event=event_note(text))
    totals = np.zeros(len(rows), dtype=np.int64)
    for plugin_scores in scores:
        totals += plugin_scores.weighted
    return replace(result, scores=scores, totals=totals)


def _scored_without(result: CycleResult, verdict: NodeToStatus, unjudged: Unjudged) -> CycleResult:
    """Score the nodes that a failing plugin leaves; those that it cannot judge are no longer feasible."""
    verdict = verdict.with_each(unjudged.statuses)
    feasible = result.feasible[~unknown_nodes(verdict)[result.feasible]]
    result = replace(result, verdict=verdict, feasible=feasible)
    if not len(feasible) and result.nominated_first is None and result.budget_ended is None:
        return replace(result, error=could_not_judge(verdict))
    return score_feasible(result)


def no_profile(pod: Pod, nodes: Snapshot, release: Release | None = None) -> ScheduleResult:
    """Return the result for a pod whose schedulerName no profile serves: no cycle begins."""
    return ScheduleResult(
        pod=pod,
        nodes=nodes,
        outcome=Outcome.NO_PROFILE,
        kubernetes_version="" if release is None else str(release.version),
        kubernetes_patch=None if release is None else release.patch_name,
        current_node=pod.spec.node_name or None,
    )
