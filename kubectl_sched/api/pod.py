"""Pods (k8s.io/api/core/v1/types.go)."""

from kubectl_sched.api.affinity import Affinity, Toleration, TopologySpreadConstraint
from kubectl_sched.api.containers import Container, ResourceRequirements, SeccompProfile, WindowsOptions
from kubectl_sched.api.core import RawQuantity, ResourceList
from kubectl_sched.api.meta import Condition, Int32, Int64, KubernetesObject, Part, find_condition
from kubectl_sched.api.pod_volumes import Volume


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

    seccomp_profile: SeccompProfile | None = None

    windows_options: WindowsOptions | None = None


class PodSpec(Part, frozen=True):
    """The pod's spec; quotas count the deadline."""

    active_deadline_seconds: Int64 | None = None
    volumes: tuple[Volume, ...] = ()
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    ephemeral_containers: tuple[Container, ...] = ()
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
    """The reason for which a container is not running yet."""

    reason: str = ""
    message: str = ""


class ContainerStates(Part, frozen=True):
    """At most one of them is set."""

    waiting: ContainerState | None = None
    terminated: ContainerState | None = None


class ReportedResources(Part, frozen=True):
    """The resources that the kubelet has applied. An absent list says nothing; an empty one says that there is none."""

    requests: ResourceList | None = None
    limits: ResourceList | None = None


class ContainerStatus(Part, frozen=True):
    """Read for what an in-place resize has actually reached, and for which pod a controller deletes first."""

    name: str = ""
    ready: bool = False
    restart_count: Int32 = 0
    image: str = ""
    allocated_resources: ResourceList | None = None
    resources: ReportedResources | None = None
    state: ContainerStates = ContainerStates()
    last_state: ContainerStates = ContainerStates()


class PodResourceClaimStatus(Part, frozen=True):
    """The claim that was made for one of the pod's claim templates."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(Part, frozen=True):
    """The device request that backs a container's extended resource."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(Part, frozen=True):
    """The claim that the scheduler made for extended resources."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class NodeAllocatableMapping(Part, frozen=True):
    """The amount of a node's resource that the devices of a claim stand for."""

    name: str = ""
    quantity: RawQuantity | None = None


class NodeAllocatableOverhead(Part, frozen=True):
    """The overhead of a claim's devices: once for the pod, and once for each container that uses them."""

    name: str = ""
    per_pod: RawQuantity | None = None
    per_container: RawQuantity | None = None


class NodeAllocatableResourceClaimStatus(Part, frozen=True):
    """The amounts that a claim takes from the node's own resources: `resources` in 1.36, the other two since 1.37."""

    resource_claim_name: str = ""
    containers: tuple[str, ...] = ()
    resources: ResourceList = {}
    mapping: tuple[NodeAllocatableMapping, ...] = ()
    overhead: tuple[NodeAllocatableOverhead, ...] = ()


class PodStatus(Part, frozen=True):
    """The state of the pod as the scheduler, the kubelet and controllers report it."""

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

    def condition(self, kind: str) -> Condition | None:
        """Return its condition of a type, None if it has none."""
        return find_condition(self.status.conditions, kind)

    @property
    def is_resize_deferred(self) -> bool:
        """Report whether its node must first find room for an in-place resize (resource.IsPodResizeDeferred)."""
        pending = self.condition("PodResizePending")
        return pending is not None and pending.reason == "Deferred"

    @property
    def has_ended(self) -> bool:
        """Report whether it has succeeded or failed, so that it holds nothing any more."""
        return self.status.phase in {"Succeeded", "Failed"}

    @property
    def is_pending(self) -> bool:
        """Report whether it has no node, and has not ended."""
        return not self.spec.node_name and not self.has_ended

    @property
    def group_name(self) -> str | None:
        """The name of the PodGroup that it is scheduled with, None if there is none."""
        return self.spec.scheduling_group.pod_group_name if self.spec.scheduling_group is not None else None

    @property
    def provisioning_request(self) -> str | None:
        """The name of the ProvisioningRequest whose room it consumes, None if there is none."""
        annotations = self.metadata.annotations
        named = annotations.provisioning_request
        return annotations.deprecated_provisioning_request if named is None else named

    @property
    def is_daemon(self) -> bool:
        """Report whether a DaemonSet controls it."""
        owner = self.metadata.controller
        return owner is not None and owner.kind == "DaemonSet"

    @property
    def is_static(self) -> bool:
        """Report whether the kubelet itself runs it, from a file: the API server only holds its mirror."""
        owner = self.metadata.controller
        return self.metadata.annotations.config_mirror is not None or (owner is not None and owner.kind == "Node")


def is_gated(item: KubernetesObject) -> bool:
    """Report whether it is a pod with scheduling gates."""
    return type(item) is Pod and bool(item.spec.scheduling_gates)
