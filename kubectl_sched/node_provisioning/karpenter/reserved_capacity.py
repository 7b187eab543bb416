"""Reserved capacity that NodeClaims of one simulation share (reservationmanager.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import of_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import Offering
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type_table import InstanceTypeTable


class Reservations:
    """The remaining uses of each reservation, and the host that holds it."""

    def __init__(self, tables: Iterable[InstanceTypeTable], label: str) -> None:
        self._label = label
        self._held: dict[str, set[str]] = {}
        self._capacity: dict[str, int] = {}
        for table in tables:
            for offering in table.ever_reserved:
                identity = self.identity(offering)
                known = self._capacity.get(identity, offering.reservation_capacity)
                self._capacity[identity] = min(known, offering.reservation_capacity)

    def identity(self, offering: Offering) -> str:
        """The reservation's ID (ReservationID)."""
        return of_key(offering.requirements, self._label).only_value or ""

    def can_reserve(self, host: str, offering: Offering) -> bool:
        """Report whether the host holds the reservation or can (CanReserve)."""
        identity = self.identity(offering)
        return identity in self._held.get(host, ()) or self._capacity[identity] != 0

    def hold(self, host: str, offerings: Sequence[Offering]) -> None:
        """Let the host hold these reservations and no others (Reserve, releaseReservedOfferings)."""
        wanted = {self.identity(each) for each in offerings}
        held = self._held.setdefault(host, set())
        for identity in wanted - held:
            self._capacity[identity] -= 1
        for identity in held - wanted:
            self._capacity[identity] += 1
        self._held[host] = wanted

    @property
    def label(self) -> str:
        """The label of a reservation's ID."""
        return self._label
