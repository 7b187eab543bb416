"""One line on stderr for each decision, in kube-scheduler's words, and for whatever goes wrong."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Final, TextIO

from kubectl_sched.render.text import safe

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult

_SAME_SECONDS: Final = 60.0


class Say:
    """Writes lines, from any thread. `quiet` leaves the decisions out and keeps what goes wrong."""

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._quiet = quiet
        self._stream = stream
        self._lock = threading.Lock()
        self._said: dict[str, float] = {}

    def assigned(self, pod: Pod, node: str) -> None:
        """As the event of kube-scheduler says it."""
        self._decision(f"Successfully assigned {pod.namespace}/{pod.name} to {node}")

    def rejected(self, result: ScheduleResult) -> None:
        """Why the pod has no node."""
        why = result.error or result.event or result.message or result.outcome.value
        self._decision(f"{result.pod.key}: {why}")

    def note(self, sentence: str) -> None:
        """What happens to the program itself: it leads, it stands by, it ends."""
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

    def _decision(self, line: str) -> None:
        if not self._quiet:
            self._line(line)

    def _line(self, text: str) -> None:
        print(safe(text), file=self._stream or sys.stderr, flush=True)
