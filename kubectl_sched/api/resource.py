"""Devices, the claims for them and their classes (k8s.io/api/resource/v1, v1beta2 and v1beta1).

v1beta1 writes a device under `basic` and an exact request without `exactly`; `Device.flat` and `DeviceRequest.exact`
give both as v1 has them.
"""

import msgspec

from kubectl_sched.api.affinity import NodeSelector, Toleration
from kubectl_sched.api.core import RawQuantity, ResourceList, Taint
from kubectl_sched.api.meta import Condition, Int64, KubernetesObject, ObjectMeta, Part

FIRST_AVAILABLE_MAX_SIZE = 8
"""FirstAvailableDeviceRequestMaxSize: how many alternatives a request may list."""

ALLOCATION_RESULTS_MAX_SIZE = 32
"""AllocationResultsMaxSize: how many devices a claim may hold."""

DEVICE_CLASS_RESOURCE_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Every class is an extended resource of that prefix and its name."""


class DeviceAttribute(Part, frozen=True):
    """Exactly one of them is set; a version is a semantic version."""

    int_value: Int64 | None = msgspec.field(name="int", default=None)
    bool_value: bool | None = msgspec.field(name="bool", default=None)
    string_value: str | None = msgspec.field(name="string", default=None)
    version_value: str | None = msgspec.field(name="version", default=None)
    int_values: tuple[Int64, ...] = msgspec.field(name="ints", default=())
    bool_values: tuple[bool, ...] = msgspec.field(name="bools", default=())
    string_values: tuple[str, ...] = msgspec.field(name="strings", default=())
    version_values: tuple[str, ...] = msgspec.field(name="versions", default=())


class CapacityRequestPolicyRange(Part, frozen=True):
    """From min to max, in steps counted from min."""

    min: RawQuantity | None = None
    max: RawQuantity | None = None
    step: RawQuantity | None = None


class CapacityRequestPolicy(Part, frozen=True):
    """The amounts of a capacity that may be requested, and the amount taken without a request."""

    default: RawQuantity | None = None
    valid_values: tuple[RawQuantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Part, frozen=True):
    """The amount of one capacity of a device."""

    value: RawQuantity = 0
    request_policy: CapacityRequestPolicy | None = None


class Counter(Part, frozen=True):
    """An amount of a counter."""

    value: RawQuantity = 0


class CounterSet(Part, frozen=True):
    """Counters that are shared by all devices of a pool that are parts of one thing."""

    name: str = ""
    counters: dict[str, Counter] = {}


class DeviceCounterConsumption(Part, frozen=True):
    """The amounts that a device takes from a counter set while it is allocated."""

    counter_set: str = ""
    counters: dict[str, Counter] = {}
    compatibility_groups: tuple[str, ...] = ()


class DeviceTaint(Taint, frozen=True):
    """A mark by which a device repels requests; the effect is None, NoSchedule or NoExecute."""


class DeviceToleration(Toleration, frozen=True):
    """`operator` is Equal (also when empty) or Exists; an empty effect and an empty key match all."""


class NodeAllocatableResourceMapping(Part, frozen=True):
    """The amount of a node's own resource that a device takes (1.36)."""

    capacity_key: str | None = None
    allocation_multiplier: RawQuantity | None = None


class NodeAllocatableMapping(Part, frozen=True):
    """The amount of a node's own resource that a device takes (since 1.37)."""

    capacity_key: str | None = None
    capacity_multiplier: RawQuantity | None = None
    device_multiplier: RawQuantity | None = None


class NodeAllocatableOverhead(Part, frozen=True):
    """The overhead of using a device."""

    per_pod: RawQuantity | None = None
    per_container: RawQuantity | None = None


class NodeAllocatableResource(Part, frozen=True):
    """The amount that a device takes of one of the node's own resources (1.37)."""

    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class BasicDevice(Part, frozen=True):
    """All of a device besides its name."""

    attributes: dict[str, DeviceAttribute] = {}
    capacity: dict[str, DeviceCapacity] = {}
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] | None = None
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool = False
    node_allocatable_resource_mappings: dict[str, NodeAllocatableResourceMapping] = {}
    node_allocatable_resources: dict[str, NodeAllocatableResource] = {}


class Device(BasicDevice, frozen=True):
    """One device of a slice; `basic` is where v1beta1 keeps the rest."""

    name: str = ""
    basic: BasicDevice | None = None

    @property
    def flat(self) -> "Device":
        """The device as v1 writes it."""
        if self.basic is None:
            return self
        return Device(name=self.name, **{name: getattr(self.basic, name) for name in BasicDevice.__struct_fields__})


class ResourcePool(Part, frozen=True):
    """Slices of the newest generation are the pool, once there are as many of them as the count says."""

    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(Part, frozen=True):
    """The devices of a pool, and the nodes that reach them."""

    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    devices: tuple[Device, ...] = ()
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] = ()
    skip_node_operations: tuple[str, ...] = ()


class ResourceSlice(KubernetesObject, frozen=True, tag_field="kind", tag="ResourceSlice"):
    """Devices as a driver publishes them."""

    spec: ResourceSliceSpec = ResourceSliceSpec()


class CELDeviceSelector(Part, frozen=True):
    """An expression over `device`."""

    expression: str = ""


class DeviceSelector(Part, frozen=True):
    """A condition that a device must satisfy."""

    cel: CELDeviceSelector | None = None


class DeviceClassSpec(Part, frozen=True):
    """The selectors that all devices of the class satisfy, and the extended resource that requests them."""

    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(KubernetesObject, frozen=True, tag_field="kind", tag="DeviceClass"):
    """A named kind of device."""

    spec: DeviceClassSpec = DeviceClassSpec()


class CapacityRequirements(Part, frozen=True):
    """The amounts of a device's capacity that are requested."""

    requests: ResourceList = {}


class DeviceDerivedAttribute(Part, frozen=True):
    """An attribute that a request computes from others."""

    name: str = ""
    expression: str = ""


class ExactDeviceRequest(Part, frozen=True):
    """Devices of one class."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DeviceDerivedAttribute, ...] = ()


class DeviceSubRequest(ExactDeviceRequest, frozen=True):
    """One alternative of a prioritized list."""

    name: str = ""


class DeviceRequest(ExactDeviceRequest, frozen=True):
    """Exact, or the first available of some alternatives; v1beta1 writes an exact one without `exactly`."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()

    @property
    def exact(self) -> ExactDeviceRequest | None:
        """The exact request in either API's shape."""
        fields = ExactDeviceRequest.__struct_fields__
        if self.exactly is None and any(getattr(self, name) != getattr(_NOTHING, name) for name in fields):
            return self
        return self.exactly


_NOTHING = ExactDeviceRequest()


class DeviceConstraint(Part, frozen=True):
    """An attribute that the devices of some requests (none named: all) must or must not have in common."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaim(Part, frozen=True):
    """The devices that a claim asks for."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


class ResourceClaimSpec(Part, frozen=True):
    """The devices that are requested."""

    devices: DeviceClaim = DeviceClaim()


class DeviceRequestAllocationResult(Part, frozen=True):
    """One device that was allocated for a request, or for `request/subrequest`."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = msgspec.field(name="shareID", default=None)
    consumed_capacity: ResourceList | None = None
    skip_node_operations: tuple[str, ...] = ()


class DeviceAllocationResult(Part, frozen=True):
    """All devices of a claim."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()


class AllocationResult(Part, frozen=True):
    """The devices, and the nodes from which they can be reached (None: all)."""

    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class ResourceClaimConsumerReference(Part, frozen=True):
    """A consumer that may use a claim: a pod or a group of pods."""

    api_group: str = msgspec.field(name="apiGroup", default="")
    resource: str = ""
    name: str = ""
    uid: str = ""


class AllocatedDeviceStatus(Part, frozen=True):
    """The driver's report about a device of the claim."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(name="shareID", default=None)
    conditions: tuple[Condition, ...] = ()


class ResourceClaimStatus(Part, frozen=True):
    """The allocated devices, and the consumers that they are reserved for."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(KubernetesObject, frozen=True, tag_field="kind", tag="ResourceClaim"):
    """A request for devices, and what became of it."""

    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Part, frozen=True):
    """The claim to be made."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(KubernetesObject, frozen=True, tag_field="kind", tag="ResourceClaimTemplate"):
    """From which a controller makes a claim for each pod."""

    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


class DeviceTaintSelector(Part, frozen=True):
    """The devices that a rule taints; unset fields match all. Up to 1.34 classes and selectors count, too."""

    device_class_name: str | None = None
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    selectors: tuple[DeviceSelector, ...] = ()


class DeviceTaintRuleSpec(Part, frozen=True):
    """A taint, and the devices that get it (None: up to 1.36 all, since then none)."""

    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRule(KubernetesObject, frozen=True, tag_field="kind", tag="DeviceTaintRule"):
    """Taints devices as if their driver had."""

    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
