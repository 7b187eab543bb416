"""Writes about a pod that got no node (handleSchedulingFailure in pkg/scheduler/schedule_one.go)."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec import to_builtins

from kubectl_sched.binding.api_requests import patch_pod_status
from kubectl_sched.binding.event_recorder import EventDetails, failed_scheduling
from kubectl_sched.binding.pod_status import (
    POD_SCHEDULED,
    SCHEDULER_ERROR,
    UNSCHEDULABLE,
    not_scheduled,
    observed_generation,
    status_change,
)
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.fit_error import NO_NODES_AVAILABLE, event_note
from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.binding_cycle import Failed
    from kubectl_sched.binding.event_recorder import EventRecorder
    from kubectl_sched.binding.writer import JSON, Writer
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.podgroup_result import Condition, Member
    from kubectl_sched.scheduler.result import ScheduleResult


class Report(Record, frozen=True, kw_only=True):
    """The event, the condition (None: it stays) and the nomination (None: it stays) of a pod."""

    event: EventDetails
    condition: Condition | None = None
    nominated: str | None = None


def report_of(result: ScheduleResult, failed: Failed | None = None) -> Report | None:
    """Return the report on a result that does not fit, or on a failed binding cycle; None if nothing is said.

    A gated pod is in no queue, and one that no profile serves is nobody's to speak of.
    """
    if failed is not None:
        return _report(SCHEDULER_ERROR, failed.status.message, "")
    if result.outcome is Outcome.DELETING:
        pod = result.pod
        note = f"skip schedule deleting pod: {pod.namespace}/{pod.name}"
        return Report(event=failed_scheduling(note))
    if result.outcome is Outcome.ERROR:
        return _report(SCHEDULER_ERROR, result.error or "", "")
    if result.outcome is Outcome.UNSCHEDULABLE:
        return _report(UNSCHEDULABLE, _fit_error_message(result), _nominated(result))
    return None


def report_of_member(member: Member) -> Report | None:
    """Return the report on a pod that its group's cycle left without a node."""
    said = member.message or ""
    if member.outcome is Outcome.DELETING:
        return Report(event=failed_scheduling(event_note(said)))
    if member.outcome is Outcome.ERROR:
        return _report(SCHEDULER_ERROR, said, "")
    if member.outcome is Outcome.UNSCHEDULABLE:
        return _report(UNSCHEDULABLE, said, member.nominated_node)
    return None


def report_of_overdraft(message: str) -> Report:
    """Return the report on a pod that waits because of what its cycle costs others; a nomination stays."""
    return _report(SCHEDULER_ERROR, message, None)


def _report(reason: str, message: str, nominated: str | None) -> Report:
    return Report(
        event=failed_scheduling(event_note(message)), condition=not_scheduled(reason, message), nominated=nominated
    )


def _fit_error_message(result: ScheduleResult) -> str:
    """The whole FitError text with what PostFilter said, as the condition has it; the event may cut it."""
    if not isinstance(result, CycleResult) or result.verdict is None or result.message in {None, NO_NODES_AVAILABLE}:
        return result.message or ""
    said = result.post_filter.status.message if result.post_filter is not None else ""
    return result.fit_error(result.verdict, said)


def _nominated(result: ScheduleResult) -> str | None:
    """PostFilter's node, empty where an earlier nomination ends, None if nothing is said of it."""
    if result.post_filter is None:
        return ""
    return result.post_filter.nominated_node


def report_failure(
    writer: Writer, recorder: EventRecorder, result: ScheduleResult, failed: Failed | None
) -> tuple[str, ...]:
    """Write the event, and the condition and nomination where they change; a sentence for what could not be written.

    `result.pod` is the pod as it was last seen.
    """
    report = report_of(result, failed)
    if report is None or not isinstance(result, CycleResult):
        return ()
    return write_report(writer, recorder, result.pod, report, result.framework)


def write_report(
    writer: Writer, recorder: EventRecorder, pod: Pod, report: Report, framework: Framework
) -> tuple[str, ...]:
    """Write a report on a pod; a sentence for what could not be written."""
    failure = recorder.record(pod, scheduler_name_of(pod), report.event)
    warnings = [failure] if failure is not None else []
    change = failure_change(pod, report, framework)
    if not change:
        return tuple(warnings)
    try:
        writer.send(patch_pod_status(pod, change))
    except ClusterError as error:
        if not (isinstance(error, ResponseError) and error.status == HTTPStatus.NOT_FOUND):
            warnings.append(f"the condition of pod {pod.key} could not be written: {error}")
    return tuple(warnings)


def take_back_report(writer: Writer, before: Pod) -> tuple[str, ...]:
    """Give the pod the condition and the nomination again that it had `before` a report; name what is left if not."""
    old = before.condition(POD_SCHEDULED)
    condition = {"type": POD_SCHEDULED, "$patch": "delete"} if old is None else to_builtins(old)
    change: JSON = {"conditions": [condition], "nominatedNodeName": before.status.nominated_node_name or None}
    try:
        writer.send(patch_pod_status(before, change))
    except ClusterError as error:
        return (f"the condition {POD_SCHEDULED}=False and the nomination of pod {before.key}: {error}",)
    return ()


def failure_change(pod: Pod, report: Report, framework: Framework) -> JSON:
    """Return the fields of the pod's status that the report changes."""
    generation = observed_generation(framework, pod, POD_SCHEDULED)
    return status_change(pod, report.condition, report.nominated, now=time_now(), generation=generation)
