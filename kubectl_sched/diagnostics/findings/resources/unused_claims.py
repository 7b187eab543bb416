"""Devices that are held by claims which no pod uses any more: of pods that have ended or are gone, or of nobody.

kube-controller-manager takes such reservations back and frees the devices (pkg/controller/resourceclaim); until then
the scheduler counts them as in use.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.shell_commands import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.framework.evidence import JSON
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "UnusedClaim"

_PLUGIN: Final = "DynamicResources"
_ROWS_EXAMINED: Final = 20
_CLAIMS_NAMED: Final = 2


def findings(result: ScheduleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield the first claims that hold a device which the pod could have, and that no pod uses."""
    mask = result.rejection_masks.get(_PLUGIN)
    if result.fits or mask is None or around.dump.pods_of:  # a pod that was left out may use the claim
        return
    holders: dict[str, str] = {}
    for row in np.flatnonzero(mask).tolist()[:_ROWS_EXAMINED]:
        for evidence in result.filter_evidence(_PLUGIN, row):
            for claim, device in _holders(evidence.facts):
                holders.setdefault(claim, device)
    unused = ((key, device, _why(result, key, around)) for key, device in holders.items())
    for key, device, why in islice((each for each in unused if each[2]), _CLAIMS_NAMED):
        namespace, _, name = key.partition("/")
        command = describe("resourceclaim", namespace, name)
        yield Finding(
            kind=KIND,
            sentence=f"Device {device} is held by claim {key}, which no pod uses: {why}; kube-controller-manager frees "
            "it by itself; if it does not, see that it runs, or delete the claim",
            commands=(command,) if command is not None else (),
        )


def _holders(facts: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    """Yield the claims that hold devices of the class, each with the device."""
    devices = facts.get("devices")
    for device in devices if isinstance(devices, list) else ():
        held = device.get("heldBy") if isinstance(device, dict) else None
        for holder in held if isinstance(held, list) else ():
            if isinstance(holder, dict) and isinstance(device, dict):
                yield str(holder.get("claim", "")), str(device.get("device", ""))


def _why(result: ScheduleResult, key: str, around: Surroundings) -> str:
    """Return why no pod uses the claim; empty if one does or may."""
    namespace, _, name = key.partition("/")
    claim = result.nodes.objects.get(ResourceClaim, name, namespace)
    if claim is None or any(each.resource != "pods" for each in claim.status.reserved_for):
        return ""
    told = "it is reserved for nobody"
    for consumer in claim.status.reserved_for:
        pod = around.pod_of_key(f"{namespace}/{consumer.name}")
        is_gone = pod is None or (consumer.uid and pod.metadata.uid and consumer.uid != pod.metadata.uid)
        if not is_gone and pod is not None and not pod.has_ended:
            return ""
        told = f"pod {consumer.name} is not seen any more" if is_gone else f"pod {consumer.name} has ended"
    return told
