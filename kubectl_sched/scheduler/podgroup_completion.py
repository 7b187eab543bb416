"""Gives every group of a tree a status (completeCompositePodGroupAlgorithmResult, applyPodGroupPostFilterResult)."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.framework.status import Code, Status, error

if TYPE_CHECKING:
    from kubectl_sched.config.versions import Release
    from kubectl_sched.framework.podgroup_info import PodGroupInfo, PodGroupPostFilterResult
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult


def completed(result: PodGroupResult, release: Release) -> PodGroupResult:
    """Add the groups below that were not tried; they and those that fit in vain fail with the group above."""
    if release.failures_name_their_group:
        return _below(result, None)
    return _with_children(result, _tried(result))


def _tried(result: PodGroupResult) -> tuple[PodGroupResult, ...]:
    return result.chosen.children if result.chosen is not None else ()


def _with_children(result: PodGroupResult, tried: tuple[PodGroupResult, ...]) -> PodGroupResult:
    """Up to 1.37: the groups below have the status of the group above, and nothing of their own is left."""
    children = []
    for info, own in zip_longest(result.info.children, tried):
        stands = own is not None and (result.status.is_success or not own.status.is_success)
        undone = _untried(result, info)
        children.append(_with_children(own if stands else undone, _tried(own) if own is not None else ()))
    return replace(result, children=tuple(children), untried=result.status)


def _untried(above: PodGroupResult, info: PodGroupInfo) -> PodGroupResult:
    return replace(above, info=info, placements=(), scores=(), totals=None, chosen=None, inherits=True)


def _below(result: PodGroupResult, failed: PodGroupResult | None) -> PodGroupResult:
    """Since 1.38: the groups below name the nearest group above that failed, and keep what their members met.

    A group of its own failure keeps that, unless the group above failed with an error and it did not.
    """
    status = result.status
    if failed is not None and (
        result.inherits or status.is_success or (_is_error(failed.status) and not _is_error(status))
    ):
        status, result = _because_of(failed), replace(result, inherits=True)
    elif not status.is_success:
        failed = result
    result = replace(result, status=status, untried=parent_failed(result.info) if _is_error(status) else status)
    below = zip_longest(result.info.children, _tried(result))
    children = (_below(own if own is not None else _untried(result, info), failed) for info, own in below)
    return replace(result, children=tuple(children))


def _because_of(failed: PodGroupResult) -> Status:
    name = f'ancestor composite pod group "{failed.info.group.name}"'
    if _is_error(failed.status):
        return error(f"{name} encountered an error")
    return Status(failed.status.code, (f"{name} is unschedulable",))


def parent_failed(info: PodGroupInfo) -> Status:
    """Return the status of a pod whose group fails with an error that is not the pod's own."""
    return error(f'parent pod group "{info.group.name}" encountered an error')


def _is_error(status: Status) -> bool:
    return status.code is Code.ERROR


def with_post_filter(
    result: PodGroupResult, found: PodGroupPostFilterResult, release: Release, *, above: Status | None = None
) -> PodGroupResult:
    """Add what preemption says to the status of each group.

    Up to 1.37 it is added to a status that several groups share once for each of them.
    """
    status = found.status
    if status.code is not Code.ERROR:
        own = Status(result.status.code, (*result.status.reasons, *_reasons(result, status, release)))
        status = above if above is not None and result.inherits else own
    shared = None if release.failures_name_their_group else status
    children = tuple(with_post_filter(each, found, release, above=shared) for each in result.children)
    return replace(result, status=status, children=children, post_filter=found)


def _reasons(result: PodGroupResult, said: Status, release: Release) -> tuple[str, ...]:
    if release.failures_name_their_group:
        return (said.message,) if said.message else ()
    is_appended = release.groups_have_placement_feasible
    return (said.message,) * _sharing(result) if is_appended or not said.is_success else ()


def _sharing(result: PodGroupResult) -> int:
    return 1 + sum(_sharing(child) for child in result.children if child.inherits)
