"""Pods that wait in Permit for the rest of their gang, as in Kubernetes 1.35: each holds its node and is not bound yet.

Answers to plugins/gangscheduling, runtime/waiting_pods_map.go and backend/workloadmanager of pkg/scheduler. What waits
is written nowhere but for its nomination, so that a new leader begins anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from kubectl_sched.binding.second_scheduler.cluster_events import ASSUMED_POD_FORGOTTEN
from kubectl_sched.binding.second_scheduler.queued_pod import nominated_pod
from kubectl_sched.config.duration import format_duration
from kubectl_sched.framework.status import Code
from kubectl_sched.plugins.gang_scheduling import GangScheduling
from kubectl_sched.scheduler.podgroup_result import Member
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.pod import Pod, WorkloadReference
    from kubectl_sched.binding.second_scheduler.binding_workers import Binder
    from kubectl_sched.binding.second_scheduler.cache import Cache
    from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod
    from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.scheduler.cycle_result import CycleResult

_TIMEOUT_SECONDS: Final = 300.0
"""DefaultSchedulingTimeoutDuration."""


class Assumed(NamedTuple):
    """A pod that is assumed on its node and has no binding cycle yet. `began` is when its attempt did."""

    queued: QueuedPod
    result: CycleResult
    node: str
    reservations: Sequence[Reservation]
    began: float

    @property
    def pod(self) -> Pod:
        """The pod as it was last seen, with the nomination that it may have by now."""
        is_nominated = self.result.framework.handle.features.enabled("NominatedNodeNameForExpectation")
        return nominated_pod(self.queued.pod, self.node) if is_nominated else self.queued.pod


class Rejected(NamedTuple):
    """A pod that waits no longer, and the seconds since its attempt began."""

    member: Member
    seconds: float


class _Waiting(NamedTuple):
    assumed: Assumed
    until: float
    timed_out: str
    """The reason with which it is rejected then."""


class WaitingGangs:
    """All pods that wait, each until its gang has its quorum or the gang's time is up."""

    def __init__(self, cache: Cache, queue: SchedulingQueue, binder: Binder) -> None:
        self._cache = cache
        self._queue = queue
        self._binder = binder
        self._waiting: dict[str, _Waiting] = {}
        """By UID."""
        self._deadlines: dict[tuple[str, WorkloadReference | None], float] = {}
        """By namespace and gang; one counts for all pods that begin to wait before it has passed."""

    def has_to_wait(self, result: CycleResult) -> bool:
        """Report whether the pod's gang lacks its quorum, the pod counted."""
        if result.pod.spec.workload_ref is None:
            return False
        scheduled = self._cache.placed_members(result.pod) + 1
        permits = (each.permit(result.pod, result.nodes, scheduled) for each in result.framework.permit_plugins)
        return any(permit.code is Code.WAIT for permit in permits)

    def wait(self, assumed: Assumed, now: float) -> None:
        """Let the pod wait, and have the pods of its gang that have no node tried at once."""
        pod, gang = assumed.result.pod, _gang(assumed.result.pod)
        if self._deadlines.get(gang, now - 1) < now:
            self._deadlines[gang], seconds = now + _TIMEOUT_SECONDS, _TIMEOUT_SECONDS
        else:
            seconds = self._deadlines[gang] - now
        waited = format_duration(round(seconds * 1e9))
        timed_out = f"rejected due to timeout after waiting {waited} at plugin {GangScheduling.name}"
        self._waiting[pod.metadata.uid] = _Waiting(assumed, self._deadlines[gang], timed_out)
        self._binder.hold(assumed.queued.pod, assumed.pod.status.nominated_node_name)
        for other in self._cache.waiting_members(pod):
            self._queue.activate(other)

    def allowed_with(self, pod: Pod) -> list[Assumed]:
        """Take out the pods that waited for this one, all of its gang but those that are just being preempted."""
        gang = _gang(pod)
        if gang[1] is None:
            return []
        uids = [uid for uid, each in self._waiting.items() if _gang(each.assumed.result.pod) == gang]
        found = [self._waiting.pop(uid).assumed for uid in uids if self._binder.let_go(uid)]
        return [each._replace(result=replace(each.result, pod=each.pod)) for each in found]

    def ends_at(self) -> float | None:
        """The time at which a pod has waited long enough; None if none waits."""
        return min((each.until for each in self._waiting.values()), default=None)

    def expired(self, now: float) -> Iterator[Rejected]:
        """Reject the pods whose time is up."""
        for uid, waiting in list(self._waiting.items()):
            if waiting.until <= now:
                yield from self.rejected(uid, waiting.timed_out, GangScheduling.name, now)

    def changed(self, old: Pod, new: Pod | None, now: float) -> Iterator[Rejected]:
        """Take in a change of a pod: what is being deleted, or has been bound by somebody else, waits no longer."""
        uid = old.metadata.uid
        is_gone = new is None or new.metadata.uid != uid
        if is_gone and not self._cache.members(old):
            self._deadlines.pop(_gang(old), None)
        if uid not in self._waiting:
            return
        if new is None or is_gone or new.metadata.deletion_timestamp is not None:
            yield from self.rejected(uid, "removed", "", now)
        elif new.spec.node_name:
            self._binder.let_go(uid)
            self._cache.forget(self._waiting.pop(uid).assumed.result.pod)

    def rejected(self, uid: str, why: str, plugin: str, now: float) -> Iterator[Rejected]:
        """Take back all that was assumed of the pod, if it waits."""
        waiting = self._waiting.pop(uid, None)
        if waiting is None:
            return
        self._binder.let_go(uid)
        assumed, pod = waiting.assumed, waiting.assumed.pod
        self._cache.forget(assumed.result.pod)
        self._queue.rejected(assumed.queued, (plugin,), now)
        freed = nominated_pod(assumed.result.pod, assumed.node)
        self._queue.move(ASSUMED_POD_FORGOTTEN, now, freed, only=lambda other: other.metadata.uid != uid)
        # Permit's status is the only one that the FitError counts.
        said = f"0/1 nodes are available: 1 {why}."
        member = Member(pod=pod, outcome=Outcome.UNSCHEDULABLE, message=said, nominated_node="", result=assumed.result)
        self._binder.report_group([(member, assumed.result.framework)], ())
        yield Rejected(member, now - assumed.began)


def _gang(pod: Pod) -> tuple[str, WorkloadReference | None]:
    return pod.namespace, pod.spec.workload_ref
