"""Volumes that are yet to be made, against the capacity that their drivers report.

kube-scheduler compares each claim alone with the CSIStorageCapacity of a node (hasEnoughCapacity in binder.go), and
nothing is taken off before the driver's provisioner reports anew. So more may be promised than there is: placements are
kube-scheduler's all the same, and what comes of them is said beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import bytes_text, value
from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.api.storage import PersistentVolumeClaim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.storage import CSIStorageCapacity
    from kubectl_sched.plugins.volume_binding.provisioning import Provisioner
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.snapshot import Snapshot


def about_capacity(placements: Sequence[Placement], nodes: Snapshot) -> Iterator[str]:
    """A sentence for each capacity out of which more would be made than it is."""
    promised: dict[str, tuple[CSIStorageCapacity, str, list[int]]] = {}
    for provisioner, node in _provisions(placements, nodes):
        capacity = provisioner.offer(node)
        of_class = provisioner.storage_class
        if capacity is None or capacity.capacity is None or of_class is None:
            continue
        size = value(provisioner.claim.spec.resources.requests.get("storage", 0))
        promised.setdefault(capacity.key, (capacity, of_class.provisioner, []))[2].append(size)
    for capacity, driver, sizes in promised.values():
        left = value(capacity.capacity or 0)
        if sum(sizes) > left:
            yield (
                f"{driver} reports {bytes_text(left)} for new volumes of class {capacity.storage_class_name} "
                f"(CSIStorageCapacity {capacity.key}), and {len(sizes):,} of {bytes_text(sum(sizes))} in all would be "
                "made of it: kube-scheduler compares each claim alone with what is reported, so it places these pods; "
                "the driver then refuses what it has no room for, and their pods are scheduled again"
            )


def _provisions(placements: Sequence[Placement], nodes: Snapshot) -> Iterator[tuple[Provisioner, dict[str, str]]]:
    """Each claim that waits for its volume to be made, with the labels of the node that it is made for."""
    seen: set[str] = set()
    for placement in placements:
        if not placement.pod.spec.volumes or not placement.is_placed:
            continue
        for use in claim_uses(placement.pod):
            claim = nodes.objects.get(PersistentVolumeClaim, use.claim_name, placement.pod.namespace)
            row = nodes.row_of.get(claim.metadata.annotations.selected_node or "") if claim is not None else None
            if claim is None or row is None or claim.spec.volume_name or claim.key in seen:
                continue
            seen.add(claim.key)
            from kubectl_sched.plugins.volume_binding.provisioning import Provisioner  # most what-ifs need no volume

            yield Provisioner(claim, nodes.objects), nodes.node_objects[row].metadata.labels
