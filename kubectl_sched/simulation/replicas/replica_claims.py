"""Claims that each of many equal pods has for itself: bound to a volume of its own, or to one that is yet to be made.

Such claims differ in name, and in what makes them of one kind or another. No volume of the cluster is open to them, and
what a driver reports as its capacity is compared with each of them by itself, so a verdict on a kind does not change. A
bound claim that all of the pods share stays as it is. Only NodeVolumeLimits counts any of them, by driver, on the node
of their pod.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.component_helpers.volume_claims import (
    claim_name,
    claim_use,
    claim_uses,
    class_of_claim,
    not_owner_error,
)
from kubectl_sched.api.pod_volumes import PersistentVolumeClaimVolumeSource, Volume
from kubectl_sched.api.storage import (
    READ_WRITE_ONCE_POD,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from kubectl_sched.plugins.node_volume_limits.attachable_volumes import attachable_count
from kubectl_sched.plugins.volume_binding.plugin import PRE_FILTER_STATE
from kubectl_sched.plugins.volume_binding.reserve import bound_claim, claim_with_node, taken_volume
from kubectl_sched.simulation.likeness import is_of_node
from kubectl_sched.simulation.replicas.claim_judge import ClaimJudge
from kubectl_sched.simulation.replicas.own_claims import OwnClaim, name_for
from kubectl_sched.simulation.replicas.own_volumes import OwnVolumes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kubectl_sched.api.component_helpers.volume_claims import ClaimUse
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.plugins.volume_binding.static_matching import VolumeIndex
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.replicas.claim_kinds import ClaimKind
    from kubectl_sched.snapshot import Snapshot


class _Claim(NamedTuple):
    """A claim of the first of the pods; all of them have it, or each has one like it."""

    use: ClaimUse
    item: PersistentVolumeClaim
    is_shared: bool

    @classmethod
    def of(cls, pod: Pod, use: ClaimUse, item: PersistentVolumeClaim) -> _Claim:
        """A bound claim is the pod's own if it is called after the pod, as StatefulSets call theirs."""
        is_own = use.is_ephemeral or not item.spec.volume_name or pod.name in use.claim_name
        return cls(use, item, not is_own)


_Placed: TypeAlias = "tuple[PersistentVolumeClaim, int, PersistentVolume | None]"
"""A claim, the row of its pod's node, and the existing volume that it takes; None if one is yet to be made."""


class ReplicaClaims:
    """The claims of equal pods, by those of the first of them.

    `pod` is one more of them, with claims of nobody; `nodes` is the cluster of the first one's cycle with these.
    """

    kind: ClaimKind
    """The kind of the claims of the pod that is judged."""

    def __init__(
        self, result: ScheduleResult, framework: Framework, claims: Sequence[_Claim], index: VolumeIndex
    ) -> None:
        first, nodes = result.pod, result.nodes
        self._objects = nodes.objects
        self._claim_named = nodes.objects.by_key(PersistentVolumeClaim)
        is_ephemeral = {claim.use.volume: claim.use.is_ephemeral for claim in claims if not claim.is_shared}
        self._like = [(each, is_ephemeral.get(each.name)) for each in first.spec.volumes]
        self._shared = [claim.use.claim_name for claim in claims if claim.is_shared]
        self._index = index
        self._open_classes: dict[str, bool | None] = {}
        self._running = _pods_with_volumes(nodes)
        self._in_use = {key for pod in self._running for key in _claim_keys(pod)}
        self._placed: list[_Placed] = []
        self._taken: list[PersistentVolume] = []
        self._asked: Pod | None = None
        self._own: Sequence[OwnClaim] = ()
        self._kind: ClaimKind | None = None
        self.pod = _of_nobody(first, is_ephemeral)
        self._judge = ClaimJudge(self.pod, nodes, [claim.item for claim in claims if claim.is_shared], framework)
        of_nobody = [each.of_nobody() for each in self._own_claims(first) or ()]
        objects = nodes.objects.with_these(PersistentVolumeClaim, [claim for claim, _ in of_nobody])
        volumes = [volume for _, volume in of_nobody if volume is not None]
        self.nodes = replace(nodes, objects=objects.with_these(PersistentVolume, volumes) if volumes else objects)

    @classmethod
    def after(cls, result: CycleResult) -> ReplicaClaims | None:
        """Prepare the next pods after the first one's cycle; None if each needs a whole cycle."""
        pod, nodes, framework = result.pod, result.nodes, result.framework
        kept = result.state.get(PRE_FILTER_STATE)
        if kept is None or kept.binder is None or pod.spec.resource_claims:
            return None
        if not all(is_of_node(each) or claim_use(pod, each) is not None for each in pod.spec.volumes):
            return None
        found = [
            (use, nodes.objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)) for use in claim_uses(pod)
        ]
        claims = [_Claim.of(pod, use, item) for use, item in found if item is not None]
        if any(claim.is_shared and READ_WRITE_ONCE_POD in claim.item.spec.access_modes for claim in claims):
            return None
        replicas = cls(result, framework, claims, kept.binder.volumes)
        return replicas if replicas.turn_to(pod) else None

    def turn_to(self, pod: Pod) -> bool:
        """Judge for this pod; False if it is none of them."""
        kind = self.kind_of(pod)
        if kind is not None:
            self.kind = kind
        return kind is not None

    def kind_of(self, pod: Pod) -> ClaimKind | None:
        """The kind of the pod's own claims; None if they are not like those of the first one, or somebody has them."""
        if self._asked is not pod:
            own = self._own_claims(pod)
            kind = None if own is None else self._judge.kind_of(own)
            if kind is not None:
                kind.follow(self._taken)
            self._asked, self._own = pod, own or ()
            self._kind = kind if kind is not None and kind.is_judged else None
        return self._kind

    def _own_claims(self, pod: Pod) -> list[OwnClaim] | None:
        """The pod's own claims, in the order of its volumes."""
        volumes, own = pod.spec.volumes, []
        if len(volumes) != len(self._like):
            return None
        for volume, (like, is_ephemeral) in zip(volumes, self._like, strict=True):
            if is_ephemeral is not None:
                found = self._own_claim(pod, volume, is_ephemeral=is_ephemeral) if volume.name == like.name else None
                if found is None:
                    return None
                own.append(found)
            elif volume != like:
                return None
        if len(volumes) > 1 and not _are_distinct([*self._shared, *(each.claim.metadata.name for each in own)]):
            return None
        return own

    def _own_claim(self, pod: Pod, volume: Volume, *, is_ephemeral: bool) -> OwnClaim | None:
        name = claim_name(pod, volume)
        if name is None or (volume.persistent_volume_claim is None) != is_ephemeral:
            return None
        key = pod.metadata.namespace, name
        item = self._claim_named.get(key)
        if item is None or key in self._in_use or item.metadata.deletion_timestamp is not None:
            return None
        if is_ephemeral and (item.spec.volume_name or not_owner_error(pod, item) is not None):
            return None
        if item.spec.volume_name:
            bound = self._volumes.of(item)
            return None if bound is None else OwnClaim(volume.name, key, item, bound)
        if item.metadata.annotations.selected_node is not None or key in self._index.set_aside:
            return None
        is_open = self._is_open_class(class_of_claim(item))
        return None if is_open is None else OwnClaim(volume.name, key, item, None, is_open)

    def _is_open_class(self, name: str) -> bool | None:
        """Report whether the class has unclaimed volumes; None if NodeVolumeLimits counts them unlike new ones."""
        if name not in self._open_classes:
            unclaimed = self._index.unclaimed_of(name)
            storage_class = self._objects.get(StorageClass, name)
            driver = storage_class.provisioner if storage_class is not None else ""
            are_unlike = unclaimed and not self._volumes.are_counted_as(driver, unclaimed)
            self._open_classes[name] = None if are_unlike else bool(unclaimed)
        return self._open_classes[name]

    @cached_property
    def _volumes(self) -> OwnVolumes:
        return OwnVolumes(self._objects, self._running)

    def place(self, pod: Pod, row: int) -> None:
        """The pod that is judged has the row's node."""
        if self._asked is not pod:
            self.kind_of(pod)
        taken = self.kind.taken_on(row)
        if taken:
            self._taken += taken.values()
        for each in self._own:
            self._in_use.add(each.key)
            if each.volume is None:
                self._placed.append((each.claim, row, taken.get(name_for(each.of_pod)) if taken else None))
        self._asked = None

    def reserved(self, nodes: Snapshot) -> Snapshot:
        """The cluster with what all of the pods have reserved; few ask for it, so that it is made for those that do."""
        placed, objects = tuple(self._placed), nodes.objects
        if placed:
            objects = objects.with_these_later(PersistentVolumeClaim, lambda: _claims_after(placed, nodes.names))
        if self._taken:
            objects = objects.with_these_later(PersistentVolume, lambda: _volumes_after(placed))
        return replace(nodes, objects=objects)


def _claims_after(placed: Sequence[_Placed], names: Sequence[str]) -> Iterator[PersistentVolumeClaim]:
    for claim, row, volume in placed:
        yield claim_with_node(claim, names[row]) if volume is None else bound_claim(claim, volume)


def _volumes_after(placed: Sequence[_Placed]) -> Iterator[PersistentVolume]:
    return (taken_volume(volume, claim) for claim, _, volume in placed if volume is not None)


def _pods_with_volumes(nodes: Snapshot) -> list[Pod]:
    existing = nodes.existing_pods
    has_volumes = existing.column("attachable_volumes", attachable_count).where(bool)
    return existing.those(np.flatnonzero(has_volumes))


def _claim_keys(pod: Pod) -> list[tuple[str, str]]:
    return [(pod.namespace, use.claim_name) for use in claim_uses(pod)]


def _are_distinct(names: Sequence[str]) -> bool:
    return len(names) == len(frozenset(names))


def _of_nobody(pod: Pod, own: Collection[str]) -> Pod:
    """The pod with claims of nobody behind these of its volumes."""
    volumes = [_volume_of_nobody(each.name) if each.name in own else each for each in pod.spec.volumes]
    return replace(pod, spec=replace(pod.spec, volumes=tuple(volumes)))


def _volume_of_nobody(name: str) -> Volume:
    return Volume(name=name, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=name_for(name)))
