"""The fields of objects that hold names, labels, images and messages, and what they hold under pseudonyms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import structs

from kubectl_sched.api.karpenter import is_price
from kubectl_sched.api.kueue import TopologyLevelValues, TopologyValueTexts
from kubectl_sched.api.resource import DEVICE_CLASS_RESOURCE_PREFIX
from kubectl_sched.sources.export.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.affinity import NodeSelectorRequirement

Change: TypeAlias = "Callable[[Pseudonyms, Any], Any]"
"""From what a field holds, which is never empty, to what it holds instead."""


def _each(change: Callable[[Pseudonyms, str], str]) -> Change:
    """The same for several texts."""
    return lambda new, texts: tuple(change(new, text) for text in texts)


def _labels(new: Pseudonyms, labels: dict[str, str]) -> dict[str, str]:
    return {new.key(key): new.value(value) for key, value in labels.items()}


def _gone(_: Pseudonyms, __: str) -> str:
    return ""


def _number(_: Pseudonyms, text: str) -> str:
    return text if text.isdecimal() else ""


def _price(_: Pseudonyms, text: str) -> str:
    return text if is_price(text) else ""


def _resources(new: Pseudonyms, amounts: dict[str, Any]) -> dict[str, Any]:
    """Resources keep their names, except those that are a DeviceClass's."""
    prefix = DEVICE_CLASS_RESOURCE_PREFIX
    if not any(name.startswith(prefix) for name in amounts):
        return amounts
    return {
        f"{prefix}{new.name(name.removeprefix(prefix))}" if name.startswith(prefix) else name: amount
        for name, amount in amounts.items()
    }


def _resource(new: Pseudonyms, name: str) -> str:
    return next(iter(_resources(new, {name: 0})))


def _match_fields(new: Pseudonyms, fields: tuple[NodeSelectorRequirement, ...]) -> tuple[Any, ...]:
    """The only field is metadata.name."""
    return tuple(structs.replace(each, values=new.names(each.values)) for each in fields)


def _finalizers(_: Pseudonyms, finalizers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in finalizers if each.partition("/")[0].endswith("kubernetes.io"))


def _selector_text(new: Pseudonyms, text: str) -> str:
    """`key=value,key=value`, as an annotation of a namespace has it."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return ",".join(f"{new.key(key.strip())}{sign}{new.value(value.strip())}" for key, sign, value in pairs)


def _holder(new: Pseudonyms, holder: str) -> str:
    host, line, own = holder.rpartition("_")
    return f"{new.name(host)}{line}{own}" if line else new.name(holder)


def _names_as_keys(new: Pseudonyms, times: dict[str, Any]) -> dict[str, Any]:
    return {new.name(name): time for name, time in times.items()}


def _names_in(new: Pseudonyms, names: dict[str, str]) -> dict[str, str]:
    return {key: new.name(name) for key, name in names.items()}


def _level_values(new: Pseudonyms, levels: tuple[TopologyLevelValues, ...]) -> tuple[TopologyLevelValues, ...]:
    """Each value as a whole: a common beginning says nothing under pseudonyms."""
    return tuple(
        TopologyLevelValues(
            universal=new.value(each.universal) if each.universal is not None else None,
            individual=TopologyValueTexts(
                roots=tuple(new.value(each.value(index)) for index in range(len(each.individual.roots)))
                if each.universal is None
                else ()
            ),
        )
        for each in levels
    )


def _flags(new: Pseudonyms, command: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_flag(new, each) for each in command)


def _flag(new: Pseudonyms, flag: str) -> str:
    name, equals, value = flag.partition("=")
    if name.endswith("-taint"):
        return f"{name}{equals}{new.key(value)}"
    return f"{name}{equals}{new.name(value)}" if name.startswith("--leader-elect-resource-name") else flag


def _some_path(_: Pseudonyms, __: str) -> str:
    return "/"


def _fields(change: Change, *fields: str) -> dict[str, Change]:
    return dict.fromkeys(fields, change)


NAMING_FIELDS: dict[str, Change] = {
    **_fields(
        Pseudonyms.name,
        "AdmissionCheckState.name",
        "AllocatedDeviceStatus.pool",
        "Annotations.gang_name",
        "Annotations.group_name",
        "Annotations.volcano_queue_name",
        "Annotations.kai_group_name",
        "Annotations.kueue_workload",
        "Annotations.machine_namespace",
        "Annotations.machine_owner",
        "Annotations.volcano_group_name",
        "Annotations.yunikorn_app",
        "Annotations.yunikorn_task_group",
        "Annotations.beta_storage_class",
        "Annotations.pod_claim_name",
        "Annotations.selected_node",
        "AzureFile.share_name",
        "BasicDevice.node_name",
        "ClusterQueueSpec.cohort",
        "ClusterQueueSpec.cohort_name",
        "CohortSpec.parent",
        "CohortSpec.parent_name",
        "CSIStorageCapacity.storage_class_name",
        "ConfigMapVolumeSource.name",
        "Container.name",
        "ContainerExtendedResourceRequest.container_name",
        "ContainerPort.name",
        "ContainerStatus.name",
        "DeviceRequestAllocationResult.pool",
        "DeviceTaintSelector.device_class_name",
        "DeviceTaintSelector.pool",
        "EventSource.host",
        "ExactDeviceRequest.device_class_name",
        "FlavorQuotas.name",
        "FlavorUsage.name",
        "HolderSpec.parent",
        "HolderSpec.parent_queue",
        "HolderSpec.queue",
        "ISCSI.iqn",
        "ISCSI.target_portal",
        "KueueAdmission.cluster_queue",
        "KueuePodSet.name",
        "LocalQueueSpec.cluster_queue",
        "NodeClaimStatus.node_name",
        "NodeClassReference.name",
        "NodeAllocatableResourceClaimStatus.resource_claim_name",
        "NodeClaimStatus.provider_id",
        "NodeSpec.provider_id",
        "ObjectMeta.generate_name",
        "ObjectMeta.name",
        "ObjectMeta.namespace",
        "ObjectReference.name",
        "ObjectReference.namespace",
        "OwnerReference.name",
        "PersistentVolumeClaimSpec.storage_class_name",
        "PersistentVolumeClaimSpec.volume_attributes_class_name",
        "PersistentVolumeClaimSpec.volume_name",
        "PersistentVolumeClaimVolumeSource.claim_name",
        "PersistentVolumeSpec.storage_class_name",
        "PersistentVolumeSpec.volume_attributes_class_name",
        "PodExtendedResourceClaimStatus.resource_claim_name",
        "PodGroupSpec.parent_composite_pod_group_name",
        "PodResourceClaim.name",
        "PodResourceClaim.resource_claim_name",
        "PodResourceClaim.resource_claim_template_name",
        "PodResourceClaimStatus.name",
        "PodResourceClaimStatus.resource_claim_name",
        "PodSchedulingGroup.pod_group_name",
        "PodSetAssignment.name",
        "PodSetRequest.name",
        "PodSetUpdate.name",
        "PodSpec.node_name",
        "QueuedWorkloadStatus.cluster_name",
        "PodGroupSpec.priority_class_name",
        "PodSpec.priority_class_name",
        "PodSpec.runtime_class_name",
        "PodStatus.nominated_node_name",
        "QueuedWorkloadSpec.queue_name",
        "RBD.image",
        "RBD.pool",
        "ResourceClaimConsumerReference.name",
        "ResourceClaimReference.name",
        "ResourcePool.name",
        "RuntimeClass.handler",
        "ResourceSliceSpec.node_name",
        "Volume.name",
        "VolumeAttachmentSource.persistent_volume_name",
        "VolumeAttachmentSpec.node_name",
        "WorkloadPodGroup.name",
        "WorkloadReference.name",
        "WorkloadReference.pod_group",
        "WorkloadReference.pod_group_replica_key",
        "WorkloadReference.workload_name",
    ),
    **_fields(
        _each(Pseudonyms.name),
        "NodeAllocatableResourceClaimStatus.containers",
        "PodAffinityTerm.namespaces",
        "RBD.monitors",
        "ScopeSelectorRequirement.values",
    ),
    **_fields(
        _labels,
        "LabelSelector.match_labels",
        "PodSetUpdate.labels",
        "PodSetUpdate.node_selector",
        "ResourceFlavorSpec.node_labels",
        "NodeClaimTemplateMeta.labels",
        "ObjectMeta.labels",
        "PodSpec.node_selector",
        "ReplicationControllerSpec.selector",
        "RuntimeClassScheduling.node_selector",
        "ServiceSpec.selector",
    ),
    **_fields(
        Pseudonyms.key,
        "DeviceTaint.key",
        "DeviceToleration.key",
        "LabelSelectorRequirement.key",
        "NodeSelectorRequirement.key",
        "NodeSelectorRequirementWithMinValues.key",
        "PodAffinityTerm.topology_key",
        "Taint.key",
        "Toleration.key",
        "TopologyConstraint.key",
        "TopologySelectorLabelRequirement.key",
        "TopologySpreadConstraint.topology_key",
    ),
    **_fields(
        _each(Pseudonyms.key),
        "CSINodeDriver.topology_keys",
        "TopologyAssignment.levels",
        "NodePodPreemptionPolicy.disable_resize_preemption",
        "PodAffinityTerm.match_label_keys",
        "PodAffinityTerm.mismatch_label_keys",
        "TopologySpreadConstraint.match_label_keys",
    ),
    **_fields(Pseudonyms.value, "DeviceTaint.value", "DeviceToleration.value", "Taint.value", "Toleration.value"),
    **_fields(
        _each(Pseudonyms.value),
        "LabelSelectorRequirement.values",
        "TopologyDomainAssignment.values",
        "NodeSelectorRequirement.values",
        "NodeSelectorRequirementWithMinValues.values",
        "TopologySelectorLabelRequirement.values",
    ),
    **_fields(
        Pseudonyms.uid,
        "ObjectMeta.uid",
        "ObjectReference.uid",
        "OwnerReference.uid",
        "ResourceClaimConsumerReference.uid",
    ),
    "ContainerPort.host_ip": Pseudonyms.address,
    "ObjectMeta.creation_timestamp": Pseudonyms.creation_time,
    **_fields(Pseudonyms.image, "Container.image", "ContainerStatus.image", "ImageVolumeSource.reference"),
    **_fields(
        _gone,
        "AdmissionCheckState.message",
        "Annotations.default_tolerations",
        "Annotations.gang_min_available",
        "Annotations.gang_mode",
        "Annotations.gang_waiting_time",
        "Annotations.job_set_topology",
        "Annotations.kai_stale_since",
        "Annotations.leader_worker_topology",
        "Annotations.quota_request",
        "Annotations.quota_runtime",
        "Annotations.leader",
        "Annotations.tolerations_whitelist",
        "CSINodeDriver.node_id",
        "Condition.message",
        "ContainerState.message",
        "Event.message",
        "Event.note",
        "PodStatus.message",
    ),
    **_fields(
        _resources,
        "NodeClaimResources.requests",
        "NodeClaimStatus.allocatable",
        "NodeClaimStatus.capacity",
        "NodeOverlaySpec.capacity",
        "NodePoolSpec.limits",
        "NodeAllocatableResourceClaimStatus.resources",
        "NodeStatus.allocatable",
        "NodeStatus.capacity",
        "PodSpec.overhead",
        "PodStatus.allocated_resources",
        "ContainerStatus.allocated_resources",
        "ResourceRequirements.limits",
        "ResourceRequirements.requests",
    ),
    **_fields(_resource, "ContainerExtendedResourceRequest.resource_name", "ContainerResizePolicy.resource_name"),
    "Annotations.namespace_node_selector": _selector_text,
    "Annotations.kueue_group_size": _number,
    **_fields(_price, "NodeOverlaySpec.price", "NodeOverlaySpec.price_adjustment"),
    "Annotations.kueue_role_hash": Pseudonyms.name,
    "Annotations.yunikorn_queue": _gone,
    "PodSetAssignment.flavors": _names_in,
    "QueuedWorkloadStatus.nominated_cluster_names": _each(Pseudonyms.name),
    "TopologyAssignmentSlice.values_per_level": _level_values,
    "ContainerImage.names": _each(Pseudonyms.image),
    "Container.command": _flags,
    "HostPath.path": _some_path,
    "LeaseSpec.holder_identity": _holder,
    "NodeSelectorTerm.match_fields": _match_fields,
    "ObjectMeta.finalizers": _finalizers,
    "PodDisruptionBudgetStatus.disrupted_pods": _names_as_keys,
    "SchedulerSpec.default_node_selector": _selector_text,
}
"""The treatment of each field, by the name of its type and its own."""
