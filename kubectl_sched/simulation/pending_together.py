"""Places several pending pods one after the other, where each alone would see the same room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import Record
from kubectl_sched.simulation.placement import QueuedPod
from kubectl_sched.simulation.queue_simulation import Simulation, owner_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler


class Together(Record, frozen=True):
    """Of `pods` pending pods `placed` fit one after the other; `ahead` others of higher priority wait before them."""

    pods: int
    placed: int
    ahead: int


def together(results: Sequence[ScheduleResult], scheduler: Scheduler) -> Together:
    """Schedule the results' pods in the queue's order, each seeing those before it."""
    simulation = Simulation(scheduler)
    simulation.enqueue(QueuedPod(result.pod, owner_of(result.pod)) for result in results)
    simulation.run()
    asked = {result.pod.key for result in results}
    lowest = min((result.pod.priority for result in results), default=0)
    ahead = sum(pod.priority > lowest and pod.key not in asked for pod in scheduler.waiting)
    return Together(len(results), simulation.result.placed, ahead)
