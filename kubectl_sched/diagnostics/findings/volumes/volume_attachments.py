"""ReadWriteOnce volumes that are in use on another node than the one where the pod lands.

The scheduler asks only of ReadWriteOncePod claims whether somebody uses them; the attach/detach controller then refuses
a second node (Multi-Attach error of pkg/controller/volume/attachdetach/reconciler).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.api.storage import CSIDriver, VolumeAttachment
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.landing import landing_node
from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import pod_volumes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import PodVolume
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "VolumeInUse"

_ON_MANY_NODES: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield each volume of the pod that another node has, and for which one node is the most."""
    node = landing_node(result)
    if node is None:
        return
    for volume in pod_volumes(result):
        found = _elsewhere(result, volume, node)
        if found is not None:
            yield found


def _elsewhere(result: ScheduleResult, volume: PodVolume, node: str) -> Finding | None:
    if volume.volume is None or _ON_MANY_NODES & {*volume.volume.spec.access_modes}:
        return None
    objects = result.nodes.objects
    driver = objects.get(CSIDriver, volume.driver) if volume.driver is not None else None
    if volume.driver is None or (driver is not None and driver.spec.attach_required is False):
        return None  # nobody attaches it, so that nobody refuses
    attached = [
        each.spec.node_name
        for each in objects.all(VolumeAttachment)
        if each.spec.source.persistent_volume_name == volume.volume.name
    ]
    users = _users(result, volume)
    others = [pod for pod in users if pod.spec.node_name != node]
    if node in attached or any(pod.spec.node_name == node for pod in users):
        return None
    start = f"On {node} it could not start: {volume.subject} is ReadWriteOnce and"
    if others:
        pod = others[0]
        state = "is ending" if pod.metadata.deletion_timestamp is not None else "uses it"
        there = pod.spec.node_name
        held = f"volume {volume.volume.name} is in use on {there}"
        return Finding(
            kind=KIND,
            sentence=f"{start} on {there}, where pod {pod.key} {state}; it can start once that pod is gone",
            clauses=(f"{held} by {pod.name}", held, "its volume is in use on another node"),
            spoils_start=True,
        )
    if not attached:
        return None
    held = f"volume {volume.volume.name} is still attached to {attached[0]}"
    state, until = _why_kept(result, attached[0])
    return Finding(
        kind=KIND,
        sentence=f"{start} attached to {attached[0]}, {state}; {until}",
        clauses=(f"{held}, {state}", held, "its volume is still attached to another node"),
        spoils_start=True,
    )


def _users(result: ScheduleResult, volume: PodVolume) -> list[Pod]:
    """Return the other pods on nodes that use the claim."""
    pods = result.nodes.whole.existing_pods
    key = (volume.claim.namespace, volume.claim.name)
    mask = pods.column("claims_in_use", _claims_of).where(lambda keys: key in keys)
    found = (pods.at(index) for index in np.flatnonzero(mask).tolist())
    return [pod for pod in found if not pod.has_ended and pod.key != result.pod.key]


def _claims_of(pod: Pod) -> tuple[tuple[str, str], ...]:
    return tuple((pod.namespace, use.claim_name) for use in claim_uses(pod))


def _why_kept(result: ScheduleResult, node: str) -> tuple[str, str]:
    """Return the state of a node where no pod is seen to use the volume, and what it takes to have it detached."""
    row = result.nodes.row_of.get(node)
    if row is None:
        return "which no longer exists", "it is detached after 6 minutes, or once its VolumeAttachment is deleted"
    conditions = result.nodes.node_objects[row].status.conditions
    ready = next((each.status for each in conditions if each.type == "Ready"), "True")
    if ready == "True":
        return "where no pod that uses it is seen", "it can start once it is detached there"
    return "which is not ready", (
        "if that machine is off for good, delete the node, or taint it "
        "node.kubernetes.io/out-of-service:NoExecute, and the volume is detached"
    )
