"""Kinds of objects that the decision on a pod rests on, by what is known of its claims."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kubectl_sched.api.component_helpers.volume_claims import NOT_SUPPORTED_PROVISIONER, claim_uses, class_of_claim
from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.sources.dump.dump import Dump


class DecisiveKinds(CachingRecord, frozen=True, kw_only=True):
    """The kinds that decide on each pod of a dump, whether or not the dump has them."""

    dump: Dump

    def of(self, pod: Pod) -> Iterator[str]:
        """Yield the kinds besides Pod that the decision on the pod rests on."""
        yield "Node"
        yield from self._of_volumes(pod)
        yield from self._of_devices(pod)
        affinity = pod.spec.affinity
        terms = affinity.pod_terms if affinity is not None else ()
        if any(term.namespace_selector is not None and not _is_empty(term.namespace_selector) for term in terms):
            yield "Namespace"

    def attaches_volumes(self, pod: Pod) -> bool:
        """Report whether a volume of the pod may count against a limit of its node; a local one never does."""
        names = (self._claims.get((pod.namespace, use.claim_name)) for use in claim_uses(pod))
        volumes = [self._volumes.get(claim.spec.volume_name) if claim is not None else None for claim in names]
        return any(each is None or (each.spec.local is None and each.spec.host_path is None) for each in volumes)

    def _of_volumes(self, pod: Pod) -> Iterator[str]:
        """Yield the kinds behind the pod's claims: a claim that is known to be missing decides alone."""
        found = [self._claims.get((pod.namespace, use.claim_name)) for use in claim_uses(pod)]
        claims = [claim for claim in found if claim is not None]
        is_read = self._claims or "PersistentVolumeClaim" in self.dump.present
        if not found or (len(claims) < len(found) and is_read):
            return
        if not claims:
            yield "PersistentVolumeClaim"
        if not claims or any(map(self._needs_volumes, claims)):
            yield "PersistentVolume"
        if any(not claim.spec.volume_name and class_of_claim(claim) for claim in claims):
            yield "StorageClass"

    def _needs_volumes(self, claim: PersistentVolumeClaim) -> bool:
        """Report whether the claim has a volume, or only a volume that is there already could serve it."""
        storage_class = self._classes.get(class_of_claim(claim))
        provisioner = storage_class.provisioner if storage_class is not None else NOT_SUPPORTED_PROVISIONER
        return bool(claim.spec.volume_name) or provisioner == NOT_SUPPORTED_PROVISIONER

    def _of_devices(self, pod: Pod) -> Iterator[str]:
        """Yield the kinds behind the pod's devices: claims that are allocated need no slice and no class."""
        if not pod.spec.resource_claims:
            return
        yield "ResourceClaim"
        generated = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
        names = (each.resource_claim_name or generated.get(each.name) for each in pod.spec.resource_claims)
        claims = [self._device_claims.get((pod.namespace, name or "")) for name in names]
        if any(claim is None or claim.status.allocation is None for claim in claims):
            yield from ("ResourceSlice", "DeviceClass")

    @cached_property
    def _classes(self) -> Mapping[str, StorageClass]:
        return {item.name: item for item in self.dump.others if isinstance(item, StorageClass)}

    @cached_property
    def _volumes(self) -> Mapping[str, PersistentVolume]:
        return {item.name: item for item in self.dump.others if isinstance(item, PersistentVolume)}

    @cached_property
    def _claims(self) -> Mapping[tuple[str, str], PersistentVolumeClaim]:
        claims = (item for item in self.dump.others if isinstance(item, PersistentVolumeClaim))
        return {(claim.namespace, claim.name): claim for claim in claims}

    @cached_property
    def _device_claims(self) -> Mapping[tuple[str, str], ResourceClaim]:
        claims = (item for item in self.dump.others if isinstance(item, ResourceClaim))
        return {(claim.namespace, claim.name): claim for claim in claims}


def _is_empty(selector: object) -> bool:
    return not getattr(selector, "match_labels", None) and not getattr(selector, "match_expressions", None)
