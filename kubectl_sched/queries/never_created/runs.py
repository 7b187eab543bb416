"""Pods that Jobs, CronJobs and DaemonSets do not make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.kueue import QUEUE_NAME
from kubectl_sched.api.meta import find_condition
from kubectl_sched.diagnostics.messages.component_statements import statements_in
from kubectl_sched.queries.never_created.missing_pods import NeverCreated, Obstacle
from kubectl_sched.queries.never_created.refusals import refusal
from kubectl_sched.shell_commands import patch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.apps import CronJob, DaemonSet, Job
    from kubectl_sched.api.core import Event
    from kubectl_sched.queries.never_created.workloads import Workloads
    from kubectl_sched.shell_commands import ShellCommand

_CAUSES: Final = {
    "MissSchedule": ("TooLate", "it missed its last start by more than startingDeadlineSeconds"),
    "TooManyMissedTimes": ("TooLate", "it missed more than 100 starts"),
    "JobAlreadyActive": ("StillRunning", "its last Job still runs (concurrencyPolicy Forbid)"),
    "UnparseableSchedule": ("InvalidSchedule", "its schedule cannot be read"),
    "InvalidSchedule": ("InvalidSchedule", "its schedule cannot be read"),
    "UnknownTimeZone": ("InvalidSchedule", "its time zone is not known"),
}
"""The causes by the reasons of a CronJob's events, and a clause about each."""

_STARTED: Final = "SuccessfulCreate"
_LEAST_DEADLINE: Final = 10
"""The controller looks at a CronJob every ten seconds."""


def job_without_pods(item: Job, around: Workloads) -> Iterator[NeverCreated]:
    """Yield what keeps a Job's pods from being made: it is suspended, it gave up, or the API server refuses them."""
    wanted, there = wanted_by(item), len(around.pods_of(item))
    obstacle = _of_job(item, around, lacks=there < wanted)
    if obstacle is not None:
        name = around.name_of(item)
        yield NeverCreated(
            workload=around.topmost(item), owner=name, obstacle=obstacle, wanted=wanted, there=min(there, wanted)
        )


def wanted_by(item: Job) -> int:
    """Return the number of pods that the Job still runs at once: `parallelism`, or fewer completions that are left."""
    parallelism = 1 if item.spec.parallelism is None else item.spec.parallelism
    if item.spec.completions is None:
        return parallelism
    return max(min(parallelism, item.spec.completions - item.status.succeeded), 0)


def _of_job(item: Job, around: Workloads, *, lacks: bool) -> Obstacle | None:
    conditions = item.status.conditions
    failed = find_condition(conditions, "Failed")
    if failed is not None and failed.status == "True":
        clause = f"the Job failed ({failed.reason}), and makes no more pods"
        helps = "see the logs of its last pods, mend the cause, and create the Job again"
        since = failed.last_transition_time
        return Obstacle(
            cause="Failed",
            clause=clause,
            detail=failed.message,
            says=failed.message,
            helps=helps,
            since=since,
            source="condition",
        )
    if item.is_over or not lacks:
        return None
    if item.spec.suspend:
        suspended = find_condition(conditions, "Suspended")
        queue = item.metadata.labels.get(QUEUE_NAME)
        by = f", held by Kueue in queue {queue}" if queue else ""
        return Obstacle(
            cause="Suspended",
            clause=f"it is suspended (spec.suspend), so it makes no pods{by}",
            helps="" if queue else "resume it",
            commands=() if queue else _resumed("job", item),
            since=suspended.last_transition_time if suspended is not None else None,
            on_purpose=not queue,
        )
    event = around.event(item, "FailedCreate")
    return None if event is None else refusal(event.text, "event", event.first_seen or event.last_seen)


def cron_job_without_runs(item: CronJob, around: Workloads) -> Iterator[NeverCreated]:
    """Yield what keeps a CronJob from starting Jobs: it is suspended, too late, or its last Job still runs."""
    obstacle = _of_cron_job(item, around)
    if obstacle is not None:
        name = around.name_of(item)
        yield NeverCreated(workload=name, owner=name, obstacle=obstacle)


def _of_cron_job(item: CronJob, around: Workloads) -> Obstacle | None:
    if item.spec.suspend:
        clause, commands = "it is suspended (spec.suspend), so it starts no Jobs", _resumed("cronjob", item)
        return Obstacle(cause="Suspended", clause=clause, helps="resume it", commands=commands, on_purpose=True)
    event = around.event(item, *_CAUSES, "FailedCreate", _STARTED)
    if event is not None and event.reason == "FailedCreate":
        return refusal(event.text, "event", event.first_seen or event.last_seen)
    if event is not None and event.reason in _CAUSES:
        return _of_event(event)
    deadline = item.spec.starting_deadline_seconds
    if event is None and deadline is not None and deadline < _LEAST_DEADLINE:
        return Obstacle(
            cause="TooLate",
            clause=f"startingDeadlineSeconds is {deadline}, less than the controller's 10 s",
            helps="set spec.startingDeadlineSeconds to 10 or more",
        )
    return None


def _resumed(kind: str, item: Job | CronJob) -> tuple[ShellCommand, ...]:
    command = patch(kind, item.namespace, item.name, {"spec": {"suspend": False}})
    return () if command is None else (command,)


def _of_event(event: Event) -> Obstacle:
    found = next((each.meaning for each in statements_in(event.text) if each.meaning), None)
    cause, clause = _CAUSES[event.reason]
    return Obstacle(
        cause=cause,
        clause=clause,
        detail=event.text,
        says=event.text,
        helps=found.helps if found is not None else "",
        since=event.last_seen or None,
        source="event",
    )


def daemon_set_lacking(item: DaemonSet, around: Workloads) -> Iterator[NeverCreated]:
    """Yield the refusal of a DaemonSet's pods, unless its status says that every node has one."""
    event = around.event(item, "FailedCreate")
    wanted, there = item.status.desired_number_scheduled, item.status.current_number_scheduled
    if event is None or (wanted and there >= wanted):
        return
    name = around.name_of(item)
    yield NeverCreated(
        workload=name,
        owner=name,
        obstacle=refusal(event.text, "event", event.first_seen or event.last_seen),
        wanted=wanted or None,
        there=there if wanted else None,
    )
