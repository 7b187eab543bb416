"""Metadata and selectors that all objects share, and the spelling of field names.

Answers to k8s.io/apimachinery/pkg/apis/meta/v1/types.go. Structs are frozen and hold no cycles, so the garbage
collector need not know them: with a hundred thousand pods that is most of the time to decode them.
"""

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

Item = TypeVar("Item", bound=Any)

Labels: TypeAlias = dict[str, str]
"""Never changed after decoding, though the type would allow it."""


Int32: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""Go refuses a number that does not fit its type, and so does a reader of these."""

Int64: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False, omit_defaults=True):
    """A piece of an object. An absent field is Go's zero value, or None where upstream has a pointer it checks."""


class OwnerReference(Part, frozen=True):
    """A reference to the object that this one belongs to."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Annotations(Part, frozen=True, rename=None):
    """The annotations that the scheduler, the admission chain or the explanation reads; all others are dropped."""

    config_mirror: str | None = msgspec.field(name="kubernetes.io/config.mirror", default=None)
    config_source: str | None = msgspec.field(name="kubernetes.io/config.source", default=None)
    last_applied: str | None = msgspec.field(name="kubectl.kubernetes.io/last-applied-configuration", default=None)
    selected_node: str | None = msgspec.field(name="volume.kubernetes.io/selected-node", default=None)
    bind_completed: str | None = msgspec.field(name="pv.kubernetes.io/bind-completed", default=None)
    bound_by_controller: str | None = msgspec.field(name="pv.kubernetes.io/bound-by-controller", default=None)
    beta_storage_class: str | None = msgspec.field(name="volume.beta.kubernetes.io/storage-class", default=None)
    default_storage_class: str | None = msgspec.field(name="storageclass.kubernetes.io/is-default-class", default=None)
    beta_default_storage_class: str | None = msgspec.field(
        name="storageclass.beta.kubernetes.io/is-default-class", default=None
    )
    migrated_plugins: str | None = msgspec.field(name="storage.alpha.kubernetes.io/migrated-plugins", default=None)
    pod_claim_name: str | None = msgspec.field(name="resource.kubernetes.io/pod-claim-name", default=None)
    extended_resource_claim: str | None = msgspec.field(
        name="resource.kubernetes.io/extended-resource-claim", default=None
    )
    project_node_selector: str | None = msgspec.field(name="openshift.io/node-selector", default=None)
    namespace_node_selector: str | None = msgspec.field(
        name="scheduler.alpha.kubernetes.io/node-selector", default=None
    )
    default_tolerations: str | None = msgspec.field(
        name="scheduler.alpha.kubernetes.io/defaultTolerations", default=None
    )
    tolerations_whitelist: str | None = msgspec.field(
        name="scheduler.alpha.kubernetes.io/tolerationsWhitelist", default=None
    )
    do_not_disrupt: str | None = msgspec.field(name="karpenter.sh/do-not-disrupt", default=None)
    scale_down_disabled: str | None = msgspec.field(
        name="cluster-autoscaler.kubernetes.io/scale-down-disabled", default=None
    )
    safe_to_evict: str | None = msgspec.field(name="cluster-autoscaler.kubernetes.io/safe-to-evict", default=None)
    disruption_cost: str | None = msgspec.field(name="karpenter.sh/disruption-cost", default=None)
    deletion_cost: str | None = msgspec.field(name="controller.kubernetes.io/pod-deletion-cost", default=None)
    daemonset_pod: str | None = msgspec.field(name="cluster-autoscaler.kubernetes.io/daemonset-pod", default=None)
    machine_owner: str | None = msgspec.field(name="cluster.x-k8s.io/owner-name", default=None)
    machine_owner_kind: str | None = msgspec.field(name="cluster.x-k8s.io/owner-kind", default=None)
    machine_namespace: str | None = msgspec.field(name="cluster.x-k8s.io/cluster-namespace", default=None)
    leader: str | None = msgspec.field(name="control-plane.alpha.kubernetes.io/leader", default=None)
    kueue_workload: str | None = msgspec.field(name="kueue.x-k8s.io/workload", default=None)
    kueue_role_hash: str | None = msgspec.field(name="kueue.x-k8s.io/role-hash", default=None)
    kueue_group_size: str | None = msgspec.field(name="kueue.x-k8s.io/pod-group-total-count", default=None)
    provisioning_request: str | None = msgspec.field(
        name="autoscaling.x-k8s.io/consume-provisioning-request", default=None
    )
    deprecated_provisioning_request: str | None = msgspec.field(
        name="cluster-autoscaler.kubernetes.io/consume-provisioning-request", default=None
    )
    group_name: str | None = msgspec.field(name="scheduling.k8s.io/group-name", default=None)
    volcano_group_name: str | None = msgspec.field(name="scheduling.volcano.sh/group-name", default=None)
    kai_group_name: str | None = msgspec.field(name="pod-group-name", default=None)
    gang_name: str | None = msgspec.field(name="gang.scheduling.koordinator.sh/name", default=None)
    gang_min_available: str | None = msgspec.field(name="gang.scheduling.koordinator.sh/min-available", default=None)
    gang_mode: str | None = msgspec.field(name="gang.scheduling.koordinator.sh/mode", default=None)
    gang_waiting_time: str | None = msgspec.field(name="gang.scheduling.koordinator.sh/waiting-time", default=None)
    quota_request: str | None = msgspec.field(name="quota.scheduling.koordinator.sh/request", default=None)
    quota_runtime: str | None = msgspec.field(name="quota.scheduling.koordinator.sh/runtime", default=None)
    job_set_topology: str | None = msgspec.field(name="alpha.jobset.sigs.k8s.io/exclusive-topology", default=None)
    kai_stale_since: str | None = msgspec.field(name="kai.scheduler/stale-podgroup-timestamp", default=None)
    leader_worker_topology: str | None = msgspec.field(
        name="leaderworkerset.sigs.k8s.io/exclusive-topology", default=None
    )
    volcano_queue_name: str | None = msgspec.field(name="scheduling.volcano.sh/queue-name", default=None)
    yunikorn_app: str | None = msgspec.field(name="yunikorn.apache.org/app-id", default=None)
    yunikorn_task_group: str | None = msgspec.field(name="yunikorn.apache.org/task-group-name", default=None)
    yunikorn_queue: str | None = msgspec.field(name="yunikorn.apache.org/queue", default=None)


class FieldManager(Part, frozen=True):
    """A client of the API server that wrote something, and when."""

    manager: str = ""
    time: str | None = None


class ObjectMeta(Part, frozen=True):
    """A namespaced object without a namespace is in `default`; readers fill that in."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    labels: Labels = {}
    annotations: Annotations = Annotations()
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    gates_set_by: FieldManager | None = msgspec.field(name="kubectl-sched/gatesSetBy", default=None)
    """The manager of a pod's scheduling gates; readers take it from managedFields, which are else dropped."""

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages this object, as metav1.GetControllerOf finds it."""
        return next((owner for owner in self.owner_references if owner.controller), None)


class KubernetesObject(Part, frozen=True):
    """An object that a reader finds by apiVersion and kind. Each kind is a subclass tagged with its name."""

    api_version: str = ""
    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        """The object's name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """The object's namespace, empty for cluster-scoped kinds."""
        return self.metadata.namespace

    @property
    def key(self) -> str:
        """`namespace/name`, or just the name for cluster-scoped kinds."""
        return f"{self.metadata.namespace}/{self.metadata.name}" if self.metadata.namespace else self.metadata.name


def with_spec(item: Item, **fields: Any) -> Item:
    """Return the object with other values in these fields of its spec."""
    changed: Item = replace(item, spec=replace(item.spec, **fields))
    return changed


class LabelSelectorRequirement(Part, frozen=True):
    """`key operator values`, the operator being In, NotIn, Exists or DoesNotExist."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Part, frozen=True):
    """A selector as stored; `api/apimachinery/labels.py` gives it meaning. None (nil) and an empty one differ."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class Condition(Part, frozen=True):
    """A condition of a pod, a node or a claim."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    last_heartbeat_time: str | None = None
    observed_generation: Int64 = 0


def find_condition(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """Return the condition of a type, None if there is none (meta.FindStatusCondition)."""
    return next((each for each in conditions if each.type == kind), None)


class Conditions(Part, frozen=True):
    """The status of an object of which nothing but the conditions is read."""

    conditions: tuple[Condition, ...] = ()
