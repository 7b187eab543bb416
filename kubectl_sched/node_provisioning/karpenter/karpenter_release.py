"""Differences between the releases of Karpenter that are replayed (sigs.k8s.io/karpenter)."""

from __future__ import annotations

from typing import Final

from kubectl_sched.record import Record


class KarpenterRelease(Record, frozen=True, kw_only=True):
    """One release, and what its simulation does otherwise than the one before."""

    version: str

    min_values_count_allowed: bool = False
    """Of the values that instance types have, minValues counts those alone that the requirement allows."""

    tells_full_reservations: bool = False
    """A reservation that is used up is neither launched nor priced, and a pod may get on-demand or spot instead."""

    overrides_replace: bool = False
    """The capacity of an offering takes the place of its type's, where it was added to it before."""

    volumes_come_first: bool = False
    """A pod of which a volume cannot be found is placed nowhere."""

    limits_volumes_by_type: bool = False
    """An instance type limits the volumes of new nodes, and of nodes whose CSINode does not know the driver yet."""

    reads_alternatives: bool = False
    """Claims may list alternatives (firstAvailable), and a request for all devices wants at least one."""

    spreads_by_default: bool = False
    """Pods without spread constraints have those of --scheduler-config."""

    reads_disruption_cost: bool = False
    """The annotation karpenter.sh/disruption-cost comes before the deletion cost, and both are whole numbers."""

    reboots_nodes: bool = False
    """A node may be rebooted in place, which counts as a disruption; deletion is asked for before initialization."""

    @property
    def order(self) -> tuple[int, ...]:
        """The numbers of the version."""
        return tuple(map(int, self.version.split(".")))


RELEASES: Final = (
    KarpenterRelease(version="1.14.1"),
    KarpenterRelease(version="1.14.3", min_values_count_allowed=True),
    KarpenterRelease(
        version="1.15.0",
        min_values_count_allowed=True,
        tells_full_reservations=True,
        overrides_replace=True,
        volumes_come_first=True,
        limits_volumes_by_type=True,
        reads_alternatives=True,
        spreads_by_default=True,
        reads_disruption_cost=True,
        reboots_nodes=True,
    ),
)
"""The releases, oldest first. Of the patches between two, the older one is replayed."""

NEWEST: Final = RELEASES[-1]


def release_of(version: str | None) -> KarpenterRelease:
    """Return the newest release that is no newer than a version such as `1.14.2`; without one the newest."""
    if version is None:
        return NEWEST
    asked = tuple(int(part) for part in version.split("."))
    return next((each for each in reversed(RELEASES) if each.order <= asked), RELEASES[0])
