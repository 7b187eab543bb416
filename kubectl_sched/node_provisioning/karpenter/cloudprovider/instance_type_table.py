"""The instance types of a NodePool as columns: a requirement is held against each distinct value once.

Karpenter asks every type of every NodePool for every pod; there are hundreds of types and a few dozen distinct values.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.apimachinery.quantity import ZERO
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import RESERVED
from kubectl_sched.node_provisioning.karpenter.karpenter_release import NEWEST, KarpenterRelease
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import is_compatible
from kubectl_sched.snapshot.column import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.node_provisioning.karpenter.cloudprovider.instance_type import InstanceType, Offering
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import Requirement
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements
    from kubectl_sched.node_provisioning.karpenter.scheduling.volume_topology import Volumes
    from kubectl_sched.snapshot.array_types import Mask


class InstanceTypeTable:
    """Instance types in an order that never changes; a selection of them is a mask."""

    def __init__(
        self, types: Sequence[InstanceType], well_known: frozenset[str], release: KarpenterRelease = NEWEST
    ) -> None:
        self.types = tuple(types)
        self.release = release
        self.well_known = well_known
        self.everything: Mask = np.ones(len(self.types), dtype=np.bool_)
        self.reserved: tuple[tuple[int, Offering], ...] = tuple(
            (row, offering)
            for row, each in enumerate(self.types)
            for offering in each.offerings
            if offering.is_reserved
        )
        self.ever_reserved: tuple[Offering, ...] = tuple(
            offering for each in self.types for offering in each.offerings if offering.capacity_type == RESERVED
        )
        """The reserved offerings, be they available or not: all of them say how much of a reservation is left."""

        self._keys = {key for each in self.types for key in each.requirements}
        self._label_columns: dict[str, Column[Requirement | None]] = {}
        self._label_masks: dict[tuple[str, Requirement], Mask] = {}
        self._capacity: dict[str, _Amounts] = {}
        self._offerings = _OfferingTable(self.types, well_known, release)

    def compatible(self, requirements: Requirements) -> Mask:
        """The types whose own requirements do not contradict these (compatible)."""
        mask = self.everything
        for key, wanted in requirements.items():
            if key in self._keys:
                mask = mask & self._admitting(key, wanted)
        return mask

    def fitting(self, requests: Mapping[str, Quantity], requirements: Requirements) -> tuple[Mask, Mask]:
        """The types that have the room in a compatible offering, and those that have such an offering (fits)."""
        return self._offerings.fitting(requests, requirements)

    def prices(self, requirements: Requirements) -> list[float]:
        """The lowest price of each type among the compatible offerings; the largest number if it has none."""
        return self._offerings.prices(requirements)

    def has_unreserved(self, rows: Sequence[int], requirements: Requirements) -> bool:
        """Report whether any of the types has a compatible offering that is not reserved."""
        return self._offerings.has_unreserved(rows, requirements)

    def attaching(self, volumes: Volumes) -> Mask:
        """The types that all of these volumes can be attached to; releases that know no such limits have all."""
        mask = self.everything
        if not self.release.limits_volumes_by_type:
            return mask
        for driver, claims in volumes.items():
            fits = [len(claims) <= each.volume_limits.get(driver, len(claims)) for each in self.types]
            mask = mask & np.array(fits, dtype=np.bool_)
        return mask

    def attachment_text(self, volumes: Volumes, options: Mask) -> str:
        """Karpenter's words where none of the options can have the volumes (volumeAttachmentLimitError)."""
        text = "would exceed volume limit for all instance type options"
        offered = [each for each, is_option in zip(self.types, options.tolist(), strict=True) if is_option]
        for driver, claims in sorted(volumes.items()):
            limits = [each.volume_limits.get(driver, len(claims)) for each in offered]
            if all(limit < len(claims) for limit in limits):
                most = max(limits, default=-1)
                return f"{text} (provisioner={driver}, volume-count={len(claims)}, volume-limit={most})"
        return text

    def within(self, limits: Mapping[str, Quantity]) -> Mask:
        """The types of which no resource is more than what is left of it (filterByRemainingResources)."""
        mask = self.everything
        for name, left in limits.items():
            mask = mask & self._amounts(name).at_most(left)
        return mask

    def largest(self, name: str, mask: Mask) -> Quantity:
        """The most that a selected type has of a resource."""
        return self._amounts(name).largest(mask)

    @property
    def labels(self) -> set[str]:
        """The labels that any type says something of."""
        return self._keys

    def distinct(self, key: str) -> Sequence[Requirement | None]:
        """Return what the types say of a label, each requirement once; None if a type says nothing."""
        return self._column(key).values

    def _column(self, key: str) -> Column[Requirement | None]:
        if key not in self._label_columns:
            self._label_columns[key] = Column.of(each.requirements.get(key) for each in self.types)
        return self._label_columns[key]

    def _admitting(self, key: str, wanted: Requirement) -> Mask:
        mask = self._label_masks.get((key, wanted))
        if mask is None:
            mask = self._column(key).where(lambda each: each is None or not each.excludes(wanted))
            self._label_masks[key, wanted] = mask
        return mask

    def _amounts(self, name: str) -> _Amounts:
        if name not in self._capacity:
            self._capacity[name] = _Amounts([each.capacity.get(name, ZERO) for each in self.types])
        return self._capacity[name]


class _Amounts:
    """The amount of one resource that each row has, the distinct amounts in order."""

    def __init__(self, amounts: Sequence[Quantity]) -> None:
        column = Column.of(amounts)
        self._sorted = sorted(column.values)
        rank_of = {amount: rank for rank, amount in enumerate(self._sorted)}
        self._ranks = column.numbers(rank_of.__getitem__)

    def at_least(self, wanted: Quantity) -> Mask:
        return self._ranks >= bisect_left(self._sorted, wanted)

    def at_most(self, limit: Quantity) -> Mask:
        return self._ranks < bisect_right(self._sorted, limit)

    def largest(self, mask: Mask) -> Quantity:
        return self._sorted[int(self._ranks[mask].max())]


class _OfferingTable:
    """The available offerings of all types: a row for each, with what is allocatable through it."""

    def __init__(self, types: tuple[InstanceType, ...], well_known: frozenset[str], release: KarpenterRelease) -> None:
        rows = [
            (row, allocatable, offering)
            for row, each in enumerate(types)
            for allocatable, offerings in each.allocatable_offerings(replaces=release.overrides_replace)
            for offering in offerings
        ]
        self._launchable = np.array([offering.is_launchable(release) for _, _, offering in rows], dtype=np.bool_)
        self._unreserved = np.array([not offering.is_reserved for _, _, offering in rows], dtype=np.bool_)
        self._count = len(types)
        self._well_known = well_known
        self._type_rows = np.array([row for row, _, _ in rows], dtype=np.intp)
        self._prices = np.array([offering.price for _, _, offering in rows])
        self._allocatable = [allocatable for _, allocatable, _ in rows]
        self._amounts: dict[str, _Amounts] = {}
        negative = [any(amount < ZERO for amount in allocatable.values()) for allocatable in self._allocatable]
        self._sound = ~np.array(negative, dtype=np.bool_)
        self._requirements = Column.of(
            (offering.requirements for _, _, offering in rows), key=lambda each: tuple(sorted(each.items()))
        )
        self._labels = tuple(sorted({label for each in self._requirements.values for label in each}))
        self._masks: dict[tuple[Requirement | None, ...], Mask] = {}

    def fitting(self, requests: Mapping[str, Quantity], requirements: Requirements) -> tuple[Mask, Mask]:
        offered = self._compatible(requirements)
        room = self._sound & offered
        for name, wanted in requests.items():
            room = room & self._column(name).at_least(wanted)
        return self._by_type(room), self._by_type(offered)

    def prices(self, requirements: Requirements) -> list[float]:
        lowest = np.full(self._count, np.finfo(np.float64).max)
        offered = self._compatible(requirements) & self._launchable
        np.minimum.at(lowest, self._type_rows[offered], self._prices[offered])
        return [float(price) for price in lowest]

    def has_unreserved(self, rows: Sequence[int], requirements: Requirements) -> bool:
        offered = self._compatible(requirements) & self._unreserved
        return bool(offered[np.isin(self._type_rows, rows)].any())

    def _by_type(self, rows: Mask) -> Mask:
        mask = np.zeros(self._count, dtype=np.bool_)
        mask[self._type_rows[rows]] = True
        return mask

    def _compatible(self, requirements: Requirements) -> Mask:
        key = tuple(requirements.get(label) for label in self._labels)
        found = self._masks.get(key)
        if found is None:
            found = self._requirements.where(lambda each: is_compatible(requirements, each, self._well_known))
            self._masks[key] = found
        return found

    def _column(self, name: str) -> _Amounts:
        if name not in self._amounts:
            self._amounts[name] = _Amounts([each.get(name, ZERO) for each in self._allocatable])
        return self._amounts[name]
