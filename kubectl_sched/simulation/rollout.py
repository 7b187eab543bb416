"""Rolls a workload out: old pods go and new ones come, as many at a time as its strategy lets them.

Answers to pkg/controller/deployment/rolling.go and recreate.go, pkg/controller/statefulset/stateful_set_control.go and
pkg/controller/daemon/update.go. A pod that has a node is taken to be available at once.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import field
from msgspec.structs import replace

from kubectl_sched.api.component_helpers.node_affinity import RequiredNodeAffinity
from kubectl_sched.api.core import HOSTNAME, ZONE
from kubectl_sched.controllers.active_pods import is_ready, least_wanted
from kubectl_sched.record import Record
from kubectl_sched.simulation.placements import QueuedPod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.placements import Placement
    from kubectl_sched.simulation.queue_simulation import Simulation
    from kubectl_sched.snapshot import Snapshot

    Report = Callable[[int, int], None]

_DEFAULTS = (HOSTNAME, ZONE)
"""Over these kube-scheduler spreads what does not say otherwise."""


class Skew(Record, frozen=True, kw_only=True, rename="camel"):
    """The most pods of a domain less the fewest, before and after."""

    topology_key: str
    before: int
    after: int


class Strategy(Record, frozen=True, kw_only=True):
    """A rollout strategy: the pods it may add, those that may be missing, and those it leaves alone.

    `in_place` replaces each old pod by the new one of the same place (StatefulSets and DaemonSets), the last first;
    `in_order` waits with each new pod until the one before it is available (OrderedReady). `descends` replaces a pod
    unless one after it is missing, whatever is before it (Parallel without MaxUnavailableStatefulSet).
    """

    name: str
    max_surge: int = 0
    max_unavailable: int = 0
    in_place: bool = False
    in_order: bool = False
    descends: bool = False


class Plan(Record, frozen=True, kw_only=True):
    """The rollout to simulate: the old pods, which run on nodes, and the new ones that replace them.

    Of a Deployment those of the oldest ReplicaSet come first.

    Where pods are replaced in place, `replaces` gives the old pod of a new one, by the new one's key.
    """

    owner: str
    strategy: Strategy
    old: Sequence[Pod]
    new: Sequence[Pod]
    replaces: Mapping[str, Pod] = field(default_factory=dict)
    now: str | None = None
    """The time that the cluster is of, from which ages are counted; None if nothing tells it."""


class RolledOut(Record, frozen=True, kw_only=True):
    """The last placement of each new pod that was made, the steps it took, and the old pods that are still there."""

    owner: str
    strategy: str
    placements: tuple[Placement, ...]
    steps: int
    stuck_at: int | None
    remaining: tuple[Pod, ...]
    skew: tuple[Skew, ...] = ()
    """The skew of the pods before and after, by topology key."""


def roll_out(simulation: Simulation, plan: Plan, report: Report | None) -> RolledOut:
    """Replace the old pods by the new ones; records a placement for each new pod, also where it is interrupted.

    `report` is told how many of the new pods have a node and how many there are to be.
    """
    rollout = (_InPlace if plan.strategy.in_place else _ByCount)(simulation, plan, report)
    try:
        done = rollout.run()
    finally:
        simulation.placements += rollout.placements
    if not plan.new or plan.new[0].is_daemon:
        return done
    before = [pod.spec.node_name for pod in plan.old]
    after = [pod.spec.node_name for pod in done.remaining]
    after += [each.node for each in done.placements if each.node is not None]
    return replace(done, skew=tuple(skews(plan.new[0], simulation.nodes, before, after)))


class _Rollout:
    def __init__(self, simulation: Simulation, plan: Plan, report: Report | None) -> None:
        self._simulation = simulation
        self._plan = plan
        self._report = report

    def _end(self, placements: Sequence[Placement], steps: int, stuck_at: int | None, old: Iterable[Pod]) -> RolledOut:
        return RolledOut(
            owner=self._plan.owner,
            strategy=self._plan.strategy.name,
            placements=tuple(placements),
            steps=steps,
            stuck_at=stuck_at,
            remaining=tuple(old),
        )


class _ByCount(_Rollout):
    """Deployments: only the numbers of old, new and available pods count."""

    def __init__(self, simulation: Simulation, plan: Plan, report: Report | None) -> None:
        super().__init__(simulation, plan, report)
        self._old = list(plan.old)
        self._new = plan.new
        self._placed: dict[str, Placement] = {}
        self._created = 0

    @property
    def placements(self) -> list[Placement]:
        """The last placement of each new pod that was made so far."""
        return [self._placed[pod.key] for pod in self._new[: self._created] if pod.key in self._placed]

    def run(self) -> RolledOut:
        steps = 0
        stuck_at = None
        while self._old or self._available_new < len(self._new):
            steps += 1
            progress = self._create() + self._remove_old()
            if not progress:
                stuck_at = steps
                break
        return self._end(self.placements, steps, stuck_at, self._old)

    @property
    def _available_new(self) -> int:
        return sum(placement.is_placed for placement in self._placed.values())

    def _create(self) -> int:
        """Make as many new pods as may be, and try again those without a node; how many got one.

        Recreate makes none while there are old ones, even if there are to be more than before (rolloutRecreate).
        """
        if self._old and self._plan.strategy.name == "Recreate":
            return 0
        room = len(self._new) + self._plan.strategy.max_surge - len(self._old) - self._created
        self._created += max(0, min(room, len(self._new) - self._created))
        got = 0
        for pod in self._new[: self._created]:
            before = self._placed.get(pod.key)
            if before is None or not before.is_placed:
                self._placed[pod.key] = self._simulation.place(QueuedPod(pod=pod, owner=self._plan.owner))
                got += self._placed[pod.key].is_placed
                if self._report is not None:
                    self._report(self._available_new, len(self._new))
        return got

    def _remove_old(self) -> int:
        """Take away as many old pods as may be missing; how many."""
        least = len(self._new) - self._plan.strategy.max_unavailable
        removable = min(len(self._old), len(self._old) + self._available_new - least)
        removed = self._first_to_go(max(0, removable))
        for pod in removed:
            self._old.remove(pod)
            self._simulation.remove(pod)
        return len(removed)

    def _first_to_go(self, number: int) -> list[Pod]:
        """Return so many old pods: those that are not ready, then the others, each of the oldest ReplicaSet first.

        Answers to cleanupUnhealthyReplicas and scaleDownOldReplicaSetsForRollingUpdate.
        """
        of_set: dict[str, list[Pod]] = {}
        for pod in self._old:
            owner = pod.metadata.controller
            of_set.setdefault(owner.name if owner is not None else "", []).append(pod)
        on = [*(each.node for each in self._placed.values()), *(pod.spec.node_name for pod in self._old)]
        ordered = [pod for pods in of_set.values() for pod in least_wanted(pods, number, self._plan.now, on)]
        return sorted(ordered, key=is_ready)[:number]


class _InPlace(_Rollout):
    """StatefulSets and DaemonSets: a new pod takes the place of an old one, the last first."""

    def __init__(self, simulation: Simulation, plan: Plan, report: Report | None) -> None:
        super().__init__(simulation, plan, report)
        self._remaining = {pod.key: pod for pod in plan.old}
        self._place_of = {pod.key: place for place, pod in enumerate(plan.new)}
        self._missing: list[int] = []
        """The places of the new pods without a node."""

        self.placements: list[Placement] = []

    def run(self) -> RolledOut:
        steps, stuck_at = 0, None
        for pod in self._order():
            if self._may_not_go_on(pod):
                stuck_at = max(1, steps)
                break
            steps += 1
            self._replace(pod)
        if stuck_at is None and self._missing:
            stuck_at = steps
        return self._end(self.placements, steps, stuck_at, self._remaining.values())

    def _may_not_go_on(self, pod: Pod) -> bool:
        """Report whether so many pods are missing that the next may not be touched."""
        strategy = self._plan.strategy
        if strategy.in_order and self._missing:
            return True
        allowed = max(1, strategy.max_surge or strategy.max_unavailable)
        first = self._place_of[pod.key] if strategy.descends else 0
        return pod.key in self._plan.replaces and sum(each >= first for each in self._missing) >= allowed

    def _replace(self, pod: Pod) -> None:
        """The old pod goes first, unless there may be one too many: then it goes once the new one has its node."""
        old = self._plan.replaces.get(pod.key)
        if old is not None and not self._plan.strategy.max_surge:
            self._take_away(old)
        placement = self._simulation.place(QueuedPod(pod=pod, owner=self._plan.owner))
        self.placements.append(placement)
        if not placement.is_placed:
            self._missing.append(self._place_of[pod.key])
        if old is not None and self._plan.strategy.max_surge and placement.is_placed:
            self._take_away(old)
        if self._report is not None:
            self._report(len(self.placements), len(self._plan.new))

    def _take_away(self, old: Pod) -> None:
        del self._remaining[old.key]
        self._simulation.remove(old)

    def _order(self) -> Iterator[Pod]:
        """Missing pods first, as they come; then those that replace another, from the last to the first."""
        replaces = self._plan.replaces
        yield from (pod for pod in self._plan.new if pod.key not in replaces)
        yield from (pod for pod in reversed(self._plan.new) if pod.key in replaces)


def skews(pod: Pod, nodes: Snapshot, before: Sequence[str], after: Sequence[str]) -> Iterator[Skew]:
    """For each topology key that the pod names, or by default, the skew over the nodes that its affinity admits.

    `before` and `after` are the node names of the workload's pods, one for each pod.
    """
    required = RequiredNodeAffinity.of(pod)
    admitted = [node for node in nodes.node_objects if required.matches(node.metadata.labels, node.name)]
    keys = dict.fromkeys(each.topology_key for each in pod.spec.topology_spread_constraints) or _DEFAULTS
    for key in keys:
        domain_of = {node.name: node.metadata.labels[key] for node in admitted if key in node.metadata.labels}
        if domain_of:
            yield Skew(topology_key=key, before=_skew(domain_of, before), after=_skew(domain_of, after))


def _skew(domain_of: dict[str, str], names: Iterable[str]) -> int:
    counts = Counter(dict.fromkeys(domain_of.values(), 0))
    counts.update(domain_of[name] for name in names if name in domain_of)
    return max(counts.values()) - min(counts.values())
