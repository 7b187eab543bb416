"""Score: how early in their lists the chosen alternatives are (computeScore)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.resource import FIRST_AVAILABLE_MAX_SIZE
from kubectl_sched.framework.cycle_state import PluginError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.config.allocator_versions import DeviceRules
    from kubectl_sched.plugins.dynamic_resources.allocator.allocation import Allocation
    from kubectl_sched.plugins.dynamic_resources.state import PreFilterState


def node_score(state: PreFilterState, allocations: Sequence[Allocation], rules: DeviceRules) -> int:
    """The sum over all alternatives chosen, 8 for the first of a list; raises PluginError.

    Like kube-scheduler it takes the claims that are pending in a group's cycle for the last ones, wherever they stand.
    """
    score = 0
    own = [{device.request.full_name for device in allocation.devices} for allocation in allocations]
    found = iter([*own, *map(_requests, state.pending)])
    for claim in state.claims.claims:
        if rules.score_counts_allocated and claim.status.allocation is not None and claim not in state.pending:
            chosen = _requests(claim)
        else:
            next_one = next(found, None)
            if next_one is None:
                needing = " needing allocation" if rules.score_counts_allocated else ""
                text = f"number of allocations {len(allocations)} is smaller than number of claims{needing}"
                raise PluginError(text)
            chosen = next_one
        score += sum(
            FIRST_AVAILABLE_MAX_SIZE - position
            for request in claim.spec.devices.requests
            if request.exact is None
            for position, alternative in enumerate(request.first_available)
            if f"{request.name}/{alternative.name}" in chosen
        )
    return score


def _requests(claim: ResourceClaim) -> set[str]:
    """The requests, or their alternatives, for which the claim has devices."""
    allocation = claim.status.allocation
    return {result.request for result in allocation.devices.results} if allocation is not None else set()
