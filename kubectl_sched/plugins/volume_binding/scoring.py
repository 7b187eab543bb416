"""Scores the storage usage of a node (plugins/volumebinding/scorer.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.api.apimachinery.int64 import wrapped
from kubectl_sched.api.apimachinery.quantity import value
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.golang import round_half_away, truncated_division

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.core import RawQuantity, ResourceList
    from kubectl_sched.config.types import UtilizationShapePoint
    from kubectl_sched.plugins.volume_binding.volume_outcome import DynamicProvision, PodVolumes

_MAX_UTILIZATION = 100
_POINTS_PER_SCORE = 10


class StorageResource(NamedTuple):
    """Bytes asked for and there are, of one storage class on one node."""

    requested: int = 0
    capacity: int = 0

    @property
    def utilization(self) -> int:
        """In whole percent; full where there is none."""
        if self.capacity == 0 or self.requested > self.capacity:
            return _MAX_UTILIZATION
        return truncated_division(wrapped(self.requested * _MAX_UTILIZATION), self.capacity)


def points_of(shape: Sequence[UtilizationShapePoint]) -> list[tuple[int, int]]:
    """The curve in utilization percent and node score."""
    return [(point.utilization, point.score * _POINTS_PER_SCORE) for point in shape]


def class_resources(volumes: PodVolumes, *, scores_provisioning: bool, saturates: bool) -> dict[str, StorageResource]:
    """By storage class: the volumes to be bound, or without any the capacities to provision from."""

    def size(amounts: ResourceList) -> int:
        return value(amounts.get("storage", 0), saturates=saturates)

    found: dict[str, StorageResource] = {}
    if volumes.static_bindings or not scores_provisioning:
        for claim, volume in volumes.static_bindings:
            kept = found.get(volume.spec.storage_class_name, StorageResource())
            found[volume.spec.storage_class_name] = StorageResource(
                wrapped(kept.requested + size(claim.spec.resources.requests)),
                wrapped(kept.capacity + size(volume.spec.capacity)),
            )
        return found
    for provision in volumes.dynamic_provisions:
        if provision.capacity is not None:
            name, capacity = _class_and_capacity(provision)
            requested = found.get(name, StorageResource()).requested + size(provision.claim.spec.resources.requests)
            found[name] = StorageResource(wrapped(requested), value(capacity, saturates=saturates))
    return found


def score(resources: dict[str, StorageResource], points: Sequence[tuple[int, int]]) -> int:
    """The mean over the classes, 0 without any."""
    from kubectl_sched.framework.plugin_scores import broken_linear

    if not resources:
        return 0
    total = sum(broken_linear(points, resource.utilization) for resource in resources.values())
    return int(round_half_away(total / len(resources)))


def _class_and_capacity(provision: DynamicProvision) -> tuple[str, RawQuantity]:
    """Return two values that upstream reads through unchecked pointers: kube-scheduler crashes if one is nil."""
    claim, capacity = provision
    crash = (
        "kube-scheduler crashes while it scores storage capacity (invalid memory address or nil pointer dereference)"
    )
    if capacity is not None and capacity.capacity is None:
        raise PluginError(f"{crash}: CSIStorageCapacity {capacity.key} has no capacity")
    if claim.spec.storage_class_name is None:
        raise PluginError(f"{crash}: claim {claim.key} names its class only in an annotation")
    return claim.spec.storage_class_name, (capacity.capacity or 0) if capacity is not None else 0
