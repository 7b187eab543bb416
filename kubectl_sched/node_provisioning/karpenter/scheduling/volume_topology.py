"""The volumes of a pod: where they can be reached, and how many of a driver a node takes.

Answers to volumetopology.go of pkg/controllers/provisioning/scheduling and pkg/scheduling/volumeusage.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kubectl_sched.api.component_helpers.csi_translation import in_tree_plugin_named
from kubectl_sched.api.component_helpers.volume_claims import claim_uses
from kubectl_sched.api.core import HOSTNAME
from kubectl_sched.errors import SchedError
from kubectl_sched.node_provisioning.karpenter.scheduling.requirement import IN, requirement
from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import intersects, merged, selector_requirements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
    from kubectl_sched.node_provisioning.karpenter.scheduling.requirements import Requirements

Volumes: TypeAlias = "dict[str, frozenset[str]]"
"""The claims of each driver."""

_EBS_DRIVER = "ebs.csi.aws.com"


class MissingVolumeObject(SchedError):  # noqa: N818 - read as a sentence: raise MissingVolumeObject
    """A claim, volume or class that Karpenter looks for and that is not there; the text is Karpenter's."""


class Storage(NamedTuple):
    """The cluster's storage objects by name; claims by namespace/name."""

    claims: Mapping[str, PersistentVolumeClaim]
    volumes: Mapping[str, PersistentVolume]
    classes: Mapping[str, StorageClass]

    def claim(self, pod: Pod, name: str) -> PersistentVolumeClaim:
        """A claim of the pod; raise MissingVolumeObject."""
        found = self.claims.get(f"{pod.namespace}/{name}")
        if found is None:
            raise MissingVolumeObject(
                f'getting persistent volume claim, persistentvolumeclaims "{name}" not found '
                f"(PersistentVolumeClaim={name})"
            )
        return found

    def volume(self, name: str) -> PersistentVolume:
        """A volume; raise MissingVolumeObject."""
        if name not in self.volumes:
            raise MissingVolumeObject(f'persistentvolumes "{name}" not found')
        return self.volumes[name]

    def storage_class(self, name: str) -> StorageClass:
        """A class; raise MissingVolumeObject."""
        if name not in self.classes:
            raise MissingVolumeObject(f'storageclasses.storage.k8s.io "{name}" not found')
        return self.classes[name]


def volume_requirements(pod: Pod, storage: Storage) -> list[Requirements]:
    """The alternatives of where all volumes of a pod can be reached; none if they are reached from everywhere.

    Raises MissingVolumeObject.
    """
    alternatives: list[Requirements] = [{}]
    constrained = False
    for use in claim_uses(pod):
        found = _claim_requirements(storage.claim(pod, use.claim_name), storage)
        if found:
            alternatives = _combined(alternatives, found)
            constrained = True
    return alternatives if constrained else []


def pod_volumes(pod: Pod, storage: Storage) -> Volumes:
    """The claims of a pod by driver, missing claims left out (GetVolumes); raise MissingVolumeObject for a volume."""
    found: dict[str, set[str]] = {}
    for use in claim_uses(pod):
        claim = storage.claims.get(f"{pod.namespace}/{use.claim_name}")
        driver = driver_of(claim, storage) if claim is not None else ""
        if claim is not None and driver:
            found.setdefault(driver, set()).add(claim.key)
    return {driver: frozenset(claims) for driver, claims in found.items()}


def driver_of(claim: PersistentVolumeClaim, storage: Storage) -> str:
    """The CSI driver of a claim, empty if it has none (ResolveDriver); raise MissingVolumeObject."""
    if claim.spec.volume_name:
        spec = storage.volume(claim.spec.volume_name).spec
        if spec.csi is not None:
            return spec.csi.driver
        return _EBS_DRIVER if spec.aws_elastic_block_store is not None else ""
    found = storage.classes.get(claim.spec.storage_class_name or "")
    if found is None:
        return ""
    plugin = in_tree_plugin_named(found.provisioner)
    return plugin.driver if plugin is not None else found.provisioner


def together(left: Volumes, right: Volumes) -> Volumes:
    """The claims of both (Union)."""
    return {driver: left.get(driver, frozenset()) | right.get(driver, frozenset()) for driver in (*left, *right)}


def exceeds_limits(volumes: Volumes, limits: Mapping[str, int]) -> bool:
    """Report whether a driver has more claims than the node takes (ExceedsLimits)."""
    return any(driver in limits and len(claims) > limits[driver] for driver, claims in volumes.items())


def _claim_requirements(claim: PersistentVolumeClaim, storage: Storage) -> list[Requirements]:
    if claim.spec.volume_name:
        name = claim.spec.volume_name
        try:
            return _reachable_from(storage.volume(name))
        except MissingVolumeObject as missing:
            raise MissingVolumeObject(
                f"getting existing requirements, getting persistent volume, {missing} (PersistentVolume={name})"
            ) from missing
    if claim.spec.storage_class_name:
        return _allowed_topologies(claim.spec.storage_class_name, storage)
    return []


def _allowed_topologies(name: str, storage: Storage) -> list[Requirements]:
    try:
        terms = storage.storage_class(name).allowed_topologies
    except MissingVolumeObject as missing:
        raise MissingVolumeObject(f"getting storage class, {missing} (StorageClass={name})") from missing
    return [
        merged(requirement(each.key, IN, each.values) for each in term.match_label_expressions)
        for term in terms
        if term.match_label_expressions
    ]


def _reachable_from(volume: PersistentVolume) -> list[Requirements]:
    """The terms of a volume's node affinity; a local one's host name is ignored, as a new node has another."""
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return []
    is_local = volume.spec.local is not None or volume.spec.host_path is not None
    alternatives: list[Requirements] = []
    for term in affinity.required.node_selector_terms:
        expressions = [each for each in term.match_expressions if not is_local or each.key != HOSTNAME]
        if expressions or (is_local and term.match_expressions):
            alternatives.append(selector_requirements(expressions))
    return alternatives


def _combined(alternatives: Sequence[Requirements], more: Sequence[Requirements]) -> list[Requirements]:
    """Every pair that does not contradict itself; every pair if all do (mergeVolumeRequirementAlternatives)."""
    pairs = [(known, added) for known in alternatives for added in more]
    possible = [(known, added) for known, added in pairs if intersects(known, added)] or pairs
    return [merged(known.values(), added.values()) for known, added in possible]
