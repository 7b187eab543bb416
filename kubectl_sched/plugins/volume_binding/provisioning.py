"""Provisioning of a claim's volume for a node (binder.go, checkVolumeProvisions)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.labels import EVERYTHING, IN, InvalidSelector, requirement, selector_of
from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.component_helpers.volume_claims import NOT_SUPPORTED_PROVISIONER, class_of_claim
from kubectl_sched.api.storage import CSIDriver, CSIStorageCapacity, StorageClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.apimachinery.labels import Requirement, Selector
    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.core import RawQuantity
    from kubectl_sched.api.storage import PersistentVolumeClaim, TopologySelectorTerm
    from kubectl_sched.snapshot.objects import Objects


class Offer(NamedTuple):
    """A CSIStorageCapacity that is large enough for the claim, and the nodes that it is for."""

    capacity: CSIStorageCapacity
    selector: Selector


class Provisioner:
    """The provisioner of one claim's volume: settled once, then asked for each kind of node."""

    def __init__(self, claim: PersistentVolumeClaim, objects: Objects, *, compares_exactly: bool = False) -> None:
        self.claim = claim
        self._compares_exactly = compares_exactly
        self.storage_class = objects.get(StorageClass, class_of_claim(claim))
        self.topologies = allowed_selectors(self.storage_class)
        self._offers = self._find_offers(objects)

    @property
    def can_provision(self) -> bool:
        """Report whether the class makes volumes at all."""
        made_by = self.storage_class.provisioner if self.storage_class is not None else ""
        return made_by not in {"", NOT_SUPPORTED_PROVISIONER}

    def requirements(self) -> Iterator[Requirement]:
        """Yield all that is asked of a node's labels."""
        for selector in (*(self.topologies or ()), *(offer.selector for offer in self._offers or ())):
            yield from selector.requirements

    def is_allowed(self, labels: Mapping[str, str]) -> bool:
        """Report whether the class may make volumes there; without allowedTopologies it may everywhere."""
        return self.topologies is None or any(selector.matches(labels) for selector in self.topologies)

    @property
    def tracks_capacity(self) -> bool:
        """Report whether there must be a CSIStorageCapacity for the node."""
        return self._offers is not None

    def offer(self, labels: Mapping[str, str]) -> CSIStorageCapacity | None:
        """The first CSIStorageCapacity that is large enough and for the node."""
        return next((offer.capacity for offer in self._offers or () if offer.selector.matches(labels)), None)

    def _find_offers(self, objects: Objects) -> list[Offer] | None:
        """The capacities that are large enough; None where capacity does not matter (hasEnoughCapacity)."""
        size = self.claim.spec.resources.requests.get("storage")
        driver = objects.get(CSIDriver, self.storage_class.provisioner) if self.storage_class is not None else None
        if size is None or driver is None or not driver.spec.storage_capacity:
            return None
        return [
            Offer(capacity, selector)
            for capacity in capacities_of(self.storage_class, objects)
            if self._is_enough(volume_limit(capacity), size) and (selector := topology_of(capacity)) is not None
        ]

    def _is_enough(self, limit: Quantity | None, size: RawQuantity) -> bool:
        """Compare amounts; up to 1.37 both are rounded up to whole bytes first (capacitySufficient)."""
        wanted = parse_quantity(size)
        if limit is None:
            return False
        return wanted <= limit if self._compares_exactly else wanted.value() <= limit.value()


def capacities_of(storage_class: StorageClass | None, objects: Objects) -> list[CSIStorageCapacity]:
    """The CSIStorageCapacity objects of a class."""
    name = storage_class.name if storage_class is not None else ""
    return [capacity for capacity in objects.all(CSIStorageCapacity) if capacity.storage_class_name == name]


def volume_limit(capacity: CSIStorageCapacity) -> Quantity | None:
    """The largest volume: maximumVolumeSize where it is told, else the capacity, None without either."""
    limit = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return parse_quantity(limit) if limit is not None else None


def topology_of(capacity: CSIStorageCapacity) -> Selector | None:
    """The nodes that a capacity is for; None: no node, as without a selector or with one that cannot be read."""
    try:
        return selector_of(capacity.node_topology) if capacity.node_topology is not None else None
    except InvalidSelector:
        return None


def allowed_selectors(storage_class: StorageClass | None) -> list[Selector] | None:
    """The allowed topologies, None if all are; terms that match nothing are left out."""
    if storage_class is None or not storage_class.allowed_topologies:
        return None
    return [selector for term in storage_class.allowed_topologies if (selector := _selector_of(term)) is not None]


def _selector_of(term: TopologySelectorTerm) -> Selector | None:
    if not term.match_label_expressions:
        return None
    try:
        return EVERYTHING.add(*(requirement(each.key, IN, each.values) for each in term.match_label_expressions))
    except InvalidSelector:
        return None
