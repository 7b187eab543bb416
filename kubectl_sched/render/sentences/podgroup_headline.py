"""The verdict on a group in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.safe_text import count
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.scheduler.podgroup_result import PodGroupResult


def podgroup_headline(result: PodGroupResult) -> str:
    """Report whether the group fits, how many of its pods do and how many it needs."""
    verdicts: dict[Outcome, Callable[[], str]] = {
        Outcome.GATED: lambda: f"waits: {_why_gated(result)}".replace("waits: waiting for", "waits for", 1),
        Outcome.ERROR: lambda: f"fails: {result.status.message}",
        Outcome.UNKNOWN: lambda: f"may or may not fit: {result.budget_ended or 'not all of its pods were judged'}",
        Outcome.DELETING: lambda: "is not scheduled: its pending pods are being deleted",
        Outcome.SCHEDULABLE: lambda: f"fits: {_placed(result)}{_where(result)}",
        Outcome.UNSCHEDULABLE: lambda: _why_not(result),
    }
    return f"{result.info.group.metadata.name} {verdicts[result.outcome]()}"


def _why_not(result: PodGroupResult) -> str:
    if result.is_waiting_on_preemption:
        are = "is" if len(result.victims) == 1 else "are"
        return f"fits once {count(len(result.victims), 'pod')} of lower priority {are} gone"
    if not result.placements:
        return f"does not fit: {result.status.message}"
    if result.info.min_count is None and not result.info.is_tree:
        return f"does not fit: none of its pods gets a node, {_most(result)}"
    return f"does not fit: {_needs(result)}, {_most(result)}"


def _why_gated(result: PodGroupResult) -> str:
    reasons = [each.message for each in result.members if each.message]
    if reasons:
        return reasons[0]
    return "it has no pending pods" if not result.members else "no profile serves its pods"


def _placed(result: PodGroupResult) -> str:
    placed, pending = sum(each.node_name is not None for each in result.members), len(result.members)
    if placed < pending:
        return f"{placed} of {count(pending, 'pending pod')} {'gets' if placed == 1 else 'get'} a node"
    return "its pending pod gets a node" if pending == 1 else f"all {count(pending, 'pending pod')} get a node"


def _where(result: PodGroupResult) -> str:
    return f" in {result.domain}" if result.domain is not None else ""


def _needs(result: PodGroupResult) -> str:
    if result.info.is_tree:
        return _needs_groups(result)
    minimum = result.info.min_count or 0
    already = len(result.info.scheduled)
    beside = f" beside the {already} that have a node" if already else ""
    return f"it needs {count(max(0, minimum - already), 'pod')} at once{beside}"


def _needs_groups(result: PodGroupResult) -> str:
    minimum, below = result.info.min_count, len(result.info.children)
    return f"it needs {1 if minimum is None else minimum} of {count(below, 'group')} at once"


def _most(result: PodGroupResult) -> str:
    most = max(result.placements, key=lambda each: each.fits)
    where = f" in {result.info.topology_key}={most.placement.name}" if result.info.topology_key is not None else ""
    return f"{most.fits} of {len(most.children or most.attempts)} tried {'fits' if most.fits == 1 else 'fit'}{where}"
