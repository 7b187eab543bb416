"""Workloads and groups of pods (k8s.io/api/scheduling/v1alpha1, v1alpha2, v1alpha3 and v1beta1)."""

from kubectl_sched.api.meta import Condition, Int32, KubernetesObject, Part
from kubectl_sched.api.pod import PodResourceClaim, PodResourceClaimStatus


class GangSchedulingPolicy(Part, frozen=True):
    """All or nothing: so many pods, or child groups, must fit together."""

    min_count: Int32 = 0
    min_group_count: Int32 = 0


class BasicSchedulingPolicy(Part, frozen=True):
    """Empty: it is set or not."""


class PodGroupSchedulingPolicy(Part, frozen=True):
    """`gang` None means that each pod is scheduled for itself."""

    gang: GangSchedulingPolicy | None = None
    basic: BasicSchedulingPolicy | None = None


class WorkloadPodGroup(Part, frozen=True):
    """A group as a Workload of 1.35 holds it."""

    name: str = ""
    policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()


class WorkloadSpec(Part, frozen=True):
    """The groups of a workload."""

    pod_groups: tuple[WorkloadPodGroup, ...] = ()


class Workload(KubernetesObject, frozen=True, tag_field="kind", tag="Workload"):
    """Read for its groups in 1.35; later a group is an object of its own."""

    spec: WorkloadSpec = WorkloadSpec()


class TopologyConstraint(Part, frozen=True):
    """All pods of the group in one domain of this topology."""

    key: str = ""


class PodGroupSchedulingConstraints(Part, frozen=True):
    """The topology domain that the group must be placed in as a whole."""

    topology: tuple[TopologyConstraint, ...] = ()


class AllDisruptionMode(Part, frozen=True):
    """Empty: it is set or not."""


class SingleDisruptionMode(Part, frozen=True):
    """Empty: it is set or not."""


class DisruptionMode(Part, frozen=True):
    """The disruption that the group allows: pods one by one, or only `all` together."""

    all: AllDisruptionMode | None = None
    single: SingleDisruptionMode | None = None


class WorkloadReference(Part, frozen=True):
    """The Workload whose template a group was made from."""

    workload_name: str = ""


class PodGroupTemplateReference(Part, frozen=True):
    """The Workload whose template a group was made from (1.36)."""

    workload: WorkloadReference | None = None


class PodGroupSpec(Part, frozen=True):
    """The scheduling policy of the group, and the claims that its pods share."""

    parent_composite_pod_group_name: str | None = None
    pod_group_template_ref: PodGroupTemplateReference | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | str | None = None
    """A word in 1.36: `Pod` or `PodGroup`."""
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str | None = None


class PodGroupStatus(Part, frozen=True):
    """The claims that were made for the group, and the conditions that were written."""

    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()


class PodGroup(KubernetesObject, frozen=True, tag_field="kind", tag="PodGroup"):
    """A group of pods, since 1.36."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def priority(self) -> int:
        """Return the priority, 0 where none is set."""
        return self.spec.priority or 0

    @property
    def workload(self) -> str | None:
        """The name of the Workload whose template the group was made from."""
        template = self.spec.pod_group_template_ref
        found = self.spec.workload_ref or (template.workload if template is not None else None)
        return found.workload_name if found is not None else None


class CompositePodGroup(KubernetesObject, frozen=True, tag_field="kind", tag="CompositePodGroup"):
    """A group of groups, since 1.37."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()
