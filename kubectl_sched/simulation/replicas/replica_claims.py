"""Claims that each of many equal pods has for itself: bound to a volume of its own, or to one that is yet to be made.

Such claims differ in name, and in what makes them of one kind or another. No volume of the cluster is open to them, and
what a driver reports as its capacity is compared with each of them by itself, so a verdict on a kind does not change. A
bound claim that all of the pods share stays as it is. Only NodeVolumeLimits counts any of them, by driver, on the node
of their pod.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.component_helpers.volume_claims import (
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
from kubectl_sched.plugins.volume_binding import PRE_FILTER_STATE
from kubectl_sched.plugins.volume_binding.reserve import reservations
from kubectl_sched.plugins.volume_binding.volume_outcome import DynamicProvision, PodVolumes, StaticBinding
from kubectl_sched.scheduler.reserve import after
from kubectl_sched.simulation.pods_without_claims import is_of_node
from kubectl_sched.simulation.replicas.claim_judge import ClaimJudge
from kubectl_sched.simulation.replicas.own_claims import OwnClaim, name_for
from kubectl_sched.simulation.replicas.own_volumes import OwnVolumes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.component_helpers.volume_claims import ClaimUse
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.reservation import Reservation
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.plugins.volume_binding.static_matching import VolumeIndex
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


class ReplicaClaims:
    """The claims of equal pods, by those of the first of them.

    `pod` is one more of them, with claims of nobody; `nodes` is the cluster of the first one's cycle with these.
    """

    def __init__(
        self, result: ScheduleResult, framework: Framework, claims: Sequence[_Claim], index: VolumeIndex
    ) -> None:
        first, nodes = result.pod, result.nodes
        self._objects = nodes.objects
        self._claims = claims
        self._index = index
        self._takes: dict[str, bool] = {}
        self._of_nobody = {claim.use.volume: _of_nobody(claim.use.volume) for claim in claims if not claim.is_shared}
        self._running = _pods_with_volumes(nodes)
        self._in_use = {key for pod in self._running for key in _claim_keys(pod)}
        self._placed: list[tuple[Pod, str, Mapping[str, PersistentVolume]]] = []
        self._reserved: list[Reservation] = []
        self._taken: list[PersistentVolume] = []
        self._asked: tuple[Pod, ClaimKind | None, Sequence[ClaimUse]] | None = None
        self.pod = self.of_nobody(first)
        self._judge = ClaimJudge(self.pod, nodes, [claim.item for claim in claims if claim.is_shared], framework)
        own = self._own_claims(first, claim_uses(first))
        of_nobody = [each.of_nobody() for each in own or ()]
        objects = nodes.objects.with_these(PersistentVolumeClaim, [claim for claim, _ in of_nobody])
        volumes = [volume for _, volume in of_nobody if volume is not None]
        self.nodes = replace(nodes, objects=objects.with_these(PersistentVolume, volumes) if volumes else objects)
        self._kind = self.kind_of(first)

    @classmethod
    def after(cls, result: ScheduleResult) -> ReplicaClaims | None:
        """Prepare the next pods after the first one's cycle; None if each needs a whole cycle."""
        pod, nodes, framework = result.pod, result.nodes, result.framework
        kept = result.state.get(PRE_FILTER_STATE) if result.state is not None else None
        if kept is None or kept.binder is None or framework is None or pod.spec.resource_claims:
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
        return None if replicas.kind_of(pod) is None else replicas

    @property
    def kind(self) -> ClaimKind:
        """The kind of the claims of the pod that is judged."""
        assert self._kind is not None  # noqa: S101 - `after` sees to it
        return self._kind

    def turn_to(self, pod: Pod) -> None:
        """Judge for this pod, one of them."""
        self._kind = self.kind_of(pod)

    def kind_of(self, pod: Pod) -> ClaimKind | None:
        """The kind of the pod's own claims; None if they are not like those of the first one, or somebody has them."""
        if self._asked is None or self._asked[0] is not pod:
            uses = claim_uses(pod)
            own = self._own_claims(pod, uses)
            kind = None if own is None else self._judge.kind_of(own)
            if kind is not None:
                kind.follow(self._taken)
            self._asked = pod, kind if kind is not None and kind.is_judged else None, uses
        return self._asked[1]

    def _own_claims(self, pod: Pod, uses: Sequence[ClaimUse]) -> list[OwnClaim] | None:
        if len(uses) != len(self._claims) or (len(uses) > 1 and len({use.claim_name for use in uses}) < len(uses)):
            return None
        own: list[OwnClaim] = []
        for claim, use in zip(self._claims, uses, strict=True):
            found = None if claim.is_shared else self._own_claim(claim, use, pod)
            if found is not None:
                own.append(found)
            elif not claim.is_shared:
                return None
        return own

    def _own_claim(self, claim: _Claim, use: ClaimUse, pod: Pod) -> OwnClaim | None:
        item = self._objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)
        if (
            item is None
            or (pod.namespace, use.claim_name) in self._in_use
            or use.is_ephemeral != claim.use.is_ephemeral
            or item.metadata.deletion_timestamp is not None
        ):
            return None
        if use.is_ephemeral and (item.spec.volume_name or not_owner_error(pod, item) is not None):
            return None
        if item.spec.volume_name:
            volume = self._volumes.of(item)
            return None if volume is None else OwnClaim(claim.use.volume, item, volume)
        is_open = self._is_open_to(item)
        if item.metadata.annotations.selected_node is not None or is_open is None:
            return None
        return OwnClaim(claim.use.volume, item, None, is_open)

    def _is_open_to(self, item: PersistentVolumeClaim) -> bool | None:
        """Report whether existing volumes are open to the claim; None if what it may be bound to is more than that."""
        unclaimed = self._index.unclaimed_for(item)
        if self._index.has_reserved_for(item) or (unclaimed and not self._may_take(class_of_claim(item), unclaimed)):
            return None
        return bool(unclaimed)

    def _may_take(self, class_name: str, unclaimed: Sequence[PersistentVolume]) -> bool:
        """Report whether NodeVolumeLimits counts a claim of the class alike before and after it has such a volume."""
        if class_name not in self._takes:
            storage_class = self._objects.get(StorageClass, class_name)
            driver = storage_class.provisioner if storage_class is not None else ""
            self._takes[class_name] = self._volumes.are_counted_as(driver, unclaimed)
        return self._takes[class_name]

    @cached_property
    def _volumes(self) -> OwnVolumes:
        return OwnVolumes(self._objects, self._running)

    def of_nobody(self, pod: Pod) -> Pod:
        """The pod with claims that are nobody's in the places of its own."""
        if not self._of_nobody:
            return pod
        volumes = tuple([self._of_nobody.get(each.name, each) for each in pod.spec.volumes])
        return replace(pod, spec=replace(pod.spec, volumes=volumes))

    def place(self, pod: Pod, row: int) -> None:
        """The pod that is judged has the row's node."""
        taken = self.kind.taken_on(row)
        if taken:
            self._taken += taken.values()
        uses = claim_uses(pod) if self._asked is None or self._asked[0] is not pod else self._asked[2]
        self._asked = None
        self._in_use.update([(pod.namespace, use.claim_name) for use in uses])
        self._placed.append((pod, self.nodes.names[row], taken))

    def reserved(self, nodes: Snapshot) -> Snapshot:
        """The cluster with what all of the pods have reserved."""
        for pod, node_name, taken in self._placed:
            self._reserved += reservations(self._volumes_of(pod, taken), node_name)
        self._placed.clear()
        return after(nodes, self._reserved)

    def _volumes_of(self, pod: Pod, taken: Mapping[str, PersistentVolume]) -> PodVolumes:
        """The volumes that the pod has got, and those that are made for it."""
        found = [
            (item, taken.get(name_for(use.volume)))
            for use in claim_uses(pod)
            if use.volume in self._of_nobody
            and (item := self._objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace)) is not None
            and not item.spec.volume_name
        ]
        return PodVolumes(
            static_bindings=tuple([StaticBinding(item, volume) for item, volume in found if volume is not None]),
            dynamic_provisions=tuple([DynamicProvision(item, None) for item, volume in found if volume is None]),
        )


def _pods_with_volumes(nodes: Snapshot) -> list[Pod]:
    existing = nodes.existing_pods
    has_volumes = existing.column("attachable_volumes", attachable_count).where(bool)
    return existing.those(np.flatnonzero(has_volumes))


def _claim_keys(pod: Pod) -> list[tuple[str, str]]:
    return [(pod.namespace, use.claim_name) for use in claim_uses(pod)]


def _of_nobody(volume: str) -> Volume:
    return Volume(name=volume, persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name=name_for(volume)))
