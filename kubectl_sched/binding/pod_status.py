"""What kube-scheduler writes into a pod's status (updatePod in pkg/scheduler/schedule_one.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.writer import JSON

UNSCHEDULABLE = "Unschedulable"
SCHEDULER_ERROR = "SchedulerError"
_TYPE = "PodScheduled"


class NotScheduled(Record, frozen=True):
    """The condition PodScheduled=False: why, and the whole message, which only the event cuts."""

    reason: str
    message: str


def status_change(
    pod: Pod,
    condition: NotScheduled | None,
    nominated: str | None,
    *,
    now: str,
    generation: int = 0,
) -> JSON:
    """What of the status changes, empty where nothing does.

    `nominated` is the node to nominate the pod to, empty to take a nomination back, None to leave it. `generation` is
    the pod's where conditions tell which one they are about, else 0. `now` is RFC 3339.
    """
    change: JSON = {}
    if condition is not None and (entry := _condition(pod, condition, now, generation)):
        change["conditions"] = [entry]
    if nominated is not None and nominated != pod.status.nominated_node_name:
        change["nominatedNodeName"] = nominated or None
    return change


def _condition(pod: Pod, wanted: NotScheduled, now: str, generation: int) -> JSON:
    """The condition as a strategic patch has it; empty where it stands there already (podutil.UpdatePodCondition)."""
    old = next((each for each in pod.status.conditions if each.type == _TYPE), None)
    if old is not None and (old.status, old.reason, old.message) == ("False", wanted.reason, wanted.message):
        return {}
    since = old.last_transition_time if old is not None and old.status == "False" else now
    entry: JSON = {
        "type": _TYPE,
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": since,
        "reason": wanted.reason,
        "message": wanted.message,
    }
    return {**entry, "observedGeneration": generation} if generation else entry
