"""The writes of Reserve and PreBind (Reserve, bindClaim, PreBind)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.framework.interface import BindingAction
from kubectl_sched.plugins.dynamic_resources.claims import SPECIAL_NAME, is_reserved_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.resource import ResourceClaim
    from kubectl_sched.plugins.dynamic_resources.filtering import Filtering
    from kubectl_sched.plugins.dynamic_resources.state import NodeOutcome, PreFilterState


def actions(
    plugin: str, state: PreFilterState, pod: Pod, outcome: NodeOutcome, filtering: Filtering
) -> Iterator[BindingAction]:
    """In order: the devices taken, the claims written, and what has to be waited for."""
    allocated = {one.claim.metadata.uid: one for one in outcome.allocations}
    for one in outcome.allocations:
        for device in one.devices:
            for_request = f"request {device.request.full_name} of {_named(one.claim)}"
            yield BindingAction(
                extension_point="reserve", plugin=plugin, action=f"take device {device.device.id} for {for_request}"
            )
    for claim in state.claims.claims:
        if is_reserved_for(pod, claim, groups_reserve=filtering.groups):
            continue
        found = claim.metadata.uid in allocated
        if claim is state.claims.extended and not found:
            continue
        if claim.name == SPECIAL_NAME:
            yield BindingAction(
                extension_point="preBind", plugin=plugin, action="create the claim for extended resources"
            )
        what = "the allocation and the reservation" if found else "the reservation"
        yield BindingAction(
            extension_point="preBind", plugin=plugin, action=f"write {what} for pod {pod.key} to {_named(claim)}"
        )
    if filtering.binding_conditions:
        waiting = sorted(
            {
                f"{condition} of {device.device.id}"
                for one in outcome.allocations
                for device in one.devices
                for condition in device.device.device.binding_conditions or ()
            }
        )
        for what in waiting:
            yield BindingAction(extension_point="preBind", plugin=plugin, action=f"wait for {what}")


def _named(claim: ResourceClaim) -> str:
    return "the claim for extended resources" if claim.name == SPECIAL_NAME else f"claim {claim.key}"
