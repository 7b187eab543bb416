"""Claims that should have had a volume before the pod came: why no volume suits them, and why nobody makes one.

Answers to pkg/controller/volume/persistentvolume/pv_controller.go; the scheduler only says that they are unbound.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.component_helpers.csi_translation import in_tree_plugin_named
from kubectl_sched.api.component_helpers.volume_claims import (
    NOT_SUPPORTED_PROVISIONER,
    claim_uses,
    class_of_claim,
    class_of_volume,
    is_bound_to,
    is_fully_bound,
)
from kubectl_sched.api.storage import (
    WAIT_FOR_FIRST_CONSUMER,
    CSIDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.plugins.volume_binding.static_matching import ClaimRequirements
from kubectl_sched.shell_commands import describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "UnboundClaim"

_VOLUMES_NAMED: Final = 3
_FAILED: Final = "ProvisioningFailed"
_LONGEST_TEXT: Final = 300


def findings(result: ScheduleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield for each claim of an Immediate class, or of none, what keeps it from a volume."""
    if result.fits or result.pre_filter.is_success:
        return
    objects = result.nodes.objects
    for use in claim_uses(result.pod):
        claim = objects.get(PersistentVolumeClaim, use.claim_name, result.pod.namespace)
        if claim is None or is_fully_bound(claim) or claim.status.phase == "Lost":
            continue
        storage_class = objects.get(StorageClass, class_of_claim(claim))
        if storage_class is not None and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            continue
        told = [each for each in _reasons(result, around, claim, storage_class) if each]
        if told:
            command = describe("pvc", claim.namespace, claim.name)
            yield Finding(
                kind=KIND,
                sentence=f"Claim {claim.name} {'; '.join(told)}",
                commands=(command,) if command is not None else (),
            )


def _reasons(
    result: ScheduleResult, around: Surroundings, claim: PersistentVolumeClaim, storage_class: StorageClass | None
) -> Iterator[str]:
    if claim.spec.volume_name:
        yield _of_named_volume(result, claim)
        return
    if storage_class is None:
        yield _of_default_class(result, around, claim)
    elif storage_class.provisioner not in {"", NOT_SUPPORTED_PROVISIONER}:
        yield _of_provisioner(result, around, claim, storage_class)
        return
    yield _of_volumes(result, around, claim)


def _of_named_volume(result: ScheduleResult, claim: PersistentVolumeClaim) -> str:
    """Return what keeps the claim from the volume that it names."""
    volume = result.nodes.objects.get(PersistentVolume, claim.spec.volume_name)
    if volume is None:
        return ""
    why = _objection(claim, volume)
    if class_of_volume(volume) != class_of_claim(claim):
        why = f"has class {class_of_volume(volume) or '(none)'} where it has {class_of_claim(claim) or '(none)'}"
    return f"names volume {volume.name}, which {why}" if why else ""


def _of_default_class(result: ScheduleResult, around: Surroundings, claim: PersistentVolumeClaim) -> str:
    """Return what is wrong with the default class of a claim that names none."""
    if class_of_claim(claim) or claim.spec.storage_class_name is not None:
        return ""
    classes = result.nodes.objects.all(StorageClass)
    defaults = [each.name for each in classes if _is_default(each)]
    if len(defaults) > 1:
        return f"names no storage class, and there are {len(defaults)} default ones ({first_few(sorted(defaults))})"
    if defaults:
        return f"names no storage class; it was made before {defaults[0]} became the default"
    if not _is_read(result, around, StorageClass):
        return ""
    known = f" (there is {first_few(sorted(each.name for each in classes))})" if classes else ""
    return f"names no storage class, and no StorageClass is the default{known}: name one in it, or mark one as default"


def _is_default(storage_class: StorageClass) -> bool:
    annotations = storage_class.metadata.annotations
    return "true" in {annotations.default_storage_class, annotations.beta_default_storage_class}


def _of_provisioner(
    result: ScheduleResult, around: Surroundings, claim: PersistentVolumeClaim, storage_class: StorageClass
) -> str:
    """Return what the provisioner said last, or that none is seen."""
    for event in around.events_of("PersistentVolumeClaim", claim.namespace, claim.name):
        if event.reason == _FAILED:
            return f"has no volume, as its provisioner failed: {event.text[:_LONGEST_TEXT]}"
    plugin = in_tree_plugin_named(storage_class.provisioner)
    name = plugin.driver if plugin is not None else storage_class.provisioner
    is_known = _is_read(result, around, CSIDriver)
    is_there = result.nodes.objects.get(CSIDriver, name) is not None or _has_pod(around, name)
    start = f"waits for provisioner {name} of class {storage_class.name}"
    if is_known and not is_there:
        return f"{start}, of which no CSIDriver and no pod is seen: install it, or use another class"
    return f"{start}: look at its pods and at the claim's events"


@lru_cache(maxsize=64)
def _has_pod(around: Surroundings, provisioner: str) -> bool:
    """Report whether a pod names the provisioner, or has the first word of its name in its own or in an image."""
    words = provisioner.rpartition("/")[2].split(".")
    word = words[0] if words[0] not in {"csi", "driver"} or len(words) == 1 else words[1]
    return any(
        word in pod.name or any(word in each.image or word in each.name for each in pod.spec.containers)
        for pod in around.dump.pods
        if pod.spec.node_name and not pod.has_ended
    )


def _of_volumes(result: ScheduleResult, around: Surroundings, claim: PersistentVolumeClaim) -> str:
    """Return the reason for which each volume of the claim's class does not suit it."""
    name = class_of_claim(claim)
    of_class = f"of class {name}" if name else "without a class"
    volumes = [each for each in result.nodes.objects.all(PersistentVolume) if class_of_volume(each) == name]
    if not volumes:
        if not _is_read(result, around, PersistentVolume):
            return ""
        return f"needs a volume {of_class} that exists, and there is none"
    objections = {volume.name: _objection(claim, volume) for volume in volumes}
    suiting = next((each for each, why in objections.items() if not why), None)
    if suiting is not None:
        return f"suits volume {suiting}: kube-controller-manager has not bound it yet"
    named = ", ".join(f"{each} {why}" for each, why in list(objections.items())[:_VOLUMES_NAMED])
    more = f", {len(objections) - _VOLUMES_NAMED} more" if len(objections) > _VOLUMES_NAMED else ""
    return f"suits no volume {of_class}: {named}{more}"


def _objection(claim: PersistentVolumeClaim, volume: PersistentVolume) -> str:
    reference = volume.spec.claim_ref
    names_it = reference is not None and (reference.namespace, reference.name) == (claim.namespace, claim.name)
    if names_it and not is_bound_to(volume, claim):
        return "belongs to an earlier claim of that name: remove its spec.claimRef"
    try:
        return ClaimRequirements(claim, has_classes=True).objection(volume) or ""
    except PluginError as failure:
        return str(failure)


def _is_read(result: ScheduleResult, around: Surroundings, kind: type[KubernetesObject]) -> bool:
    """Report whether the absence of an object of the kind is known."""
    return bool(result.nodes.objects.all(kind)) or kind.__name__ in around.dump.present
