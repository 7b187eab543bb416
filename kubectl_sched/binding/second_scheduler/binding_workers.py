"""Carries out what the scheduling loop has decided, in threads of its own: binding cycles, preemption and reports."""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from kubectl_sched.binding.api_requests import patch_pod_status
from kubectl_sched.binding.binding_cycle import BindingCycle, Failed
from kubectl_sched.binding.cancellable_binding import PodInPreBind
from kubectl_sched.binding.event_recorder import EventRecorder
from kubectl_sched.binding.pod_status import status_change
from kubectl_sched.binding.preemption_executor import preempt, preemption_of
from kubectl_sched.binding.scheduling_failure import report_failure, report_of_member, report_of_overdraft, write_report
from kubectl_sched.binding.second_scheduler.events.event_retries import EventRetries
from kubectl_sched.binding.second_scheduler.events.unwritten_scheduled_events import write_missing_events
from kubectl_sched.binding.second_scheduler.loop_messages import (
    Finished,
    LastVictim,
    PreemptionEnded,
    WaitingPodPreempted,
    Warned,
)
from kubectl_sched.binding.second_scheduler.queue.queue_places import PREEMPTION_PLUGIN
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.errors import SchedError
from kubectl_sched.framework.status import error
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.preemption_executor import Preemption
    from kubectl_sched.binding.second_scheduler.loop_messages import Message
    from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod
    from kubectl_sched.binding.writer import Request, Writer
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.framework.reserved_object import Reservation
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.podgroup_result import Member
    from kubectl_sched.scheduler.result import ScheduleResult

_BINDING_THREADS: Final = 16
_WAITING_THREADS: Final = 256
"""For pods with volumes or devices: their binding cycles may wait minutes, and nobody else waits with them."""

_REPORTING_THREADS: Final = 4

_PREEMPTED: Final = "preempted"


class Binder:
    """`bind` and `report` return at once and send their outcomes with `tell`. One thread calls them.

    What is written about one pod is written in the order of the calls: a rejection that is written late must not stand
    in the status of a pod that has its node.
    """

    def __init__(self, writer: Writer, tell: Callable[[Message], None], *, may_preempt: bool = False) -> None:
        self.may_preempt = may_preempt
        self._writer = writer
        self._retries = EventRetries(lambda sentence: tell(Warned(sentence)))
        self._recorder = EventRecorder(writer, self._retries.add)
        self._cycle = BindingCycle(writer, self._recorder, is_patient=True)
        self._tell = tell
        self._stopping = threading.Event()
        self._in_pre_bind: dict[str, PodInPreBind] = {}
        """The cycles that have something to do before Bind, by the pod's UID."""
        self._held: dict[str, PodInPreBind] = {}
        """The cycles of pods that wait in Permit, by the pod's UID."""
        self._binding = ThreadPoolExecutor(_BINDING_THREADS, thread_name_prefix="bind")
        self._waiting = ThreadPoolExecutor(_WAITING_THREADS, thread_name_prefix="bind-waiting")
        self._reporting = ThreadPoolExecutor(_REPORTING_THREADS, thread_name_prefix="report")
        self._reports: dict[str, Future[None]] = {}

    def bind(
        self, queued: QueuedPod, result: CycleResult, node: str, reservations: Sequence[Reservation], began: float
    ) -> None:
        """Begin the pod's binding cycle; a Finished tells how it ended."""
        stop = PodInPreBind(self._stopping)
        if reservations:
            self._in_pre_bind[result.pod.metadata.uid] = stop
        pool = self._waiting if reservations else self._binding
        earlier = self._reports.pop(result.pod.metadata.uid, None)
        pool.submit(self._bind, queued, result, node, reservations, began, stop, earlier)

    def hold(self, pod: Pod, nominated: str) -> None:
        """The pod waits in Permit from now on, so that its preemption rejects it; write its nomination, if any."""
        self._held[pod.metadata.uid] = PodInPreBind(self._stopping)
        change = status_change(pod, None, nominated, now=time_now())
        if change:
            request = patch_pod_status(pod, change)
            of = f"the nomination of pod {pod.key}"
            self._write(pod.metadata.uid, f"pod {pod.key}", partial(self._told, of, request))

    def let_go(self, uid: str) -> bool:
        """End the pod's wait in Permit; False if it has just been preempted, of which the loop gets a message."""
        held = self._held.get(uid)
        lets_go = held is None or held.finish()
        self._held.pop(uid, None)
        return lets_go

    def report(self, result: ScheduleResult, failed: Failed | None = None) -> None:
        """Write why the pod has no node, then preempt its victims if it has any."""
        self._forget_reports()
        self._write(result.pod.metadata.uid, f"pod {result.pod.key}", partial(self._written, result, failed))

    def report_overdraft(self, pod: Pod, message: str, framework: Framework) -> None:
        """Write that the pod waits because of what its cycle costs others."""
        self._forget_reports()
        report = report_of_overdraft(message)
        write = partial(write_report, self._writer, self._recorder, pod, report, framework)
        self._write(pod.metadata.uid, f"pod {pod.key}", write)

    def report_group(
        self, members: Iterable[tuple[Member, Framework]], conditions: Iterable[tuple[Group, Request]]
    ) -> None:
        """Write why these members of a group have no node, and the condition of each group."""
        self._forget_reports()
        for member, framework in members:
            pod, report = member.pod, report_of_member(member)
            if report is not None:
                write = partial(write_report, self._writer, self._recorder, pod, report, framework)
                self._write(pod.metadata.uid, f"pod {pod.key}", write)
        for group, request in conditions:
            of = f"{type(group).__name__.lower()} {group.key}"
            self._write(group.metadata.uid, of, partial(self._told, f"the condition of {of}", request))

    def preempt(self, preemption: Preemption) -> None:
        """Preempt the victims of a group, once what was found of the preemptor is written."""
        self._write(
            preemption.uid, f"{preemption.kind} {preemption.preemptor.key}", partial(self._preempted, preemption)
        )

    def _forget_reports(self) -> None:
        for uid in [uid for uid, report in self._reports.items() if report.done()]:
            del self._reports[uid]

    def _write(self, uid: str, of: str, write: Callable[[], Iterable[str]]) -> None:
        self._reports[uid] = self._reporting.submit(self._report, of, write, self._reports.get(uid))

    def _told(self, of: str, request: Request) -> tuple[str, ...]:
        try:
            self._writer.send(request)
        except ClusterError as failure:
            if not (isinstance(failure, ResponseError) and failure.status == HTTPStatus.NOT_FOUND):
                return (f"{of} could not be written: {failure}",)
        return ()

    def tell_of(self, bound: Sequence[Pod]) -> None:
        """Write the Scheduled events that these pods lack."""
        self._reporting.submit(self._tell_of, bound)

    def _tell_of(self, bound: Sequence[Pod]) -> None:
        for sentence in write_missing_events(self._writer, self._recorder, bound):
            self._tell(Warned(sentence))

    def stop(self) -> None:
        """Let binding cycles that wait for something take back what they did, and end."""
        self._stopping.set()

    def close(self) -> None:
        """Take nothing more on; what has not begun is left."""
        self._stopping.set()
        self._retries.close()
        for pool in (self._binding, self._waiting, self._reporting):
            pool.shutdown(wait=False, cancel_futures=True)

    def _bind(
        self,
        queued: QueuedPod,
        result: CycleResult,
        node: str,
        reservations: Sequence[Reservation],
        began: float,
        stop: PodInPreBind,
        earlier: Future[None] | None,
    ) -> None:
        _await(earlier)
        try:
            outcome = self._cycle.run(result, node, stop, reservations)
        except SchedError as failure:
            outcome = Failed(status=error(str(failure)))
        except Exception as failure:  # the loop must hear of every cycle, or it would wait for this one for ever
            self._tell(Finished(queued, result, node, _crashed(failure), began))
            raise
        finally:
            self._in_pre_bind.pop(result.pod.metadata.uid, None)
        self._tell(Finished(queued, result, node, outcome, began))

    def _report(self, of: str, write: Callable[[], Iterable[str]], earlier: Future[None] | None) -> None:
        _await(earlier)
        try:
            said = write()
        except SchedError as failure:
            said = (_unwritten(of, str(failure)),)
        except Exception as failure:  # else nobody would hear of it
            self._tell(Warned(_unwritten(of, f"{type(failure).__name__}: {failure}")))
            raise
        for sentence in said:
            self._tell(Warned(sentence))

    def _written(self, result: ScheduleResult, failed: Failed | None) -> tuple[str, ...]:
        try:
            said = report_failure(self._writer, self._recorder, result, failed)
        except SchedError as failure:
            said = (_unwritten(f"pod {result.pod.key}", str(failure)),)
        preemption = preemption_of(result) if failed is None else None
        return said if preemption is None else (*said, *self._preempted(preemption))

    def _cancel(self, preemption: Preemption, victim: Pod) -> bool:
        """Give up the binding cycle of a victim, if kube-scheduler does so and it has not come to Bind.

        Up to 1.35 that is one that waits in Permit.
        """
        held = self._held.get(victim.metadata.uid)
        if held is not None and held.cancel(_PREEMPTED):
            self._tell(WaitingPodPreempted(victim.metadata.uid))
            return True
        cycle = self._in_pre_bind.get(victim.metadata.uid)
        if cycle is None or not preemption.framework.handle.release.binding_victims_stay:
            return False
        return cycle.cancel(f"preempted by {PREEMPTION_PLUGIN}")

    def _preempted(self, preemption: Preemption) -> tuple[str, ...]:
        """Preempt the victims; what went wrong. The loop hears of the last victim before the server does."""
        is_over = False
        try:
            last = partial(self._tell, LastVictim(preemption.uid))
            done = preempt(self._writer, self._recorder, preemption, last, partial(self._cancel, preemption))
            is_over = not done.failure and done.is_heard_of
        finally:
            self._tell(PreemptionEnded(preemption.uid, () if is_over else preemption.pods))
        return (*((done.failure,) if done.failure else ()), *done.warnings)


def _crashed(failure: Exception) -> Failed:
    return Failed(status=error(f"{type(failure).__name__}: {failure}"))


def _await(earlier: Future[None] | None) -> None:
    """Wait until an earlier report is written, or given up."""
    if earlier is not None:
        with suppress(CancelledError):
            earlier.exception()


def _unwritten(of: str, why: str) -> str:
    return f"what was found of {of} was not written: {why}"
