"""Search for the largest number of further pods that fit on the nodes and in the ResourceQuotas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.apiserver.what_if_size_limits import MOST_PODS
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.placements import Placement, QueuedPod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.apiserver.resource_quotas import Quotas
    from kubectl_sched.controllers.pod_creation import Workload
    from kubectl_sched.simulation.queue_simulation import Simulation

    Report = Callable[[int, int], None]


class Filling:
    """`--replicas max`: one pod of each workload after the other, until the nodes or a ResourceQuota have no room.

    A node may have room for more pods than anybody can wait for: the search ends at MOST_PODS of each workload.
    """

    def __init__(self, workloads: list[Workload], quotas: Quotas, there: Iterable[Pod]) -> None:
        self._workloads = workloads
        self._quotas = quotas
        self._there = {pod.key for pod in there}
        self._refused: Placement | None = None

    def fill(self, simulation: Simulation, report: Report | None) -> tuple[str, ...]:
        """Place what is queued already, then pods of the workloads. Return what stopped it besides the nodes."""
        simulation.run(report)
        simulation.fill(self._in_turn(), report)
        if simulation.stopped is not None:
            return ()
        if self._refused is None:
            return (f"more pods would fit: the search ends after {MOST_PODS:,} pods of a workload",)
        simulation.stopped = self._refused
        return (f"what stops it is a ResourceQuota: {self._refused.event}",)

    def _in_turn(self) -> Iterator[QueuedPod]:
        for index in range(max(len(workload.pods) for workload in self._workloads)):
            for workload in self._workloads:
                if index < len(workload.pods):
                    queued = QueuedPod(pod=workload.pods[index], owner=workload.replicas.owner)
                    if not self._is_admitted(queued):
                        return
                    yield queued

    def _is_admitted(self, queued: QueuedPod) -> bool:
        """Report whether a quota has room for the pod; what the cluster has already is counted in it."""
        if queued.pod.key in self._there:
            return True
        try:
            self._quotas.take(queued.pod)
        except RefusedError as error:
            event = f'pods "{queued.pod.name}" is forbidden: {error.reason}'
            self._refused = Placement(pod=queued.pod, owner=queued.owner, outcome=Outcome.ERROR, event=event)
            return False
        return True
