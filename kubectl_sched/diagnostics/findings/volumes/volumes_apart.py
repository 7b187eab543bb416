"""Volumes of one pod that exclude each other: each is within reach of some node, and no node reaches all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from kubectl_sched.api.component_helpers.volume_claims import zones_of_label
from kubectl_sched.api.core import ZONE
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import pod_volumes
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.plugins.volume_binding.static_matching import affinity_of, can_be_reached, capacity_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.storage import PersistentVolume
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "VolumesApart"

_ZONES: Final = (ZONE, "failure-domain.beta.kubernetes.io/zone")


class _Placed(NamedTuple):
    """A volume with its claim, and bool[n]: the nodes that reach it."""

    volume: PersistentVolume
    claim: str
    reached: Mask


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield the fewest volumes of which no node reaches all, and the one that is moved with the least effort."""
    if result.fits or not {"VolumeBinding", "VolumeZone"} & result.rejection_masks.keys():
        return
    placed = [
        _Placed(each.volume, each.claim.name, _reach(result, each.volume))
        for each in pod_volumes(result)
        if each.volume is not None
    ]
    placed = [each for each in placed if each.reached.any() and not each.reached.all()]
    if len(placed) < 2 or np.logical_and.reduce([each.reached for each in placed]).any():
        return
    apart = _pair(placed) or placed
    where = [f"{each.volume.name} of claim {each.claim} on {_nodes(result, each.reached)}" for each in apart]
    least = min(apart, key=lambda each: (capacity_of(each.volume), each.volume.name))
    yield Finding(
        kind=KIND,
        sentence=f"Its volumes exclude each other: {', '.join(where)}, and no node reaches all of them; make "
        f"{least.volume.name} ({capacity_of(least.volume)}) again where the others are, from a snapshot or a backup",
    )


def _pair(placed: Sequence[_Placed]) -> list[_Placed]:
    """Return the first two volumes that no node reaches together; none where only more than two exclude each other."""
    for number, one in enumerate(placed):
        for other in placed[number + 1 :]:
            if not (one.reached & other.reached).any():
                return [one, other]
    return []


def _reach(result: ScheduleResult, volume: PersistentVolume) -> Mask:
    """bool[n]: the nodes that reach the volume by its node affinity and by its label of a zone."""
    affinity, labels = affinity_of(volume), volume.metadata.labels
    zone = next((labels[key] for key in _ZONES if key in labels), None)
    zones = zones_of_label(zone) if zone is not None else None
    reached: Mask = result.nodes.labels.where(lambda of_node: can_be_reached(affinity, of_node))
    if zones is not None:
        reached = reached & result.nodes.label(ZONE).where(lambda value: value is None or value in zones)
    return reached


def _nodes(result: ScheduleResult, reached: Mask) -> str:
    """Return the zone that the nodes are in, if it is one and has all of them; else their names."""
    rows = np.flatnonzero(reached)
    zones = {value for value, _ in result.nodes.label(ZONE).take(rows).counts()}
    zone = zones.pop() if len(zones) == 1 else None
    if zone is not None and len(rows) > 1:
        return f"nodes of zone {zone}"
    return first_few([result.nodes.names[row] for row in rows.tolist()])
