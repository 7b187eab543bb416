"""The cycle of a group in a what-if: all of its members that wait, at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.record import CachingRecord
from kubectl_sched.scheduler.member_result import part_of_cycle
from kubectl_sched.scheduler.podgroup_members import explain_podgroup
from kubectl_sched.simulation.placements import Placement, QueuedPod, Ties

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.scheduler.opportunistic_batch import OpportunisticBatch
    from kubectl_sched.scheduler.podgroup_result import Member, PodGroupResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.snapshot import Snapshot


class GroupCycle(CachingRecord, frozen=True, kw_only=True):
    """The placements of a group; `nodes` is the cluster after them."""

    placements: tuple[Placement, ...]
    result: PodGroupResult
    nodes: Snapshot
    first_unplaced: ScheduleResult | None


def run_group_cycle(
    group: Group,
    queued: Sequence[QueuedPod],
    nodes: Snapshot,
    scheduler: Scheduler,
    profile: str | None,
    batch: OpportunisticBatch,
) -> GroupCycle:
    """Run the cycle of the group with these members beside those that wait in the cluster."""
    own = {each.pod.key: each for each in queued}
    others = (pod for pod in nodes.pending if pod.key not in own)
    before = replace(nodes, pending=(*others, *(each.pod for each in queued)))
    result = explain_podgroup(group, scheduler, before, profile, batch)
    placed = {member.pod.key for member in result.members if member.node_name is not None}
    after = result.chosen.after if placed and result.chosen is not None else None
    without = next((member for member in result.members if member.node_name is None), None)
    return GroupCycle(
        placements=tuple(
            _placement(member, own.get(member.pod.key), result, is_first=member is without) for member in result.members
        ),
        result=result,
        nodes=replace(
            before if after is None else after,
            before_group=None,
            pending=tuple(pod for pod in before.pending if pod.key not in placed),
            nominated={
                node: tuple(pod for pod in pods if pod.key not in placed) for node, pods in nodes.nominated.items()
            },
        ),
        first_unplaced=None
        if without is None
        else part_of_cycle(scheduler.cycle(without.pod, before, profile), result),
    )


def _placement(member: Member, queued: QueuedPod | None, result: PodGroupResult, *, is_first: bool) -> Placement:
    """The group's victims stand beside the first of its members that has no node."""
    cycle, node = member.result, member.node_name
    return Placement(
        pod=member.pod,
        owner=queued.owner if queued is not None else None,
        outcome=member.outcome,
        node=node,
        ties=Ties.of(member.tied),
        total=cycle.total_of.get(cycle.nodes.row_of[node]) if cycle is not None and node is not None else None,
        nominated_node=member.nominated_node or None,
        victims=result.victims if is_first else (),
        event=member.event,
        beyond_sampling=cycle is not None and cycle.is_sampled,
        unknown=cycle.unknown if cycle is not None else (),
    )
