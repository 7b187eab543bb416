"""Pods that ReplicaSets, ReplicationControllers and StatefulSets lack, and what keeps them from being made."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.api.admission import LimitRange, ResourceQuota
from kubectl_sched.api.apps import ReplicaSet, ReplicationController, StatefulSet
from kubectl_sched.api.meta import find_condition
from kubectl_sched.apiserver.limit_ranges import with_limit_defaults
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.apiserver.resource_quotas import Quotas
from kubectl_sched.controllers.ordered_ready import is_ordered, ordinal_of
from kubectl_sched.controllers.workload_pods import replicas_of
from kubectl_sched.queries.never_created.missing_pods import NeverCreated, Obstacle, WorkloadName
from kubectl_sched.queries.never_created.refusals import refusal
from kubectl_sched.shell_commands import explain_pod, patch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.never_created.workloads import Workloads

Replicated: TypeAlias = ReplicaSet | ReplicationController | StatefulSet


def lacking(item: Replicated, around: Workloads) -> Iterator[NeverCreated]:
    """Yield what keeps the workload's missing pods from being made, if it lacks pods and something shows why."""
    wanted = 1 if item.spec.replicas is None else item.spec.replicas
    pods = around.pods_of(item)
    if len(pods) >= wanted:
        return
    found = _refused(item, around) or _behind_an_ordinal(item, pods) or _over_quota(item, around)
    if found is not None:
        owner = around.name_of(item)
        yield NeverCreated(workload=around.topmost(item), owner=owner, obstacle=found, wanted=wanted, there=len(pods))


def _refused(item: Replicated, around: Workloads) -> Obstacle | None:
    """Return the newest refusal that an event or the condition ReplicaFailure tells of; that of its Deployment last."""
    event = around.event(item, "FailedCreate")
    if event is not None:
        return refusal(event.text, "event", event.first_seen or event.last_seen)
    for conditions in around.conditions_of(item):
        failed = find_condition(conditions, "ReplicaFailure")
        if failed is not None and failed.status == "True" and failed.reason != "FailedDelete":
            return refusal(failed.message, "condition", failed.last_transition_time)
    return None


def _behind_an_ordinal(item: Replicated, pods: Sequence[Pod]) -> Obstacle | None:
    """Return the pod that must be ready before a StatefulSet makes the next one."""
    if not isinstance(item, StatefulSet) or not is_ordered(item) or not pods:
        return None
    waits_for = next((pod for pod in sorted(pods, key=ordinal_of) if not _is_ready(pod)), None)
    if waits_for is None:
        return None
    state = (
        "ends" if waits_for.metadata.deletion_timestamp else "is pending" if waits_for.is_pending else "is not ready"
    )
    return Obstacle(
        cause="WaitsForOrdinal",
        name=waits_for.name,
        clause=f"{waits_for.name} {state} (OrderedReady)",
        detail="the next pod is made once it is ready",
        helps="find out what keeps it; podManagementPolicy Parallel makes all pods at once, and is chosen when the "
        "StatefulSet is created",
        commands=tuple(filter(None, (explain_pod(waits_for.namespace, waits_for.name),))),
        since=waits_for.metadata.creation_timestamp,
    )


def _is_ready(pod: Pod) -> bool:
    ready = pod.condition("Ready")
    return ready is not None and ready.status == "True" and pod.metadata.deletion_timestamp is None


def _over_quota(item: Replicated, around: Workloads) -> Obstacle | None:
    """Return the quota that refuses one more pod by its numbers, where no event and no condition is left.

    The controller must have counted: its status says how many pods it made.
    """
    objects = around.objects
    if item.status.replicas is None or not objects.in_namespace(ResourceQuota, item.namespace):
        return None
    pod = replicas_of(item, ()).pod(0)
    pod = with_limit_defaults(pod, objects.in_namespace(LimitRange, item.namespace))
    try:
        Quotas(objects).take(pod)
    except RefusedError as error:
        return refusal(error.reason, "fields", None)
    return None


def deployment_without_replicas(workload: WorkloadName, wanted: int) -> NeverCreated:
    """Return the pods of a paused Deployment that has no ReplicaSet."""
    clause = "it is paused (spec.paused), so it makes no ReplicaSet"
    resume = patch("deployment", workload.namespace, workload.name, {"spec": {"paused": False}})
    paused = Obstacle(
        cause="Paused", clause=clause, helps="resume it", commands=tuple(filter(None, (resume,))), on_purpose=True
    )
    return NeverCreated(workload=workload, owner=workload, obstacle=paused, wanted=wanted, there=0)
