"""The last thing that the pod's scheduler said, beside what the replay says now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import moment
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.diagnostics.replay_against_history import likely_causes, same_text
from kubectl_sched.record import Record
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from kubectl_sched.api.core import Event
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

EVENT: Final = "event"
CONDITION: Final = "condition"


class Said(Record, frozen=True, kw_only=True):
    """A scheduler's message about a pending pod: the text, when (RFC 3339), and where it stands."""

    message: str
    at: str | None
    source: str
    """event or condition."""

    differs: bool
    """The replay says something else now; False where the replay leaves it open."""

    because: str | None
    """The changes since, as far as they are known, or another likely reason; None if it does not differ."""

    by: str
    """The name of the scheduler."""

    read_at: str | None = None
    """The moment that the state is of (RFC 3339), from which the message's age is counted."""

    preemption_differs: bool = False
    """The replay says the same of the nodes, and something else of preemption."""


def said_of(result: ScheduleResult, around: Surroundings) -> Said | None:
    """Return the last message of the pod's scheduler; None for a bound pod and where it has said nothing."""
    pod = result.pod
    if result.current_node or pod.has_ended:
        return None
    name = scheduler_name_of(pod)
    found = _last(pod, _own_event(pod, name, around))
    if found is None:
        return None
    message, at, source = found
    differs = _differs(result, message)
    causes = (
        likely_causes(result, message, at or "", around, is_foreign=is_of_another_plugin(message)) if differs else ()
    )
    return Said(
        message=message,
        at=at,
        source=source,
        differs=differs,
        because="; ".join(causes) if differs else None,
        by=name,
        read_at=around.dump.at,
        preemption_differs=not differs and result.event is not None and not same_text(message, result.event),
    )


def _own_event(pod: Pod, name: str, around: Surroundings) -> Event | None:
    events = around.events(pod)
    return next(
        (each for each in events if each.reason == "FailedScheduling" and each.component == name and each.text), None
    )


def _last(pod: Pod, event: Event | None) -> tuple[str, str | None, str] | None:
    """The newer of event and condition; where both have one text, that of the condition, which is not cut."""
    condition = pod.condition("PodScheduled")
    if (
        condition is None
        or condition.status != "False"
        or not condition.message
        or condition.reason == "SchedulingGated"
    ):
        return (event.text, event.last_seen or None, EVENT) if event is not None else None
    since = condition.last_transition_time
    if event is None:
        return condition.message, since, CONDITION
    if same_text(event.text, condition.message):
        return condition.message, event.last_seen or since, CONDITION
    seen, changed = moment(event.last_seen), moment(since)
    is_newer = seen is not None and (changed is None or seen >= changed)
    return (event.text, event.last_seen, EVENT) if is_newer else (condition.message, since, CONDITION)


def _differs(result: ScheduleResult, message: str) -> bool:
    if result.outcome is Outcome.UNKNOWN or (result.event is None and result.outcome is Outcome.UNSCHEDULABLE):
        return False
    return result.event is None or not (same_text(message, result.event) or _same_of_nodes(message, result.event))


def is_of_another_plugin(message: str) -> bool:
    """Report whether no plugin of kube-scheduler's own says such a text."""
    from kubectl_sched.diagnostics.messages.decoder import parse  # most pods have no message, or the replay's

    clauses = [each for each in parse(message).clauses if not each.about_preemption and not each.cut]
    return bool(message) and any(each.meaning is None for each in clauses)


def _same_of_nodes(theirs: str, ours: str) -> bool:
    """Report whether both messages count the same reasons on as many nodes, whatever they say of preemption."""
    from kubectl_sched.diagnostics.messages.decoder import parse  # most pods have no message, or the replay's

    first, second = parse(theirs), parse(ours)
    return not first.cut and first.total is not None and first.of_nodes == second.of_nodes
