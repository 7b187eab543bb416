"""The pods of a Workload's group one after the other, as Kubernetes 1.35 schedules them (plugins/gangscheduling)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.scheduling import PodGroup, PodGroupSpec
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.podgroup_info import Placement, PodGroupInfo
from kubectl_sched.framework.status import SUCCESS, unschedulable
from kubectl_sched.scheduler.group_membership import queue_key
from kubectl_sched.scheduler.podgroup_algorithm import all_rows, assume
from kubectl_sched.scheduler.podgroup_result import Attempt, Member, PlacementResult, PodGroupResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import cycle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.scheduling import Workload, WorkloadPodGroup
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.scheduler import Scheduler

_TIMED_OUT = "0/1 nodes are available: 1 rejected due to timeout after waiting 5m0s at plugin GangScheduling."


def explain_workload(workload: Workload, scheduler: Scheduler) -> Iterator[PodGroupResult]:
    """Yield the result of each group of the workload, of each of its replicas if pods name any."""
    nodes = scheduler.nodes
    placed = [pod for pod in (*nodes.whole.existing_pods.pods, *nodes.stranded) if is_of_workload(pod, workload)]
    pending = sorted((pod for pod in nodes.pending if is_of_workload(pod, workload)), key=queue_key)
    for group in workload.spec.pod_groups:
        replicas = dict.fromkeys(_replica(pod) for pod in (*pending, *placed) if _group(pod) == group.name)
        for replica in replicas or [""]:
            own = (group.name, replica)
            info = PodGroupInfo(
                group=_as_group(workload, group, replica),
                pods=tuple(pod for pod in pending if (_group(pod), _replica(pod)) == own),
                scheduled=tuple(pod for pod in placed if (_group(pod), _replica(pod)) == own),
            )
            yield _explained(info, scheduler)


def _explained(info: PodGroupInfo, scheduler: Scheduler) -> PodGroupResult:
    """Place each pod beside those before it; a gang that stays too small waits in Permit until time is up."""
    nodes = scheduler.nodes
    found: list[tuple[CycleResult, str | None]] = []
    others: list[Member] = []
    for pod in info.pods:
        framework = scheduler.framework(scheduler_name_of(pod))
        if framework is None:
            others.append(Member(pod=pod, outcome=Outcome.NO_PROFILE))
            continue
        gate = framework.run_pre_enqueue(pod, scheduler.nodes)
        if not gate.is_success:
            others.append(Member(pod=pod, outcome=Outcome.GATED, message=gate.message))
            continue
        result = replace(cycle(pod, nodes, framework), pre_enqueue=SUCCESS)
        node_name = (result.nominated_first or result.best[0]) if result.fits else None
        if node_name is not None:
            nodes = assume(result, nodes, node_name)
        found.append((result, node_name))
    placed = len(info.scheduled) + sum(node_name is not None for _, node_name in found)
    passes = placed >= (info.min_count or 0)
    members = (*(_member(result, node_name, passes=passes) for result, node_name in found), *others)
    outcomes = {member.outcome for member in members}
    outcome = next(
        (each for each in (Outcome.UNKNOWN, Outcome.SCHEDULABLE, Outcome.UNSCHEDULABLE) if each in outcomes),
        Outcome.GATED,
    )
    attempts = tuple(
        Attempt(pod=result.pod, result=result, status=SUCCESS if node_name else unschedulable(result.event or ""))
        for result, node_name in found
    )
    everywhere = Placement(name="", rows=all_rows(nodes))
    return PodGroupResult(
        info=info,
        outcome=outcome,
        kubernetes_version=str(scheduler.configuration.version),
        kubernetes_patch=scheduler.configuration.release.patch_name,
        members=members,
        placements=(PlacementResult(placement=everywhere, attempts=attempts, status=SUCCESS),),
    )


def _member(result: CycleResult, node_name: str | None, *, passes: bool) -> Member:
    if node_name is None:
        return Member(pod=result.pod, outcome=result.outcome, message=result.event, result=result)
    if not passes:
        return Member(pod=result.pod, outcome=Outcome.UNSCHEDULABLE, message=_TIMED_OUT, result=result)
    tied = (node_name,) if result.nominated_first else result.best
    return Member(pod=result.pod, outcome=Outcome.SCHEDULABLE, node_name=node_name, tied=tied, result=result)


def is_of_workload(pod: Pod, workload: Workload) -> bool:
    """Report whether the pod names the workload."""
    reference = pod.spec.workload_ref
    return (
        reference is not None
        and reference.name == workload.name
        and pod.metadata.namespace == workload.metadata.namespace
    )


def _group(pod: Pod) -> str:
    return pod.spec.workload_ref.pod_group if pod.spec.workload_ref is not None else ""


def _replica(pod: Pod) -> str:
    return pod.spec.workload_ref.pod_group_replica_key if pod.spec.workload_ref is not None else ""


def _as_group(workload: Workload, group: WorkloadPodGroup, replica: str) -> PodGroup:
    name = "/".join(filter(None, (workload.name, group.name, replica)))
    metadata = ObjectMeta(name=name, namespace=workload.metadata.namespace)
    return PodGroup(metadata=metadata, spec=PodGroupSpec(scheduling_policy=group.policy))
