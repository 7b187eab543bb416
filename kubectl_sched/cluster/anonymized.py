"""A dump with other names, labels and images in it, which a replay judges just the same."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import structs

from kubectl_sched.api import affinity, storage
from kubectl_sched.api.resource import DEVICE_CLASS_RESOURCE_PREFIX
from kubectl_sched.cluster.pseudonyms import Pseudonyms
from kubectl_sched.cluster.scheduler_configurations import parsed
from kubectl_sched.config.config_map import configuration_keys
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.cluster.dump import Dump

Change: TypeAlias = "Callable[[Pseudonyms, Any], Any]"


def anonymized(dump: Dump) -> Dump:
    """The same dump under pseudonyms; texts that people or programs wrote are gone, cloud disks keep their ids."""
    new = Pseudonyms()
    _mapped(dump, new)
    new.settle()
    return _mapped(dump, new)


def _mapped(dump: Dump, new: Pseudonyms) -> Dump:
    configuration = dump.scheduler_configuration
    return replace(
        dump,
        objects=tuple(_object(new, item) for item in dump.objects),
        warnings=(),
        scheduler_configuration=None if configuration is None else _configuration(new, dict(configuration)),
    )


def _object(new: Pseudonyms, item: KubernetesObject) -> KubernetesObject:
    changed: KubernetesObject = _struct(new, item)
    if isinstance(item, storage.CSIDriver):  # a driver's name is its object's
        changed = structs.replace(changed, metadata=structs.replace(changed.metadata, name=item.metadata.name))
    return changed


def _struct(new: Pseudonyms, value: Any) -> Any:
    """The Struct with every field changed that FIELDS names, and those of Structs in it."""
    kind: type[msgspec.Struct] = type(value)
    changes: dict[str, Any] = {}
    for field in kind.__struct_fields__:
        before = getattr(value, field)
        if not before:
            continue
        change = _change(kind, field)
        after = change(new, before) if change is not None else _inside(new, before)
        if after is not before:
            changes[field] = after
    return structs.replace(value, **changes) if changes else value


def _inside(new: Pseudonyms, value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return _struct(new, value)
    if isinstance(value, tuple) and isinstance(value[0], msgspec.Struct):
        return tuple(_struct(new, each) for each in value)
    if isinstance(value, dict) and isinstance(next(iter(value.values())), msgspec.Struct):
        return {key: _struct(new, each) for key, each in value.items()}
    return value


@cache
def _change(kind: type[msgspec.Struct], field: str) -> Change | None:
    """What FIELDS says of a field of that type, or of the one that it comes from."""
    names = (f"{base.__name__}.{field}" for base in kind.__mro__)
    return next((FIELDS[name] for name in names if name in FIELDS), None)


def _each(change: Callable[[Pseudonyms, str], str]) -> Change:
    """The same for several texts."""
    return lambda new, texts: tuple(change(new, text) for text in texts)


def _labels(new: Pseudonyms, labels: dict[str, str]) -> dict[str, str]:
    return {new.key(key): new.value(value) for key, value in labels.items()}


def _gone(_: Pseudonyms, __: str) -> str:
    return ""


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


def _match_fields(new: Pseudonyms, fields: tuple[affinity.NodeSelectorRequirement, ...]) -> tuple[Any, ...]:
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


def _flags(new: Pseudonyms, command: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_flag(new, each) for each in command)


def _flag(new: Pseudonyms, flag: str) -> str:
    name, equals, value = flag.partition("=")
    return f"{name}{equals}{new.name(value)}" if name.startswith("--leader-elect-resource-name") else flag


def _some_path(_: Pseudonyms, __: str) -> str:
    return "/"


def _data(new: Pseudonyms, data: dict[str, str]) -> dict[str, str]:
    return {key: _configuration_text(new, data[key]) for key in configuration_keys(data)}


def _configuration_text(new: Pseudonyms, text: str) -> str:
    """A configuration as JSON under pseudonyms; one that cannot be read is gone."""
    try:
        document = parsed(text, "a configuration")
    except SchedError:
        return ""
    return msgspec.json.encode(_configuration(new, dict(document)), order="deterministic").decode()


def _configuration(new: Pseudonyms, document: dict[str, Any]) -> dict[str, Any]:
    """Labels are in the arguments of plugins; connections and the addresses of extenders decide nothing."""
    changed = {key: value for key, value in document.items() if key != "clientConnection"}
    election = changed.get("leaderElection")
    if isinstance(election, dict):
        named = {"resourceName", "resourceNamespace"} & election.keys()
        changed["leaderElection"] = {**election, **{key: new.name(str(election[key])) for key in named}}
    profiles = changed.get("profiles")
    if isinstance(profiles, list):
        changed["profiles"] = [_profile(new, each) if isinstance(each, dict) else each for each in profiles]
    extenders = changed.get("extenders")
    if isinstance(extenders, list):
        changed["extenders"] = [
            {key: value for key, value in each.items() if key != "tlsConfig"}
            | {"urlPrefix": f"http://extender-{index}"}
            for index, each in enumerate(extenders)
            if isinstance(each, dict)
        ]
    return changed


def _profile(new: Pseudonyms, profile: dict[str, Any]) -> dict[str, Any]:
    configs = profile.get("pluginConfig")
    if not isinstance(configs, list):
        return profile
    return {**profile, "pluginConfig": [_plugin_config(new, each) for each in configs]}


def _plugin_config(new: Pseudonyms, config: Any) -> Any:
    arguments = config.get("args") if isinstance(config, dict) else None
    if not isinstance(arguments, dict):
        return config
    changed = dict(arguments)
    for key, kind in (
        ("addedAffinity", affinity.NodeAffinity),
        ("defaultConstraints", tuple[affinity.TopologySpreadConstraint, ...]),
    ):
        if arguments.get(key):
            changed[key] = msgspec.to_builtins(_inside(new, msgspec.convert(arguments[key], kind)))
    return {**config, "args": changed}


def _fields(change: Change, *fields: str) -> dict[str, Change]:
    return dict.fromkeys(fields, change)


FIELDS: dict[str, Change] = {
    **_fields(
        Pseudonyms.name,
        "AllocatedDeviceStatus.pool",
        "Annotations.beta_storage_class",
        "Annotations.pod_claim_name",
        "Annotations.selected_node",
        "AzureFile.share_name",
        "BasicDevice.node_name",
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
        "ISCSI.iqn",
        "ISCSI.target_portal",
        "NodeAllocatableResourceClaimStatus.resource_claim_name",
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
        "PodSpec.node_name",
        "PodSpec.priority_class_name",
        "PodSpec.runtime_class_name",
        "PodStatus.nominated_node_name",
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
        "NodePodPreemptionPolicy.disable_resize_preemption",
        "PodAffinityTerm.match_label_keys",
        "PodAffinityTerm.mismatch_label_keys",
        "TopologySpreadConstraint.match_label_keys",
    ),
    **_fields(Pseudonyms.value, "DeviceTaint.value", "DeviceToleration.value", "Taint.value", "Toleration.value"),
    **_fields(
        _each(Pseudonyms.value),
        "LabelSelectorRequirement.values",
        "NodeSelectorRequirement.values",
        "TopologySelectorLabelRequirement.values",
    ),
    **_fields(Pseudonyms.image, "Container.image", "ContainerStatus.image", "ImageVolumeSource.reference"),
    **_fields(
        _gone,
        "Annotations.default_tolerations",
        "Annotations.leader",
        "Annotations.tolerations_whitelist",
        "CSINodeDriver.node_id",
        "Condition.message",
        "ContainerState.message",
        "Event.message",
        "Event.note",
        "NodeSpec.provider_id",
        "PodStatus.message",
    ),
    **_fields(
        _resources,
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
    "ConfigMap.data": _data,
    "ContainerImage.names": _each(Pseudonyms.image),
    "Container.command": _flags,
    "HostPath.path": _some_path,
    "LeaseSpec.holder_identity": _holder,
    "NodeSelectorTerm.match_fields": _match_fields,
    "ObjectMeta.finalizers": _finalizers,
    "PodDisruptionBudgetStatus.disrupted_pods": _names_as_keys,
    "SchedulerConfigurationSpec.raw_config": _configuration_text,
    "SchedulerSpec.default_node_selector": _selector_text,
}
"""What becomes of each field that may say whose cluster it is; all others stay."""
