"""Events as kube-scheduler writes them (client-go: tools/events/event_recorder.go, event_broadcaster.go)."""

from __future__ import annotations

import platform
import threading
import time
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from kubectl_sched.binding.api_requests import create_event, patch_event
from kubectl_sched.binding.timestamps import micro_time, micro_time_now
from kubectl_sched.errors import SchedError
from kubectl_sched.sources.live.live_errors import ResponseError
from kubectl_sched.sources.live.server_refusals import BUSY

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.writer import JSON, Writer

_FINISH_SECONDS = 360.0
"""An event that does not come again for so long is over; the next like it is a new one."""

_KEPT = 4096
_LONGEST_NAME = 253
"""Of a DNS subdomain, as the name of an event has to be; client-go's GenerateEventName gives a UUID instead."""


class EventDetails(NamedTuple):
    """An event: `type` is Normal or Warning, `action` what was being done, `related` refers to another object in it."""

    type: str
    reason: str
    action: str
    note: str
    related: JSON | None = None


def scheduled(pod: Pod, node: str) -> EventDetails:
    """The pod has its node."""
    return EventDetails("Normal", "Scheduled", "Binding", f"Successfully assigned {pod.namespace}/{pod.name} to {node}")


def failed_scheduling(note: str) -> EventDetails:
    """The pod has none; the note is cut already."""
    return EventDetails("Warning", "FailedScheduling", "Scheduling", note)


def preempted(by: str, place: str, related: JSON | None, *, in_memory: bool) -> EventDetails:
    """The pod had to go for what `by` names; `in_memory` if it was not deleted, but its binding given up."""
    how = " (in kube-scheduler memory)." if in_memory else ""
    return EventDetails("Normal", "Preempted", "Preempting", f"Preempted by {by} on node {place}{how}", related)


def event_of(pod: Pod, details: EventDetails, controller: str, instance: str, nanoseconds: int) -> JSON:
    """The event as an object; `nanoseconds` since 1970 is when, and what makes its name its own."""
    related = {"related": details.related} if details.related is not None else {}
    name = f"{pod.name}.{nanoseconds:x}"
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name if len(name) <= _LONGEST_NAME else str(uuid4()), "namespace": pod.namespace},
        "eventTime": micro_time(nanoseconds),
        "reportingController": controller,
        "reportingInstance": instance,
        "action": details.action,
        "reason": details.reason,
        "regarding": reference(pod),
        **related,
        "note": details.note,
        "type": details.type,
    }


def reference(item: KubernetesObject, api_version: str = "v1") -> JSON:
    """Return an ObjectReference."""
    return {
        "kind": type(item).__name__,
        "namespace": item.metadata.namespace,
        "name": item.metadata.name,
        "uid": item.metadata.uid,
        "apiVersion": api_version,
        "resourceVersion": item.metadata.resource_version,
    }


class _Series(NamedTuple):
    event: JSON
    times: int
    seen: float
    written: float


class EventRecorder:
    """Writes events, from any thread. What happens again is counted in one event, and written now and then."""

    def __init__(self, writer: Writer, write_later: Callable[[Callable[[], None], str], bool] | None = None) -> None:
        """`write_later` takes an event that the server did not get, and what is told once it is given up."""
        self._writer = writer
        self._write_later = write_later
        self._host = platform.node()
        self._lock = threading.Lock()
        self._known: dict[tuple[str, ...], _Series] = {}

    def record(self, pod: Pod, controller: str, details: EventDetails) -> str | None:
        """Write the event in the name of the profile `controller`; a sentence where it could not be written."""
        event = event_of(pod, details, controller, f"{controller}-{self._host}", time.time_ns())
        series = self._counted(_key(event), event)
        if series is None:
            return None
        try:
            self._write(*series)
        except SchedError as error:
            if isinstance(error, ResponseError) and error.status == HTTPStatus.CONFLICT:
                return None  # an answer was lost, and the event is there
            sentence = f"the event {details.reason} of pod {pod.key} could not be written"
            later = self._write_later if may_be_written_later(error) else None
            if later is not None and later(partial(self._write, *series), sentence):
                return None
            return f"{sentence}: {error}"
        return None

    def _counted(self, key: tuple[str, ...], event: JSON) -> tuple[JSON, int] | None:
        """The event to write and how often it was seen; None if it was written a short while ago."""
        now = time.monotonic()
        with self._lock:
            if len(self._known) > _KEPT:
                self._known = {kept: each for kept, each in self._known.items() if now - each.seen < _FINISH_SECONDS}
            known = self._known.get(key)
            if known is None or now - known.seen >= _FINISH_SECONDS:
                self._known[key] = _Series(event, 1, now, now)
                return event, 1
            due = known.times == 1 or now - known.written >= _FINISH_SECONDS
            self._known[key] = _Series(known.event, known.times + 1, now, now if due else known.written)
            return (known.event, known.times + 1) if due else None

    def _write(self, event: JSON, count: int) -> None:
        if count == 1:
            self._writer.send(create_event(event))
            return
        series = {"count": count, "lastObservedTime": micro_time_now()}
        try:
            self._writer.send(patch_event(event, series))
        except ResponseError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            self._writer.send(create_event({**event, "series": series}))


def _key(event: JSON) -> tuple[str, ...]:
    regarding = event["regarding"]
    return (
        *(event[field] for field in ("type", "action", "reason", "reportingController")),
        regarding["uid"],
        regarding["resourceVersion"],
    )


def may_be_written_later(error: SchedError) -> bool:
    """Report whether the server was away or busy; what it has refused it would refuse again."""
    return not isinstance(error, ResponseError) or error.status in BUSY
