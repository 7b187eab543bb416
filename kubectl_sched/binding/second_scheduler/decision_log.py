"""One line for each decision, in kube-scheduler's words, and for whatever goes wrong."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.safe_output import API_VERSION, safe, write_error, write_json

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.podgroup_result import Member
    from kubectl_sched.scheduler.result import ScheduleResult

_SAME_SECONDS: Final = 60.0


class DecisionLog:
    """Writes lines to stderr, from any thread. `quiet` leaves the decisions out and keeps what goes wrong.

    With `as_json` decisions are data, and go to stdout.
    """

    def __init__(self, *, quiet: bool = False, as_json: bool = False) -> None:
        self._quiet = quiet
        self._as_json = as_json
        self._lock = threading.Lock()
        self._said: dict[str, float] = {}

    def assigned(self, pod: Pod, node: str) -> None:
        """Log the node in the words of kube-scheduler's event."""
        self._decision(pod, "Scheduled", node, f"Successfully assigned {pod.namespace}/{pod.name} to {node}")

    def rejected(self, result: ScheduleResult) -> None:
        """Log why the pod has no node."""
        why = result.error or result.event or result.message or result.outcome.value
        self._decision(result.pod, result.outcome.value, None, why)

    def left_out(self, member: Member) -> None:
        """Log why a member of a group has no node."""
        self._decision(member.pod, member.outcome.value, None, member.event or member.outcome.value)

    def note(self, sentence: str) -> None:
        """Log news of the program itself: it leads, it stands by, it ends."""
        self._line(sentence)

    def problem(self, sentence: str) -> None:
        """Something that will be tried again or left; the same sentence is said once a minute."""
        now = time.monotonic()
        with self._lock:
            if now - self._said.get(sentence, -_SAME_SECONDS) < _SAME_SECONDS:
                return
            if len(self._said) > 1000:
                self._said = {said: at for said, at in self._said.items() if now - at < _SAME_SECONDS}
            self._said[sentence] = now
        self._line(f"warning: {sentence}")

    def _decision(self, pod: Pod, outcome: str, node: str | None, message: str) -> None:
        if self._quiet:
            return
        if self._as_json:
            write_json(_json(pod, outcome, node, message) + b"\n")
            sys.stdout.flush()
        else:
            self._line(message if node is not None else f"{pod.key}: {message}")

    def _line(self, text: str) -> None:
        with self._lock:
            write_error(f"{safe(text)}\n")


def _json(pod: Pod, outcome: str, node: str | None, message: str) -> bytes:
    decision = {
        "apiVersion": API_VERSION,
        "kind": "Decision",
        "pod": {"namespace": pod.namespace, "name": pod.name, "uid": pod.metadata.uid},
        "schedulerName": pod.spec.scheduler_name,
        "outcome": outcome,
        "node": node,
        "message": message,
    }
    return msgspec.json.encode(decision)
