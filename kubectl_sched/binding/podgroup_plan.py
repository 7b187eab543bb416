"""The plan of the writes that bind a group, and of those where it does not fit (submitPodGroupAlgorithmResult)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.binding.active_scheduler import RUNNING, ActiveScheduler, active_scheduler
from kubectl_sched.binding.podgroup_condition import condition_patch, conditions_of
from kubectl_sched.binding.scheduling_failure import report_of_member
from kubectl_sched.binding.write_plan import binding_writes, planned_write, report_writes
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.queries.podgroups import PodGroupQuestion, cycle_of_one
from kubectl_sched.record import CachingRecord
from kubectl_sched.render.answers.binding_plan import BindingPlan
from kubectl_sched.render.safe_text import listed, safe
from kubectl_sched.render.sentences.podgroup_headline import podgroup_headline
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.binding.bind_context import Order
    from kubectl_sched.binding.scheduling_failure import Report
    from kubectl_sched.binding.writer import Request
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.queries.podgroups import CycleOfOne
    from kubectl_sched.render.answers.binding_plan import PlannedWrite
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.podgroup_result import Member, PodGroupResult
    from kubectl_sched.sources.dump.dump import Dump

_UNKNOWN = ActiveScheduler(state="unknown", evidence="no pod of the group waits")


class GroupSituation(CachingRecord, frozen=True, kw_only=True):
    """The group's cycle, who serves its pods otherwise, and where the server has each of its groups."""

    cycle: CycleOfOne
    serving: ActiveScheduler
    path_of: Callable[[Group], str | None]
    notes: tuple[str, ...]

    @property
    def result(self) -> PodGroupResult:
        """The cycle."""
        return self.cycle.result

    @property
    def key(self) -> str:
        """The group as sentences name it."""
        return f"podgroup {self.result.info.group.key}"

    @property
    def placed(self) -> tuple[tuple[CycleResult, str], ...]:
        """The members that get a node, each with its part of the cycle."""
        members = self.result.members
        return tuple((each.result, each.node_name) for each in members if each.result and each.node_name)

    def framework(self, member: Member) -> Framework:
        """Return the profile of a member that was in the cycle."""
        found = self.cycle.scheduler.framework(scheduler_name_of(member.pod))
        assert found is not None  # noqa: S101 - the cycle was run with it
        return found

    def reports(self) -> Iterator[tuple[Member, Report]]:
        """Yield what is to be said of the members that get no node."""
        for member in self.result.members:
            report = report_of_member(member)
            if report is not None:
                # Nobody is preempted for the group here, so that no nomination rests on it.
                yield member, replace(report, nominated=report.nominated if not report.nominated else None)

    def conditions(self) -> Iterator[tuple[str, Request]]:
        """Yield the patches of the groups' conditions, each with its purpose."""
        for group, condition in conditions_of(self.result):
            path = self.path_of(group)
            request = condition_patch(group, condition, path) if path is not None else None
            if request is not None:
                yield f"{condition.type} of the group is {condition.status}, {condition.reason}", request


def group_situation(
    dump: Dump, name: str, namespace: str, order: Order, path_of: Callable[[Group], str | None]
) -> GroupSituation:
    """Run the cycle of the group. Raises SchedError for one that is not there, or that has no cycle of its own."""
    cycle = cycle_of_one(PodGroupQuestion(names=(name,), namespace=namespace, replay=order.replay), dump)
    members, schedulers = cycle.result.members, cycle.schedulers
    return GroupSituation(
        cycle=cycle,
        serving=active_scheduler(members[0].pod, dump, schedulers, datetime.now(UTC)) if members else _UNKNOWN,
        path_of=path_of,
        notes=(*schedulers.notes, *schedulers.warnings, *cycle.result.warnings, *dump.warnings),
    )


def refusal_of_group(situation: GroupSituation, order: Order) -> str | None:
    """Return why the group is not to be bound, whatever the filters say; None if nothing speaks against it."""
    result, serving = situation.result, situation.serving
    if result.outcome in {Outcome.GATED, Outcome.DELETING}:
        return f"podgroup {podgroup_headline(result)}"
    if result.budget_ended is not None:
        return f"podgroup {podgroup_headline(result)}"
    if any(unknown_of(member) for member in result.members):
        return f"{situation.key}: a plugin could not judge one of its pods (explain podgroup says more)"
    if serving.state == RUNNING and not order.take_over:
        name = scheduler_name_of(result.members[0].pod)
        return f"{situation.key} is served by {name}: {serving.evidence}; --take-over binds it all the same"
    return None


def unknown_of(member: Member) -> bool:
    """Report whether a plugin could not judge the pod, by a bug of ours."""
    return member.result is not None and bool(member.result.unknown)


def group_plan(situation: GroupSituation, order: Order) -> BindingPlan:
    """The whole plan; `node` names the nodes."""
    nodes = list(dict.fromkeys(node for _, node in situation.placed))
    return BindingPlan(
        pod=situation.key,
        node=listed(nodes) if nodes else None,
        summary=safe(podgroup_headline(situation.result)),
        serving=(situation.serving.state, situation.serving.evidence),
        writes=tuple(_writes(situation)) if refusal_of_group(situation, order) is None else (),
        notes=situation.notes,
    )


def _writes(situation: GroupSituation) -> Iterator[PlannedWrite]:
    for result, node in situation.placed:
        yield from binding_writes(result, node)
    for member, report in situation.reports():
        yield from report_writes(member.pod, report, situation.framework(member))
    for what, request in situation.conditions():
        yield planned_write(request, what)
