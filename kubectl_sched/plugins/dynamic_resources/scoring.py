"""Score: how early in their lists the chosen alternatives are (computeScore)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.resource import FIRST_AVAILABLE_MAX_SIZE
from kubectl_sched.framework.cycle_state import PluginError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.config.device_rules import DeviceRules
    from kubectl_sched.plugins.dynamic_resources.allocation import Allocation


def node_score(claims: Sequence[ResourceClaim], allocations: Sequence[Allocation], rules: DeviceRules) -> int:
    """The sum over all alternatives chosen, 8 for the first of a list; raises PluginError."""
    score = 0
    found = iter(allocations)
    for claim in claims:
        if rules.score_counts_allocated and claim.status.allocation is not None:
            chosen = {result.request for result in claim.status.allocation.devices.results}
        else:
            allocation = next(found, None)
            if allocation is None:
                needing = " needing allocation" if rules.score_counts_allocated else ""
                text = f"number of allocations {len(allocations)} is smaller than number of claims{needing}"
                raise PluginError(text)
            chosen = {device.request.full_name for device in allocation.devices}
        score += sum(
            FIRST_AVAILABLE_MAX_SIZE - position
            for request in claim.spec.devices.requests
            if request.exact is None
            for position, alternative in enumerate(request.first_available)
            if f"{request.name}/{alternative.name}" in chosen
        )
    return score
