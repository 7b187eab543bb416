"""Volumes of one pod that exclude each other: each is within reach of some node, and no node reaches all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.component_helpers.volume_claims import class_of_claim, zones_of_label
from kubectl_sched.api.core import ZONE
from kubectl_sched.api.storage import WAIT_FOR_FIRST_CONSUMER, StorageClass
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import place_of, pod_volumes, zone_label
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.plugins.volume_binding.static_matching import affinity_of, can_be_reached, capacity_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "VolumesApart"


class _Placed(NamedTuple):
    """A volume with its claim and its place in words, and bool[n]: the nodes that reach it."""

    volume: PersistentVolume
    claim: PersistentVolumeClaim
    where: str
    reached: Mask


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield the fewest volumes of which no node reaches all, and the one that is moved with the least effort."""
    if result.fits or not {"VolumeBinding", "VolumeZone"} & result.rejection_masks.keys():
        return
    volumes = [(each.volume, each.claim, _reach(result, each.volume)) for each in pod_volumes(result) if each.volume]
    placed = [
        _Placed(volume, claim, place_of(volume) or f"on {_nodes(result, reached)}", reached)
        for volume, claim, reached in volumes
        if reached.any() and not reached.all()
    ]
    if len(placed) < 2 or np.logical_and.reduce([each.reached for each in placed]).any():
        return
    apart = _pair(placed) or placed
    where = [f"{each.volume.name} of claim {each.claim.name} is {each.where}" for each in apart]
    reaches = "no node reaches both" if len(apart) == 2 else "no node reaches all of them"
    start = "its volumes are in different places"
    short = ", ".join(f"{each.volume.name} {each.where}" for each in apart)
    yield Finding(
        kind=KIND,
        sentence=f"Its volumes are in different places: {', '.join(where)}, and {reaches}; {_advice(result, apart)}",
        clauses=(f"{start}: {short}; {reaches}", f"{start}: {short}", f"{start}; {reaches}"),
    )


def _advice(result: ScheduleResult, apart: Sequence[_Placed]) -> str:
    """Return which volume to make anew, and how its class would have made it where the pod goes."""
    least = _smallest(apart)
    others = [each for each in apart if each is not least]
    size = _size(least.volume)
    where = f"where {others[0].volume.name} is ({others[0].where})" if len(others) == 1 else "where the others are"
    named = least.volume.name if size is None else f"{least.volume.name} ({size})"
    told = f"make {named} again {where}, from a snapshot or a backup"
    classes = (result.nodes.objects.get(StorageClass, class_of_claim(each.claim)) for each in apart)
    early = [each.name for each in classes if each is not None and each.volume_binding_mode != WAIT_FOR_FIRST_CONSUMER]
    if early:
        told += f"; with volumeBindingMode {WAIT_FOR_FIRST_CONSUMER}, class {early[0]} makes volumes where the pod goes"
    return told


def _smallest(apart: Sequence[_Placed]) -> _Placed:
    known = [(size, each.volume.name, each) for each in apart if (size := _size(each.volume)) is not None]
    return min(known, key=lambda each: each[:2])[2] if known else apart[-1]


def _size(volume: PersistentVolume) -> Quantity | None:
    """Return how much the volume holds; None if that cannot be read."""
    try:
        return capacity_of(volume)
    except InvalidQuantity:
        return None


def _pair(placed: Sequence[_Placed]) -> list[_Placed]:
    """Return the first two volumes that no node reaches together; none where only more than two exclude each other."""
    for number, one in enumerate(placed):
        for other in placed[number + 1 :]:
            if not (one.reached & other.reached).any():
                return [one, other]
    return []


def _reach(result: ScheduleResult, volume: PersistentVolume) -> Mask:
    """bool[n]: the nodes that reach the volume by its node affinity and by its label of a zone."""
    affinity, zone = affinity_of(volume), zone_label(volume)
    zones = zones_of_label(zone) if zone is not None else None
    reached: Mask = result.nodes.labels.where(lambda of_node: can_be_reached(affinity, of_node))
    if zones is not None:
        reached = reached & result.nodes.label(ZONE).where(lambda value: value is None or value in zones)
    return reached


def _nodes(result: ScheduleResult, reached: Mask) -> str:
    return first_few([result.nodes.names[row] for row in np.flatnonzero(reached).tolist()])
