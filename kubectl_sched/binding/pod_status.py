"""Changes of a pod's status as kube-scheduler writes them (updatePod in pkg/scheduler/schedule_one.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.scheduler.podgroup_result import Condition

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.writer import JSON
    from kubectl_sched.framework.runtime import Framework

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"
POD_SCHEDULED = "PodScheduled"


def not_scheduled(reason: str, message: str) -> Condition:
    """PodScheduled=False."""
    return Condition(type=POD_SCHEDULED, status="False", reason=reason, message=message)


def preempted_by(scheduler_name: str, kind: str) -> Condition:
    """DisruptionTarget of a pod that has to go for a pod or a group of higher priority."""
    message = f"{scheduler_name}: preempting to accommodate a higher priority {kind}"
    return Condition(type="DisruptionTarget", status="True", reason="PreemptionByScheduler", message=message)


def observed_generation(framework: Framework, pod: Pod, condition: str) -> int:
    """The pod's generation if its conditions name the one they are about, else 0."""
    tracks = framework.handle.features.enabled("PodObservedGenerationTracking")
    tracked = any(each.type == condition and each.observed_generation for each in pod.status.conditions)
    return pod.metadata.generation if tracks or tracked else 0


def status_change(
    pod: Pod,
    condition: Condition | None,
    nominated: str | None,
    *,
    now: str,
    generation: int = 0,
) -> JSON:
    """Return the fields of the status that change, empty if none does.

    `nominated` is the node to nominate the pod to, empty to take a nomination back, None to leave it. `generation` is
    the pod's if conditions name the one they are about, else 0. `now` is RFC 3339.
    """
    change: JSON = {}
    if condition is not None and (entry := _entry(pod, condition, now, generation)):
        change["conditions"] = [entry]
    if nominated is not None and nominated != pod.status.nominated_node_name:
        change["nominatedNodeName"] = nominated or None
    return change


def _entry(pod: Pod, wanted: Condition, now: str, generation: int) -> JSON:
    """The condition as a strategic patch has it; empty if it stands there already (podutil.UpdatePodCondition)."""
    old = pod.condition(wanted.type)
    if old is not None and (old.status, old.reason, old.message) == (wanted.status, wanted.reason, wanted.message):
        return {}
    since = old.last_transition_time if old is not None and old.status == wanted.status else now
    entry: JSON = {
        "type": wanted.type,
        "status": wanted.status,
        "lastProbeTime": None,
        "lastTransitionTime": since,
        "reason": wanted.reason,
        "message": wanted.message,
    }
    return {**entry, "observedGeneration": generation} if generation else entry
