"""Carries out preemption for a pod or for a group of pods (pkg/scheduler/framework/preemption/executor.go).

Victims get the condition DisruptionTarget=PreemptionByScheduler and are deleted, as kube-scheduler does it. Its
eligibility check recognizes its own victims by that reason: while one of them is terminating on the nominated node,
the pod preempts nobody else. An eviction would leave another reason, and a second pod would have to go.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from kubectl_sched.api.pod import Pod
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.binding.api_requests import delete, patch_pod_status, pod_path
from kubectl_sched.binding.event_recorder import preempted, reference
from kubectl_sched.binding.pod_status import observed_generation, preempted_by, status_change
from kubectl_sched.binding.pre_bind_waiting import POLL_SECONDS
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from threading import Event

    from kubectl_sched.binding.event_recorder import EventDetails, EventRecorder
    from kubectl_sched.binding.writer import JSON, Request, Writer
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.scheduler.result import ScheduleResult

_Result = TypeVar("_Result", bound="ScheduleResult")

_BEYOND_GRACE_SECONDS = 30
_DEFAULT_GRACE_SECONDS = 30
_NOT_THERE = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT})
"""Answers to a request about a pod of this UID when that pod is gone; 409 when another one has its name."""


class Preemption(Record, frozen=True, kw_only=True):
    """A pod or a group that needs room, and the victims that make it (ExecutorPreemptor and Candidate)."""

    preemptor: Pod | Group
    pods: tuple[Pod, ...]
    """The pods that the room is for."""

    place: str
    """A node, or `cluster` for a group."""

    victims: tuple[Pod, ...]
    framework: Framework
    lower_nominated: tuple[Pod, ...] = ()
    """Pods of lower priority that are nominated to the node, where they may no longer fit."""

    @property
    def uid(self) -> str:
        """The UID of the preemptor."""
        return self.preemptor.metadata.uid

    @property
    def kind(self) -> str:
        """The preemptor's kind as conditions name it."""
        return type(self.preemptor).__name__.lower()

    @property
    def scheduler_name(self) -> str:
        """The profile in whose name victims are preempted."""
        return scheduler_name_of(self.pods[0])

    def victim_event(self, *, in_memory: bool = False) -> EventDetails:
        """The event about a victim."""
        return preempted(f"{self.kind} {self.uid}", self.place, self._related(), in_memory=in_memory)

    def _related(self) -> JSON | None:
        """The preemptor as events refer to it, if they do."""
        release, preemptor = self.framework.handle.release, self.preemptor
        if isinstance(preemptor, Pod):
            return reference(preemptor) if release.preempting_pods_are_related else None
        is_group = isinstance(preemptor, PodGroup)
        version = release.pod_group_api_version if is_group else release.composite_pod_group_api_version
        return reference(preemptor, version)

    @property
    def is_asynchronous(self) -> bool:
        """Report whether SchedulerAsyncPreemption is on, which decides when nominations are cleared."""
        return self.framework.handle.features.enabled("SchedulerAsyncPreemption")

    @property
    def to_delete(self) -> tuple[Pod, ...]:
        """The victims to mark and delete; many releases leave aside those that are being deleted already."""
        if not self.framework.handle.release.ending_victims_are_left:
            return self.victims
        return tuple(victim for victim in self.victims if victim.metadata.deletion_timestamp is None)


class Preempted(Record, frozen=True, kw_only=True):
    """The victims that are going, a sentence about the request that failed, and what else went wrong."""

    victims: tuple[Pod, ...] = ()
    failure: str = ""
    warnings: tuple[str, ...] = ()
    is_heard_of: bool = True
    """Report whether the last victim will be seen to go: it is deleted, or its binding is given up."""


def preemption_of(result: ScheduleResult) -> Preemption | None:
    """Return the preemption that makes room for the result's pod; None if it does not help."""
    found = result.post_filter
    if found is None or not found.nominated_node or not found.victims or not isinstance(result, CycleResult):
        return None
    pod, node = result.pod, found.nominated_node
    lower = (each for each in result.nodes.nominated.get(node, ()) if each.priority < pod.priority)
    return Preemption(
        preemptor=pod,
        pods=(pod,),
        place=node,
        victims=found.victims,
        framework=result.framework,
        lower_nominated=tuple(lower),
    )


def preemptions_of_group(result: PodGroupResult, framework: Framework) -> tuple[Preemption, ...]:
    """Return the preemption for the group as a whole, or up to 1.36 those of its members."""
    found = result.post_filter
    if found is not None and found.status.is_success and found.victims:
        info = result.info
        whole = Preemption(
            preemptor=info.group, pods=info.pods, place="cluster", victims=found.victims, framework=framework
        )
        return (whole,)
    own = (preemption_of(each.result) for each in result.attempts if each.requires_preemption)
    return tuple(each for each in own if each is not None)


def without_preemption(result: _Result) -> _Result:
    """Return the result without a nomination that rests on preemption."""
    if result.post_filter is None or not result.post_filter.victims:
        return result
    return replace(result, post_filter=replace(result.post_filter, nominated_node=None, victims=()))


def preempt(
    writer: Writer,
    recorder: EventRecorder,
    preemption: Preemption,
    before_last: Callable[[], None] = lambda: None,
    cancel: Callable[[Pod], bool] = lambda _: False,
) -> Preempted:
    """Make room; the first request that fails ends it.

    `before_last` is called right before the last victim is deleted: from then on the preemptor may be tried again.
    `cancel` gives up the binding cycle of a victim that we are binding ourselves, which then need not be deleted.
    """
    going: list[Pod] = []
    warnings: list[str] = []
    failure, is_heard_of = "", True
    if preemption.is_asynchronous:
        failure = _clear_nominations(writer, preemption)
    to_delete = preemption.to_delete
    try:
        for victim in preemption.victims:
            if victim in to_delete[-1:]:
                before_last()
            is_heard_of, warning = True, None
            if victim in to_delete:
                is_heard_of, warning = _preempt_pod(writer, recorder, preemption, victim, cancel)
            going.append(victim)
            warnings += [warning] if warning is not None else []
    except ClusterError as error:
        failure = f"pod {preemption.victims[len(going)].key} could not be preempted: {error}"
    else:
        if not preemption.is_asynchronous:
            failure = _clear_nominations(writer, preemption)
    return Preempted(victims=tuple(going), failure=failure, warnings=tuple(warnings), is_heard_of=is_heard_of)


def preemption_requests(preemption: Preemption) -> Iterator[tuple[Request, str]]:
    """Give the requests that `preempt` sends if all goes well, but for its events, each with what it is for."""
    nominations = [
        (_clear_nomination(pod), f"pod {pod.key} of lower priority is no longer nominated to {preemption.place}")
        for pod in preemption.lower_nominated
    ]
    if preemption.is_asynchronous:
        yield from nominations
    for victim in preemption.to_delete:
        yield from ((request, f"mark pod {victim.key} as preempted") for request in _marks(preemption, victim))
        yield _deletion(victim), f"delete pod {victim.key}"
    if not preemption.is_asynchronous:
        yield from nominations


def _preempt_pod(
    writer: Writer, recorder: EventRecorder, preemption: Preemption, victim: Pod, cancel: Callable[[Pod], bool]
) -> tuple[bool, str | None]:
    """Tell one victim to go.

    Gives whether its end will be seen, and a sentence if its event could not be written.
    """
    cancelled = cancel(victim)
    try:
        for request in () if cancelled else (*_marks(preemption, victim), _deletion(victim)):
            writer.send(request)
    except ResponseError as error:
        if error.status in _NOT_THERE:
            return False, None
        raise
    in_memory = cancelled and preemption.framework.handle.release.binding_victims_stay
    event = preemption.victim_event(in_memory=in_memory)
    return True, recorder.record(victim, preemption.scheduler_name, event)


def _marks(preemption: Preemption, victim: Pod) -> list[Request]:
    """The patch that sets the victim's DisruptionTarget condition; none if it stands there already."""
    condition = preempted_by(preemption.scheduler_name, preemption.kind)
    generation = observed_generation(preemption.framework, victim, condition.type)
    change = status_change(victim, condition, None, now=time_now(), generation=generation)
    return [patch_pod_status(victim, change)] if change else []


def _deletion(victim: Pod) -> Request:
    """Deletes this very pod: one made anew under its name, as a StatefulSet makes it, stays."""
    return delete("Pod", victim.name, victim.namespace, victim.metadata.uid)


def _clear_nomination(pod: Pod) -> Request:
    return patch_pod_status(pod, {"nominatedNodeName": None})


def _clear_nominations(writer: Writer, preemption: Preemption) -> str:
    """Take back the nominations to the node of pods of lower priority. Gives a sentence about one that stays."""
    failure = ""
    for pod in preemption.lower_nominated:
        try:
            writer.send(_clear_nomination(pod))
        except ClusterError as error:
            if not (isinstance(error, ResponseError) and error.status in _NOT_THERE):
                failure = f"pod {pod.key} stays nominated to {preemption.place}: {error}"
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
