"""Pods (k8s.io/api/core/v1/types.go)."""

from __future__ import annotations

import msgspec

from kubectl_sched.api.core import RawQuantity, ResourceList
from kubectl_sched.api.meta import Condition, Int32, Int64, KubernetesObject, LabelSelector, ObjectMeta, Part


class NodeSelectorRequirement(Part, frozen=True):
    """`key operator values`; besides the label operators there are Gt and Lt."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Part, frozen=True):
    """All of its requirements must hold; an empty term matches nothing."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Part, frozen=True):
    """Any of its terms must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Part, frozen=True):
    """A node that matches gets the weight."""

    weight: Int32 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Part, frozen=True):
    """Which nodes a pod requires and prefers."""

    required: NodeSelector | None = msgspec.field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)
    preferred: tuple[PreferredSchedulingTerm, ...] | None = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=None
    )
    """None is not the same as no term: with an empty list every node gets a score, 0."""


class PodAffinityTerm(Part, frozen=True):
    """Pods to be near to, or away from, in terms of a topology key."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Part, frozen=True):
    """A preferred term."""

    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Part, frozen=True):
    """Required and preferred terms, of affinity or of anti-affinity."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(
        name="requiredDuringSchedulingIgnoredDuringExecution", default=()
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(
        name="preferredDuringSchedulingIgnoredDuringExecution", default=()
    )


class Affinity(Part, frozen=True):
    """All affinities of a pod."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Part, frozen=True):
    """`operator` is Equal (also when empty), Exists, or behind a feature gate Lt or Gt; an empty effect matches all."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(Part, frozen=True):
    """How evenly matching pods must be spread over the values of a node label."""

    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] = ()


class ContainerPort(Part, frozen=True):
    """Only host ports matter to the scheduler."""

    name: str = ""
    host_port: Int32 = 0
    container_port: Int32 = 0
    protocol: str = ""
    host_ip: str = msgspec.field(name="hostIP", default="")


class ResourceClaimReference(Part, frozen=True):
    """A container's use of one of the pod's claims, or of one request in it."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Part, frozen=True):
    """What is asked for and what is allowed at most."""

    requests: ResourceList = {}
    limits: ResourceList = {}
    claims: tuple[ResourceClaimReference, ...] = ()


class ContainerResizePolicy(Part, frozen=True):
    """Whether a resize in place restarts the container."""

    resource_name: str = ""
    restart_policy: str = ""


class WindowsOptions(Part, frozen=True):
    """Read for hostProcess only."""

    host_process: bool | None = None


class SecurityContext(Part, frozen=True):
    """Read for what a node must support."""

    windows_options: WindowsOptions | None = None
    privileged: bool | None = None
    host_users: bool | None = None


class RestartRule(Part, frozen=True):
    """A rule of a container's own restart policy; what a node must support for it is all that matters here."""

    action: str = ""


class VolumeMount(Part, frozen=True):
    """Read for what a node must support."""

    bind_mount_options: tuple[str, ...] = ()


class Container(Part, frozen=True):
    """A container or an init container; restartPolicy Always makes an init container a sidecar."""

    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    """Of kube-schedulers only, and of these only the flags that say whom they serve; readers drop all others."""

    args: tuple[str, ...] = ()
    """Dropped by readers, as they join those of kube-schedulers to `command`."""

    image_pull_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    restart_policy: str | None = None
    restart_policy_rules: tuple[RestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    security_context: SecurityContext | None = None


class PersistentVolumeClaimVolumeSource(Part, frozen=True):
    """A volume that is a claim."""

    claim_name: str = ""
    read_only: bool = False


class VolumeResourceRequirements(Part, frozen=True):
    """How much storage a claim asks for."""

    requests: ResourceList = {}
    limits: ResourceList = {}


class PersistentVolumeClaimSpec(Part, frozen=True):
    """Defined here because a pod's generic ephemeral volume holds one."""

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(Part, frozen=True):
    """The claim that a generic ephemeral volume becomes."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Part, frozen=True):
    """A generic ephemeral volume."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class CSIVolumeSource(Part, frozen=True):
    """An inline volume of a CSI driver."""

    driver: str = ""
    read_only: bool | None = None


class ImageVolumeSource(Part, frozen=True):
    """A volume that is an image."""

    reference: str = ""
    pull_policy: str = ""


class GCEPersistentDisk(Part, frozen=True):
    """A legacy disk."""

    pd_name: str = ""
    read_only: bool = False
    partition: Int32 = 0


class AWSElasticBlockStore(Part, frozen=True):
    """A legacy disk."""

    volume_id: str = msgspec.field(name="volumeID", default="")
    read_only: bool = False
    partition: Int32 = 0


class AzureDisk(Part, frozen=True):
    """A legacy disk."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(name="diskURI", default="")
    kind: str | None = None
    read_only: bool | None = None


class AzureFile(Part, frozen=True):
    """A share; only that it is one matters."""

    share_name: str = ""


class Cinder(Part, frozen=True):
    """A legacy disk."""

    volume_id: str = msgspec.field(name="volumeID", default="")
    read_only: bool = False


class VsphereVolume(Part, frozen=True):
    """A legacy disk."""

    volume_path: str = ""


class PortworxVolume(Part, frozen=True):
    """A legacy disk."""

    volume_id: str = msgspec.field(name="volumeID", default="")
    read_only: bool = False


class ISCSI(Part, frozen=True):
    """A legacy disk, known by its qualified name."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class RBD(Part, frozen=True):
    """A legacy disk, known by monitors, pool and image."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class EmptyDir(Part, frozen=True):
    """Scratch space; `kubectl drain` asks before it deletes it."""

    medium: str = ""


class HostPath(Part, frozen=True):
    """A path of the node itself."""

    path: str = ""


class KeyToPath(Part, frozen=True):
    """Under which name a key of a ConfigMap is a file."""

    key: str = ""
    path: str = ""


class ConfigMapVolumeSource(Part, frozen=True):
    """A ConfigMap as files; a scheduler may have its configuration from there."""

    name: str = ""
    items: tuple[KeyToPath, ...] = ()


class Volume(Part, frozen=True):
    """One volume of a pod; sources that the scheduler never looks at are dropped."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    vsphere_volume: VsphereVolume | None = None
    portworx_volume: PortworxVolume | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None
    empty_dir: EmptyDir | None = None
    host_path: HostPath | None = None
    config_map: ConfigMapVolumeSource | None = None


class PodSchedulingGate(Part, frozen=True):
    """While a pod has any, it is not queued."""

    name: str = ""


class PodResourceClaim(Part, frozen=True):
    """A claim by name or from a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodOS(Part, frozen=True):
    """The operating system that the pod says it needs."""

    name: str = ""


class PodSchedulingGroup(Part, frozen=True):
    """The group that a pod is scheduled with."""

    pod_group_name: str | None = None


class WorkloadReference(Part, frozen=True):
    """The workload that a pod belongs to, before schedulingGroup replaced it."""

    name: str = ""
    pod_group: str = ""
    pod_group_replica_key: str = ""


class PodSecurityContext(Part, frozen=True):
    """Read for what a node must support."""

    windows_options: WindowsOptions | None = None


class PodSpec(Part, frozen=True):
    """What the pod asks for; a deadline matters to quotas."""

    active_deadline_seconds: Int64 | None = None
    volumes: tuple[Volume, ...] = ()
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    restart_policy: str = ""
    node_selector: dict[str, str] | None = None
    node_name: str = ""
    host_network: bool = False
    host_users: bool | None = None
    affinity: Affinity | None = None
    scheduler_name: str = ""
    tolerations: tuple[Toleration, ...] = ()
    priority_class_name: str = ""
    priority: Int32 | None = None
    runtime_class_name: str | None = None
    preemption_policy: str | None = None
    overhead: ResourceList = {}
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    os: PodOS | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resources: ResourceRequirements | None = None
    scheduling_group: PodSchedulingGroup | None = None
    workload_ref: WorkloadReference | None = None
    security_context: PodSecurityContext | None = None
    termination_grace_period_seconds: Int64 | None = None


class ContainerState(Part, frozen=True):
    """Why a container is not running yet."""

    reason: str = ""
    message: str = ""


class ContainerStates(Part, frozen=True):
    """At most one of them is set."""

    waiting: ContainerState | None = None
    terminated: ContainerState | None = None


class ReportedResources(Part, frozen=True):
    """What the kubelet has put in force. An absent list says nothing; an empty one says that there is none."""

    requests: ResourceList | None = None
    limits: ResourceList | None = None


class ContainerStatus(Part, frozen=True):
    """Read for what an in-place resize has actually reached."""

    name: str = ""
    ready: bool = False
    image: str = ""
    allocated_resources: ResourceList | None = None
    resources: ReportedResources | None = None
    state: ContainerStates = ContainerStates()


class PodResourceClaimStatus(Part, frozen=True):
    """Which claim was made for one of the pod's claim templates."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Part, frozen=True):
    """Which device request backs a container's extended resource."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Part, frozen=True):
    """The claim that the scheduler made for extended resources."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class NodeAllocatableMapping(Part, frozen=True):
    """How much of a node's resource the devices of a claim stand for."""

    name: str = ""
    quantity: RawQuantity | None = None


class NodeAllocatableOverhead(Part, frozen=True):
    """What the devices of a claim cost besides: once, and for each container that uses them."""

    name: str = ""
    per_pod: RawQuantity | None = None
    per_container: RawQuantity | None = None


class NodeAllocatableResourceClaimStatus(Part, frozen=True):
    """What a claim takes from the node's own resources: `resources` in 1.36, the other two since 1.37."""

    resource_claim_name: str = ""
    containers: tuple[str, ...] = ()
    resources: ResourceList = {}
    mapping: tuple[NodeAllocatableMapping, ...] = ()
    overhead: tuple[NodeAllocatableOverhead, ...] = ()


class PodStatus(Part, frozen=True):
    """What has become of the pod."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    start_time: str | None = None
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    qos_class: str = ""
    resize: str = ""
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    node_allocatable_resource_claim_statuses: tuple[NodeAllocatableResourceClaimStatus, ...] = ()
    allocated_resources: ResourceList | None = None
    resources: ReportedResources | None = None


class Pod(KubernetesObject, frozen=True, tag_field="kind", tag="Pod"):
    """The thing to be scheduled."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def priority(self) -> int:
        """corev1helpers.PodPriority: 0 where it is not set."""
        return self.spec.priority if self.spec.priority is not None else 0

    @property
    def is_resize_deferred(self) -> bool:
        """Whether its node must first find room for an in-place resize (resource.IsPodResizeDeferred)."""
        pending = next((each for each in self.status.conditions if each.type == "PodResizePending"), None)
        return pending is not None and pending.reason == "Deferred"

    @property
    def has_ended(self) -> bool:
        """Whether it has succeeded or failed, so that it holds nothing any more."""
        return self.status.phase in {"Succeeded", "Failed"}
