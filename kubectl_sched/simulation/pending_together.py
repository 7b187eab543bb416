"""Places several pending pods one after the other, where each alone would see the same room."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Choices, Simulation, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler


class Together(Record, frozen=True, kw_only=True):
    """Of `pods` pending pods `placed` fit one after the other; `ahead` others of higher priority wait before them."""

    pods: int
    placed: int
    ahead: int


def together(results: Sequence[ScheduleResult], scheduler: Scheduler, profile: str | None = None) -> Together:
    """Schedule the results' pods in the queue's order, each seeing those before it.

    `profile` is one for all of them instead of their own.
    """
    simulation = Simulation(scheduler, Choices(profile=profile))
    stays: dict[ScheduleResult, bool] = {}
    for result in results:
        if result.cycle not in stays:
            stays[result.cycle] = _stays_unplaced(result.cycle)
    left = (result.pod for result in results if not stays[result.cycle])
    simulation.enqueue(QueuedPod(pod=pod, owner=owner_of(pod)) for pod in left)
    simulation.run()
    asked = {result.pod.key for result in results}
    lowest = min((result.pod.priority for result in results), default=0)
    ahead = sum(pod.priority > lowest and pod.key not in asked for pod in scheduler.waiting)
    return Together(pods=len(results), placed=simulation.result.placed, ahead=ahead)


def together_if_served_by_one(
    results: Sequence[ScheduleResult], scheduler_of: Callable[[Pod], Scheduler], profile: str | None
) -> Together | None:
    """Schedule the results' pods as `together` does; None for fewer than two, or if not one scheduler serves all."""
    serving = {scheduler_of(result.pod) for result in results}
    return together(results, serving.pop(), profile) if len(results) > 1 and len(serving) == 1 else None


def _stays_unplaced(result: ScheduleResult) -> bool:
    """Report whether the pod, which fits nowhere now, is also placed nowhere after others are, and preempts nobody.

    So it is if every node lacks a label, say, or room: those before it in the queue take more room, and their priority
    is not lower. What spread constraints or affinity keep out, a neighbour may let in.
    """
    if not isinstance(result, CycleResult) or result.outcome is not Outcome.UNSCHEDULABLE:
        return False
    if result.unknown or result.nodes.nominated:
        return False
    framework = result.framework
    if result.post_filter is not None and result.post_filter.nominated_node:
        return False
    if [plugin.name for plugin in framework.queue_sort_plugins] != ["PrioritySort"]:
        return False
    lasting = {each.name for each in framework.filter_plugins if each.depends_on in _LASTING}
    kept_out = np.zeros(len(result.nodes), dtype=np.bool_)
    for plugin in lasting & result.rejection_masks.keys():
        kept_out |= result.rejection_masks[plugin]
    return bool(kept_out.all())


_LASTING = frozenset({DependsOn.NODE, DependsOn.USAGE_OF_NODE})
