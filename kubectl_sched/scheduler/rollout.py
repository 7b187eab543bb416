"""Rolls a workload out: old pods go and new ones come, as many at a time as its strategy lets them.

Answers to pkg/controller/deployment/rolling.go and recreate.go, pkg/controller/statefulset/stateful_set_control.go and
pkg/controller/daemon/update.go. A pod that has a node is taken to be available at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kubectl_sched.scheduler.placement import QueuedPod

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.placement import Placement
    from kubectl_sched.scheduler.simulate import Simulation


@dataclass(frozen=True, slots=True)
class Strategy:
    """How many pods there may be beyond those wanted, how many of them may be missing, and what is left as it is.

    `in_place` replaces each old pod by the new one of the same place (StatefulSets and DaemonSets), the last first.
    """

    name: str
    max_surge: int = 0
    max_unavailable: int = 0
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class RolledOut:
    """The last placement of each new pod that was made, the steps it took, and the old pods that are still there."""

    owner: str
    strategy: str
    placements: tuple[Placement, ...]
    steps: int
    stuck_at: int | None
    remaining: tuple[Pod, ...]


def roll_out(
    simulation: Simulation, owner: str, old: Sequence[Pod], new: Sequence[Pod], strategy: Strategy
) -> RolledOut:
    """Replace the old pods, which run on nodes, by the new ones; records a placement for each new pod."""
    rollout = _InPlace if strategy.in_place else _ByCount
    done = rollout(simulation, owner, old, new, strategy).run()
    simulation.placements += done.placements
    return done


class _ByCount:
    """Deployments: only the numbers of old, new and available pods count."""

    def __init__(
        self, simulation: Simulation, owner: str, old: Sequence[Pod], new: Sequence[Pod], strategy: Strategy
    ) -> None:
        self._simulation = simulation
        self._owner = owner
        self._old = list(old)
        self._new = list(new)
        self._strategy = strategy
        self._placed: dict[str, Placement] = {}
        self._created = 0

    def run(self) -> RolledOut:
        steps = 0
        stuck_at = None
        while self._old or self._available_new < len(self._new):
            steps += 1
            progress = self._create() + self._remove_old()
            if not progress:
                stuck_at = steps
                break
        placements = tuple(self._placed[pod.key] for pod in self._new[: self._created])
        return RolledOut(self._owner, self._strategy.name, placements, steps, stuck_at, tuple(self._old))

    @property
    def _available_new(self) -> int:
        return sum(placement.is_placed for placement in self._placed.values())

    def _create(self) -> int:
        """Make as many new pods as may be, and try again those without a node; how many got one."""
        room = len(self._new) + self._strategy.max_surge - len(self._old) - self._created
        self._created += max(0, min(room, len(self._new) - self._created))
        got = 0
        for pod in self._new[: self._created]:
            before = self._placed.get(pod.key)
            if before is None or not before.is_placed:
                self._placed[pod.key] = self._simulation.place(QueuedPod(pod, self._owner))
                got += self._placed[pod.key].is_placed
        return got

    def _remove_old(self) -> int:
        """Take away as many old pods as may be missing, those that share a node with most of their like first."""
        least = len(self._new) - self._strategy.max_unavailable
        removable = min(len(self._old), len(self._old) + self._available_new - least)
        removed = 0
        while removed < removable:
            pod = self._least_wanted()
            self._old.remove(pod)
            self._simulation.remove(pod)
            removed += 1
        return removed

    def _least_wanted(self) -> Pod:
        """ActivePodsWithRanks, for pods that all run and are ready alike."""
        on_node: dict[str, int] = {}
        for pod in self._old:
            on_node[pod.spec.node_name] = on_node.get(pod.spec.node_name, 0) + 1

        def wanted(pod: Pod) -> tuple[int, str]:
            return on_node[pod.spec.node_name], pod.metadata.creation_timestamp or ""

        return max(self._old, key=wanted)


class _InPlace:
    """StatefulSets and DaemonSets: a new pod takes the place of the old one of its name, the last first."""

    def __init__(
        self, simulation: Simulation, owner: str, old: Sequence[Pod], new: Sequence[Pod], strategy: Strategy
    ) -> None:
        self._simulation = simulation
        self._owner = owner
        self._old: Mapping[str, Pod] = {pod.key: pod for pod in old}
        self._new = list(new)
        self._strategy = strategy

    def run(self) -> RolledOut:
        waiting = list(self._order())
        placed: dict[str, Placement] = {}
        remaining = dict(self._old)
        steps, stuck_at, missing = 0, None, 0
        for pod in waiting:
            old = remaining.get(pod.key)
            if old is not None and missing >= max(1, self._strategy.max_unavailable):
                stuck_at = stuck_at or steps
                break
            steps += 1
            if old is not None:
                del remaining[pod.key]
                self._simulation.remove(old)
            placed[pod.key] = self._simulation.place(QueuedPod(pod, self._owner))
            missing += not placed[pod.key].is_placed
        if stuck_at is None and missing:
            stuck_at = steps
        placements = tuple(placed[pod.key] for pod in waiting if pod.key in placed)
        return RolledOut(self._owner, self._strategy.name, placements, steps, stuck_at, tuple(remaining.values()))

    def _order(self) -> Iterator[Pod]:
        """Missing pods first, as they come; then the old ones from the last to the first."""
        yield from (pod for pod in self._new if pod.key not in self._old)
        yield from (pod for pod in reversed(self._new) if pod.key in self._old)
