"""Validation of the volumes and the resource claims that a pod names.

Answers to ValidateVolumes and validatePodResourceClaims of pkg/apis/core/validation/validation.go, in the words of 1.36
and for the sources that the scheduler reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.apimachinery.validation import (
    invalid,
    not_supported,
    subdomain_errors,
    text_problems,
    unique_name_problems,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod, PodResourceClaim
    from kubectl_sched.api.pod_volumes import PersistentVolumeClaimSpec, Volume

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")


def volume_problems(pod: Pod) -> Iterator[str]:
    """Yield the errors of the names and sources of the pod's volumes."""
    volumes, names = pod.spec.volumes, set[str]()
    made = {f"{pod.name}-{volume.name}" for volume in volumes if volume.ephemeral is not None}
    for index, volume in enumerate(volumes):
        path = f"spec.volumes[{index}]"
        problems = [*_source(volume, path), *unique_name_problems(volume.name, f"{path}.name", names)]
        yield from problems
        if not problems:
            names.add(volume.name)
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in made:
            said = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{path}.persistentVolumeClaim.claimName", claim.claim_name, said)


def resource_claim_problems(pod: Pod) -> Iterator[str]:
    """Yield the errors of the pod's resource claims."""
    names: set[str] = set()
    for index, claim in enumerate(pod.spec.resource_claims):
        path = f"spec.resourceClaims[{index}]"
        yield from unique_name_problems(claim.name, f"{path}.name", names, doubled_is_all=True)
        names.add(claim.name)
        yield from _claim_source(claim, path)


def _claim_source(claim: PodResourceClaim, path: str) -> Iterator[str]:
    name, template = claim.resource_claim_name, claim.resource_claim_template_name
    shown = msgspec.json.encode(
        {"Name": claim.name, "ResourceClaimName": name, "ResourceClaimTemplateName": template}
    ).decode()
    both = "`resourceClaimName` or `resourceClaimTemplateName`"
    if name is not None and template is not None:
        yield f"{path}: Invalid value: {shown}: at most one of {both} may be specified"
    if name is None and template is None:
        yield f"{path}: Invalid value: {shown}: must specify one of: {both.replace(' or ', ', ')}"
    for field, text in (("resourceClaimName", name), ("resourceClaimTemplateName", template)):
        if text is not None:
            yield from text_problems(f"{path}.{field}", text, subdomain_errors)


def _source(volume: Volume, path: str) -> Iterator[str]:
    claim, ephemeral = volume.persistent_volume_claim, volume.ephemeral
    others = msgspec.structs.replace(volume, name="", persistent_volume_claim=None, ephemeral=None)
    if claim is not None and (ephemeral is not None or others != type(volume)()):
        yield f"{path}.persistentVolumeClaim: Forbidden: may not specify more than 1 volume type"
    elif claim is not None and not claim.claim_name:
        yield f"{path}.persistentVolumeClaim.claimName: Required value"
    if ephemeral is None:
        return
    if claim is None and others != type(volume)():
        yield f"{path}.ephemeral: Forbidden: may not specify more than 1 volume type"
    elif ephemeral.volume_claim_template is None:
        yield f"{path}.ephemeral.volumeClaimTemplate: Required value"
    else:
        yield from _claim(ephemeral.volume_claim_template.spec, f"{path}.ephemeral.volumeClaimTemplate.spec")


def _claim(spec: PersistentVolumeClaimSpec, path: str) -> Iterator[str]:
    modes = spec.access_modes
    if not modes:
        yield f"{path}.accessModes: Required value: at least 1 access mode is required"
    yield from (
        not_supported(f"{path}.accessModes", mode, _ACCESS_MODES) for mode in modes if mode not in _ACCESS_MODES
    )
    if "ReadWriteOncePod" in modes and any(mode != "ReadWriteOncePod" and mode in _ACCESS_MODES for mode in modes):
        yield f"{path}.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"
    where = f"{path}.resources[storage]"
    stated = spec.resources.requests.get("storage")
    if stated is None:
        yield f"{where}: Required value"
    else:
        yield from _positive(stated, where)
    if spec.storage_class_name:
        name = spec.storage_class_name
        yield from text_problems(f"{path}.storageClassName", name, subdomain_errors)
    if spec.volume_mode is not None and spec.volume_mode not in _VOLUME_MODES:
        yield not_supported(f"{path}.volumeMode", spec.volume_mode, _VOLUME_MODES)


def _positive(raw: str | float, path: str) -> Iterator[str]:
    try:
        quantity = parse_quantity(raw)
    except InvalidQuantity as error:
        yield f"{path}: {error}"
        return
    if quantity.unscaled <= 0:
        yield invalid(path, str(quantity), "must be greater than zero")
