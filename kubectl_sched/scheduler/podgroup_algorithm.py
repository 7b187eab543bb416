"""Schedules the members of a group one after the other on one placement (podGroupSchedulingDefaultAlgorithm).

Each member sees those before it on their nodes. Up to 1.36 Permit says after each whether the group passes, and a
member that preemption would help counts as placed; since 1.37 PlacementFeasible says so, and ends the search where it
is vain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from kubectl_sched.framework.podgroup_info import PlacementProgress
from kubectl_sched.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from kubectl_sched.record import CachingRecord
from kubectl_sched.scheduler.end_of_cycle import after, reserved, reserved_pod, without_nomination
from kubectl_sched.scheduler.opportunistic_batch import HintedNode, OpportunisticBatch, is_taken
from kubectl_sched.scheduler.podgroup_result import (
    POD_GROUP_UNSCHEDULABLE,
    UNSCHEDULABLE,
    Attempt,
    PlacementResult,
    PodGroupResult,
)
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import begin, schedule

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_budget import GroupBudget
    from kubectl_sched.framework.podgroup_info import NodeRanking, Placement, PodGroupInfo
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_NONE = unschedulable("no pods were schedulable")
_WAITS = "one or more plugins asked to wait and no plugin rejected pod"
_WAITING_ON_PREEMPTION = "pod group is waiting for preemption to complete"


class Algorithm(CachingRecord, frozen=True, kw_only=True):
    """The algorithm for one group; `runs_post_filter` is False while preemption of the group tries it."""

    info: PodGroupInfo
    framework: Framework
    budget: GroupBudget
    batch: OpportunisticBatch
    """The order of nodes that members leave and, since 1.37, take."""
    runs_post_filter: bool = True
    ranking: NodeRanking | None = None
    """The nodes that members are to take first, while preemption of the group tries it."""

    @property
    def is_by_feasibility(self) -> bool:
        """Report whether PlacementFeasible plugins judge the group's progress, instead of Permit plugins."""
        return self.framework.handle.release.groups_have_placement_feasible

    @property
    def untried(self) -> PodGroupResult:
        """The result of a cycle that has not begun."""
        release = self.framework.handle.release
        return PodGroupResult(
            info=self.info,
            outcome=Outcome.UNSCHEDULABLE,
            kubernetes_version=str(release.version),
            kubernetes_patch=release.patch_name,
        )

    def of_trial(self, budget: GroupBudget, ranking: NodeRanking | None) -> Algorithm:
        """Return the algorithm without preemption pod by pod, on another budget."""
        keeps_orders = self.framework.handle.release.unusable_order_is_dropped
        batch = OpportunisticBatch(is_on=False) if keeps_orders else self.batch
        return replace(self, runs_post_filter=False, budget=budget, ranking=ranking, batch=batch)

    @property
    def nothing_fits(self) -> Status:
        """The status of a group of which no member found a node, though that would be enough."""
        return UNSCHEDULABLE if self._has_prefix else _NONE

    def rejected(self, reasons: tuple[str, ...]) -> Status:
        """Return the status of a group that does not fit, for these reasons."""
        return unschedulable(POD_GROUP_UNSCHEDULABLE, *reasons) if self._has_prefix else unschedulable(*reasons)

    @property
    def _has_prefix(self) -> bool:
        return self.framework.handle.release.group_status_has_prefix

    def run(self, nodes: Snapshot, placement: Placement) -> PlacementResult:
        """Try all members on the nodes of the placement."""
        if self.is_by_feasibility:
            return self._by_feasibility(nodes, placement)
        return self._by_permit(nodes, placement)

    def _by_permit(self, nodes: Snapshot, placement: Placement) -> PlacementResult:
        attempts: list[Attempt] = []
        status, waiting, preempting = UNSCHEDULABLE, False, False
        scheduled = len(self.info.scheduled)
        for pod in self.info.pods:
            attempt, nodes = self._attempt(pod, nodes, placement)
            if attempt.node_name is not None:
                scheduled += 1
                attempt = replace(attempt, permit=self._permit(pod, nodes, scheduled))
            attempts.append(attempt)
            if attempt.node_name is None:
                if attempt.status.is_rejected:
                    continue
                status, waiting = _member_failed(attempt), False
                break
            preempting = preempting or attempt.requires_preemption
            if attempt.permit.is_success:
                waiting = preempting
                status = unschedulable(POD_GROUP_UNSCHEDULABLE, _WAITING_ON_PREEMPTION) if preempting else SUCCESS
        return PlacementResult(
            placement=placement, attempts=tuple(attempts), status=status, waiting_on_preemption=waiting, after=nodes
        )

    def _by_feasibility(self, nodes: Snapshot, placement: Placement) -> PlacementResult:
        progress = PlacementProgress(len(self.info.scheduled), len(self.info.pods))
        status = self.feasible(progress)
        if status.code is Code.UNSCHEDULABLE:
            return PlacementResult(placement=placement, attempts=(), status=self.rejected(status.reasons))
        attempts: list[Attempt] = []
        for pod in self.info.pods:
            attempt, nodes = self._attempt(pod, nodes, placement)
            attempts.append(attempt)
            if not attempt.status.is_success and not attempt.status.is_rejected:
                status = _member_failed(attempt)
                break
            progress = progress.after(success=attempt.status.is_success)
            status = self.feasible(progress)
            if status.code is Code.UNSCHEDULABLE:
                break
        if status.code is Code.WAIT:
            status = self.rejected(status.reasons)
        return PlacementResult(placement=placement, attempts=tuple(attempts), status=status, after=nodes)

    def feasible(self, progress: PlacementProgress) -> Status:
        """Ask whether the group can still fit, its members or child groups being placed so far."""
        last = SUCCESS
        for plugin in self.framework.placement_feasible_plugins:
            status = plugin.placement_feasible(self.info, progress)
            if status.code is Code.UNSCHEDULABLE:
                return status
            last = last if status.is_success else status
        return last

    def _permit(self, pod: Pod, nodes: Snapshot, scheduled: int) -> Status:
        waits = [plugin.permit(pod, nodes, scheduled) for plugin in self.framework.permit_plugins]
        waits = [status for status in waits if status.code is Code.WAIT]
        return Status(Code.WAIT, (*waits[-1].reasons, _WAITS)) if waits else SUCCESS

    def _attempt(self, pod: Pod, nodes: Snapshot, placement: Placement) -> tuple[Attempt, Snapshot]:
        """Schedule one member, and assume it where it found a node."""
        everywhere = len(placement.rows) == len(nodes)
        started = replace(
            begin(pod, nodes, self.framework, self.budget.for_member(len(nodes), len(placement.rows))),
            placement=None if everywhere else placement.rows,
            ranking=self.ranking,
            runs_post_filter=self.runs_post_filter and not self.is_by_feasibility,
        )
        result = schedule(started)
        status = _status_of(result)
        tied = self._tied(result, fits=status.is_success)
        node_name = tied[0] if tied else None
        preempting = False
        if not status.is_success and result.error is None and result.post_filter is not None:
            node_name = result.post_filter.nominated_node or None
            preempting = node_name is not None
        attempt = Attempt(
            pod=pod, result=result, status=status, node_name=node_name, tied=tied, requires_preemption=preempting
        )
        return attempt, nodes if node_name is None else assume(result, nodes, node_name)

    def _tied(self, result: CycleResult, *, fits: bool) -> tuple[str, ...]:
        """The nodes for a member that fits: those that come next in the order of the one before it, or its own best."""
        hint = self.batch.hint(result)
        hinted = None if hint is None else HintedNode(hint, hint.names[0])
        if not fits:
            self.batch.passed_over(hinted)
            return ()
        if hint is not None and hinted is not None and is_taken(hinted, result):
            tied = hint.names
        else:
            tied = (result.nominated_first,) if result.nominated_first else result.best
        self.batch.placed(result, tied[0], hinted)
        return tied


def all_rows(nodes: Snapshot) -> Rows:
    """Return the rows of all nodes."""
    return np.arange(len(nodes))


def assume(result: ScheduleResult, nodes: Snapshot, node_name: str) -> Snapshot:
    """The cluster with the pod on the node, and with what Reserve set aside for it."""
    taken = reserved(result, node_name)
    pod = result.pod
    nodes = replace(nodes, before_group=nodes.before_group or nodes)
    nodes = after(without_nomination(nodes, pod), taken, is_bound=False)
    return nodes.assume(reserved_pod(pod, taken), nodes.row_of[node_name])


def _status_of(result: ScheduleResult) -> Status:
    """The status that the scheduling algorithm returns for the pod."""
    failure = result.budget_ended or result.error
    if failure is not None:
        return error(failure)
    if len(result.feasible) or result.nominated_first is not None:
        return SUCCESS
    if not len(result.nodes):
        return unresolvable(result.message or "")
    return unschedulable(result.event or "")


def _member_failed(attempt: Attempt) -> Status:
    return error(f"failed to schedule other pod from a pod group: {attempt.status.message}")
