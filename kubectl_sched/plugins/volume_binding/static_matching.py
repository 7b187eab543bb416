"""The existing volume that a claim would be bound to on a node (component-helpers/storage/volume, FindMatchingVolume).

Upstream walks over all volumes of the class for every node. Here everything that does not depend on the node is decided
once per claim, and volumes whose node affinity asks for a label are found by that label. So thousands of local volumes
on thousands of nodes stay cheap.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property, lru_cache
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.msgpack import encode
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.labels import IN, InvalidSelector, selector_of
from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.component_helpers.node_affinity import parse_node_selector
from kubectl_sched.api.component_helpers.volume_claims import class_of_claim, class_of_volume, is_bound_to
from kubectl_sched.framework.cycle_state import PluginError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.affinity import NodeSelector as Required
    from kubectl_sched.api.apimachinery.labels import Requirement
    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.component_helpers.node_affinity import NodeSelector
    from kubectl_sched.api.core import RawQuantity
    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim

Label: TypeAlias = "tuple[str, str] | None"

_STORAGE = "storage"
_FILESYSTEM = "Filesystem"
_MOST_KEPT = 16
"""Lists of free volumes, each for claims with the same requirements."""


def affinity_of(volume: PersistentVolume) -> NodeSelector | None:
    """The parsed node affinity of a volume, None if it can be reached from everywhere."""
    required = required_by(volume)
    return None if required is None else parse_node_selector(required)


def required_by(volume: PersistentVolume) -> Required | None:
    """The node affinity of a volume, None if it can be reached from everywhere."""
    affinity = volume.spec.node_affinity
    return None if affinity is None else affinity.required


def can_be_reached(affinity: NodeSelector | None, labels: Mapping[str, str]) -> bool:
    """Report whether a node of these labels reaches the volume (CheckNodeAffinity); fields of nodes are left aside."""
    return affinity is None or affinity.matches(labels, "")


def label_requirements(affinity: NodeSelector | None) -> Iterator[Requirement]:
    """Yield all that an affinity asks of a node's labels."""
    for term in affinity.terms if affinity is not None else ():
        yield from term.labels.requirements


def requested_storage(claim: PersistentVolumeClaim) -> Quantity:
    """Return the storage that a claim requests; 0 without a request."""
    return _amount(claim.spec.resources.requests, f"PersistentVolumeClaim {claim.key}")


def capacity_of(volume: PersistentVolume) -> Quantity:
    """Return the storage that a volume holds."""
    return _amount(volume.spec.capacity, f"PersistentVolume {volume.name}")


def _amount(resources: Mapping[str, RawQuantity], where: str) -> Quantity:
    try:
        return parse_quantity(resources.get(_STORAGE, 0))
    except InvalidQuantity as error:
        raise error.within(where) from None


class Candidate(NamedTuple):
    """A volume that fits a claim as far as that does not depend on the node."""

    volume: PersistentVolume
    affinity: NodeSelector | None
    """All that is left to ask of a node."""


class FreeVolumes:
    """The volumes without a claim that fit any claim with the same requirements, smallest first."""

    def __init__(self, requirements: ClaimRequirements, volumes: Iterable[PersistentVolume]) -> None:
        found = [volume for volume in volumes if requirements.objection(volume) is None]
        found.sort(key=capacity_of)
        self.places: dict[Label, list[int]] = {}
        """The places of the volumes by labels, of which nodes need one to reach them; by None if they need none."""

        self.candidates: list[Candidate] = []
        self._reached: dict[Required | None, tuple[NodeSelector | None, Collection[Label]]] = {}
        for place, volume in enumerate(found):
            required = required_by(volume)
            if required not in self._reached:
                self._reached[required] = _reach_of(required)
            affinity, labels = self._reached[required]
            self.candidates.append(Candidate(volume, affinity))
            for label in labels:
                self.places.setdefault(label, []).append(place)
        parsed = [parse_node_selector(required) for required in self._reached if required is not None]
        self.requirements = [each for affinity in parsed for each in label_requirements(affinity)]
        """All that the volumes ask of a node's labels."""

    @cached_property
    def place_of(self) -> dict[str, int]:
        """The place of each volume."""
        return {candidate.volume.metadata.name: place for place, candidate in enumerate(self.candidates)}

    def labels_of(self, volume: PersistentVolume) -> Collection[Label]:
        """The labels by which the volume has its place."""
        return self._reached[required_by(volume)][1]


class Candidates:
    """The volumes that may be bound to one claim."""

    def __init__(self, claim: PersistentVolumeClaim, volumes: VolumeIndex, has_classes: bool) -> None:
        """`has_classes` says whether VolumeAttributesClass is on. Raises PluginError as upstream words it."""
        requirements = ClaimRequirements(claim, has_classes)
        reserved = [each for each in volumes.reserved_for(claim) if requirements.objection(each) is None]
        self._reserved = [Candidate(volume, affinity_of(volume)) for volume in reserved]
        self._free = volumes.free_for(requirements)
        self._places = self._free.places

    @property
    def open_to_all(self) -> FreeVolumes:
        """The volumes set aside for nobody, which claims with the same requirements share."""
        return self._free

    @property
    def reserved(self) -> Sequence[Candidate]:
        """The volumes set aside for the claim."""
        return self._reserved

    def free(self, labels: Mapping[str, str]) -> Iterator[PersistentVolume]:
        """Yield the volumes set aside for nobody that a node of these labels reaches, smallest first."""
        places = self._places
        lists = [found for label in labels.items() if (found := places.get(label))]
        if None in places:
            lists.append(places[None])
        for place in lists[0] if len(lists) == 1 else merge(*lists):
            volume, affinity = self._free.candidates[place]
            if affinity is None or can_be_reached(affinity, labels):
                yield volume

    def leave_out(self, volume: PersistentVolume) -> None:
        """Another claim has taken a free volume."""
        place = self._free.place_of.get(volume.metadata.name)
        if place is None:
            return
        if self._places is self._free.places:
            self._places = {label: list(places) for label, places in self._places.items()}
        for label in self._free.labels_of(volume):
            places = self._places[label]
            del places[bisect_left(places, place)]


class VolumesOfNode:
    """The volumes that claims take one after the other on a kind of node; each list of volumes is read once."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._taken: set[str] = set()
        self._left: dict[FreeVolumes, Iterator[PersistentVolume]] = {}
        self.looked_at = 0
        """The number of volumes that were looked at."""

    def take_best(self, candidates: Candidates) -> PersistentVolume | None:
        """The volume set aside for the claim, else the smallest, the first listed of equals; None if none fits."""
        best = self._best(candidates)
        if best is not None:
            self._taken.add(best.metadata.name)
        return best

    def _best(self, candidates: Candidates) -> PersistentVolume | None:
        for candidate in candidates.reserved:
            self.looked_at += 1
            if candidate.volume.name not in self._taken:
                return candidate.volume if can_be_reached(candidate.affinity, self._labels) else None
        left = self._left.get(candidates.open_to_all)
        if left is None:
            left = self._left[candidates.open_to_all] = candidates.free(self._labels)
        for volume in left:
            self.looked_at += 1
            if volume.metadata.name not in self._taken:
                return volume
        return None


class ClaimRequirements:
    """The requirements of a claim for a volume, apart from the node."""

    def __init__(self, claim: PersistentVolumeClaim, has_classes: bool) -> None:
        key = f"{claim.namespace}/{claim.name}"
        self.claim = claim
        self._has_classes = has_classes
        self._attributes_class = claim.spec.volume_attributes_class_name or ""
        if self._attributes_class and not has_classes:
            raise PluginError(
                f"unsupported volumeAttributesClassName is set on claim {key} "
                "when the feature-gate VolumeAttributesClass is disabled"
            )
        self._size = requested_storage(claim)
        try:
            self._selector = selector_of(claim.spec.selector) if claim.spec.selector is not None else None
        except InvalidSelector as invalid:
            raise PluginError(f"error creating internal label selector for claim: {key}: {invalid.reason}") from invalid

    def objection(self, volume: PersistentVolume) -> str | None:
        """Return the reason for which a volume of the claim's class does not suit the claim, None if it does."""
        spec, claim = volume.spec, self.claim
        is_reserved = is_bound_to(volume, claim)
        attributes_class = spec.volume_attributes_class_name or ""
        if spec.claim_ref is not None and not is_reserved:
            whose = f"claim {spec.claim_ref.namespace}/{spec.claim_ref.name}"
            return f"is still set aside for {whose} (Released)" if _is_released(volume) else f"belongs to {whose}"
        capacity = capacity_of(volume)
        if capacity < self._size:
            return f"holds only {capacity}"
        if (claim.spec.volume_mode or _FILESYSTEM) != (spec.volume_mode or _FILESYSTEM):
            return f"has volumeMode {spec.volume_mode or _FILESYSTEM}"
        if attributes_class != (self._attributes_class if self._has_classes else ""):
            return f"has volumeAttributesClassName {attributes_class or 'none'}"
        if volume.metadata.deletion_timestamp is not None:
            return "is being deleted"
        return None if is_reserved else self._objection_to_free(volume)

    def _objection_to_free(self, volume: PersistentVolume) -> str | None:
        """Return the reason for which an unreserved volume does not suit the claim; reserved ones are not asked."""
        if volume.status.phase != "Available":
            return f"is {volume.status.phase or 'not yet Available'}"
        if self._selector is not None and not self._selector.matches(volume.metadata.labels):
            return "is not selected by the claim's selector"
        missing = [mode for mode in self.claim.spec.access_modes if mode not in volume.spec.access_modes]
        return f"lacks access mode {', '.join(missing)}" if missing else None


def _is_released(volume: PersistentVolume) -> bool:
    return volume.status.phase == "Released"


class VolumeIndex:
    """The volumes of a cluster, so that a claim finds those of its class that are its own or nobody's."""

    def __init__(self, volumes: Iterable[PersistentVolume]) -> None:
        self._by_class: dict[str, list[PersistentVolume]] = {}
        self._unclaimed: dict[str, list[PersistentVolume]] = {}
        self._claimed: dict[tuple[str, str, str], list[PersistentVolume]] = {}
        self._free: dict[tuple[str, bytes], FreeVolumes] = {}
        for volume in volumes:
            name, reference = class_of_volume(volume), volume.spec.claim_ref
            self._by_class.setdefault(name, []).append(volume)
            if reference is None:
                self._unclaimed.setdefault(name, []).append(volume)
            else:
                self._claimed.setdefault((name, reference.namespace, reference.name), []).append(volume)

    def of_class(self, name: str) -> Sequence[PersistentVolume]:
        """All volumes of a class, in the order they were listed."""
        return self._by_class.get(name, ())

    def unclaimed_of(self, name: str) -> Sequence[PersistentVolume]:
        """The volumes of a class without a claim."""
        return self._unclaimed.get(name, ())

    def reserved_for(self, claim: PersistentVolumeClaim) -> Sequence[PersistentVolume]:
        """The volumes of its class that are set aside for a claim of that name."""
        return self._claimed.get((class_of_claim(claim), claim.namespace, claim.name), ())

    @cached_property
    def set_aside(self) -> frozenset[tuple[str, str]]:
        """The namespaces and names of the claims that volumes are set aside for."""
        return frozenset([(namespace, name) for _, namespace, name in self._claimed])

    def free_for(self, requirements: ClaimRequirements) -> FreeVolumes:
        """The volumes of the claim's class without a claim that fit it; found once for all claims like it."""
        claim = requirements.claim
        name = class_of_claim(claim)
        key = name, encode(replace(claim.spec, volume_name=""))
        free = self._free.get(key)
        if free is None:
            if len(self._free) == _MOST_KEPT:
                self._free.clear()
            free = self._free[key] = FreeVolumes(requirements, self.unclaimed_of(name))
        return free


def _reach_of(required: Required | None) -> tuple[NodeSelector | None, Collection[Label]]:
    """All that is left to ask of a node that has one of the labels, and these; with None among them any node has."""
    label = None if required is None else only_label(required)
    if required is None or label is not None:
        return None, (label,)
    affinity = parse_node_selector(required)
    wanted = labels_wanted(affinity)
    return affinity, (None,) if wanted is None else wanted


def labels_wanted(affinity: NodeSelector) -> set[tuple[str, str]] | None:
    """Labels of which a node must have one to reach the volume; None if that cannot be said."""
    wanted: set[tuple[str, str]] = set()
    for term in affinity.terms:
        if term.errors:
            continue
        requirement = next((each for each in term.labels.requirements if each.operator == IN), None)
        if requirement is None:
            return None
        wanted |= {(requirement.key, value) for value in requirement.values}
    return wanted


@lru_cache(maxsize=1 << 14)
def only_label(required: Required) -> tuple[str, str] | None:
    """The label that all nodes which reach a volume have, and no others; None if that cannot be said of one."""
    affinity = parse_node_selector(required)
    if len(affinity.terms) != 1:
        return None
    term, requirements = affinity.terms[0], affinity.terms[0].labels.requirements
    if term.errors or len(requirements) != 1 or requirements[0].operator != IN or len(requirements[0].values) != 1:
        return None
    return requirements[0].key, requirements[0].values[0]
