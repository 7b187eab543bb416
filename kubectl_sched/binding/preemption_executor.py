"""Makes room by evicting the victims that PostFilter chose.

kube-scheduler deletes its victims, disruption budgets or not (framework/preemption/executor.go). These are evicted
instead, so that a budget is kept: where one says no to any of them, none has to go.
"""

from __future__ import annotations

import dataclasses
import time
from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.api_requests import evict_pod, pod_path
from kubectl_sched.binding.event_recorder import preempted
from kubectl_sched.binding.pre_bind_waiting import POLL_SECONDS
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.record import Record
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    from kubectl_sched.binding.event_recorder import EventRecorder
    from kubectl_sched.binding.writer import Writer
    from kubectl_sched.scheduler.result import ScheduleResult

_BEYOND_GRACE_SECONDS = 30
_DEFAULT_GRACE_SECONDS = 30


class Preempted(Record, frozen=True):
    """Which victims were told to go from the node, a sentence for each that may not, and what else went wrong."""

    node: str
    evicted: tuple[Pod, ...] = ()
    refused: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def victims_of(result: ScheduleResult) -> tuple[str, tuple[Pod, ...]] | None:
    """The node and the pods that have to go from it; None where preemption does not help."""
    found = result.post_filter
    if found is None or not found.nominated_node or not found.victims:
        return None
    return found.nominated_node, found.victims


def without_preemption(result: ScheduleResult) -> ScheduleResult:
    """The result where nobody is to be evicted: it nominates the pod nowhere."""
    if result.post_filter is None or not result.post_filter.victims:
        return result
    return dataclasses.replace(result, post_filter=replace(result.post_filter, nominated_node=None, victims=()))


def evict_victims(rehearsal: Writer, writer: Writer, recorder: EventRecorder, result: ScheduleResult) -> Preempted:
    """Evict the victims, after a rehearsal (a writer with dry_run) that no budget has refused."""
    found = victims_of(result)
    if found is None:
        return Preempted("")
    node, victims = found
    refused = [said for victim in victims if (said := _refusal(rehearsal, victim)) is not None]
    if refused:
        return Preempted(node, (), tuple(refused))
    evicted: list[Pod] = []
    warnings: list[str] = []
    for victim in victims:
        said = _refusal(writer, victim)
        if said is not None:
            refused.append(said)
            break
        evicted.append(victim)
        warning = recorder.record(victim, scheduler_name_of(result.pod), preempted(result.pod, node))
        if warning is not None:
            warnings.append(warning)
    return Preempted(node, tuple(evicted), tuple(refused), tuple(warnings))


def _refusal(writer: Writer, victim: Pod) -> str | None:
    """Why the victim may not be evicted; None where it goes, or is gone."""
    try:
        writer.send(evict_pod(victim))
    except ResponseError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            return None
        return f"pod {victim.key} may not be evicted: {error.message or error}"
    except ClusterError as error:
        return f"pod {victim.key} could not be evicted: {error}"
    return None


def await_gone(writer: Writer, victims: Sequence[Pod], stop: Event) -> tuple[str, ...]:
    """Wait until the victims are gone, as long as they are given and a little more; the keys of those that stay."""
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
