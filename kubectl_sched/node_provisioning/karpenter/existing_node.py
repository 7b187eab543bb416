"""A node that is there or on its way, and the pods that the simulation adds to it (existingnode.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity
from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.node_provisioning.karpenter.dynamicresources.claim_allocator import Place
from kubectl_sched.node_provisioning.karpenter.dynamicresources.requested_devices import NoAllocation
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import INSTANCE_TYPE
from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import conflicts
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import is_compatible, label_requirements, merged
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import fits, subtract
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all
from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import exceeds_limits, together
from kubectl_sched.node_provisioning.karpenter.topology.topology_constraints import Violation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.dynamic_resource_allocation.devices import PoolSlice
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.claim_allocator import ClaimAllocator, DeviceGrant
    from kubectl_sched.node_provisioning.karpenter.pod_data import PodData
    from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import HostPort
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import Volumes
    from kubectl_sched.node_provisioning.karpenter.state_node import StateNode
    from kubectl_sched.node_provisioning.karpenter.topology.topology_constraints import Topology


class Usage(NamedTuple):
    """The sum of what the pods on a node use."""

    requests: Resources
    daemon_requests: Resources
    host_ports: dict[str, tuple[HostPort, ...]]
    volumes: Volumes
    volume_limits: Mapping[str, int]


class Room(NamedTuple):
    """The requirements of a node that can take a pod, and the devices for the pod's claims."""

    requirements: Requirements
    devices: DeviceGrant | None = None


class ExistingNode:
    """A node of the cluster under simulation. It fills up with every pod."""

    def __init__(
        self,
        state: StateNode,
        usage: Usage,
        daemons: Resources,
        topology: Topology,
        devices: ClaimAllocator | None = None,
        expected_devices: tuple[PoolSlice, ...] = (),
    ) -> None:
        """`expected_devices` are those of the node's instance type, as long as the node is not initialized."""
        missing = subtract_all(daemons, usage.daemon_requests)
        self.state = state
        self.pods: list[Pod] = []
        self._left = subtract(subtract(state.allocatable, usage.requests), missing)
        self._ports = dict(usage.host_ports)
        self._volumes = usage.volumes
        self._volume_limits = usage.volume_limits
        self._topology = topology
        self._devices = devices
        self._expected_devices = expected_devices
        self._requirements = merged(
            label_requirements(state.labels).values(), [requirement(HOSTNAME, IN, (state.hostname,))]
        )
        topology.register(HOSTNAME, state.hostname)

    def can_add(self, data: PodData, volumes: Volumes) -> Room | None:
        """The node's requirements with the pod, and its devices; None if it cannot have it (CanAdd)."""
        exceeds = exceeds_limits(together(self._volumes, volumes), self._volume_limits)
        if exceeds or not tolerates_all(self.state.taints, data.pod.spec.tolerations):
            return None
        if data.host_ports and conflicts(self._ports, data.pod, data.host_ports):
            return None
        if not fits(data.requests, self._left) or not is_compatible(self._requirements, data.requirements):
            return None
        base = merged(self._requirements.values(), data.requirements.values())
        for alternative in data.volume_alternatives or ({},):
            found = self._with_volumes(data, base, alternative)
            if found is None:
                continue
            if data.device_claims is None or self._devices is None:
                return Room(found)
            try:
                return Room(found, self._devices.allocate(self._place(), data.device_claims))
            except NoAllocation:
                continue
        return None

    def _place(self) -> Place:
        """Return the node as devices are allocated for it."""
        name = self.state.node.name if self.state.node is not None else ""
        kind = self.state.labels.get(INSTANCE_TYPE, "")
        expected = {kind: self._expected_devices} if self._expected_devices else {}
        return Place(self.state.identity, name, self._requirements, (kind,), expected)

    def add(self, data: PodData, room: Room, volumes: Volumes) -> None:
        """Take the pod (Add)."""
        if room.devices is not None and self._devices is not None:
            self._devices.commit(room.devices, room.devices.types)
        requirements = room.requirements
        self.pods.append(data.pod)
        self._left = subtract_each(self._left, data.requests)
        self._requirements = requirements
        self._topology.record(data.pod, self.state.taints, requirements)
        self._ports[data.pod.key] = data.host_ports
        self._volumes = together(self._volumes, volumes)

    def _with_volumes(self, data: PodData, base: Requirements, alternative: Requirements) -> Requirements | None:
        if alternative:
            if not is_compatible(base, alternative):
                return None
            base = merged(base.values(), alternative.values())
        narrowed = self._topology.tightened(data.pod, self.state.taints, data.strict_requirements, base)
        if isinstance(narrowed, Violation) or not is_compatible(base, narrowed):
            return None
        return {**base, **narrowed}


def subtract_each(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Resources:
    """Return what is left of each resource, below 0 for one that was not there (SubtractFrom)."""
    return {name: left.get(name, ZERO) - right.get(name, ZERO) for name in (*left, *right)}


def subtract_all(daemons: Mapping[str, Quantity], running: Mapping[str, Quantity]) -> Resources:
    """Return what daemons that are not there yet will request; never below 0."""
    left = subtract_each(daemons, running)
    return {name: max(amount, ZERO) for name, amount in left.items()}
