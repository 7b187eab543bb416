"""Instance types and their offerings, as a cloud provider describes them (pkg/cloudprovider/types.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import ZERO, Format, Quantity
from kubectl_sched.api.core import ZONE
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import CAPACITY_TYPE, RESERVED
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import of_key
from kubectl_sched.node_provisioning.karpenter.scheduling.resource_lists import merge, subtract

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.component_helpers.container_resources import Resources
    from kubectl_sched.dynamic_resource_allocation.devices import PoolSlice
    from kubectl_sched.node_provisioning.karpenter.karpenter_release import KarpenterRelease
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements


class Offering:
    """A zone and a capacity type in which an instance type can be had, and its price."""

    def __init__(
        self,
        requirements: Requirements,
        price: float,
        *,
        available: bool = True,
        reservation_capacity: int = 0,
        capacity_override: Mapping[str, Quantity] | None = None,
    ) -> None:
        self.requirements = requirements
        self.price = price
        self.available = available
        self.reservation_capacity = reservation_capacity
        self.capacity_override = dict(capacity_override or {})

    @property
    def capacity_type(self) -> str:
        """On-demand, spot or reserved (CapacityType)."""
        return of_key(self.requirements, CAPACITY_TYPE).only_value or ""

    @property
    def zone(self) -> str:
        """The zone, empty if it names none or several (Zone)."""
        return of_key(self.requirements, ZONE).only_value or ""

    @property
    def is_reserved(self) -> bool:
        """Report whether it is capacity that was reserved and is available."""
        return self.available and self.capacity_type == RESERVED

    def is_launchable(self, release: KarpenterRelease) -> bool:
        """Report whether a machine can be had now: in newer releases not where a reservation is used up."""
        if not (release.tells_full_reservations and of_key(self.requirements, CAPACITY_TYPE).has(RESERVED)):
            return self.available
        names = CAPACITY_TYPE in self.requirements
        return self.available and (not names or self.reservation_capacity > 0)


class InstanceType:
    """A kind of machine: what it can be selected by, what it has, what of it is kept from pods, where it is offered."""

    def __init__(
        self,
        name: str,
        requirements: Requirements,
        offerings: tuple[Offering, ...],
        capacity: Resources,
        overhead: Resources,
        volume_limits: Mapping[str, int] | None = None,
        device_slices: tuple[PoolSlice, ...] = (),
    ) -> None:
        self.name = name
        self.requirements = requirements
        self.offerings = offerings
        self.capacity = capacity
        self.overhead = overhead
        self.volume_limits = dict(volume_limits or {})
        """The volumes that can be attached, by CSI driver, as far as the provider knows."""

        self.device_slices = device_slices
        """The devices that drivers will publish of a machine (ResourceSliceTemplates)."""

    def with_devices(self, slices: tuple[PoolSlice, ...]) -> InstanceType:
        """Return the type with the devices that drivers will publish of a machine."""
        return InstanceType(
            self.name, self.requirements, self.offerings, self.capacity, self.overhead, self.volume_limits, slices
        )

    def allocatable_offerings(self, *, replaces: bool) -> tuple[tuple[Resources, tuple[Offering, ...]], ...]:
        """Return what is allocatable with which offerings, first those without overrides (AllocatableOfferingsList).

        An override takes the place of the type's own capacity (`replaces`) or is added to it.
        """
        available = [each for each in self.offerings if each.available]
        groups: dict[str, list[Offering]] = {"": []}
        for each in available:
            override = ",".join(f"{name}={quantity}" for name, quantity in sorted(each.capacity_override.items()))
            groups.setdefault(override, []).append(each)
        return tuple(
            (self._allocatable(offerings[0].capacity_override if override else {}, replaces=replaces), tuple(offerings))
            for override, offerings in groups.items()
        )

    @property
    def allocatable(self) -> Resources:
        """Return what pods can have of it, without overrides (Allocatable)."""
        return self._allocatable({}, replaces=False)

    def _allocatable(self, override: Mapping[str, Quantity], *, replaces: bool) -> Resources:
        capacity = {**self.capacity, **override} if replaces else merge(self.capacity, override)
        left = subtract(capacity, self.overhead)
        for name, quantity in capacity.items():
            if name.startswith("hugepages-"):
                memory = left.get("memory", Quantity(format=Format.BINARY_SI)) - quantity
                left["memory"] = Quantity(format=memory.format) if memory < ZERO else memory
        return left
