"""Follows the real scheduling loop: our nodes for the pods of a queue, chance falling as it did there."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.placements import Placement, QueuedPod, Ties
from kubectl_sched.simulation.queue_simulation import Simulation
from tests.oracle.loops.simulated import simulated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.oracle.build import Answer, Request


class Following(Simulation):
    """A simulation that takes the real scheduler's node wherever it is among the tied ones."""

    wanted: dict[str, str]
    _now = ""

    def enqueue(self, pods: Iterable[QueuedPod]) -> None:
        """Queue the pods, among them those that run and wait to grow: these have a turn, and stay where they are."""
        for queued in pods:
            self._queue.push(self._queue_key(queued.pod), queued)

    def _schedule(self, queued: QueuedPod) -> Placement:
        self._now = queued.pod.key
        if queued.pod.spec.node_name:
            self._batch.begin()
            return Placement(pod=queued.pod, owner=queued.owner, outcome=Outcome.UNSCHEDULABLE)
        return super()._schedule(queued)

    def _chosen(self, ties: Ties) -> int:
        names = [ties.names[place] for place in ties.shown]
        wanted = self.wanted.get(self._now, "")
        return names.index(wanted) if wanted in names else 0


def followed(request: Request, steps: list[Any], minor: str) -> tuple[Placement, ...]:
    """Our placements of the pods, in the order of our queue."""
    with TemporaryDirectory() as folder:
        simulation, pods = simulated(request, Path(folder), minor, Following)
    assert isinstance(simulation, Following)
    simulation.wanted = {step["pod"]: step.get("node", "") for step in steps}
    simulation.enqueue(QueuedPod(pod=pod) for key, pod in pods.items() if key in simulation.wanted)
    simulation.run()
    return simulation.result.placements


def differs(request: Request, answer: Answer, minor: str) -> object:
    """None where each pod goes where the real loop puts it."""
    if answer.get("error"):
        return answer["error"] if answer["error"].startswith("oracle:") else None
    steps = answer.get("loop") or []
    placements = followed(request, steps, minor)
    running = {each.pod.key for each in placements if each.pod.spec.node_name}
    real = [(step["pod"], step.get("node") if step["pod"] not in running else None) for step in steps]
    ours = [(each.pod.key, each.node) for each in placements]
    return None if real == ours else {"real": steps, "ours": ours}
