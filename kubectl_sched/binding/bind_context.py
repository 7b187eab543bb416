"""The pod that is to be bound, with all that was read of the cluster in one state."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.binding.active_scheduler import RUNNING, ActiveScheduler, active_scheduler
from kubectl_sched.binding.resumed_pre_bind import is_extended_claim_of, leftovers
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.record import Record
from kubectl_sched.render.answers.explain_output import check_is_node
from kubectl_sched.render.sentences.headline import decision, unjudged
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.discovery.replay_setup import Replay

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_selection import Selection


class Order(Record, frozen=True, kw_only=True):
    """The flags of the same names."""

    node: str | None = None
    ignore_filters: bool = False
    take_over: bool = False
    preempt: bool = False
    dry_run: str = "none"
    yes: bool = False
    replay: Replay = Replay()
    profile: str | None = None


class Situation(Record, frozen=True, kw_only=True):
    """The pod's explanation, who serves it otherwise, and what an earlier attempt left of it."""

    dump: Dump
    schedulers: ClusterSchedulers
    explanation: Explanation
    serving: ActiveScheduler
    leftovers: tuple[str, ...]
    notes: tuple[str, ...]
    stale: tuple[ResourceClaim, ...] = ()
    """Claims that an earlier cycle made for the pod's extended resources: while there is one, it fits nowhere."""

    @property
    def result(self) -> ScheduleResult:
        """The cycle."""
        return self.explanation.result

    @property
    def pod(self) -> Pod:
        """The pod as the cycle saw it."""
        return self.result.pod


def situation_of(dump: Dump, selection: Selection, order: Order) -> Situation:
    """Explain the one selected pod. Raises SchedError for one that is not there or a --profile that is not."""
    question = ExplainQuestion(
        selection=selection, replay=order.replay, profile=order.profile, in_groups=False, suggesting=False
    )
    answer, schedulers = explain(question, dump)
    result = answer.explanations[0].result
    notes: tuple[str, ...] = ()
    if result.outcome is Outcome.NO_PROFILE and order.profile is None and order.replay.config is None:
        name = result.pod.spec.scheduler_name
        notes = (f"how {name} is configured is not known: the default profile decides (--config gives another)",)
        answer, schedulers = explain(replace(question, profile=DEFAULT_SCHEDULER_NAME), dump)
        result = answer.explanations[0].result
    return Situation(
        dump=dump,
        schedulers=schedulers,
        explanation=answer.explanations[0],
        serving=active_scheduler(result.pod, dump, schedulers, datetime.now(UTC)),
        leftovers=leftovers(result.pod, dump.objects) if result.current_node is None else (),
        notes=(*notes, *schedulers.notes, *schedulers.warnings, *answer.explanations[0].warnings, *dump.warnings),
        stale=tuple(
            item for item in dump.objects if isinstance(item, ResourceClaim) and is_extended_claim_of(result.pod, item)
        ),
    )


def refusal(situation: Situation, order: Order) -> str | None:
    """Return why the pod is not to be bound, whatever the filters say; None if nothing speaks against it."""
    key, result = situation.pod.key, situation.result
    own = _own_refusal(result)
    if own is not None:
        return f"pod {key} {own}"
    if result.unknown:
        return unjudged(result) or decision(result)
    if situation.serving.state == RUNNING and not order.take_over:
        name = scheduler_name_of(situation.pod)
        return f"pod {key} is served by {name}: {situation.serving.evidence}; --take-over binds it all the same"
    if result.outcome is Outcome.NO_PROFILE:
        return f"pod {key} is served by no profile: {'; '.join(situation.explanation.warnings)} (--profile names one)"
    waits = [action.action for action in result.binding if action.extension_point == "permit"]
    if any(action.startswith("wait") for action in waits):
        return f"pod {key} would {'; '.join(waits)}: a gang has to be bound as a whole"
    return None


def _own_refusal(result: ScheduleResult) -> str | None:
    """Return why the pod itself does not wait for a node."""
    pod, status = result.pod, result.pre_enqueue
    if result.current_node is not None:
        return f"is on node {result.current_node} already"
    if pod.has_ended:
        return f"has ended ({pod.status.phase})"
    if result.outcome is Outcome.DELETING:
        return "is being deleted"
    if status.is_success and not pod.spec.scheduling_gates:
        return None
    gates = status.message or ", ".join(gate.name for gate in pod.spec.scheduling_gates)
    return f"is gated by {status.plugin or 'SchedulingGates'}{f' ({gates})' if gates else ''}, so nobody may bind it"


def target(situation: Situation, order: Order) -> str | None:
    """The node to bind to; None if the pod fits nowhere, or not on the node that was asked for.

    Raises SchedError for a node that is not there.
    """
    result = situation.result
    if order.node is None:
        if not result.fits:
            return None
        return result.nominated_first or result.best[0]
    check_is_node(order.node, result.nodes)
    return order.node if order.ignore_filters or not against(result, order.node) else None


def against(result: ScheduleResult, node: str) -> tuple[str, ...]:
    """Return why the filters reject one node; empty if they do not."""
    row = result.nodes.row_of[node]
    if result.verdict is None:
        return tuple(filter(None, [result.error or result.pre_filter.message]))
    status = result.verdict[row]
    if status.is_success:
        return ()
    rejections = result.rejections(row)
    return tuple(f"{each.plugin}: {each.message}" for each in rejections or (status,))
