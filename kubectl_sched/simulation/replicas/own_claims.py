"""Claims that one pod has for itself alone, without the names that tell them from those of other replicas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from kubectl_sched.api.core import ObjectReference
from kubectl_sched.api.meta import ObjectMeta

if TYPE_CHECKING:
    from kubectl_sched.api.affinity import NodeSelector
    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim


class OwnClaim(NamedTuple):
    """A claim of one pod alone, and the volume that it is bound to."""

    of_pod: str
    """The volume of the pod behind which it stands."""

    key: tuple[str, str]
    """The claim's namespace and name."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume | None
    is_open: bool = False
    """Existing volumes are open to it."""

    @property
    def affinity(self) -> NodeSelector | None:
        """The nodes from which the volume can be reached; None: all."""
        affinity = None if self.volume is None else self.volume.spec.node_affinity
        return None if affinity is None else affinity.required

    @property
    def decisive(self) -> tuple[Any, ...]:
        """All that plugins read of both, but for names and the affinity."""
        claim, volume = self.claim, self.volume
        if volume is None:
            return claim.namespace, claim.metadata.annotations, claim.spec, claim.status
        spec, before = volume.spec, volume.metadata
        return (
            before.labels,
            claim.metadata.namespace,
            claim.metadata.annotations.beta_storage_class,
            replace(claim.spec, volume_name=""),
            claim.status,
            before.annotations.beta_storage_class,
            before.deletion_timestamp,
            spec.csi and replace(spec.csi, volume_handle=""),
            replace(spec, claim_ref=None, csi=None, node_affinity=None),
            volume.status,
        )

    def of_nobody(self) -> tuple[PersistentVolumeClaim, PersistentVolume | None]:
        """Both with names that nothing in a cluster has, and the volume without its affinity."""
        name, before = name_for(self.of_pod), self.claim.metadata
        metadata = ObjectMeta(name=name, namespace=before.namespace, annotations=before.annotations)
        if self.volume is None:
            return replace(self.claim, metadata=metadata), None
        metadata = replace(metadata, annotations=replace(before.annotations, selected_node=None))
        bound = replace(self.claim, metadata=metadata, spec=replace(self.claim.spec, volume_name=name))
        return bound, _of_nobody(self.volume, bound)


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
