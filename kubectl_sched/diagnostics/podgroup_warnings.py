"""Warnings about a group's cycle: choices that kube-scheduler leaves to chance, and effects that are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.podgroup_result import Member, PodGroupResult


def podgroup_warnings(result: PodGroupResult) -> Iterator[str]:
    """Return a sentence for each that concerns the group."""
    members = [each for each in result.members if each.outcome not in {Outcome.GATED, Outcome.NO_PROFILE}]
    if _order_counts(members):
        yield (
            "members of the same priority and age differ; kube-scheduler takes them in the order in which they came to "
            "its queue, the replay in name order"
        )
    if len(result.placements) > 1 and not result.feasible:
        yield (
            f"kube-scheduler reports the first of the {len(result.placements)} placements that it tries, and their "
            f"order is chance; the members' reasons are those of {result.placements[0].placement.name}"
        )
    if result.placements_left:
        yield (
            f"kube-scheduler tries placements by chance until {len(result.feasible)} fit; here they are tried in name "
            f"order, and {result.placements_left} are not tried"
        )
    if len(result.best) > 1:
        yield f"the placements {', '.join(result.best)} tie, and chance decides between them"
    if any(each.result is not None and each.result.is_sampled for each in members):
        yield "more nodes fit than kube-scheduler looks at before it stops, so it may choose others"
    if result.victims and not result.is_waiting_on_preemption:
        yield (
            f"kube-scheduler evicts {len(result.victims)} pods for single members although the group as a whole does "
            "not fit"
        )


def _order_counts(members: list[Member]) -> bool:
    """Report whether members that tie in the queue's order want something else."""
    seen: dict[tuple[int, str | None], object] = {}
    for member in members:
        pod = member.pod
        spec = structs.replace(pod.spec, node_name="", scheduling_group=None)
        wants = (spec, pod.metadata.labels, pod.status.nominated_node_name)
        if seen.setdefault((pod.priority, pod.metadata.creation_timestamp), wants) != wants:
            return True
    return False
