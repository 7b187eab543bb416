"""The requests by which NodeResourcesFit and NodeResourcesBalancedAllocation sign pods (SignPod of both)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
from kubectl_sched.api.component_helpers.pod_requests import fit_request
from kubectl_sched.api.component_helpers.resource_names import is_dra_extended_resource_name
from kubectl_sched.api.resource import DeviceClass

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.signing.pod_signature import Fragments
    from kubectl_sched.snapshot import Snapshot


def requests_signature(pod: Pod, nodes: Snapshot, handle: Handle) -> Fragments | None:
    """Return the requests; None where devices may stand for one of them."""
    devices = handle.features.enabled("DRAExtendedResource")
    if devices and handle.release.devices_end_signing:
        return None
    options = PodResourcesOptions(
        skip_pod_level_resources=not handle.features.enabled("PodLevelResources"),
        saturates=handle.release.amounts_saturate,
    )
    requests = fit_request(pod, options)
    if devices and any(amount and _is_of_class(name, nodes, handle) for name, amount in requests.items()):
        return None
    return {"requests": requests}


def _is_of_class(name: str, nodes: Snapshot, handle: Handle) -> bool:
    classes = nodes.whole.objects.all(DeviceClass) if is_dra_extended_resource_name(name) else ()
    if not classes:
        return False
    from kubectl_sched.dynamic_resource_allocation.extended_resource_class import class_of_resource

    return name in class_of_resource(classes, handle.release.devices)
