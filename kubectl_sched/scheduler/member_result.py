"""A pod's part of its group's cycle."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from kubectl_sched.scheduler.result import Outcome, ScheduleResult

if TYPE_CHECKING:
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult


class MemberResult(ScheduleResult, frozen=True, kw_only=True):
    """The pod's attempt, where the members before it have their nodes, and the outcome that the group leaves it with.

    A pod that the cycle did not come to is shown by itself.
    """

    podgroup: PodGroupResult

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The nodes that tie; none for a pod whose group gets no nodes."""
        return super().best if self.fits else ()


def part_of_cycle(alone: ScheduleResult, cycle: PodGroupResult) -> ScheduleResult:
    """Return the pod's part of the cycle; `alone` is its cycle by itself."""
    member = next((each for each in cycle.members if each.pod.key == alone.pod.key), None)
    if member is None or alone.failure is not None:
        return alone
    own = alone if member.result is None else member.result
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
