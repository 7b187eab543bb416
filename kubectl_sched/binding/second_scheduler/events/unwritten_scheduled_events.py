"""Writes the Scheduled events that a killed replica did not get to write for pods that it had bound."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.api.core import Event
from kubectl_sched.binding.event_recorder import scheduled
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.event_recorder import EventRecorder
    from kubectl_sched.binding.writer import Writer

_LOOK_BACK_SECONDS: Final = 600.0
"""Events expire, after an hour by default: of a pod that was bound long ago, a missing one says nothing."""


class _Events(msgspec.Struct, frozen=True):
    items: tuple[Event, ...] = ()


def lately_bound(pods: Iterable[Pod]) -> list[Pod]:
    """The pods that got their node within the last minutes."""
    since = f"{datetime.fromtimestamp(time.time() - _LOOK_BACK_SECONDS, UTC):%Y-%m-%dT%H:%M:%SZ}"
    return [pod for pod in pods if pod.spec.node_name and _bound_at(pod) >= since]


def _bound_at(pod: Pod) -> str:
    """The time at which PodScheduled became true, in RFC 3339; empty if it did not."""
    times = (each.last_transition_time for each in pod.status.conditions if each.type == "PodScheduled")
    is_true = any(each.type == "PodScheduled" and each.status == "True" for each in pod.status.conditions)
    return next(times, "") or "" if is_true else ""


def write_missing_events(writer: Writer, recorder: EventRecorder, pods: Iterable[Pod]) -> Iterator[str]:
    """Write the Scheduled event of each of these pods that has none; gives a sentence about what went wrong."""
    by_namespace: dict[str, list[Pod]] = {}
    for pod in pods:
        by_namespace.setdefault(pod.namespace, []).append(pod)
    for namespace, bound in by_namespace.items():
        path = f"/apis/events.k8s.io/v1/namespaces/{namespace}/events"
        try:
            found = writer.read(path, _Events, {"fieldSelector": "reason=Scheduled"})
        except SchedError as error:
            yield f"whether bound pods of namespace {namespace} lack their events could not be read: {error}"
            continue
        told = {event.about.uid for event in (found.items if found is not None else ())}
        for pod in bound:
            if pod.metadata.uid not in told:
                warning = recorder.record(pod, scheduler_name_of(pod), scheduled(pod, pod.spec.node_name))
                yield from [warning] if warning is not None else []
