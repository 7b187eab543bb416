"""Applies the other objects of manifests: claims, classes, quotas, namespaces, services, groups.

Answers to pkg/apis/{core,storage,resource}/*/defaults.go and plugin/pkg/admission/storage/storageclass/setdefault. An
object that the cluster has keeps its status, and one whose spec may not change (a claim, a volume) stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from msgspec import structs

from kubectl_sched.api.admission import LimitRange, LimitRangeItem, ResourceQuota, RuntimeClass
from kubectl_sched.api.core import Namespace, Service
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.policy import PodDisruptionBudget, PriorityClass
from kubectl_sched.api.resource import (
    DeviceClaim,
    DeviceClass,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim, PersistentVolumeClaimStatus, StorageClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.api.meta import KubernetesObject

APPLIED = (
    Namespace,
    Service,
    LimitRange,
    ResourceQuota,
    RuntimeClass,
    PodDisruptionBudget,
    PriorityClass,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    DeviceClass,
    ResourceClaim,
    ResourceClaimTemplate,
    PodGroup,
    CompositePodGroup,
)
_UNCHANGEABLE = (PersistentVolume, PersistentVolumeClaim, StorageClass, ResourceClaim, PriorityClass)

Requested = TypeVar("Requested", bound=ExactDeviceRequest)


def applied(objects: Sequence[KubernetesObject], manifests: Sequence[KubernetesObject]) -> tuple[KubernetesObject, ...]:
    """The cluster's objects with those of the manifests; claims get their default class from both."""
    if not manifests:
        return tuple(objects)
    after = {(type(item), item.key): item for item in objects}
    new: list[tuple[type[KubernetesObject], str]] = []
    for item in manifests:
        key = (type(item), item.key)
        stored = after.get(key)
        if stored is None:
            new.append(key)
            after[key] = _defaulted(item)
        elif not isinstance(item, _UNCHANGEABLE):
            after[key] = _changed(stored, item)
    classes = [item for item in after.values() if isinstance(item, StorageClass)]
    for key in new:
        item = after[key]
        if isinstance(item, PersistentVolumeClaim):
            after[key] = with_default_class(item, classes)
        if isinstance(item, PodGroup | CompositePodGroup):
            after[key] = _with_priority(item, [each for each in after.values() if isinstance(each, PriorityClass)])
    return tuple(after.values())


def with_made(objects: Iterable[KubernetesObject], made: Sequence[KubernetesObject]) -> tuple[KubernetesObject, ...]:
    """The objects with those that were made, which replace others of the same kind and name."""
    if not made:
        return tuple(objects)
    keys = {(type(item), item.key) for item in made}
    return (*(item for item in objects if (type(item), item.key) not in keys), *made)


def _with_priority(group: PodGroup | CompositePodGroup, classes: Sequence[PriorityClass]) -> KubernetesObject:
    """The Priority admission plugin; a class that is not known gives no priority."""
    name = group.spec.priority_class_name
    found = [each for each in classes if (each.name == name if name else each.global_default)]
    if group.spec.priority is not None or not found:
        return group
    lowest = min(found, key=lambda each: each.value)
    policy = group.spec.preemption_policy or lowest.preemption_policy
    return with_spec(group, priority=lowest.value, preemption_policy=policy)


def _changed(stored: KubernetesObject, item: KubernetesObject) -> KubernetesObject:
    metadata = structs.replace(
        item.metadata, uid=stored.metadata.uid, creation_timestamp=stored.metadata.creation_timestamp
    )
    item = structs.replace(_defaulted(item), metadata=metadata)
    match stored:
        case ResourceQuota():
            return structs.replace(item, status=structs.replace(stored.status, hard={}))
        case Namespace() | PodDisruptionBudget() | PodGroup():
            return structs.replace(item, status=stored.status)
        case _:
            return item


def _defaulted(item: KubernetesObject) -> KubernetesObject:
    metadata = item.metadata
    if not metadata.uid:
        metadata = structs.replace(metadata, uid=f"whatif/{type(item).__name__}/{item.key}")
        item = structs.replace(item, metadata=metadata)
    match item:
        case PersistentVolumeClaim():
            return structs.replace(item, status=PersistentVolumeClaimStatus(phase="Pending"))
        case PersistentVolume():
            return structs.replace(item, status=structs.replace(item.status, phase=item.status.phase or "Available"))
        case StorageClass():
            return structs.replace(item, volume_binding_mode=item.volume_binding_mode or "Immediate")
        case LimitRange() | ResourceClaim():
            return _with_spec_defaults(item)
        case ResourceClaimTemplate():
            spec = structs.replace(item.spec, spec=with_device_defaults(item.spec.spec))
            return structs.replace(item, spec=spec)
        case _:
            return item


def _with_spec_defaults(item: LimitRange | ResourceClaim) -> LimitRange | ResourceClaim:
    if isinstance(item, LimitRange):
        limits = tuple(map(_limits, item.spec.limits))
        return with_spec(item, limits=limits)
    return structs.replace(item, spec=with_device_defaults(item.spec))


def _limits(item: LimitRangeItem) -> LimitRangeItem:
    """SetDefaults_LimitRangeItem: a container is limited to the maximum, and asks for its limit, else the minimum."""
    if item.type != "Container":
        return item
    default = {**item.max, **item.default}
    return structs.replace(item, default=default, default_request={**item.min, **default, **item.default_request})


def with_device_defaults(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    """SetDefaults_ExactDeviceRequest and its like: one device, and tolerations that want an equal value."""
    requests = tuple(map(_request, spec.devices.requests))
    return ResourceClaimSpec(devices=DeviceClaim(requests=requests, constraints=spec.devices.constraints))


def _request(request: DeviceRequest) -> DeviceRequest:
    if request.first_available:
        alternatives: tuple[DeviceSubRequest, ...] = tuple(map(_one_device, request.first_available))
        return structs.replace(request, first_available=alternatives)
    if request.exactly is not None:
        return structs.replace(request, exactly=_one_device(request.exactly))
    return _one_device(request)


def _one_device(request: Requested) -> Requested:
    mode = request.allocation_mode or "ExactCount"
    tolerations = tuple(structs.replace(each, operator=each.operator or "Equal") for each in request.tolerations)
    count = request.count or (1 if mode == "ExactCount" else 0)
    return structs.replace(request, allocation_mode=mode, count=count, tolerations=tolerations)


def with_default_class(claim: PersistentVolumeClaim, classes: Iterable[StorageClass]) -> PersistentVolumeClaim:
    """The DefaultStorageClass plugin: the newest default class where the claim names none."""
    if claim.spec.storage_class_name is not None or claim.metadata.annotations.beta_storage_class is not None:
        return claim
    defaults = [item for item in classes if _is_default(item)]
    if not defaults:
        return claim
    newest = max(defaults, key=lambda item: (item.metadata.creation_timestamp or "", item.name))
    return with_spec(claim, storage_class_name=newest.name)


def _is_default(item: StorageClass) -> bool:
    annotations = item.metadata.annotations
    return "true" in {annotations.default_storage_class, annotations.beta_default_storage_class}
