"""Hints about claims, volumes, classes, drivers and their capacities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.api.component_helpers.csi_translation import in_tree_plugin
from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.api.storage import (
    WAIT_FOR_FIRST_CONSUMER,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from kubectl_sched.plugins.volume_restrictions import claim_names
from kubectl_sched.plugins.volume_zone import topologies_of

if TYPE_CHECKING:
    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion


def claim_of_pod(question: HintQuestion) -> bool:
    """The claim is one of the pod's, perhaps that of an ephemeral volume."""
    _, claim = question.after(PersistentVolumeClaim)
    pod = question.pod
    question.budget.spend(len(pod.spec.volumes))
    return claim.namespace == pod.namespace and any(use.claim_name == claim.name for use in claim_uses(pod))


def claim_named_by_pod(question: HintQuestion) -> bool:
    """The pod names the claim; those of ephemeral volumes do not count here."""
    _, claim = question.after(PersistentVolumeClaim)
    question.budget.spend(len(question.pod.spec.volumes))
    return claim.namespace == question.pod.namespace and claim.name in claim_names(question.pod)


def zones_of_volume(question: HintQuestion) -> bool:
    """The volume is new or in other zones."""
    old, new = question.after(PersistentVolume)
    return old is None or topologies_of(old, "") != topologies_of(new, "")


def topologies_of_class(question: HintQuestion) -> bool:
    """The class is new or allows other topologies."""
    old, new = question.after(StorageClass)
    return old is None or old.allowed_topologies != new.allowed_topologies


def class_that_waits(question: HintQuestion) -> bool:
    """The class binds volumes where their first consumer is."""
    _, new = question.after(StorageClass)
    return new.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def migrated_plugins(question: HintQuestion) -> bool:
    """The node's drivers are new, or have taken the place of other in-tree plugins."""
    old, new = question.after(CSINode)
    return old is None or _migrated(old) != _migrated(new)


def _migrated(node: CSINode) -> str:
    return node.metadata.annotations.migrated_plugins or ""


def attach_limits(question: HintQuestion) -> bool:
    """The node is new or takes more volumes of a driver."""
    old, new = question.after(CSINode)
    if old is None:
        return True
    before = _limits(old)
    return any(limit > before.get(driver, 0) for driver, limit in _limits(new).items())


def _limits(node: CSINode) -> dict[str, int]:
    return {each.name: (each.allocatable.count or 0) if each.allocatable else 0 for each in node.spec.drivers}


def storage_capacity_of_driver(question: HintQuestion) -> bool:
    """The driver of an inline volume no longer says how much storage there is."""
    old, new = question.after(CSIDriver)
    if old is None or not old.spec.storage_capacity or new.spec.storage_capacity:
        return False
    question.budget.spend(len(question.pod.spec.volumes))
    return any(volume.csi is not None and volume.csi.driver == new.name for volume in question.pod.spec.volumes)


def storage_capacity(question: HintQuestion) -> bool:
    """The capacity is new or larger."""
    old, new = question.after(CSIStorageCapacity)
    after = _largest_volume(new)
    if old is None or after is None:
        return old is None
    before = _largest_volume(old)
    if before is None or question.release.storage_capacity_is_exact:
        return before is None or after > before
    return after.value() > before.value()


def _largest_volume(capacity: CSIStorageCapacity) -> Quantity | None:
    size = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
    return None if size is None else parse_quantity(size)


def volume_attachment(question: HintQuestion) -> bool:
    """A volume is detached, and the pod has a claim or a disk of the same driver."""
    gone, _ = question.both(VolumeAttachment)
    question.budget.spend(3 * len(question.pod.spec.volumes))
    for volume in question.pod.spec.volumes:
        plugin = in_tree_plugin(volume)
        if volume.persistent_volume_claim is not None:
            return True
        if plugin is not None and gone is not None and gone.spec.attacher == plugin.driver:
            return True
    return False
