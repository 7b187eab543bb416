"""Workloads that keep pods running (k8s.io/api/apps/v1/types.go, and ReplicationController of core/v1)."""

from typing import TypeAlias

import msgspec

from kubectl_sched.api.meta import Condition, Int32, KubernetesObject, LabelSelector, ObjectMeta, Part
from kubectl_sched.api.pod import PodSpec
from kubectl_sched.api.pod_volumes import PersistentVolumeClaimTemplate
from kubectl_sched.api.scheduling import PodGroupSpec

IntOrPercent: TypeAlias = int | str
"""A number, or a share in percent such as `25%`."""


class PodTemplateSpec(Part, frozen=True):
    """The template that a workload's pods are made from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class RollingUpdate(Part, frozen=True):
    """The pods that a rollout may add and remove at a time; `partition` keeps a StatefulSet's first ordinals."""

    max_surge: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None
    partition: Int32 | None = None


class UpdateStrategy(Part, frozen=True):
    """RollingUpdate, Recreate (Deployments) or OnDelete (StatefulSets and DaemonSets)."""

    type: str = ""
    rolling_update: RollingUpdate | None = None


class WorkloadSpec(Part, frozen=True):
    """The fields that ReplicaSets, and with additions other workloads, have."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class WorkloadStatus(Part, frozen=True):
    """The pods that the workload's controller counts (None if it has not counted yet), and its conditions."""

    replicas: Int32 | None = None
    conditions: tuple[Condition, ...] = ()


class ReplicaSet(KubernetesObject, frozen=True, tag_field="kind", tag="ReplicaSet"):
    """apps/v1."""

    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class DeploymentSpec(WorkloadSpec, frozen=True):
    """With the strategy of its rollouts."""

    strategy: UpdateStrategy = UpdateStrategy()
    paused: bool = False


class Deployment(KubernetesObject, frozen=True, tag_field="kind", tag="Deployment"):
    """apps/v1."""

    spec: DeploymentSpec = DeploymentSpec()
    status: WorkloadStatus = WorkloadStatus()


class StatefulSetOrdinals(Part, frozen=True):
    """The number of a StatefulSet's first pod."""

    start: Int32 = 0


class StatefulSetSpec(WorkloadSpec, frozen=True):
    """With a claim of each template for each pod."""

    update_strategy: UpdateStrategy = UpdateStrategy()
    volume_claim_templates: tuple[PersistentVolumeClaimTemplate, ...] = ()
    pod_management_policy: str = ""
    ordinals: StatefulSetOrdinals | None = None


class StatefulSet(KubernetesObject, frozen=True, tag_field="kind", tag="StatefulSet"):
    """apps/v1."""

    spec: StatefulSetSpec = StatefulSetSpec()
    status: WorkloadStatus = WorkloadStatus()


class DaemonSetSpec(Part, frozen=True):
    """A pod for each node that the template's affinity and tolerations admit."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    update_strategy: UpdateStrategy = UpdateStrategy()


class DaemonSetStatus(Part, frozen=True):
    """The nodes that are to have a pod, and those that have one."""

    desired_number_scheduled: Int32 = 0
    current_number_scheduled: Int32 = 0


class DaemonSet(KubernetesObject, frozen=True, tag_field="kind", tag="DaemonSet"):
    """apps/v1."""

    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class ReplicationControllerSpec(Part, frozen=True):
    """Its selector is a plain map."""

    replicas: Int32 | None = None
    selector: dict[str, str] = {}
    template: PodTemplateSpec | None = None


class ReplicationController(KubernetesObject, frozen=True, tag_field="kind", tag="ReplicationController"):
    """core/v1."""

    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: WorkloadStatus = WorkloadStatus()


class JobSpec(Part, frozen=True):
    """The number of pods that run at once, the number that must succeed, and when another takes a pod's place."""

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    completion_mode: str | None = None
    suspend: bool | None = None
    pod_replacement_policy: str | None = None
    scheduling: PodGroupSpec | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class JobStatus(Part, frozen=True):
    """The number of pods that succeeded, and the conditions that end the job (Complete or Failed)."""

    succeeded: Int32 = 0
    conditions: tuple[Condition, ...] = ()


class Job(KubernetesObject, frozen=True, tag_field="kind", tag="Job"):
    """batch/v1."""

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def waits_for_the_end(self) -> bool:
        """Report whether a pod that terminates still counts until it has failed (onlyReplaceFailedPods)."""
        return self.spec.pod_replacement_policy == "Failed"

    @property
    def is_over(self) -> bool:
        """Report whether no further pod is made for it."""
        return any(each.type in {"Complete", "Failed"} and each.status == "True" for each in self.status.conditions)


class JobTemplateSpec(Part, frozen=True):
    """The job of each run."""

    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Part, frozen=True):
    """The jobs to start, whether none is started now, and how late one may start; the schedule does not matter."""

    suspend: bool | None = None
    starting_deadline_seconds: int | None = None
    job_template: JobTemplateSpec = msgspec.field(default=JobTemplateSpec())


class CronJob(KubernetesObject, frozen=True, tag_field="kind", tag="CronJob"):
    """batch/v1."""

    spec: CronJobSpec = CronJobSpec()
