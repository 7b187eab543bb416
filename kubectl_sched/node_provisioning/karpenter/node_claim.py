"""A NodeClaim in the making: its pods, and the instance types that could take them all (nodeclaim.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.node_provisioning.karpenter.dynamicresources.claim_allocator import Place
from kubectl_sched.node_provisioning.karpenter.dynamicresources.requested_devices import NoAllocation
from kubectl_sched.node_provisioning.karpenter.instance_type_filter import Demand, NoInstanceType, filter_instance_types
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, RESERVED
from kubectl_sched.node_provisioning.karpenter.pod_data import Rejection
from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import conflicts
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import incompatibility, is_compatible, merged
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import merge, min_resources
from kubectl_sched.node_provisioning.karpenter.scheduling.untolerated_taints import tolerates_all, untolerated_text
from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import together
from kubectl_sched.node_provisioning.karpenter.topology.topology_constraints import Violation

if TYPE_CHECKING:
    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import Offering
    from kubectl_sched.node_provisioning.karpenter.daemons import DaemonOverheadGroup
    from kubectl_sched.node_provisioning.karpenter.dynamicresources.claim_allocator import ClaimAllocator, DeviceGrant
    from kubectl_sched.node_provisioning.karpenter.node_claim_template import NodeClaimTemplate
    from kubectl_sched.node_provisioning.karpenter.pod_data import PodData
    from kubectl_sched.node_provisioning.karpenter.reserved_capacity import Reservations
    from kubectl_sched.node_provisioning.karpenter.scheduling.host_port_usage import HostPort
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import Volumes
    from kubectl_sched.node_provisioning.karpenter.topology.ties import Ties
    from kubectl_sched.node_provisioning.karpenter.topology.topology_constraints import Topology
    from kubectl_sched.snapshot.array_types import Mask

_NO_TYPE_WITH_DEVICES = "no instance type satisfies both scheduling and dynamic resource requirements"
_ONLY_FULL = "the only compatible reserved offering is full; falling through to other NodePools"


class Addition(NamedTuple):
    """A NodeClaim after one more pod."""

    requirements: Requirements
    rows: list[int]
    mask: Mask
    reserved: tuple[Offering, ...]
    devices: DeviceGrant | None = None


class Simulation(NamedTuple):
    """The state that all NodeClaims of one simulation share."""

    topology: Topology
    reservations: Reservations
    reserves_capacity: bool
    ties: Ties
    is_strict: bool = True
    """A pod waits for a reservation rather than have on-demand or spot; not where a removal is simulated."""

    devices: ClaimAllocator | None = None
    """Allocates devices; None if Karpenter ignores claims."""


class NewNodeClaim:
    """A NodeClaim that the simulation would create. It narrows with every pod."""

    def __init__(
        self,
        template: NodeClaimTemplate,
        groups: tuple[DaemonOverheadGroup, ...],
        options: Mask,
        hostname: str,
        simulation: Simulation,
    ) -> None:
        self.template = template
        self.groups = groups
        self.rows: list[int] = []
        self.options = options
        self.hostname = hostname
        self.pods: list[Pod] = []
        self.requests: Resources = {}
        self.reserved: tuple[Offering, ...] = ()
        self.min_values_relaxed = False
        self.requirements = merged(template.requirements.values(), [requirement(HOSTNAME, IN, (hostname,))])
        self._ports: dict[str, tuple[HostPort, ...]] = {}
        self._volumes: Volumes = {}
        self._simulation = simulation

    def can_add(self, data: PodData, *, relaxes_min_values: bool) -> Addition | Rejection:
        """The NodeClaim with the pod, or why it cannot have it (CanAdd)."""
        taints, tolerations = self.template.taints, data.pod.spec.tolerations
        if not tolerates_all(taints, tolerations):
            return Rejection(lambda: untolerated_text(taints, tolerations))
        options = self._attaching(data)
        if not options.any():
            wanted_volumes = together(self._volumes, data.volumes)
            return Rejection(lambda: self.template.table.attachment_text(wanted_volumes, self.options))
        known, well_known = self.requirements, self.template.table.well_known
        if not is_compatible(known, data.requirements, well_known):
            wanted = data.requirements
            return Rejection(lambda: f"incompatible requirements, {incompatibility(known, wanted, well_known)}")
        base = merged(known.values(), data.requirements.values())
        first, *others = data.volume_alternatives or ({},)
        found = self._with_volumes(data, options, base, first, relaxes_min_values=relaxes_min_values)
        for alternative in others:
            if isinstance(found, Addition):
                break
            found = self._with_volumes(data, options, base, alternative, relaxes_min_values=relaxes_min_values)
        return found

    def _attaching(self, data: PodData) -> Mask:
        """Return the instance types that volumes can be attached to for the pod, too; all where types limit none."""
        if not data.volumes:
            return self.options
        return self.options & self.template.table.attaching(together(self._volumes, data.volumes))

    def add(self, data: PodData, addition: Addition) -> None:
        """Take the pod (Add)."""
        self.pods.append(data.pod)
        self.rows, self.options = addition.rows, addition.mask
        self.requests = merge(self.requests, data.requests)
        self.requirements = addition.requirements
        self._simulation.topology.register(HOSTNAME, self.hostname)
        self._simulation.topology.record(data.pod, self.template.taints, addition.requirements)
        self._ports[data.pod.key] = data.host_ports
        self._volumes = together(self._volumes, data.volumes)
        if addition.reserved or self.reserved:
            self._simulation.reservations.hold(self.hostname, addition.reserved)
        self.reserved = addition.reserved
        if addition.devices is not None and self._simulation.devices is not None:
            kept = {self.template.table.types[row].name for row in addition.rows}
            self._simulation.devices.commit(addition.devices, kept)

    def finish(self) -> None:
        """Drop what only the simulation needed, and count the daemons (FinalizeScheduling)."""
        finished = {key: each for key, each in self.requirements.items() if key != HOSTNAME}
        if self.reserved:
            finished[CAPACITY_TYPE] = requirement(CAPACITY_TYPE, IN, (RESERVED,))
            reservations = self._simulation.reservations
            if reservations.label:  # empty where no provider is known
                identities = {reservations.identity(each) for each in self.reserved}
                finished = merged(finished.values(), [requirement(reservations.label, IN, identities)])
        self.requirements = finished
        least: Resources = {}
        for group in self._simulation.ties.ordered(self.groups_left):
            least = min_resources(least, group.overhead) if least else group.overhead
        if least:
            self.requests = merge(self.requests, least)

    @property
    def groups_left(self) -> list[DaemonOverheadGroup]:
        """The daemon groups that have instance types left. Karpenter iterates them in random order."""
        return [group for group in self.groups if (self.options & group.mask).any()]

    def _with_volumes(
        self,
        data: PodData,
        options: Mask,
        base: Requirements,
        alternative: Requirements,
        *,
        relaxes_min_values: bool,
    ) -> Addition | Rejection:
        """The NodeClaim with the pod and its volumes where one alternative has them (tryVolumeAlternative)."""
        with_volumes = self._joined(base, alternative, "volume")
        if isinstance(with_volumes, Rejection):
            return with_volumes
        devices = self._allocated(data)
        if isinstance(devices, Rejection):
            return devices
        asked = devices.requirements if devices is not None else {}
        with_devices = self._joined(with_volumes, asked, "dynamic resource")
        if isinstance(with_devices, Rejection):
            return with_devices
        return self._in_topology(data, options, with_devices, devices, relaxes_min_values=relaxes_min_values)

    def _joined(self, base: Requirements, more: Requirements, what: str) -> Requirements | Rejection:
        if not more:
            return base
        well_known = self.template.table.well_known
        if not is_compatible(base, more, well_known):
            text = incompatibility(base, more, well_known)
            return Rejection(lambda: f"incompatible {what} requirements, {text}")
        return merged(base.values(), more.values())

    def _in_topology(
        self,
        data: PodData,
        options: Mask,
        base: Requirements,
        devices: DeviceGrant | None,
        *,
        relaxes_min_values: bool,
    ) -> Addition | Rejection:
        """The NodeClaim with the pod in the domains that its constraints leave, on types that have its devices."""
        table = self.template.table
        narrowed = self._simulation.topology.tightened(data.pod, self.template.taints, data.strict_requirements, base)
        if isinstance(narrowed, Violation):
            return Rejection(narrowed.text)
        if not is_compatible(base, narrowed, table.well_known):
            return Rejection(lambda: incompatibility(base, narrowed, table.well_known))
        found = self._on_instance_types(data, options, {**base, **narrowed}, relaxes_min_values=relaxes_min_values)
        if isinstance(found, Rejection):
            return found
        requirements, rows, mask = found
        if devices is not None:
            rows = [row for row in rows if table.types[row].name in devices.types]
            mask = np.isin(np.arange(len(table.types)), rows)
            if not rows:
                return Rejection(lambda: _NO_TYPE_WITH_DEVICES)
        reserved = self._reservable(rows, requirements)
        return reserved if isinstance(reserved, Rejection) else Addition(requirements, rows, mask, reserved, devices)

    def _allocated(self, data: PodData) -> DeviceGrant | Rejection | None:
        """Devices for the pod's claims, by instance type; None where no devices are allocated."""
        allocator = self._simulation.devices
        if data.device_claims is None or allocator is None:
            return None
        types = self.template.table.types
        kinds = [types[row] for row in self.rows or np.flatnonzero(self.options)]
        expected = {each.name: each.device_slices for each in kinds}
        place = Place(self.hostname, "", self.requirements, tuple(expected), expected)
        try:
            return allocator.allocate(place, data.device_claims)
        except NoAllocation as wrong:
            text = str(wrong)
            return Rejection(lambda: f"allocating dynamic resources, {text}")

    def _on_instance_types(
        self, data: PodData, options: Mask, requirements: Requirements, *, relaxes_min_values: bool
    ) -> tuple[Requirements, list[int], Mask] | Rejection:
        used = self._ports
        groups = [
            group
            for group in self._simulation.ties.ordered(self.groups)
            if not data.host_ports or not conflicts({**group.host_ports, **used}, data.pod, data.host_ports)
        ]
        demand = Demand(requirements, data.requests, merge(self.requests, data.requests))
        found = filter_instance_types(
            self.template.table, options, groups, demand, relaxes_min_values=relaxes_min_values
        )
        if isinstance(found, NoInstanceType):
            return Rejection(found.text)
        if relaxes_min_values and found.unsatisfied:
            relaxed = {key: replace(requirements[key], min_values=count) for key, count in found.unsatisfied.items()}
            requirements = {**requirements, **relaxed}
        return requirements, found.rows, found.mask

    def _reservable(self, rows: list[int], requirements: Requirements) -> tuple[Offering, ...] | Rejection:
        """The reserved offerings that the NodeClaim would hold (offeringsToReserve)."""
        table = self.template.table
        if not self._simulation.reserves_capacity or not (table.reserved or self.reserved):
            return ()
        left = set(rows)
        compatible = [
            offering
            for row, offering in table.reserved
            if row in left and is_compatible(requirements, offering.requirements, table.well_known)
        ]
        full: list[Offering] = []
        if table.release.tells_full_reservations:
            full = [each for each in compatible if each.reservation_capacity == 0]
            compatible = [each for each in compatible if each.reservation_capacity != 0]
        held = tuple(each for each in compatible if self._simulation.reservations.can_reserve(self.hostname, each))
        is_strict = self._simulation.is_strict
        if full and not compatible and not table.has_unreserved(rows, requirements):
            if not is_strict:
                return Rejection(lambda: _ONLY_FULL)
            return Rejection(
                lambda: "all compatible reserved offerings are full and no on-demand or spot fallback is available",
                awaits_reservation=True,
            )
        if is_strict and compatible and not held:
            return Rejection(
                lambda: (
                    "one or more instance types with compatible reserved offerings are available, "
                    "but could not be reserved"
                ),
                awaits_reservation=True,
            )
        if is_strict and self.reserved and not held:
            return Rejection(
                lambda: (
                    "satisfying updated nodeclaim constraints would remove all compatible reserved offering options"
                ),
                awaits_reservation=True,
            )
        return held
