"""Devices that have to be made ready before a pod may be bound (isClaimReadyForBinding, isClaimTimeout)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubectl_sched.api.resource import AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim


def blocks_binding(claim: ResourceClaim, timeout_seconds: float) -> str | None:
    """Return why the claim's devices are unusable: one failed or took too long; None if they are fine."""
    allocation = claim.status.allocation
    for result in allocation.devices.results if allocation is not None else ():
        if not result.binding_conditions:
            continue
        status = _status_of(claim, result)
        true = {one.type for one in status.conditions if one.status == "True"} if status is not None else set()
        failed = next((name for name in result.binding_failure_conditions if name in true), None)
        if failed is not None:
            return f"device {result.device} of {result.driver} reports {failed}"
        waiting = [name for name in result.binding_conditions if name not in true]
        if waiting:
            late = _is_late(claim, timeout_seconds)
            return f"device {result.device} of {result.driver} was not {waiting[0]} in time" if late else None
    return None


def _status_of(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    where = (result.driver, result.pool, result.device)
    return next((one for one in claim.status.devices if (one.driver, one.pool, one.device) == where), None)


def _is_late(claim: ResourceClaim, timeout_seconds: float) -> bool:
    allocation = claim.status.allocation
    if allocation is None or not allocation.allocation_timestamp:
        return False
    try:
        since = datetime.fromisoformat(allocation.allocation_timestamp)
    except ValueError:
        return False
    return since.tzinfo is not None and datetime.now(UTC) - since > timedelta(seconds=timeout_seconds)
