"""The outcome for a pod's volumes on a node (PodVolumes and ConflictReasons of plugins/volumebinding/binder.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kubectl_sched.api.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim

NODE_CONFLICT: Final = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT: Final = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH_SPACE: Final = "node(s) did not have enough free storage"
VOLUME_NOT_EXIST: Final = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


class StaticBinding(NamedTuple):
    """A claim and the existing volume that it would be bound to."""

    claim: PersistentVolumeClaim
    volume: PersistentVolume


class DynamicProvision(NamedTuple):
    """A claim whose volume would be made, and the capacity that it would come out of where that is tracked."""

    claim: PersistentVolumeClaim
    capacity: CSIStorageCapacity | None


class PodVolumes(NamedTuple):
    """The outcome on one kind of node: reasons against it in upstream's order, or an error, or what would be done."""

    reasons: tuple[str, ...] = ()
    error: str | None = None
    static_bindings: tuple[StaticBinding, ...] = ()
    dynamic_provisions: tuple[DynamicProvision, ...] = ()
