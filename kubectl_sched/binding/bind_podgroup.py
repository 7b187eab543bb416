"""Binds one group of pods, all or nothing: look, show the plan, ask, look again, try, write."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.binding.api_requests import bind_pod
from kubectl_sched.binding.bind_once import may_write
from kubectl_sched.binding.binding_cycle import Bound, Failed, is_judged_alike
from kubectl_sched.binding.binding_outcome import INTERRUPTED, GroupAnswer
from kubectl_sched.binding.cancellable_binding import PodInPreBind
from kubectl_sched.binding.node_recheck import is_as_judged, read_node
from kubectl_sched.binding.object_reader import read_pod
from kubectl_sched.binding.podgroup_plan import group_plan, refusal_of_group, unknown_of
from kubectl_sched.binding.scheduling_failure import report_failure, write_report
from kubectl_sched.own_error import EXIT_CODE
from kubectl_sched.render.safe_text import count, listed
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline
from kubectl_sched.scheduler.result import UNKNOWN_EXIT_CODE
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.binding.bind_context import Order
    from kubectl_sched.binding.bind_once import Tools
    from kubectl_sched.binding.podgroup_plan import GroupSituation
    from kubectl_sched.render.answers.binding_plan import BindingPlan
    from kubectl_sched.scheduler.cycle_result import CycleResult

_ROUNDS = 5
"""The most cycles that are run because something changed meanwhile."""


def bind_podgroup(order: Order, tools: Tools, look: Callable[[], GroupSituation]) -> GroupAnswer:
    """Bind the group as it was ordered; `look` reads and runs its cycle anew."""
    return _OfGroup(order, tools, look).answer()


class _OfGroup:
    def __init__(self, order: Order, tools: Tools, look: Callable[[], GroupSituation]) -> None:
        self._order = order
        self._tools = tools
        self._look = look
        self._confirmed: BindingPlan | None = None
        self._bound: dict[str, str] = {}
        """The nodes of the members that were bound, by their keys."""
        self._failures: dict[str, str] = {}
        self._warnings: dict[str, None] = {}
        self._left: dict[str, None] = {}

    def answer(self) -> GroupAnswer:
        situation, plan = self._planned()
        for _ in range(_ROUNDS):
            answer = self._one_round(situation, plan)
            if answer is not None:
                return answer
            situation, plan = self._planned()
        return self._ended("Failed", 3, "the cluster keeps changing", situation, plan)

    def _planned(self) -> tuple[GroupSituation, BindingPlan]:
        situation = self._look()
        self._warnings.update(dict.fromkeys(situation.notes))
        return situation, group_plan(situation, self._order)

    def _one_round(self, situation: GroupSituation, plan: BindingPlan) -> GroupAnswer | None:
        """The answer, None if something has changed meanwhile."""
        said = refusal_of_group(situation, self._order)
        if said is not None:
            return self._ended("Refused", _code_of_refusal(situation), said, situation, plan)
        if plan != self._confirmed:
            self._tools.show(plan)
        if not situation.placed:
            return self._does_not_fit(situation, plan)
        if self._order.dry_run == "client":
            return self._ended("Planned", 0, _in_words(situation, plan), situation, plan)
        is_confirmed = plan == self._confirmed or bool(self._bound)
        if not may_write(self._order, self._tools, plan, is_confirmed=is_confirmed):
            return self._ended("Declined", 1, "nothing was written", situation, plan)
        self._confirmed = plan
        with self._tools.uninterrupted():
            return self._bind(situation, plan)

    def _does_not_fit(self, situation: GroupSituation, plan: BindingPlan) -> GroupAnswer:
        if self._order.dry_run == "none" and self._may_report(plan):
            with self._tools.uninterrupted():
                self._report(situation)
        return self._ended("Unschedulable", 1, f"podgroup {podgroup_headline(situation.result)}", situation, plan)

    def _may_report(self, plan: BindingPlan) -> bool:
        return self._order.yes or (self._tools.can_ask and bool(plan.writes) and self._tools.ask(plan))

    def _bind(self, situation: GroupSituation, plan: BindingPlan) -> GroupAnswer | None:
        members = self._as_they_are_now(situation)
        if members is None:
            return None
        refused = self._tried(members)
        is_whole = not refused and self._bind_members(situation, members)
        if self._tools.stop.is_set():
            return self._ended("Interrupted", INTERRUPTED, f"{situation.key} is not bound", situation, plan)
        if refused or self._failures:
            said = refused or "; ".join(self._failures.values())
            return self._ended("Failed", 3, f"{situation.key}: {said}", situation, plan)
        if not is_whole:
            return None
        if self._order.dry_run == "server":
            said = f"{_in_words(situation, plan)}, and the server would do so"
            return self._ended("Planned", 0, said, situation, plan)
        return self._ended("Bound", 0, f"{situation.key} bound to {plan.node}", situation, plan)

    def _as_they_are_now(self, situation: GroupSituation) -> list[tuple[CycleResult, str]] | None:
        """The members with their pods as the server has them; None if the verdict may no longer hold."""
        base, writer = situation.cycle.scheduler.nodes, self._tools.writer
        found = []
        for result, node in situation.placed:
            pod = read_pod(writer, result.pod)
            if pod is None or pod.spec.node_name or not is_judged_alike(pod, result.pod):
                return None
            found.append((replace(result, pod=pod), node))
        judged = {node: replace(result, nodes=base) for result, node in found}
        stands = all(is_as_judged(read_node(writer, node), result, node) for node, result in judged.items())
        return found if stands else None

    def _tried(self, members: Sequence[tuple[CycleResult, str]]) -> str:
        """Have the server try each binding before the first is written; return its refusal of one, empty if none."""
        trial = self._tools.writer.trying()
        for result, node in members:
            try:
                trial.send(bind_pod(result.pod, node))
            except ClusterError as error:
                is_changed = isinstance(error, ResponseError) and error.status == HTTPStatus.CONFLICT
                if not is_changed:
                    return f"the server would not bind pod {result.pod.key}, so none was bound: {error}"
        return ""

    def _bind_members(self, situation: GroupSituation, members: Sequence[tuple[CycleResult, str]]) -> bool:
        """Bind one after the other; with the first the group is told, so that a later run need not."""
        is_whole, is_told = True, self._order.dry_run != "none"
        for result, node in members:
            is_whole = self._bind_member(result, node) and is_whole
            if self._bound and not is_told:
                self._report(situation)
                is_told = True
        return is_whole

    def _bind_member(self, result: CycleResult, node: str) -> bool:
        """Bind one member; False if it has not got its node."""
        key = result.pod.key
        if self._tools.stop.is_set() or (self._failures and not self._bound):
            return False
        outcome = self._tools.cycle.run(result, node, PodInPreBind(self._tools.stop))
        self._warnings.update(dict.fromkeys(outcome.warnings))
        self._left.update(dict.fromkeys(outcome.left))
        if isinstance(outcome, Bound):
            if self._order.dry_run == "none":
                self._bound[key] = node
            return True
        if isinstance(outcome, Failed) and not outcome.changed and not outcome.interrupted:
            self._failures[key] = f"pod {key}: {outcome.status.message}"
            if self._order.dry_run == "none":
                said = report_failure(self._tools.writer, self._tools.recorder, result, outcome)
                self._warnings.update(dict.fromkeys(said))
        return False

    def _report(self, situation: GroupSituation) -> None:
        """Write what is to be said of the members without a node, and the group's conditions."""
        tools = self._tools
        for member, report in situation.reports():
            said = write_report(tools.writer, tools.recorder, member.pod, report, situation.framework(member))
            self._warnings.update(dict.fromkeys(said))
        for _, request in situation.conditions():
            try:
                tools.writer.send(request)
            except ClusterError as error:
                self._warnings[f"the condition of {situation.key} could not be written: {error}"] = None

    def _ended(
        self, outcome: str, exit_code: int, message: str, situation: GroupSituation, plan: BindingPlan
    ) -> GroupAnswer:
        if self._tools.stop.is_set():
            exit_code = INTERRUPTED
        if self._bound and outcome != "Bound":
            message += f"; bound already: {listed(list(self._bound))} (the next run goes on from there)"
        return GroupAnswer(
            outcome=outcome,
            exit_code=exit_code,
            message=message,
            plan=plan,
            result=situation.result,
            bound=self._bound,
            warnings=tuple(self._warnings),
            left=tuple(self._left),
        )


def _code_of_refusal(situation: GroupSituation) -> int:
    if situation.result.budget_ended is not None:
        return UNKNOWN_EXIT_CODE
    return EXIT_CODE if any(map(unknown_of, situation.result.members)) else 1


def _in_words(situation: GroupSituation, plan: BindingPlan) -> str:
    return f"would bind {count(len(situation.placed), 'pod')} of {situation.key} to {plan.node}"
