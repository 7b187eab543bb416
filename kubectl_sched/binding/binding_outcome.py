"""The outcome of an order to bind one pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.record import CachingRecord, Record, plain
from kubectl_sched.safe_output import API_VERSION

if TYPE_CHECKING:
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.render.answers.binding_plan import BindingPlan
    from kubectl_sched.render.schemas import binding as schema
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C, as shells have it: 128 and SIGINT."""


class BindAnswer(Record, frozen=True, kw_only=True):
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
    shown: tuple[str, ...] = ()
    """The warnings that stood in a plan which was shown."""


class GroupAnswer(CachingRecord, frozen=True, kw_only=True):
    """The outcome for a group of pods; `bound` are the nodes of the members that were bound, by their keys."""

    outcome: str
    exit_code: int
    message: str
    plan: BindingPlan
    result: PodGroupResult
    bound: dict[str, str]
    warnings: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def as_data(answer: BindAnswer, dry_run: str, explanation: Any) -> schema.Binding:
    """The contract's JSON. `node` is the one that was chosen, `boundTo` the one that the pod has."""
    plan, pod = answer.plan, answer.explanation.pod
    return {
        "apiVersion": API_VERSION,
        "kind": "Binding",
        "pod": {"namespace": pod.namespace, "name": pod.name},
        "node": plan.node,
        **_common(answer, dry_run),
        "boundTo": answer.bound_to,
        "victims": list(plan.victims),
        "leftovers": list(plan.leftovers),
        "explanation": explanation,
        "warnings": list(answer.warnings),
    }


def group_as_data(answer: GroupAnswer, dry_run: str, explanation: Any) -> schema.PodGroupBinding:
    """The contract's JSON of a group. Of each member `node` was chosen, and `boundTo` is where we have bound it."""
    return {
        "apiVersion": API_VERSION,
        "kind": "PodGroupBinding",
        "podGroup": explanation["podGroup"],
        **_common(answer, dry_run),
        "members": [
            {
                "pod": {"namespace": each.pod.namespace, "name": each.pod.name},
                "node": each.node_name,
                "boundTo": answer.bound.get(each.pod.key),
            }
            for each in answer.result.members
        ],
        "explanation": explanation,
        "warnings": list(answer.warnings),
    }


def _common(answer: BindAnswer | GroupAnswer, dry_run: str) -> schema.Order:
    plan = answer.plan
    return {
        "dryRun": dry_run,
        "outcome": answer.outcome,
        "message": answer.message,
        "serving": {"state": plan.serving[0], "evidence": plan.serving[1]},
        "requests": plain(plan.writes),
        "left": list(answer.left),
    }
