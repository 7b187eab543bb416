"""Waits of PreBind: volumes bound to their claims, and devices made ready.

Answers to checkBindings in plugins/volumebinding/binder.go and isPodReadyForBinding in
plugins/dynamicresources/dynamicresources.go. Objects are read from the server, never from what the cycle saw.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.volume_claims import is_fully_bound
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.storage import CSINode, PersistentVolume, PersistentVolumeClaim
from kubectl_sched.binding.api_requests import object_path, pod_path
from kubectl_sched.binding.pre_bind import InterruptedByUserError, PreBindError
from kubectl_sched.config.types import DynamicResourcesArgs, VolumeBindingArgs
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.plugins.dynamic_resources.binding_conditions import blocks_binding
from kubectl_sched.plugins.volume_binding.binder import as_driver_knows
from kubectl_sched.plugins.volume_binding.static_matching import affinity_of, can_be_reached

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kubectl_sched.binding.cancellable_binding import PodInPreBind
    from kubectl_sched.binding.writer import Writer
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.framework.runtime import Framework

POLL_SECONDS = 0.5
"""The pause between two looks at the server, at first."""

_LONGEST_PAUSE_SECONDS = 5.0
_PAUSE_SHARE = 0.05
"""The pause as a share of the time waited so far: many pods may wait for long, and each look costs requests."""

_BIND_TIMEOUT_SECONDS = 600.0
_VOLUMES, _DEVICES = "VolumeBinding", "DynamicResources"


class Waiting:
    """The waits of one pod on its way to one node. All raise PreBindError and InterruptedByUserError."""

    def __init__(self, writer: Writer, pod: Pod, node: str, framework: Framework, stop: PodInPreBind) -> None:
        self._writer = writer
        self._pod = pod
        self._node = node
        self._args = framework.profile.args
        self._stop = stop

    def for_volumes(self, reservations: Sequence[Reservation]) -> None:
        """Until all claims are bound, for as long as the profile's bindTimeoutSeconds."""
        items = [each.item for each in reservations]
        volumes = [item for item in items if isinstance(item, PersistentVolume)]
        claims = [item for item in items if isinstance(item, PersistentVolumeClaim)]
        if not claims:
            return
        args = self._args.get(_VOLUMES)
        seconds = float(args.bind_timeout_seconds) if isinstance(args, VolumeBindingArgs) else _BIND_TIMEOUT_SECONDS
        self._until(_VOLUMES, seconds, "binding volumes: ", lambda: self._are_bound(volumes, claims))

    def for_devices(self, claims: Sequence[ResourceClaim]) -> None:
        """Until the binding conditions of all allocated devices hold, as long as the profile's bindingTimeout."""
        args = self._args.get(_DEVICES)
        timeout = args.binding_timeout if isinstance(args, DynamicResourcesArgs) else None
        seconds = timeout.seconds if timeout is not None else _BIND_TIMEOUT_SECONDS
        self._until(_DEVICES, seconds, "", lambda: self._are_ready(claims, seconds))

    def _until(self, plugin: str, seconds: float, prefix: str, is_so: Callable[[], bool]) -> None:
        began = time.monotonic()
        try:
            while not is_so():
                waited = time.monotonic() - began
                if waited >= seconds:
                    raise PreBindError(plugin, f"{prefix}context deadline exceeded")
                pause = min(max(POLL_SECONDS, waited * _PAUSE_SHARE), _LONGEST_PAUSE_SECONDS)
                if self._stop.wait(min(pause, seconds - waited)):
                    raise InterruptedByUserError("interrupted")
        except PluginError as error:
            raise PreBindError(plugin, f"{prefix}{error}") from None

    def _are_bound(self, volumes: Sequence[PersistentVolume], claims: Sequence[PersistentVolumeClaim]) -> bool:
        node = self._writer.read(object_path("Node", self._node), Node)
        if node is None:
            raise PluginError(f'failed to get node "{self._node}": node "{self._node}" not found')
        pod = self._writer.read(pod_path(self._pod), Pod)
        if pod is None or pod.metadata.uid != self._pod.metadata.uid:
            raise PluginError(f'pod does not exist any more: pod "{self._pod.name}" not found')
        labels = node.metadata.labels
        for volume in volumes:
            current = self._volume(volume.name)
            if current is None:
                raise PluginError(f'failed to check binding: could not find v1.PersistentVolume "{volume.name}"')
            self._check_reach(current, labels)
            if current.spec.claim_ref is None or not current.spec.claim_ref.uid:
                raise PluginError(f'ClaimRef got reset for pv "{volume.name}"')
        return all(self._is_bound(claim, labels) for claim in claims)

    def _is_bound(self, reserved: PersistentVolumeClaim, labels: Mapping[str, str]) -> bool:
        path = object_path("PersistentVolumeClaim", reserved.name, reserved.namespace)
        claim = self._writer.read(path, PersistentVolumeClaim)
        if claim is None:
            raise PluginError(f'failed to check binding: could not find v1.PersistentVolumeClaim "{reserved.key}"')
        selected = claim.metadata.annotations.selected_node
        if reserved.metadata.annotations.selected_node is not None and not reserved.spec.volume_name:
            if selected is None:
                raise PluginError(f'selectedNode annotation reset for PVC "{claim.name}"')
            if selected != self._node:
                raise PluginError(f'provisioning failed for PVC "{claim.name}"')
        if claim.spec.volume_name:
            volume = self._volume(claim.spec.volume_name)
            if volume is None:
                return False
            self._check_reach(volume, labels)
        return is_fully_bound(claim)

    def _volume(self, name: str) -> PersistentVolume | None:
        return self._writer.read(object_path("PersistentVolume", name), PersistentVolume)

    def _check_reach(self, volume: PersistentVolume, labels: Mapping[str, str]) -> None:
        csi_node = self._writer.read(object_path("CSINode", self._node), CSINode)
        text = csi_node.metadata.annotations.migrated_plugins if csi_node is not None else None
        migrated = frozenset(text.split(",")) if text else frozenset[str]()
        if not can_be_reached(affinity_of(as_driver_knows(volume, migrated)), labels):
            said = "no matching NodeSelectorTerms"
            raise PluginError(f'pv "{volume.name}" node affinity doesn\'t match node "{self._node}": {said}')

    def _are_ready(self, claims: Sequence[ResourceClaim], seconds: float) -> bool:
        for reserved in claims:
            claim = self._writer.read(object_path("ResourceClaim", reserved.name, reserved.namespace), ResourceClaim)
            if claim is None:
                raise PluginError(f'resourceclaim "{reserved.name}" not found')
            blocked = blocks_binding(claim, seconds)
            if blocked is not None:
                raise PluginError(blocked)
            if not is_ready(claim):
                return False
        return True


def has_binding_conditions(claim: ResourceClaim) -> bool:
    """Report whether a device of the claim has to be made ready before the pod may be bound."""
    allocation = claim.status.allocation
    return allocation is not None and any(result.binding_conditions for result in allocation.devices.results)


def is_ready(claim: ResourceClaim) -> bool:
    """Report whether all binding conditions of its devices are true (isClaimReadyForBinding)."""
    allocation = claim.status.allocation
    if allocation is None:
        return False
    true = {
        (device.driver, device.pool, device.device): {one.type for one in device.conditions if one.status == "True"}
        for device in claim.status.devices
    }
    return all(
        set(result.binding_conditions) <= true.get((result.driver, result.pool, result.device), set())
        for result in allocation.devices.results
    )
