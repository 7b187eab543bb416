"""The requests of the claims that are to be allocated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kubectl_sched.api.resource import DeviceClass

if TYPE_CHECKING:
    from kubectl_sched.api.resource import ExactDeviceRequest, ResourceClaim
    from kubectl_sched.dynamic_resource_allocation.devices import SliceDevice
    from kubectl_sched.plugins.dynamic_resources.allocator.pools import Pool


@dataclass(slots=True)
class RequestData:
    """A request, or one alternative of one."""

    claim_index: int
    name: str
    parent_name: str | None
    exact: ExactDeviceRequest
    device_class: DeviceClass = field(default_factory=DeviceClass)
    count: int = 0
    all_devices: list[tuple[Pool, SliceDevice]] = field(default_factory=list)

    @property
    def base_name(self) -> str:
        """The name of the request, of which this may be an alternative."""
        return self.parent_name or self.name

    @property
    def full_name(self) -> str:
        """The name of the request in results."""
        return f"{self.parent_name}/{self.name}" if self.parent_name is not None else self.name

    @property
    def admin_access(self) -> bool:
        """Report whether devices in use may be taken."""
        return self.parent_name is None and bool(self.exact.admin_access)

    @property
    def wants_all(self) -> bool:
        """Report whether it is for every device there is."""
        return self.exact.allocation_mode == "All"


@dataclass(slots=True)
class ClaimData:
    """A claim: for each of its requests the alternatives, just one where it is exact."""

    claim: ResourceClaim
    requests: list[list[RequestData]] = field(default_factory=list)
