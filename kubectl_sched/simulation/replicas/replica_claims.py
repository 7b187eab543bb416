"""Claims that each of many equal pods has for itself, and whose volumes are made once the pod has its node.

Such claims differ in name alone. No volume of the cluster is open to them, and what a driver reports as its capacity is
compared with each of them by itself, so VolumeBinding judges them alike. A bound claim that all of the pods share stays
as it is. Only NodeVolumeLimits counts either, on the node of their pod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.component_helpers.volume_claims import claim_use, claim_uses, not_owner_error
from kubectl_sched.api.pod_volumes import PersistentVolumeClaimVolumeSource, Volume
from kubectl_sched.api.storage import READ_WRITE_ONCE_POD, PersistentVolumeClaim
from kubectl_sched.plugins.node_volume_limits.attachable_volumes import attachable_count
from kubectl_sched.plugins.volume_binding import PRE_FILTER_STATE
from kubectl_sched.plugins.volume_binding.reserve import reservations
from kubectl_sched.plugins.volume_binding.volume_outcome import DynamicProvision, PodVolumes
from kubectl_sched.scheduler.reserve import after
from kubectl_sched.simulation.pods_without_claims import is_of_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.component_helpers.volume_claims import ClaimUse
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.volume_binding.static_matching import VolumeIndex
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot


class _Claim(NamedTuple):
    """A claim of the first of the pods."""

    use: ClaimUse
    item: PersistentVolumeClaim

    @property
    def is_shared(self) -> bool:
        """Report whether the claim is bound, so that equal pods have it, too."""
        return bool(self.item.spec.volume_name)

    @property
    def is_simple(self) -> bool:
        """Report whether equal pods can have the claim, or one like it."""
        is_free = self.item.metadata.annotations.selected_node is None
        is_allowed = not self.use.is_ephemeral if self.is_shared else is_free
        return is_allowed and READ_WRITE_ONCE_POD not in self.item.spec.access_modes


class ReplicaClaims:
    """The claims of equal pods, by those of the first of them.

    `pod` is one more of them, with claims of nobody; `nodes` is the cluster of the first one's cycle with these.
    """

    def __init__(self, first: Pod, nodes: Snapshot, claims: Sequence[_Claim], volumes: VolumeIndex) -> None:
        self._objects = nodes.objects
        self._claims = claims
        self._volumes = volumes
        self._own = frozenset(claim.use.volume for claim in claims if not claim.is_shared)
        self._in_use = {key for pod in _pods_with_volumes(nodes) for key in _claim_keys(pod)}
        self._placed: list[tuple[Pod, str]] = []
        made = [_named(claim.item, _name_for(claim.use.volume)) for claim in claims if not claim.is_shared]
        self.pod = self.of_nobody(first)
        self.nodes = replace(nodes, objects=nodes.objects.with_these(PersistentVolumeClaim, made))

    @classmethod
    def after(cls, result: ScheduleResult) -> ReplicaClaims | None:
        """Prepare the next pods after the first one's cycle; None if each needs a whole cycle."""
        pod, nodes = result.pod, result.nodes
        kept = result.state.get(PRE_FILTER_STATE) if result.state is not None else None
        if kept is None or kept.binder is None or pod.spec.resource_claims:
            return None
        if not all(is_of_node(each) or claim_use(pod, each) is not None for each in pod.spec.volumes):
            return None
        found = [
            (use, nodes.objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)) for use in claim_uses(pod)
        ]
        claims = [_Claim(use, item) for use, item in found if item is not None]
        if not all(claim.is_simple for claim in claims):
            return None
        replicas = cls(pod, nodes, claims, kept.binder.volumes)
        return replicas if replicas.are_like_those_of(pod) else None

    def are_like_those_of(self, pod: Pod) -> bool:
        """Report whether the pod's own claims are like those of the first one, and nobody has them."""
        uses = claim_uses(pod)
        if not len(uses) == len(self._claims) == len({use.claim_name for use in uses}):
            return False
        return all(
            claim.is_shared or self._is_like(claim, use, pod) for claim, use in zip(self._claims, uses, strict=True)
        )

    def _is_like(self, claim: _Claim, use: ClaimUse, pod: Pod) -> bool:
        item = self._objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)
        return (
            item is not None
            and (pod.namespace, use.claim_name) not in self._in_use
            and use.is_ephemeral == claim.use.is_ephemeral
            and item.spec == claim.item.spec
            and item.status == claim.item.status
            and item.metadata.annotations == claim.item.metadata.annotations
            and item.metadata.deletion_timestamp is None
            and (not use.is_ephemeral or not_owner_error(pod, item) is None)
            and not self._volumes.open_to(item)
        )

    def of_nobody(self, pod: Pod) -> Pod:
        """The pod with claims that are nobody's in the places of its own."""
        if not self._own:
            return pod
        volumes = tuple([_of_nobody(each.name) if each.name in self._own else each for each in pod.spec.volumes])
        return replace(pod, spec=replace(pod.spec, volumes=volumes))

    def place(self, pod: Pod, node_name: str) -> None:
        """One of the pods has this node."""
        self._in_use.update(_claim_keys(pod))
        self._placed.append((pod, node_name))

    def reserved(self, nodes: Snapshot) -> Snapshot:
        """The cluster with what all of the pods have reserved."""
        taken = [
            reservation
            for pod, node_name in self._placed
            for reservation in reservations(PodVolumes(dynamic_provisions=tuple(self._provisions(pod))), node_name)
        ]
        return after(nodes, taken)

    def _provisions(self, pod: Pod) -> Iterator[DynamicProvision]:
        for use in claim_uses(pod):
            item = self._objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)
            if item is not None and use.volume in self._own:
                yield DynamicProvision(item, None)


def _pods_with_volumes(nodes: Snapshot) -> list[Pod]:
    existing = nodes.existing_pods
    has_volumes = existing.column("attachable_volumes", attachable_count).where(bool)
    return existing.those(np.flatnonzero(has_volumes))


def _claim_keys(pod: Pod) -> list[tuple[str, str]]:
    return [(pod.namespace, use.claim_name) for use in claim_uses(pod)]


def _name_for(volume: str) -> str:
    """The name of nobody's claim; those of the cluster have no such character."""
    return f"\0{volume}"


def _of_nobody(volume: str) -> Volume:
    return Volume(name=volume, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=_name_for(volume)))


def _named(claim: PersistentVolumeClaim, name: str) -> PersistentVolumeClaim:
    return replace(claim, metadata=replace(claim.metadata, name=name))
