"""The PodGroup that a Job is given with WorkloadWithJob (pkg/controller/job/job_scheduling_manager.go).

Its real name ends in a hash of the Job's uid. A Job with pods or with a PodGroup of its own gets none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apps import CronJob, Job
from kubectl_sched.api.meta import ObjectMeta, with_spec
from kubectl_sched.api.pod import PodSchedulingGroup
from kubectl_sched.api.scheduling import GangSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy, PodGroupSpec

if TYPE_CHECKING:
    from kubectl_sched.api.apps import JobSpec
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.snapshot import Objects


def pod_group_of(source: KubernetesObject, pod: Pod, objects: Objects, *, chosen: bool) -> PodGroup | None:
    """Return the group of a Job's pods, of which `pod` is one; None if its pods are scheduled one by one.

    `chosen`: the Job says what group it wants, since 1.37. Before, only one that needs all of its pods at once has one.
    """
    if isinstance(source, CronJob) and not chosen:
        source = Job(metadata=source.metadata, spec=source.spec.job_template.spec)
    if not isinstance(source, Job) or pod.spec.scheduling_group is not None:
        return None
    if objects.get(Job, source.name, source.namespace) is not None:
        return next((each for each in objects.in_namespace(PodGroup, source.namespace) if _is_of(each, source)), None)
    spec = _chosen(source.spec, pod) if chosen else _gang_of_all(source.spec)
    if spec is None or (chosen and source.metadata.controller is not None):
        return None
    name = f"{source.name}-pgt-0"
    uid = f"whatif/PodGroup/{source.namespace}/{name}"
    return PodGroup(metadata=ObjectMeta(name=name, namespace=source.namespace, uid=uid), spec=spec)


def in_group(pod: Pod, group: PodGroup) -> Pod:
    """Return the pod as one of the group."""
    named = PodSchedulingGroup(pod_group_name=group.name)
    return with_spec(pod, scheduling_group=named)


def _is_of(group: PodGroup, job: Job) -> bool:
    controller = group.metadata.controller
    return controller is not None and (controller.kind, controller.name) == ("Job", job.name)


def _gang_of_all(spec: JobSpec) -> PodGroupSpec | None:
    """1.36: a gang of all pods of an indexed Job that run at once (IsGangSchedulingCandidate)."""
    count = spec.parallelism or 0
    if count <= 1 or spec.completions != count or spec.completion_mode != "Indexed":
        return None
    return PodGroupSpec(scheduling_policy=PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=count)))


def _chosen(spec: JobSpec, pod: Pod) -> PodGroupSpec:
    """1.37: as `spec.scheduling` says, the basic policy by default; a gang without minCount needs all that run."""
    wanted = spec.scheduling or PodGroupSpec()
    gang = wanted.scheduling_policy.gang
    if gang is not None and not gang.min_count:
        policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=spec.parallelism or 1))
        wanted = structs.replace(wanted, scheduling_policy=policy)
    return structs.replace(wanted, priority=pod.priority or None)
