"""Turns the algorithm's result into each member's outcome and the condition (submitPodGroupAlgorithmResult)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import find_condition
from kubectl_sched.framework.status import Code, error, unschedulable
from kubectl_sched.scheduler.podgroup_completion import parent_failed
from kubectl_sched.scheduler.podgroup_result import POD_GROUP_UNSCHEDULABLE, Condition, Member, PodGroupResult
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config.versions import Release
    from kubectl_sched.framework.podgroup_info import PodGroupInfo
    from kubectl_sched.framework.status import Status
    from kubectl_sched.scheduler.podgroup_result import Attempt

_OUTCOMES = {Code.SUCCESS: Outcome.SCHEDULABLE, Code.ERROR: Outcome.ERROR}


def submit(result: PodGroupResult, release: Release) -> PodGroupResult:
    """Return the result with the group's outcome, its members' and its condition."""
    info, outcome = result.info, _OUTCOMES.get(result.status.code, Outcome.UNSCHEDULABLE)
    condition = written(info, condition_of(info, result.status, release), release)
    if info.is_tree:
        children = tuple(submit(child, release) for child in result.children)
        members = tuple(member for child in children for member in child.members)
        own = condition if release.composite_groups_have_condition else None
        return replace(result, outcome=outcome, members=members, children=children, condition=own)
    attempts = {each.pod.key: each for each in result.chosen.attempts} if result.chosen is not None else {}
    nominations = (
        {each.pod.key: each.node_name for each in result.post_filter.nominations} if result.post_filter else {}
    )
    members = tuple(_member(pod, attempts.get(pod.key), result, nominations, release) for pod in info.pods)
    return replace(result, outcome=outcome, members=(*members, *deleted_members(info)), condition=condition)


def not_judged(result: PodGroupResult, why: str) -> PodGroupResult:
    """Return the result of a cycle that its budget ended: nobody has a node, nothing is written, nobody is evicted."""
    attempts = {each.pod.key: each.result for each in result.attempts}
    waiting = (Member(pod=pod, outcome=Outcome.UNKNOWN, result=attempts.get(pod.key)) for pod in result.info.pods)
    return replace(
        result,
        outcome=Outcome.UNKNOWN,
        budget_ended=why,
        members=(*waiting, *deleted_members(result.info)),
        children=tuple(not_judged(child, why) for child in result.children),
        post_filter=None,
    )


def deleted_members(info: PodGroupInfo) -> tuple[Member, ...]:
    """Return the members that are being deleted, which the cycle leaves out."""
    said = "skip schedule deleting pod: {}"
    return tuple(Member(pod=pod, outcome=Outcome.DELETING, message=said.format(pod.key)) for pod in info.deleted)


def failed_before_scheduling(
    info: PodGroupInfo, why: str, release: Release, *, is_invalid: bool = False
) -> PodGroupResult:
    """Return the result of a group that kube-scheduler refuses to try: each member fails with the same error."""
    status = error(why)
    members = tuple(_failed(pod, status, None) for pod in info.pods)
    has_condition = release.groups_have_placement_feasible and not info.is_tree
    condition = condition_of(info, status, release)
    if is_invalid:
        condition = replace(condition, reason=f"{info.kind}Error")
    return PodGroupResult(
        info=info,
        outcome=Outcome.ERROR,
        kubernetes_version=str(release.version),
        kubernetes_patch=release.patch_name,
        members=members,
        status=status,
        condition=written(info, condition, release)
        if has_condition or release.composite_groups_have_condition
        else None,
        children=tuple(failed_before_scheduling(child, why, release, is_invalid=is_invalid) for child in info.children),
    )


def written(info: PodGroupInfo, condition: Condition, release: Release) -> Condition | None:
    """Return the condition, None if the group was scheduled before: that is never taken back."""
    existing = find_condition(info.group.status.conditions, condition.type)
    changes = condition.status != "True" or release.composite_groups_have_condition
    return None if existing is not None and existing.status == "True" and changes else condition


def condition_of(info: PodGroupInfo, status: Status, release: Release) -> Condition:
    """Return the condition of a group whose cycle ended with this status."""
    kind = f"Composite{release.pod_group_condition}" if info.is_tree else release.pod_group_condition
    if status.is_success:
        return Condition(type=kind, status="True", reason="Scheduled", message=status.message)
    reason = "Unschedulable" if status.is_rejected else "SchedulerError"
    return Condition(type=kind, status="False", reason=reason, message=status.message)


def _member(
    pod: Pod, attempt: Attempt | None, result: PodGroupResult, nominations: Mapping[str, str], release: Release
) -> Member:
    if result.status.code is Code.ERROR:
        own = attempt is not None and attempt.status.code is Code.ERROR
        shared = parent_failed(result.info) if release.failures_name_their_group else result.status
        return _failed(pod, attempt.status if attempt is not None and own else shared, attempt)
    if attempt is not None and attempt.status.is_success and result.status.is_success:
        return Member(
            pod=pod, outcome=Outcome.SCHEDULABLE, node_name=attempt.node_name, tied=attempt.tied, result=attempt.result
        )
    if attempt is None:
        member = _failed(pod, result.untried if release.groups_have_placement_feasible else result.status, None)
    else:
        member = _of_failed_group(pod, attempt, result, release)
    nominated = nominations.get(pod.key, member.nominated_node)
    if not nominated:
        return replace(member, nominated_node=nominated)
    is_among_tied = attempt is not None and nominated in attempt.tied
    tied = attempt.tied if attempt is not None and is_among_tied else (nominated,)
    return replace(member, nominated_node=nominated, tied=tied)


def _of_failed_group(pod: Pod, attempt: Attempt, result: PodGroupResult, release: Release) -> Member:
    by_feasibility = release.groups_have_placement_feasible
    waiting = result.is_waiting_on_preemption
    if attempt.status.is_success and waiting:
        node = None if by_feasibility else attempt.node_name
        return _failed(pod, result.status, attempt, node)
    if attempt.status.is_success or (attempt.requires_preemption and not waiting):
        said = result.status if by_feasibility else attempt.permit
        prefix = (POD_GROUP_UNSCHEDULABLE,) if release.group_status_has_prefix else ()
        return _failed(pod, unschedulable(*prefix, *filter(None, [said.message])), attempt, "")
    if attempt.requires_preemption:
        return _failed(pod, attempt.status, attempt, attempt.node_name)
    post_filter = attempt.result.post_filter
    return _failed(pod, attempt.status, attempt, post_filter.nominated_node if post_filter is not None else None)


def _failed(pod: Pod, status: Status, attempt: Attempt | None, nominated: str | None = None) -> Member:
    if status.code is Code.ERROR:
        nominated = ""
    return Member(
        pod=pod,
        outcome=Outcome.ERROR if status.code is Code.ERROR else Outcome.UNSCHEDULABLE,
        message=status.message,
        nominated_node=nominated,
        result=attempt.result if attempt is not None else None,
    )
