"""The times after which Karpenter may touch a node, and after which it deletes it for its age.

Answers to pkg/utils/disruption and to pkg/controllers/nodeclaim/expiration; no budget holds an expired node.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import moment, seconds_between
from kubectl_sched.api.meta import find_condition
from kubectl_sched.config.duration import InvalidDuration, parse_duration

if TYPE_CHECKING:
    from datetime import datetime

    from kubectl_sched.api.karpenter import NodeClaim, NodePool

_NEVER: Final = "Never"
_NANOSECONDS: Final = 1e9
_MICROSECONDS: Final = 1000


def is_under_consolidate_after(pool: NodePool | None, claim: NodeClaim | None, now: str | None) -> bool:
    """Report whether pods came or went too lately for the node to be touched (IsUnderConsolidateAfter)."""
    remaining = consolidate_after_left(pool, claim, now)
    return remaining is not None and remaining > 0


def consolidate_after_left(pool: NodePool | None, claim: NodeClaim | None, now: str | None) -> float | None:
    """Return the seconds until consolidateAfter is over; None if it does not run, or a time is not known."""
    if pool is None or claim is None:
        return None
    after = consolidate_after(pool)
    initialized = find_condition(claim.status.conditions, "Initialized")
    if not after or initialized is None or initialized.status != "True":
        return None
    since = claim.status.last_pod_event_time or initialized.last_transition_time
    age = seconds_between(since, now)
    return None if age is None else after - age


def consolidate_after(pool: NodePool) -> float | None:
    """Return the NodePool's consolidateAfter in seconds; None where consolidation is disabled."""
    text = pool.spec.disruption.consolidate_after
    if text in {"", _NEVER}:
        return None
    try:
        return parse_duration(text) / _NANOSECONDS
    except InvalidDuration:
        return None


def expires_at(claim: NodeClaim) -> datetime | None:
    """Return when Karpenter deletes the NodeClaim for its age; None if it never does, or nobody can say."""
    created, after = moment(claim.metadata.creation_timestamp), claim.spec.expire_after
    if created is None or after in {"", _NEVER}:
        return None
    try:
        return created + timedelta(microseconds=parse_duration(after) // _MICROSECONDS)
    except (InvalidDuration, OverflowError):
        return None


def is_expired(claim: NodeClaim, now: str | None) -> bool:
    """Report whether the NodeClaim is to be deleted for its age, and is not being deleted yet."""
    at, end = moment(now), expires_at(claim)
    return claim.metadata.deletion_timestamp is None and at is not None and end is not None and at >= end
