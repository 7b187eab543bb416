"""A bound volume that lies outside of what its class allows: the class was changed, or the volume was made by hand.

The scheduler reads allowedTopologies only for claims that have no volume yet; a bound volume's node affinity holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.component_helpers.volume_claims import class_of_claim
from kubectl_sched.api.storage import StorageClass
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.volumes.volumes_and_drivers import pod_volumes
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.plugins.volume_binding.provisioning import allowed_selectors
from kubectl_sched.plugins.volume_binding.static_matching import affinity_of, can_be_reached

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.storage import PersistentVolume, TopologySelectorTerm
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "ClassTopology"


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield each bound volume that keeps the pod from nodes, and that no node reaches which its class allows."""
    if result.fits or "VolumeBinding" not in result.rejection_masks:
        return
    for each in pod_volumes(result):
        name = class_of_claim(each.claim)
        storage_class = result.nodes.objects.get(StorageClass, name) if each.volume is not None else None
        if storage_class is None or each.volume is None or not storage_class.allowed_topologies:
            continue
        allowed, reached = _allowed(result.nodes, storage_class), _reach(result.nodes, each.volume)
        if not reached.any() or not allowed.any() or (reached & allowed).any():
            continue
        where = first_few([result.nodes.names[row] for row in np.flatnonzero(reached).tolist()])
        yield Finding(
            kind=KIND,
            sentence=f"Volume {each.volume.name} of claim {each.claim.name} is within reach of {where} alone, and its "
            f"class {name} makes volumes elsewhere today (allowedTopologies: "
            f"{_in_words(storage_class.allowed_topologies)}); the scheduler goes by the volume: make room where "
            "it is, or restore its data into a new claim, which gets its volume there",
        )


def _reach(nodes: Snapshot, volume: PersistentVolume) -> Mask:
    affinity = affinity_of(volume)
    return nodes.labels.where(lambda of_node: can_be_reached(affinity, of_node))


def _allowed(nodes: Snapshot, storage_class: StorageClass) -> Mask:
    selectors = allowed_selectors(storage_class) or []
    return nodes.labels.where(lambda of_node: any(each.matches(of_node) for each in selectors))


def _in_words(terms: Sequence[TopologySelectorTerm]) -> str:
    return first_few(
        [
            " and ".join(f"{each.key} {', '.join(each.values)}" for each in term.match_label_expressions)
            for term in terms
        ]
    )
