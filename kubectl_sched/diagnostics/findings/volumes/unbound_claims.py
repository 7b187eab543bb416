"""Claims that should have had a volume before the pod came: why no volume suits them, and why nobody makes one.

Answers to pkg/controller/volume/persistentvolume/pv_controller.go; the scheduler only says that they are unbound.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

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
from kubectl_sched.shell_commands import describe, release_volume

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.shell_commands import ShellCommand
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
        told = [each for each in _reasons(result, around, claim, storage_class) if each is not None]
        if told:
            commands = (describe("pvc", claim.namespace, claim.name), *(each.command for each in told))
            yield Finding(
                kind=KIND,
                sentence=f"Claim {claim.name} {'; '.join(each.text for each in told)}",
                clauses=told[0].clauses,
                commands=tuple(filter(None, commands)),
            )


class _Reason(NamedTuple):
    """A reason for which a claim has no volume, behind the claim's name, and in clauses of their own."""

    text: str
    clauses: tuple[str, ...]
    command: ShellCommand | None = None


def _reasons(
    result: ScheduleResult, around: Surroundings, claim: PersistentVolumeClaim, storage_class: StorageClass | None
) -> Iterator[_Reason | None]:
    if claim.spec.volume_name:
        yield _of_named_volume(result, claim)
        return
    if storage_class is None:
        yield _of_default_class(result, around, claim)
    elif storage_class.provisioner not in {"", NOT_SUPPORTED_PROVISIONER}:
        yield _of_provisioner(result, around, claim, storage_class)
        return
    yield _of_volumes(result, around, claim)


def _of_named_volume(result: ScheduleResult, claim: PersistentVolumeClaim) -> _Reason | None:
    """Return what keeps the claim from the volume that it names."""
    volume = result.nodes.objects.get(PersistentVolume, claim.spec.volume_name)
    if volume is None:
        return None
    has, wants = class_of_volume(volume), class_of_claim(claim)
    if has != wants:
        classes = [f"class {name}" if name else "no class" for name in (has, wants)]
        told = f"claim {claim.name} ({classes[1]}) names volume {volume.name}, which has {classes[0]}"
        text = (
            f"names volume {volume.name}, which has {classes[0]}; the claim has {classes[1]}: create the claim again "
            f'with storageClassName "{has}", as the field cannot be changed'
        )
        return _Reason(text, (told, f"claim {claim.name} names a volume of another class"))
    why = _objection(claim, volume)
    told = f"claim {claim.name} names volume {volume.name}, which {why}"
    return _Reason(f"names volume {volume.name}, which {why}", (told, told.partition(", which")[0])) if why else None


def _of_default_class(result: ScheduleResult, around: Surroundings, claim: PersistentVolumeClaim) -> _Reason | None:
    """Return what is wrong with the default class of a claim that names none."""
    if class_of_claim(claim) or claim.spec.storage_class_name is not None:
        return None
    classes = result.nodes.objects.all(StorageClass)
    defaults = [each.name for each in classes if _is_default(each)]
    start = f"claim {claim.name} names no storage class"
    if len(defaults) > 1:
        named = first_few(sorted(defaults))
        return _Reason(
            f"names no storage class, and there are {len(defaults)} default ones ({named})",
            (f"{start}, and there are {len(defaults)} default ones ({named})", start),
        )
    if defaults:
        told = f"; it was made before {defaults[0]} became the default"
        return _Reason(f"names no storage class{told}", (f"{start}{told}", start))
    if not _is_read(result, around, StorageClass):
        return None
    known = f" (there is {first_few(sorted(each.name for each in classes))})" if classes else ""
    return _Reason(
        f"names no storage class, and no StorageClass is the default{known}: name one in it, or mark one as default",
        (f"{start}, and the cluster has no default class", start),
    )


def _is_default(storage_class: StorageClass) -> bool:
    annotations = storage_class.metadata.annotations
    return "true" in {annotations.default_storage_class, annotations.beta_default_storage_class}


def _of_provisioner(
    result: ScheduleResult, around: Surroundings, claim: PersistentVolumeClaim, storage_class: StorageClass
) -> _Reason:
    """Return what the provisioner said last, or that none is seen."""
    for event in around.events_of("PersistentVolumeClaim", claim.namespace, claim.name):
        if event.reason == _FAILED:
            from kubectl_sched.diagnostics.findings.volumes.failed_volumes import not_made  # few claims have such

            text = f"has no volume, as its provisioner failed: {event.text[:_LONGEST_TEXT]}"
            return _Reason(text, not_made(claim.name, event.text))
    plugin = in_tree_plugin_named(storage_class.provisioner)
    name = plugin.driver if plugin is not None else storage_class.provisioner
    is_known = _is_read(result, around, CSIDriver)
    is_there = result.nodes.objects.get(CSIDriver, name) is not None or _has_pod(around, name)
    start = f"waits for provisioner {name} of class {storage_class.name}"
    short = (f"claim {claim.name} waits for provisioner {name}", f"claim {claim.name} waits for its provisioner")
    if is_known and not is_there:
        text = f"{start}, of which no CSIDriver and no pod is seen: install it, or use another class"
        return _Reason(text, tuple(f"{each}, which does not run" for each in short))
    return _Reason(f"{start}: look at its pods and at the claim's events", short)


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


def _of_volumes(result: ScheduleResult, around: Surroundings, claim: PersistentVolumeClaim) -> _Reason | None:
    """Return the reason for which each volume of the claim's class does not suit it."""
    name = class_of_claim(claim)
    of_class = f"of class {name}" if name else "without a class"
    volumes = [each for each in result.nodes.objects.all(PersistentVolume) if class_of_volume(each) == name]
    needs = f"claim {claim.name} needs a volume {of_class}"
    if not volumes:
        if not _is_read(result, around, PersistentVolume):
            return None
        text = f"needs a volume {of_class}, which somebody has to make, and there is none"
        return _Reason(text, (f"{needs}, and there is none", f"claim {claim.name} has no volume"))
    left = next((each for each in volumes if _is_left_behind(claim, each)), None)
    if left is not None:
        return _of_left_volume(claim, left)
    objections = {volume.name: _objection(claim, volume) for volume in volumes}
    suiting = next((each for each, why in objections.items() if not why), None)
    if suiting is not None:
        told = f"suits volume {suiting}: kube-controller-manager has not bound it yet"
        return _Reason(told, (f"claim {claim.name} {told}", f"claim {claim.name} is not bound yet"))
    named = ", ".join(f"{each} {why}" for each, why in list(objections.items())[:_VOLUMES_NAMED])
    more = f", {len(objections) - _VOLUMES_NAMED} more" if len(objections) > _VOLUMES_NAMED else ""
    start = f"no volume {of_class} suits claim {claim.name}"
    first = next(f"{each} {why}" for each, why in objections.items())
    return _Reason(
        f"suits no volume {of_class}: {named}{more}; make one that does",
        (f"{start}: {named}{more}", f"{start}: {first}", start, f"no volume suits claim {claim.name}"),
    )


def _of_left_volume(claim: PersistentVolumeClaim, volume: PersistentVolume) -> _Reason:
    """Return how to reuse a volume that still belongs to an earlier claim of the name."""
    text = (
        f"could have volume {volume.name}, which is {volume.status.phase or 'still there'} and belongs to a deleted "
        "claim of that name: to reuse it, with that claim's data, remove its spec.claimRef"
    )
    start = f"volume {volume.name} is still tied to a deleted claim"
    whole = f"{start} {claim.name}"
    clauses = (f"{whole} ({volume.status.phase})", whole, "a volume is still tied to a deleted claim")
    return _Reason(text, clauses, release_volume(volume.name))


def _is_left_behind(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    reference = volume.spec.claim_ref
    names_it = reference is not None and (reference.namespace, reference.name) == (claim.namespace, claim.name)
    return names_it and not is_bound_to(volume, claim)


def _objection(claim: PersistentVolumeClaim, volume: PersistentVolume) -> str:
    if _is_left_behind(claim, volume):
        return "belongs to an earlier claim of that name"
    try:
        return ClaimRequirements(claim, has_classes=True).objection(volume) or ""
    except PluginError as failure:
        return str(failure)


def _is_read(result: ScheduleResult, around: Surroundings, kind: type[KubernetesObject]) -> bool:
    """Report whether the absence of an object of the kind is known."""
    return bool(result.nodes.objects.all(kind)) or kind.__name__ in around.dump.present
