"""A scheduler's statements about a pod: its PodScheduled condition and events, and the stage of the pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kubectl_sched.diagnostics.messages.decoder import FitErrorText, parse
from kubectl_sched.diagnostics.pod_lifecycle import stage_without_replay

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.pod_lifecycle import Stage
    from kubectl_sched.sources.pod_surroundings import Surroundings


class Statement(NamedTuple):
    """One statement. `text` is None if it is no text that can be taken apart; `last_seen` is RFC 3339."""

    by: str
    reason: str
    words: str
    last_seen: str
    text: FitErrorText | None


class PodStatements(NamedTuple):
    """All that is known of a pod without the cluster around it, the newest event first."""

    pod: Pod
    stage: Stage | None
    condition: Statement | None
    events: tuple[Statement, ...]
    read_at: str | None
    """The moment that the state is of (RFC 3339); None if nothing tells it."""

    @property
    def newest(self) -> Statement | None:
        """The statement that counts: the condition, which is never cut, else the newest event."""
        failed = (event for event in self.events if event.text is not None)
        return self.condition if self.condition is not None and self.condition.text else next(failed, self.condition)


def statements_of(pod: Pod, around: Surroundings) -> PodStatements:
    """Collect the statements about the pod, and the stage that its status shows."""
    return PodStatements(
        pod,
        stage_without_replay(pod, around),
        _condition(pod),
        tuple(_said(event.component, event.reason, event.text, event.last_seen) for event in around.events(pod)),
        around.dump.at,
    )


def _condition(pod: Pod) -> Statement | None:
    found = pod.condition("PodScheduled")
    if found is None or found.status == "True":
        return None
    return _said(pod.spec.scheduler_name, found.reason, found.message, found.last_transition_time or "")


def _said(by: str, reason: str, words: str, last_seen: str) -> Statement:
    understood = parse(words)
    takes_apart = reason in {"FailedScheduling", "Unschedulable", "SchedulingGated", "SchedulerError"}
    return Statement(by, reason, words, last_seen, understood if takes_apart and understood.understood else None)
