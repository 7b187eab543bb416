"""Queues and workloads of Kueue (sigs.k8s.io/kueue/apis/kueue/v1beta1 and v1beta2), and ProvisioningRequests."""

from __future__ import annotations

from kubectl_sched.api.affinity import Toleration
from kubectl_sched.api.apps import PodTemplateSpec
from kubectl_sched.api.core import RawQuantity, ResourceList
from kubectl_sched.api.meta import Condition, Conditions, Int32, KubernetesObject, LabelSelector, ObjectMeta, Part

QUEUE_NAME = "kueue.x-k8s.io/queue-name"
"""The label that names the LocalQueue of a pod or a Job."""

JOB_SET = "jobset.sigs.k8s.io/jobset-name"
"""The label that names the JobSet of a pod or a Job."""


class KueuePodSet(Part, frozen=True):
    """Equal pods of a workload."""

    name: str = ""
    count: Int32 = 0
    template: PodTemplateSpec = PodTemplateSpec()


class QueuedWorkloadSpec(Part, frozen=True):
    """The pods that wait together, and the LocalQueue that they wait in."""

    pod_sets: tuple[KueuePodSet, ...] = ()
    queue_name: str = ""
    priority: Int32 | None = None
    active: bool = True


class TopologyDomainAssignment(Part, frozen=True):
    """A domain by its values, one a level (v1beta1)."""

    values: tuple[str, ...] = ()


class TopologyValueTexts(Part, frozen=True):
    """The values of one level, one a domain, as a common beginning, roots and a common end."""

    prefix: str = ""
    suffix: str = ""
    roots: tuple[str, ...] = ()


class TopologyLevelValues(Part, frozen=True):
    """The values of one level: the same one for all domains, or one for each."""

    universal: str | None = None
    individual: TopologyValueTexts = TopologyValueTexts()

    def value(self, index: int) -> str:
        """Return the value of a domain; empty if there is none."""
        if self.universal is not None:
            return self.universal
        of = self.individual
        return f"{of.prefix}{of.roots[index]}{of.suffix}" if index < len(of.roots) else ""


class TopologyAssignmentSlice(Part, frozen=True):
    """Several domains (v1beta2)."""

    domain_count: Int32 = 0
    values_per_level: tuple[TopologyLevelValues, ...] = ()


class TopologyAssignment(Part, frozen=True):
    """The topology domains that the pods of a set are to run in."""

    levels: tuple[str, ...] = ()
    domains: tuple[TopologyDomainAssignment, ...] = ()
    slices: tuple[TopologyAssignmentSlice, ...] = ()


class PodSetAssignment(Part, frozen=True):
    """The flavor of each resource that Kueue chose for a set of pods."""

    name: str = ""
    flavors: dict[str, str] = {}
    resource_usage: ResourceList = {}
    topology_assignment: TopologyAssignment = TopologyAssignment()


class KueueAdmission(Part, frozen=True):
    """The quota that is reserved for a workload."""

    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] = ()


class PodSetUpdate(Part, frozen=True):
    """Fields that an admission check sets on the pods of a set."""

    name: str = ""
    labels: dict[str, str] = {}
    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class AdmissionCheckState(Part, frozen=True):
    """The state of one admission check of a workload: Pending, Ready, Retry or Rejected."""

    name: str = ""
    state: str = ""
    message: str = ""
    last_transition_time: str | None = None
    retry_count: Int32 = 0
    requeue_after_seconds: Int32 | None = None
    pod_set_updates: tuple[PodSetUpdate, ...] = ()


class PodSetRequest(Part, frozen=True):
    """The sum of what a set of pods asks for."""

    name: str = ""
    resources: ResourceList = {}


class RequeueState(Part, frozen=True):
    """The time before which an evicted workload is not put back into its queue, and how often it was evicted so."""

    count: Int32 = 0
    requeue_at: str | None = None


class UnhealthyNode(Part, frozen=True):
    """A node of the workload that has failed, and that Kueue wants to replace."""

    name: str = ""


class PreemptionGateState(Part, frozen=True):
    """A gate that keeps the workload from preempting others while its position is not Open."""

    name: str = ""
    position: str = ""


class QueuedWorkloadStatus(Part, frozen=True):
    """The decisions of Kueue about a workload."""

    conditions: tuple[Condition, ...] = ()
    admission: KueueAdmission | None = None
    admission_checks: tuple[AdmissionCheckState, ...] = ()
    resource_requests: tuple[PodSetRequest, ...] = ()
    requeue_state: RequeueState | None = None
    cluster_name: str | None = None
    """The cluster that MultiKueue has sent it to."""

    nominated_cluster_names: tuple[str, ...] = ()
    unhealthy_nodes: tuple[UnhealthyNode, ...] = ()
    preemption_gates: tuple[PreemptionGateState, ...] = ()


class QueuedWorkload(KubernetesObject, frozen=True, tag_field="kind", tag="Workload"):
    """Kueue's Workload: pods that start together or not at all."""

    spec: QueuedWorkloadSpec = QueuedWorkloadSpec()
    status: QueuedWorkloadStatus = QueuedWorkloadStatus()

    @property
    def has_finished(self) -> bool:
        """Report whether all its pods have ended."""
        return any((each.type, each.status) == ("Finished", "True") for each in self.status.conditions)


class LocalQueueSpec(Part, frozen=True):
    """The ClusterQueue behind it; a `stop_policy` other than None stops it."""

    cluster_queue: str = ""
    stop_policy: str = ""


class LocalQueue(KubernetesObject, frozen=True, tag_field="kind", tag="LocalQueue"):
    """The queue of a namespace."""

    spec: LocalQueueSpec = LocalQueueSpec()
    status: Conditions = Conditions()


class KueueResourceQuota(Part, frozen=True):
    """The quota of one resource in one flavor."""

    name: str = ""
    nominal_quota: RawQuantity = "0"
    borrowing_limit: RawQuantity | None = None
    lending_limit: RawQuantity | None = None


class FlavorQuotas(Part, frozen=True):
    """The quotas of one flavor."""

    name: str = ""
    resources: tuple[KueueResourceQuota, ...] = ()


class KueueResourceGroup(Part, frozen=True):
    """Resources that get one flavor together, and the flavors in the order in which Kueue tries them."""

    covered_resources: tuple[str, ...] = ()
    flavors: tuple[FlavorQuotas, ...] = ()


class ClusterQueueSpec(Part, frozen=True):
    """Quotas, and the namespaces that may use them; the cohort is `cohort` in v1beta1."""

    resource_groups: tuple[KueueResourceGroup, ...] = ()
    cohort: str = ""
    cohort_name: str = ""
    queueing_strategy: str = ""
    namespace_selector: LabelSelector | None = None
    stop_policy: str = ""


class KueueResourceUsage(Part, frozen=True):
    """The amount of one resource in use, and the part of it that is borrowed."""

    name: str = ""
    total: RawQuantity = "0"
    borrowed: RawQuantity = "0"


class FlavorUsage(Part, frozen=True):
    """The amounts in use of one flavor."""

    name: str = ""
    resources: tuple[KueueResourceUsage, ...] = ()


class ClusterQueueStatus(Conditions, frozen=True):
    """`flavors_reservation` counts workloads from the moment that their quota is reserved."""

    flavors_reservation: tuple[FlavorUsage, ...] = ()
    flavors_usage: tuple[FlavorUsage, ...] = ()
    pending_workloads: Int32 = 0


class ClusterQueue(KubernetesObject, frozen=True, tag_field="kind", tag="ClusterQueue"):
    """The quotas that workloads wait for."""

    spec: ClusterQueueSpec = ClusterQueueSpec()
    status: ClusterQueueStatus = ClusterQueueStatus()

    @property
    def cohort(self) -> str:
        """The name of its cohort, empty without one."""
        return self.spec.cohort_name or self.spec.cohort


class CohortSpec(Part, frozen=True):
    """Quotas that the ClusterQueues of the cohort share; `parent` in v1alpha1."""

    parent_name: str = ""
    parent: str = ""
    resource_groups: tuple[KueueResourceGroup, ...] = ()


class Cohort(KubernetesObject, frozen=True, tag_field="kind", tag="Cohort"):
    """ClusterQueues that lend each other what they do not use."""

    spec: CohortSpec = CohortSpec()

    @property
    def parent(self) -> str:
        """The name of the cohort above, empty without one."""
        return self.spec.parent_name or self.spec.parent


class ResourceFlavorSpec(Part, frozen=True):
    """The nodes of a flavor, and what its pods tolerate."""

    node_labels: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class ResourceFlavor(KubernetesObject, frozen=True, tag_field="kind", tag="ResourceFlavor"):
    """A kind of nodes that quota is given for."""

    spec: ResourceFlavorSpec = ResourceFlavorSpec()


class AdmissionCheck(KubernetesObject, frozen=True, tag_field="kind", tag="AdmissionCheck"):
    """A condition besides quota that workloads wait for."""

    status: Conditions = Conditions()


class ProvisioningRequestSpec(Part, frozen=True):
    """The class says how room is made, and by whom."""

    provisioning_class_name: str = ""


class ProvisioningRequest(KubernetesObject, frozen=True, tag_field="kind", tag="ProvisioningRequest"):
    """Room that cluster-autoscaler is asked for (autoscaling.x-k8s.io)."""

    spec: ProvisioningRequestSpec = ProvisioningRequestSpec()
    status: Conditions = Conditions()


class PendingWorkload(Part, frozen=True):
    """A workload's place in its queues, counted from 0."""

    metadata: ObjectMeta = ObjectMeta()
    priority: Int32 = 0
    position_in_cluster_queue: Int32 = 0
    position_in_local_queue: Int32 = 0


class PendingWorkloadsSummary(KubernetesObject, frozen=True, tag_field="kind", tag="PendingWorkloadsSummary"):
    """The answer of Kueue's visibility API about a LocalQueue; readers give it the queue's name."""

    items: tuple[PendingWorkload, ...] = ()
