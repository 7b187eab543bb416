"""Binds one pod: look, show the plan, ask, look again, write; and say what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from kubectl_sched.api.core import Event as ClusterEvent
from kubectl_sched.binding.api_requests import collection_path
from kubectl_sched.binding.bind_context import Situation, against, refusal
from kubectl_sched.binding.binding_cycle import Bound, Failed, Gone, is_judged_alike
from kubectl_sched.binding.binding_outcome import INTERRUPTED, BindAnswer
from kubectl_sched.binding.cancellable_binding import PodInPreBind
from kubectl_sched.binding.node_recheck import gone_or_replaced, is_as_judged, overcommitted, read_node
from kubectl_sched.binding.object_reader import read_pod
from kubectl_sched.binding.preemption_executor import await_gone, preempt, preemption_of, without_preemption
from kubectl_sched.binding.scheduling_failure import report_failure, take_back_report
from kubectl_sched.binding.unreserve import removal_of
from kubectl_sched.binding.write_plan import in_words, plan_of
from kubectl_sched.errors import SchedError
from kubectl_sched.own_error import EXIT_CODE
from kubectl_sched.record import Record
from kubectl_sched.render.sentences.headline import decision
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE
from kubectl_sched.sources.live.live_errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from threading import Event

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.bind_context import Order
    from kubectl_sched.binding.binding_cycle import BindingCycle
    from kubectl_sched.binding.event_recorder import EventRecorder
    from kubectl_sched.binding.writer import Writer
    from kubectl_sched.render.answers.binding_plan import BindingPlan, PlannedWrite
    from kubectl_sched.scheduler.result import ScheduleResult

_ROUNDS = 5
"""The most cycles that are run because something changed meanwhile."""


class Tools(Record, frozen=True, kw_only=True):
    """The tools that binding one pod takes.

    `show` shows a plan, `ask` asks whether to go on with it; within `uninterrupted` whoever interrupts sets `stop`
    instead.
    """

    show: Callable[[BindingPlan], None]
    ask: Callable[[BindingPlan], bool]
    uninterrupted: Callable[[], AbstractContextManager[None]]
    writer: Writer
    recorder: EventRecorder
    cycle: BindingCycle
    stop: Event
    can_ask: bool = False
    """Report whether there is somebody to ask."""


def bind_once(order: Order, tools: Tools, look: Callable[[], Situation]) -> BindAnswer:
    """Bind the pod as it was ordered; `look` reads and explains anew.

    Raises SchedError for bad usage, ClusterError for a cluster that is not read.
    """
    return _Once(order, tools, look).answer()


def may_write(order: Order, tools: Tools, plan: BindingPlan, *, is_confirmed: bool) -> bool:
    """Ask, unless this has been confirmed already or nothing is written without asking."""
    if order.yes or order.dry_run != "none" or is_confirmed:
        return True
    if not tools.can_ask:
        raise SchedError(
            "bind asks before it writes, and there is no terminal to ask at: give --yes, or --dry-run=client"
        )
    return tools.ask(plan)


class _Once:
    def __init__(self, order: Order, tools: Tools, look: Callable[[], Situation]) -> None:
        self._order = order
        self._tools = tools
        self._read = look
        self._warnings: dict[str, None] = {}
        self._shown: BindingPlan | None = None
        self._confirmed: _Consent | None = None
        self._before: Pod | None = None
        """The pod as it was before preemption was reported."""
        self._gone: tuple[str, ...] = ()
        """The victims, which no interrupt brings back."""

    def answer(self) -> BindAnswer:
        situation = self._look()
        plan = plan_of(situation, self._order)
        try:
            for _ in range(_ROUNDS):
                if self._tools.stop.is_set():
                    return self._interrupted(situation, plan)
                answer = self._one_round(situation, plan)
                if isinstance(answer, BindAnswer):
                    return answer
                situation, plan = answer, plan_of(answer, self._order)
        except KeyboardInterrupt:
            if self._before is None or self._tools.stop.is_set():
                raise
            self._tools.stop.set()
            return self._interrupted(situation, plan)
        return self._ended("Failed", 3, f"pod {situation.pod.key}: the cluster keeps changing", plan, situation)

    def _look(self) -> Situation:
        situation = self._read()
        self._warn(*situation.notes)
        return situation

    def _show(self, plan: BindingPlan) -> None:
        if plan != self._shown:
            self._tools.show(plan)
            self._shown = plan

    def _warn(self, *sentences: str) -> None:
        self._warnings.update(dict.fromkeys(sentences))

    def _one_round(self, situation: Situation, plan: BindingPlan) -> BindAnswer | Situation:
        """The answer, or the situation as it has changed meanwhile."""
        said = refusal(situation, self._order)
        if said is not None:
            return self._ended(
                "Refused", _refused_code(situation.result), said, plan, situation, situation.result.current_node
            )
        self._show(plan)
        if plan.node is None and not plan.victims and not situation.stale:
            return self._rejected(situation, plan)
        if self._order.dry_run == "client":
            return self._ended("Planned", 0, in_words(plan), plan, situation)
        if not self._may_go_on(situation, plan):
            said = f"nothing {'was' if self._before is None else 'more was'} written"
            return self._ended("Declined", 1, said, plan, situation, None, self._gone)
        with self._tools.uninterrupted():
            if plan.node is not None:
                return self._bind(situation, plan, plan.node)
            return self._clear(situation, plan) if situation.stale else self._preempt(situation, plan)

    def _rejected(self, situation: Situation, plan: BindingPlan) -> BindAnswer:
        """The pod fits nowhere, or not on the node that was asked for."""
        node = self._order.node
        if node is None:
            return self._does_not_fit(situation, plan)
        reasons = "; ".join(against(situation.result, node))
        said = f"the filters reject node {node} ({reasons}); --ignore-filters binds it there all the same"
        return self._ended("Refused", 1, f"pod {situation.pod.key}: {said}", plan, situation)

    def _clear(self, situation: Situation, plan: BindingPlan) -> BindAnswer | Situation:
        """Remove what keeps the pod from fitting at all, as kube-scheduler's PostFilter does, and look again."""
        for claim in situation.stale:
            for request in removal_of(claim):
                self._tools.writer.send(request)
        if self._order.dry_run == "server":
            return self._ended("Planned", 0, f"{in_words(plan)}, and the server would do so", plan, situation)
        return self._look()

    def _may_go_on(self, situation: Situation, plan: BindingPlan) -> bool:
        """Ask, unless exactly this has been confirmed already or nothing is written without asking."""
        asked = _Consent(pod=situation.pod, node=plan.node, victims=plan.victims, writes=plan.writes)
        is_confirmed = asked.is_covered_by(self._confirmed)
        if not may_write(self._order, self._tools, plan, is_confirmed=is_confirmed):
            return False
        if not is_confirmed:
            self._confirmed = asked
        return True

    def _does_not_fit(self, situation: Situation, plan: BindingPlan) -> BindAnswer:
        result, said = situation.result, decision(situation.result)
        if self._order.dry_run == "none" and plan.writes and self._may_report(plan):
            with self._tools.uninterrupted():
                self._report(situation, without_preemption(result))
                if self._tools.stop.is_set():
                    return self._interrupted(situation, plan)
        if preemption_of(result) is not None:
            said += "; --preempt makes room for it"
        return self._ended("Unschedulable", 1, said, plan, situation)

    def _may_report(self, plan: BindingPlan) -> bool:
        """Without a terminal and without --yes the answer stands as well, and nothing is written."""
        return self._order.yes or (self._tools.can_ask and self._tools.ask(plan))

    def _bind(self, situation: Situation, plan: BindingPlan, node: str) -> BindAnswer | Situation:
        result = self._as_it_is_now(situation, node)
        if result is None:
            return self._look()
        outcome = self._tools.cycle.run(result, node, PodInPreBind(self._tools.stop))
        self._warn(*outcome.warnings)
        pod = situation.pod.key
        if isinstance(outcome, Bound):
            return self._bound(situation, plan, node)
        if isinstance(outcome, Failed) and outcome.changed:
            self._warn(*outcome.left)
            return self._look()
        if isinstance(outcome, Failed):
            return self._failed(situation, plan, outcome)
        if isinstance(outcome, Gone):
            return self._ended("Gone", 1, outcome.why, plan, situation, None, outcome.left)
        said = f"pod {pod} was bound to node {outcome.node} by {self._by_whom(situation.pod)} meanwhile"
        return self._ended("Taken", 1, said, plan, situation, outcome.node, outcome.left)

    def _failed(self, situation: Situation, plan: BindingPlan, failed: Failed) -> BindAnswer:
        pod, left = situation.pod.key, failed.left
        if failed.interrupted:
            return self._interrupted(situation, plan, left)
        if self._order.dry_run == "none":
            self._report(situation, situation.result, failed)
            if self._tools.stop.is_set():
                return self._interrupted(situation, plan, left)
        return self._ended("Failed", 3, f"pod {pod}: {failed.status.message}", plan, situation, None, left)

    def _report(self, situation: Situation, result: ScheduleResult, failed: Failed | None = None) -> None:
        """Write why the pod has no node; Ctrl-C takes it back."""
        self._before = self._before or situation.pod
        self._warn(*report_failure(self._tools.writer, self._tools.recorder, result, failed))

    def _interrupted(self, situation: Situation, plan: BindingPlan, left: tuple[str, ...] = ()) -> BindAnswer:
        if self._before is not None:
            left = (*left, *take_back_report(self._tools.writer, self._before), *self._gone)
        said = f"pod {situation.pod.key} has no node{'' if left else ', and nothing is left of the attempt'}"
        return self._ended("Interrupted", INTERRUPTED, said, plan, situation, None, left)

    def _as_it_is_now(self, situation: Situation, node: str) -> CycleResult | None:
        """The result with the pod as the server has it now; None if the verdict may no longer hold."""
        result, judged = situation.result, situation.pod
        pod = read_pod(self._tools.writer, judged)
        if pod is None or pod.spec.node_name or not is_judged_alike(pod, judged):
            return None
        if not isinstance(result, CycleResult):
            return None
        if pod.status.nominated_node_name != judged.status.nominated_node_name:
            return None
        return replace(result, pod=pod) if is_as_judged(read_node(self._tools.writer, node), result, node) else None

    def _bound(self, situation: Situation, plan: BindingPlan, node: str) -> BindAnswer:
        if self._order.dry_run == "server":
            return self._ended("Planned", 0, f"{in_words(plan)}, and the server would do so", plan, situation)
        try:
            now = read_node(self._tools.writer, node)
            self._warn(*gone_or_replaced(now, situation.result, node))
            configuration = situation.schedulers.scheduler(situation.pod).configuration
            said = overcommitted(now, situation.result, situation.dump, configuration, node)
            self._warn(*([said] if said else []))
        except ClusterError as error:
            self._warn(f"whether node {node} is overcommitted now could not be read: {error}")
        return self._ended("Bound", 0, f"pod {situation.pod.key} bound to node {node}", plan, situation, node)

    def _preempt(self, situation: Situation, plan: BindingPlan) -> BindAnswer | Situation:
        tools, result = self._tools, situation.result
        dry = self._order.dry_run == "server"
        if not dry:
            self._report(situation, result)
        preemption = preemption_of(result)
        assert preemption is not None  # noqa: S101 - the plan has its victims
        done = preempt(tools.writer, tools.recorder, preemption)
        self._gone += tuple(f"pod {each.key} was deleted to make room" for each in done.victims)
        self._warn(*done.warnings)
        if done.failure and tools.stop.is_set():
            self._warn(done.failure)
            return self._interrupted(situation, plan)
        if done.failure:
            going = [f"pod {each.key} was deleted" for each in done.victims]
            said = f"pod {situation.pod.key} has no node: {'; '.join((done.failure, *going))}"
            return self._ended("Failed", 3, said, plan, situation)
        if dry:
            return self._ended("Planned", 0, f"{in_words(plan)}, and the server would do so", plan, situation)
        there = await_gone(tools.writer, done.victims, tools.stop)
        if there:
            if tools.stop.is_set():
                return self._interrupted(situation, plan)
            stay = f"{', '.join(there)} did not go in time"
            said = f"pod {situation.pod.key} is nominated to {preemption.place}, where {stay}"
            return self._ended("Failed", 3, said, plan, situation)
        if self._confirmed is not None:
            # Preemption was for the binding, whose requests can be told only now.
            self._confirmed = replace(self._confirmed, node=preemption.place, victims=(), writes=None)
        return self._look()

    def _by_whom(self, pod: Pod) -> str:
        """The component that says it bound the pod; its event may still be on its way."""
        query = {"fieldSelector": f"involvedObject.name={pod.name},reason=Scheduled"}
        try:
            listed = self._tools.writer.read(collection_path("Event", pod.namespace), _Events, query)
        except ClusterError:
            return "another"
        events = [each for each in (listed.items if listed else ()) if each.about.uid == pod.metadata.uid]
        return events[-1].component or "another" if events else "another"

    def _ended(
        self,
        outcome: str,
        exit_code: int,
        message: str,
        plan: BindingPlan,
        situation: Situation,
        bound_to: str | None = None,
        left: tuple[str, ...] = (),
    ) -> BindAnswer:
        shown = self._shown.notes if self._shown is not None else ()
        if self._tools.stop.is_set():
            exit_code = INTERRUPTED
            message = f"interrupted{' too late' if outcome == 'Bound' else ''}: {message}"
        return BindAnswer(
            outcome=outcome,
            exit_code=exit_code,
            message=message,
            plan=plan,
            explanation=situation.explanation,
            bound_to=bound_to,
            warnings=tuple(self._warnings),
            left=left,
            shown=shown,
        )


class _Consent(Record, frozen=True, kw_only=True):
    """The user's consent: to this very pod as it was, this node, these victims and these requests."""

    pod: Pod
    node: str | None
    victims: tuple[str, ...]
    writes: tuple[PlannedWrite, ...] | None
    """None: whichever the binding takes."""

    def is_covered_by(self, given: _Consent | None) -> bool:
        """Report whether nothing that matters has changed since consent was given."""
        return (
            given is not None
            and is_judged_alike(self.pod, given.pod)
            and (self.node, self.victims) == (given.node, given.victims)
            and given.writes in {None, self.writes}
        )


class _Events(msgspec.Struct, frozen=True):
    items: tuple[ClusterEvent, ...] = ()


def _refused_code(result: ScheduleResult) -> int:
    """Return the exit code of a refusal: a bug of ours, a budget that ended, or a decision."""
    if not result.unknown:
        return 1
    return EXIT_CODE if result.has_met_a_bug else UNKNOWN_EXIT_CODE
