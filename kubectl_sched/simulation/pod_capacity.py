"""The number of further pods of one kind that fit, as if they were created until kube-scheduler places no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeGuard

import numpy as np
from msgspec.structs import replace

from kubectl_sched.framework.interface import PreFilterExtensions
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.framework.status import passing
from kubectl_sched.record import CachingRecord
from kubectl_sched.simulation.likeness import filters_of, is_plain, may_share
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Choices, Simulation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.snapshot.array_types import Integers, Mask

MOST_REPLAYED: Final = 1000
"""The number of pods that are placed one after the other where each one's place depends on the others'."""

_MOST_ON_A_NODE: Final = 1 << 20


class PodCapacity(CachingRecord, frozen=True, kw_only=True):
    """The cycle of the first of the pods, and int64[n]: how many more of them each node takes."""

    first: ScheduleResult
    per_node: Integers
    at_least: bool = False
    """More than MOST_REPLAYED fit, and the placing stopped there."""

    @property
    def total(self) -> int:
        """The number of pods that fit."""
        return int(self.per_node.sum())


def pod_capacity(pod: Pod, scheduler: Scheduler, profile: str | None = None) -> PodCapacity:
    """Count the pods that fit.

    Where no node's verdict depends on pods elsewhere, all nodes fill up at once; this gives what placing them one after
    the other does, without the cycles.
    """
    first = scheduler.cycle(pod, scheduler.nodes, profile)
    if not first.fits:
        return PodCapacity(first=first, per_node=np.zeros(len(scheduler.nodes), dtype=np.int64))
    if _is_of_each_node(first):
        return PodCapacity(first=first, per_node=_filled_at_once(first))
    return _filled_one_by_one(first, scheduler, profile)


def _is_of_each_node(result: ScheduleResult) -> TypeGuard[CycleResult]:
    """Report whether a node's verdict on one more of the pods follows from how many of them it has itself."""
    pod = result.pod
    return (
        is_plain(pod)
        and may_share(result)
        and all(
            each.depends_on in {DependsOn.NODE, DependsOn.USAGE_OF_NODE}
            or (isinstance(each, PreFilterExtensions) and not each.concerns(result.state, pod, pod))
            for each in filters_of(result)
        )
    )


def _filled_at_once(result: CycleResult) -> Integers:
    """int64[n]: the largest numbers of pods, by halving between a number that fits and one that does not."""
    pod, nodes, state = result.pod, result.nodes, result.state
    of_usage = [each for each in filters_of(result) if each.depends_on is DependsOn.USAGE_OF_NODE]

    def takes_more_than(number: int) -> Mask:
        mask = np.ones(len(nodes), dtype=np.bool_)
        fuller = nodes.with_usage_everywhere(pod, number)
        for plugin in of_usage:
            mask &= passing(plugin.filter(state, pod, fuller))
        return mask

    counts: Integers = np.zeros(len(nodes), dtype=np.int64)
    ranges = [(result.feasible_mask, 1, _MOST_ON_A_NODE)]
    while ranges:
        mask, least, most = ranges.pop()
        if not mask.any():
            continue
        if least == most:
            counts[mask] = least
            continue
        # Numbers of pods are small: look near the lower end first.
        middle = least if most - least == 1 else min((least + most) // 2, least * 2)
        more = takes_more_than(middle)
        ranges += [(mask & ~more, least, middle), (mask & more, middle + 1, most)]
    return counts


def _filled_one_by_one(result: ScheduleResult, scheduler: Scheduler, profile: str | None) -> PodCapacity:
    simulation = Simulation(scheduler, Choices(profile=profile))
    simulation.fill(_copies(result.pod))
    per_node: Integers = np.zeros(len(result.nodes), dtype=np.int64)
    for placement in simulation.placements:
        per_node[result.nodes.row_of[placement.node or ""]] += 1
    return PodCapacity(first=result, per_node=per_node, at_least=simulation.stopped is None)


def _copies(pod: Pod) -> Iterator[QueuedPod]:
    for number in range(MOST_REPLAYED):
        name = f"{pod.name}-{number}"
        yield QueuedPod(pod=replace(pod, metadata=replace(pod.metadata, name=name, uid=f"{pod.metadata.uid}-{number}")))
