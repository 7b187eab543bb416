"""The first line of an answer about a pod, `NS/NAME: VERDICT`, the same in every format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.render.document import Verdict
from kubectl_sched.render.safe_text import safe, shortened
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.table import Tone

_LONGEST_NAME = 40
_BADGES = {
    Outcome.SCHEDULABLE: "fits",
    Outcome.UNSCHEDULABLE: "does not fit",
    Outcome.GATED: "is gated",
    Outcome.NO_PROFILE: "has no profile",
    Outcome.DELETING: "is being deleted",
    Outcome.ERROR: "fails the cycle",
    Outcome.UNKNOWN: "may or may not fit",
}


def verdict_of_pod(explanation: Explanation) -> Verdict:
    """Return the verdict on a pod; a long name is shortened in its middle, here alone."""
    pod, outcome = explanation.pod, explanation.result.outcome
    is_open = outcome is Outcome.UNKNOWN or (explanation.result.fits and explanation.clauses)
    tone: Tone = "" if is_open else "good" if explanation.result.fits else "bad"
    return Verdict(
        subject=f"{safe(pod.namespace)}/{shortened(safe(pod.name), _LONGEST_NAME)}",
        text=f"{explanation.verdict}.",
        tone=tone,
        badge=_BADGES[outcome],
    )


def verdict_line(explanation: Explanation) -> str:
    """Return the whole line."""
    return verdict_of_pod(explanation).line
