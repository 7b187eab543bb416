"""Gives every group of a tree a status (completeCompositePodGroupAlgorithmResult, applyPodGroupPostFilterResult)."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.framework.status import Code, Status

if TYPE_CHECKING:
    from kubectl_sched.framework.podgroup_info import PodGroupPostFilterResult
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult


def completed(result: PodGroupResult) -> PodGroupResult:
    """Add the groups below that were not tried; they and those that fit in vain have the status of the group above."""
    return _with_children(result, _tried(result))


def _tried(result: PodGroupResult) -> tuple[PodGroupResult, ...]:
    return result.chosen.children if result.chosen is not None else ()


def _with_children(result: PodGroupResult, tried: tuple[PodGroupResult, ...]) -> PodGroupResult:
    children = []
    for info, own in zip_longest(result.info.children, tried):
        stands = own is not None and (result.status.is_success or not own.status.is_success)
        undone = replace(result, info=info, placements=(), scores=(), totals=None, chosen=None, inherits=True)
        children.append(_with_children(own if stands else undone, _tried(own) if own is not None else ()))
    return replace(result, children=tuple(children), untried=result.status)


def with_post_filter(
    result: PodGroupResult, found: PodGroupPostFilterResult, *, is_appended: bool, above: Status | None = None
) -> PodGroupResult:
    """Add what preemption says to the status of each group: to one that several groups share, once for each of them."""
    status = found.status
    if status.code is not Code.ERROR:
        reasons = (status.message,) * _sharing(result) if is_appended or not status.is_success else ()
        own = Status(result.status.code, (*result.status.reasons, *reasons))
        status = above if above is not None and result.inherits else own
    children = tuple(with_post_filter(each, found, is_appended=is_appended, above=status) for each in result.children)
    return replace(result, status=status, children=children, post_filter=found)


def _sharing(result: PodGroupResult) -> int:
    return 1 + sum(_sharing(child) for child in result.children if child.inherits)
