"""Nodes of a NodePool that may be disrupted at once (GetAllowedDisruptionsByReason of pkg/apis/v1/nodepool.go)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import moment
from kubectl_sched.api.meta import find_condition
from kubectl_sched.config.duration import InvalidDuration, parse_duration
from kubectl_sched.node_provisioning.karpenter.disruption.cron_schedule import InvalidSchedule, cron_schedule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.karpenter import DisruptionBudget, NodePool
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode

EMPTY, DRIFTED, UNDERUTILIZED = "Empty", "Drifted", "Underutilized"
UNLIMITED: Final = 2**31 - 1
_MICROSECONDS: Final = 1000


class InvalidBudget(ValueError):  # noqa: N818 - read as a sentence: raise InvalidBudget
    """A budget that Karpenter cannot read. It then disrupts no node of the NodePool."""


def allowed_disruptions(
    pool: NodePool, nodes: Iterable[StateNode], reason: str, now: str | None, *, counts_reboots: bool
) -> int | None:
    """Return how many more nodes of a NodePool may go for a reason (BuildDisruptionBudgetMapping).

    None if that rests on the schedule of a budget, and the time is not known.
    """
    own = [each for each in nodes if each.node_pool == pool.name]
    rebooting = {each.name for each in own if counts_reboots and each.is_rebooting}
    counted = [each for each in own if _counts(each, is_rebooting=each.name in rebooting)]
    disrupting = sum(each.is_being_deleted or each.name in rebooting or not _is_ready(each) for each in counted)
    allowed, is_open = UNLIMITED, False
    try:
        for budget in pool.spec.disruption.budgets:
            limit = _limit(budget, len(counted), now)
            if budget.reasons is not None and reason not in budget.reasons:
                continue
            is_open = is_open or limit is None
            allowed = min(allowed, UNLIMITED if limit is None else limit)
    except InvalidBudget:
        return 0
    left = max(allowed - disrupting, 0)
    return None if is_open and left else left


def is_active(budget: DisruptionBudget, now: str | None) -> bool | None:
    """Report whether a budget holds now (IsActive); None if that depends on a time that is not known.

    Raises InvalidBudget if the schedule cannot be read.
    """
    if not budget.schedule and not budget.duration:
        return True
    at = moment(now)
    try:
        schedule = cron_schedule(budget.schedule)
        duration = parse_duration(budget.duration) if budget.duration else 0
    except (InvalidSchedule, InvalidDuration) as error:
        raise InvalidBudget(str(error)) from error
    if at is None:
        return None
    try:
        hit = schedule.next_after(at - timedelta(microseconds=duration // _MICROSECONDS))
    except OverflowError:
        return True
    return hit is None or hit <= at


def _limit(budget: DisruptionBudget, nodes: int, now: str | None) -> int | None:
    active = is_active(budget, now)
    if active is None:
        return None
    return scaled(budget.nodes, nodes) if active else UNLIMITED


def scaled(text: str, nodes: int) -> int:
    """Return a number, or a share of the nodes, rounded up; raise InvalidBudget for any other text."""
    digits = text.removesuffix("%")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        raise InvalidBudget(f"a budget has nodes: {text}")
    return -(-int(digits) * nodes // 100) if text.endswith("%") else int(digits)


def _counts(node: StateNode, *, is_rebooting: bool) -> bool:
    """Report whether a node is one of those that shares are of: managed, initialized, and not terminating."""
    if node.claim is None or not (node.is_initialized or is_rebooting):
        return False
    terminating = find_condition(node.claim.status.conditions, "InstanceTerminating")
    return terminating is None or terminating.status != "True"


def _is_ready(node: StateNode) -> bool:
    ready = find_condition(node.node.status.conditions, "Ready") if node.node is not None else None
    return ready is not None and ready.status == "True"
