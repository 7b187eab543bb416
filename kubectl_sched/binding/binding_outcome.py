"""The outcome of an order to bind one pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.text.binding_plan import BindingPlan

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C, as shells have it: 128 and SIGINT."""


class Answer(Record, frozen=True, kw_only=True):
    """An outcome, its exit code, and a sentence.

    Outcomes: Bound, Planned, Declined, Refused, Unschedulable, Taken, Gone, Failed, Interrupted.
    """

    outcome: str
    exit_code: int
    message: str
    plan: BindingPlan
    explanation: Explanation
    bound_to: str | None = None
    warnings: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    """Those of the warnings that stood in a plan which was shown."""


def as_data(answer: Answer, dry_run: str, explanation: dict[str, Any]) -> dict[str, Any]:
    """The contract's JSON. `node` is the one that was chosen, `boundTo` the one that the pod has."""
    plan, pod = answer.plan, answer.explanation.pod
    return {
        "apiVersion": "kubectl-sched/v1",
        "kind": "Binding",
        "pod": {"namespace": pod.namespace, "name": pod.name},
        "node": plan.node,
        "dryRun": dry_run,
        "outcome": answer.outcome,
        "message": answer.message,
        "boundTo": answer.bound_to,
        "serving": {"state": plan.serving[0], "evidence": plan.serving[1]},
        "requests": [{"method": each.method, "path": each.path, "what": each.what} for each in plan.writes],
        "victims": list(plan.victims),
        "leftovers": list(plan.leftovers),
        "left": list(answer.left),
        "explanation": explanation,
        "warnings": list(answer.warnings),
    }
