"""The end of a node's life by expireAfter (pkg/controllers/nodeclaim/expiration). No budget holds it back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import moment
from kubectl_sched.config.duration import InvalidDuration, parse_duration
from kubectl_sched.node_provisioning.karpenter.disruption.removal_simulation import NEVER

if TYPE_CHECKING:
    from datetime import datetime

    from kubectl_sched.api.karpenter import NodeClaim

_MICROSECONDS: Final = 1000


def expires_at(claim: NodeClaim) -> datetime | None:
    """Return when Karpenter deletes the NodeClaim for its age; None if it never does, or nobody can say."""
    created, after = moment(claim.metadata.creation_timestamp), claim.spec.expire_after
    if created is None or after in {"", NEVER}:
        return None
    try:
        return created + timedelta(microseconds=parse_duration(after) // _MICROSECONDS)
    except (InvalidDuration, OverflowError):
        return None


def is_expired(claim: NodeClaim, now: str | None) -> bool:
    """Report whether the NodeClaim is to be deleted for its age, and is not being deleted yet."""
    at, end = moment(now), expires_at(claim)
    return claim.metadata.deletion_timestamp is None and at is not None and end is not None and at >= end
