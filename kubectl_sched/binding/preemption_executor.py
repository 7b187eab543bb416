"""Carries out preemption for one pod (pkg/scheduler/framework/preemption/executor.go).

Victims get the condition DisruptionTarget=PreemptionByScheduler and are deleted, as kube-scheduler does it. Its
eligibility check recognizes its own victims by that reason: while one of them is terminating on the nominated node,
the pod preempts nobody else. An eviction would leave another reason, and a second pod would have to go.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.api_requests import delete, patch_pod_status, pod_path
from kubectl_sched.binding.event_recorder import preempted
from kubectl_sched.binding.pod_status import observed_generation, preempted_by, status_change
from kubectl_sched.binding.pre_bind_waiting import POLL_SECONDS
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.record import Record
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from threading import Event

    from kubectl_sched.binding.event_recorder import EventRecorder
    from kubectl_sched.binding.writer import Request, Writer
    from kubectl_sched.scheduler.result import ScheduleResult

_BEYOND_GRACE_SECONDS = 30
_DEFAULT_GRACE_SECONDS = 30
_NOT_THERE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT})
"""Answers to a request about a pod of this UID when that pod is gone; 409 when another one has its name."""


class Preempted(Record, frozen=True, kw_only=True):
    """The victims that are going, a sentence about the request that failed, and what else went wrong."""

    node: str
    victims: tuple[Pod, ...] = ()
    failure: str = ""
    warnings: tuple[str, ...] = ()


def victims_of(result: ScheduleResult) -> tuple[str, tuple[Pod, ...]] | None:
    """Return the node and the pods that have to go from it; None if preemption does not help."""
    found = result.post_filter
    if found is None or not found.nominated_node or not found.victims:
        return None
    return found.nominated_node, found.victims


def without_preemption(result: ScheduleResult) -> ScheduleResult:
    """Return the result without a nomination that rests on preemption."""
    if result.post_filter is None or not result.post_filter.victims:
        return result
    return replace(result, post_filter=replace(result.post_filter, nominated_node=None, victims=()))


def preempt(
    writer: Writer,
    recorder: EventRecorder,
    result: ScheduleResult,
    before_last: Callable[[], None] = lambda: None,
    cancel: Callable[[Pod], bool] = lambda _: False,
) -> Preempted:
    """Make room for the result's pod; the first request that fails ends it.

    `before_last` is called right before the last victim is deleted: from then on the pod may be tried again. `cancel`
    gives up the binding cycle of a victim that we are binding ourselves, which then need not be deleted.
    """
    node, victims = victims_of(result) or ("", ())
    going: list[Pod] = []
    warnings: list[str] = []
    failure = ""
    if is_asynchronous(result):
        failure = _clear_nominations(writer, result, node)
    try:
        for victim in victims:
            if victim is victims[-1]:
                before_last()
            warning = _preempt_pod(writer, recorder, result, victim, node, cancel)
            going.append(victim)
            warnings += [warning] if warning is not None else []
    except ClusterError as error:
        failure = f"pod {victims[len(going)].key} could not be preempted: {error}"
    else:
        if not is_asynchronous(result):
            failure = _clear_nominations(writer, result, node)
    return Preempted(node=node, victims=tuple(going), failure=failure, warnings=tuple(warnings))


def is_asynchronous(result: ScheduleResult) -> bool:
    """Report whether SchedulerAsyncPreemption is on, which decides when nominations are cleared."""
    return result.framework is not None and result.framework.handle.features.enabled("SchedulerAsyncPreemption")


def preemption_requests(result: ScheduleResult) -> Iterator[tuple[Request, str]]:
    """Give the requests that `preempt` sends if all goes well, but for its events, each with what it is for."""
    node, victims = victims_of(result) or ("", ())
    nominations = [
        (_clear_nomination(pod), f"pod {pod.key} of lower priority is no longer nominated to {node}")
        for pod in _lower_nominated(result, node)
    ]
    if is_asynchronous(result):
        yield from nominations
    for victim in victims:
        if victim.metadata.deletion_timestamp is None:
            yield from ((request, f"mark pod {victim.key} as preempted") for request in _marks(result, victim))
            yield _deletion(victim), f"delete pod {victim.key}"
    if not is_asynchronous(result):
        yield from nominations


def _preempt_pod(
    writer: Writer,
    recorder: EventRecorder,
    result: ScheduleResult,
    victim: Pod,
    node: str,
    cancel: Callable[[Pod], bool],
) -> str | None:
    """Tell one victim to go, unless it is going already. Gives a sentence if its event could not be written."""
    if victim.metadata.deletion_timestamp is not None:
        return None
    cancelled = cancel(victim)
    try:
        for request in () if cancelled else (*_marks(result, victim), _deletion(victim)):
            writer.send(request)
    except ResponseError as error:
        if error.status in _NOT_THERE:
            return None
        raise
    return recorder.record(victim, scheduler_name_of(result.pod), preempted(result.pod, node, in_memory=cancelled))


def _marks(result: ScheduleResult, victim: Pod) -> list[Request]:
    """The patch that sets the victim's DisruptionTarget condition; none if it stands there already."""
    condition = preempted_by(scheduler_name_of(result.pod))
    assert result.framework is not None  # noqa: S101 - a pod that no profile serves preempts nobody
    generation = observed_generation(result.framework, victim, condition.type)
    change = status_change(victim, condition, None, now=time_now(), generation=generation)
    return [patch_pod_status(victim, change)] if change else []


def _deletion(victim: Pod) -> Request:
    """Deletes this very pod: one made anew under its name, as a StatefulSet makes it, stays."""
    return delete("Pod", victim.name, victim.namespace, victim.metadata.uid)


def _lower_nominated(result: ScheduleResult, node: str) -> list[Pod]:
    """Pods of lower priority that are nominated to the node, where they may no longer fit."""
    return [pod for pod in result.nodes.nominated.get(node, ()) if pod.priority < result.pod.priority]


def _clear_nomination(pod: Pod) -> Request:
    return patch_pod_status(pod, {"nominatedNodeName": None})


def _clear_nominations(writer: Writer, result: ScheduleResult, node: str) -> str:
    """Take back the nominations to the node of pods of lower priority. Gives a sentence about one that stays."""
    failure = ""
    for pod in _lower_nominated(result, node):
        try:
            writer.send(_clear_nomination(pod))
        except ClusterError as error:
            if not (isinstance(error, ResponseError) and error.status in _NOT_THERE):
                failure = f"pod {pod.key} stays nominated to {node}: {error}"
    return failure


def await_gone(writer: Writer, victims: Sequence[Pod], stop: Event) -> tuple[str, ...]:
    """Wait for their grace period and a little longer until the victims are gone; gives the keys of those that stay."""
    grace = max((_grace(victim) for victim in victims), default=0)
    deadline = time.monotonic() + grace + _BEYOND_GRACE_SECONDS
    left = list(victims)
    while True:
        left = [victim for victim in left if _is_there(writer, victim)]
        if not left or time.monotonic() >= deadline or stop.wait(POLL_SECONDS):
            return tuple(victim.key for victim in left)


def _grace(victim: Pod) -> int:
    seconds = victim.spec.termination_grace_period_seconds
    return _DEFAULT_GRACE_SECONDS if seconds is None else seconds


def _is_there(writer: Writer, victim: Pod) -> bool:
    pod = writer.read(pod_path(victim), Pod)
    return pod is not None and pod.metadata.uid == victim.metadata.uid and not pod.has_ended
