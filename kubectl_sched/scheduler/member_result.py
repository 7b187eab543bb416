"""A pod's part of its group's cycle, and the cycles that several pods have a part of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome, ScheduleResult, Unknown

if TYPE_CHECKING:
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.scheduler.scheduler import Scheduler


class MemberResult(CycleResult, frozen=True, kw_only=True):
    """The pod's attempt, where the members before it have their nodes, and the outcome that the group leaves it with.

    A pod that the cycle did not come to is shown by itself.
    """

    podgroup: PodGroupResult

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The nodes that tie; none for a pod whose group gets no nodes."""
        return super().best if self.fits else ()

    @property
    def budget_ended(self) -> str | None:
        """Return the clause that says what ended the cycle of the group; None if nothing did."""
        return self.podgroup.budget_ended

    @cached_property
    def unknown(self) -> tuple[Unknown, ...]:
        """Verdicts that are missing for the pod itself, else that its group's cycle was not run to its end."""
        return super().unknown or self.podgroup.unknown[-1:]


def part_of_cycle(alone: ScheduleResult, cycle: PodGroupResult) -> ScheduleResult:
    """Return the pod's part of the cycle; `alone` is its cycle by itself."""
    member = next((each for each in cycle.members if each.pod.key == alone.pod.key), None)
    if member is None or alone.failure is not None:
        return alone
    own = alone if member.result is None else member.result
    if not isinstance(own, CycleResult):
        return alone
    fields: dict[str, Any] = {name: getattr(own, name) for name in own.__struct_fields__}
    if own.placement is not None:
        from kubectl_sched.plugins.topology_placement_generator import TopologyPlacementGenerator

        # The topology domain shows as the nodes that are left to the pod.
        inside = frozenset(own.nodes.names[row] for row in own.placement.tolist())
        fields["pre_filter_nodes"] = inside if own.pre_filter_nodes is None else inside & own.pre_filter_nodes
        fields["narrowed_by"] = (*own.narrowed_by, TopologyPlacementGenerator.name)
    fields |= {
        "podgroup": cycle,
        "outcome": member.outcome,
        "current_node": alone.current_node,
        "event": member.event,
        "error": member.message if member.outcome is Outcome.ERROR else None,
    }
    return MemberResult(**fields)


class CyclesOfGroups:
    """The cycles of groups under one profile (None: the pods' own), each run once for all of its members."""

    def __init__(self, profile: str | None = None) -> None:
        self._profile = profile
        self._cycles: dict[tuple[Scheduler, type, str], PodGroupResult] = {}

    def part_of(self, alone: ScheduleResult, scheduler: Scheduler) -> ScheduleResult:
        """Return the pod's part of its group's cycle where it has one; `alone` is its cycle by itself."""
        if alone.current_node or alone.pod.spec.scheduling_group is None:
            return alone

        from kubectl_sched.scheduler.group_membership import group_with_cycle  # most pods are in no group
        from kubectl_sched.scheduler.podgroup_members import explain_podgroup

        group = group_with_cycle(alone.pod, scheduler)
        if group is None:
            return alone
        key = scheduler, type(group), group.key
        if key not in self._cycles:
            self._cycles[key] = explain_podgroup(group, scheduler, profile=self._profile)
        return part_of_cycle(alone, self._cycles[key])
