"""Claims that one pod has for itself, without the names that tell them from those of other replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.core import ObjectReference
from kubectl_sched.api.meta import ObjectMeta

if TYPE_CHECKING:
    from kubectl_sched.api.affinity import NodeSelector
    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim


class OwnClaim(NamedTuple):
    """A claim of one pod alone, and the volume that it is bound to, with names that nothing in a cluster has."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume | None
    affinity: NodeSelector | None
    """From which nodes the volume, which has no affinity of its own any more, can be reached; None: from all."""

    is_open: bool
    """Existing volumes are open to it."""

    @classmethod
    def of(
        cls, claim: PersistentVolumeClaim, volume: PersistentVolume | None, of_pod: str, *, is_open: bool
    ) -> OwnClaim:
        """The claim behind this volume of the pod, and with it all that plugins read of both but names."""
        name, before = name_for(of_pod), claim.metadata
        annotations = before.annotations if volume is None else replace(before.annotations, selected_node=None)
        metadata = ObjectMeta(name=name, namespace=before.namespace, annotations=annotations)
        if volume is None:
            return cls(replace(claim, metadata=metadata), None, None, is_open)
        bound = replace(claim, metadata=metadata, spec=replace(claim.spec, volume_name=name))
        affinity = volume.spec.node_affinity
        return cls(bound, _of_nobody(volume, bound), None if affinity is None else affinity.required, is_open)


def name_for(volume: str) -> str:
    """The name of nobody's claim for a volume of a pod; those of the cluster have no such character."""
    return f"\0{volume}"


def _of_nobody(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    before, csi = volume.metadata, volume.spec.csi
    source = None if csi is None else replace(csi, volume_handle=claim.name)
    return replace(
        volume,
        metadata=ObjectMeta(
            name=claim.name,
            labels=before.labels,
            annotations=before.annotations,
            deletion_timestamp=before.deletion_timestamp,
        ),
        spec=replace(
            volume.spec,
            claim_ref=ObjectReference(namespace=claim.namespace, name=claim.name),
            csi=source,
            node_affinity=None,
        ),
    )
