"""Searches for the fewest evictions that make room for a pod such that every evicted pod lands again.

Plans of one eviction are tried before those of two, and so on. A pod that moves lands where room is, or where room is
made for it in turn: chains are of two. What is found has been carried out step by step by whole cycles.
"""

from __future__ import annotations

from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from kubectl_sched.controllers.claims_after_deletion import recreated
from kubectl_sched.framework.replicas import DependsOn
from kubectl_sched.record import CachingRecord
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.simulation.likeness import likeness
from kubectl_sched.simulation.queue_simulation import without_pod
from kubectl_sched.simulation.relocation import CORDON, EVICT, UNCORDON, Step, carried_out, with_cordon, without_cordon
from kubectl_sched.suggestions.plan_ties import TiePins
from kubectl_sched.suggestions.room_candidates import Bounds, MovablePods, closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.evictable_pods import EvictionRules
    from kubectl_sched.simulation.relocation import Outcome, Relocation
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows
    from kubectl_sched.suggestions.room_candidates import Candidate

    Branch = tuple[tuple[Step, ...], Snapshot]

_ORDERED = 3
"""The number of pods up to which they are evicted in every order; more go in two."""

_TIED_TRIED = 3
"""The number of tied nodes that a pod is tried on."""


class Found(CachingRecord, frozen=True, kw_only=True):
    """The plan, None if there is none, and how far the search looked."""

    plan: Outcome | None
    nodes: int
    complete: bool
    refused: Mapping[str, int]


class _SpentError(Exception):
    """All evictions that the bounds allow were simulated."""


class RoomSearch:
    """A search for one pod over one version of the cluster; `fixed` are the keys of pods that stay where they are.

    `ahead` are the pending pods before it in the queue, `evicted` the pods that an earlier plan evicts.
    """

    def __init__(
        self,
        relocation: Relocation,
        rules: EvictionRules,
        bounds: Bounds,
        ahead: Sequence[Pod] = (),
        evicted: Sequence[Pod] = (),
        fixed: AbstractSet[str] = frozenset(),
    ) -> None:
        self._relocation = relocation
        self._rules = rules
        self._bounds = bounds
        self._ahead = tuple(ahead)
        self._evicted = tuple(evicted)
        self._fixed = fixed
        self._left = bounds.evictions
        self._places: dict[bytes | str, frozenset[int]] = {}

    def find(self, result: ScheduleResult, rows: Rows | None = None) -> Found:
        """Return the shortest plan within the bounds; `result` is the cycle in which the pod fits nowhere.

        Pods on other nodes than those of the rows stay where they are; None for all nodes.
        """
        self._nodes = result.nodes
        self._movable = MovablePods(result.nodes, self._refusal, self._bounds.moves, rows)
        near = closest(result, self._movable, self._bounds)
        found: Outcome | None = None
        complete = True
        try:
            found = next(self._plans(result.pod, result.nodes, near.candidates), None)
        except _SpentError:
            complete = False
        refused = self._movable.refused(near.curable)
        return Found(plan=found, nodes=len(near.candidates), complete=complete, refused=refused)

    def _refusal(self, pod: Pod) -> str | None:
        is_placed_here = not pod.spec.node_name or pod.key in self._fixed
        return "placed by the plan itself" if is_placed_here else self._rules.refusal(pod)

    def _plans(self, pod: Pod, nodes: Snapshot, candidates: Sequence[Candidate]) -> Iterator[Outcome]:
        for moves in range(1, self._bounds.moves + 1):
            for candidate in candidates:
                for size in range(candidate.least, moves + 1):
                    for victims in candidate.victims(size, self._bounds.pods):
                        yield from self._through(pod, nodes, candidate, victims, moves - size)

    def _through(
        self, pod: Pod, nodes: Snapshot, candidate: Candidate, victims: tuple[Pod, ...], chained: int
    ) -> Iterator[Outcome]:
        """Yield plans that evict these pods from the node, and so many further ones to make room for them."""
        if not self._rules.allows((*self._evicted, *victims)):
            return
        homeless = sum(not self._has_place(victim, {candidate.row}) for victim in victims)
        if homeless > chained or (candidate.beyond_resources and not self._lets_in(pod, nodes, candidate, victims)):
            return
        first = (Step(action=CORDON, node=candidate.name),)
        closed = with_cordon(nodes, candidate.name)
        for order in _orders(victims):
            for steps, _ in self._moved(closed, order, chained, first, {candidate.row}):
                outcome = self._verified(pod, nodes, (*steps, Step(action=UNCORDON, node=candidate.name)))
                if outcome is not None:
                    yield outcome

    def _verified(self, pod: Pod, nodes: Snapshot, steps: tuple[Step, ...]) -> Outcome | None:
        evicted = [step.pod for step in steps if step.pod is not None]
        if not self._rules.allows((*self._evicted, *evicted)):
            return None
        outcome = carried_out(self._relocation, [pod], steps, nodes, self._ahead)
        return None if outcome is None else TiePins(self._relocation, [pod], self._ahead).pinned(outcome)

    def _lets_in(self, pod: Pod, nodes: Snapshot, candidate: Candidate, victims: Sequence[Pod]) -> bool:
        """Report whether the pod fits on the node once the victims are gone."""
        self._spend()
        for victim in victims:
            nodes = without_pod(nodes, victim, None)
        return candidate.row in self._relocation.cycle(pod, nodes).feasible

    def _spend(self) -> None:
        if not self._left:
            raise _SpentError
        self._left -= 1

    def _has_place(self, victim: Pod, closed: AbstractSet[int]) -> bool:
        """Report whether the pod fits on another node before anything moved. Equal pods share an answer."""
        places = self._places.get(victim.key)
        if places is None:
            key = msgspec.json.encode(likeness(victim))
            shared = self._places.get(key)
            places = self._places[victim.key] = self._feasible(victim, key) if shared is None else shared
        return bool(places - closed - {self._nodes.row_of[victim.spec.node_name]})

    def _feasible(self, victim: Pod, key: bytes) -> frozenset[int]:
        again, nodes = recreated(victim), self._nodes
        result = self._relocation.cycle(again, nodes)
        if isinstance(result, CycleResult) and _looks_around(result):
            result = self._relocation.cycle(again, without_pod(nodes, victim, again))
            return frozenset(result.feasible.tolist())
        places = self._places[key] = frozenset(result.feasible.tolist())
        return places

    def _moved(
        self,
        nodes: Snapshot,
        victims: Sequence[Pod],
        chained: int,
        steps: tuple[Step, ...],
        closed: AbstractSet[int],
    ) -> Iterator[Branch]:
        """Yield the ways in which the pods go one after the other, with exactly so many further evictions."""
        if not victims:
            if not chained:
                yield steps, nodes
            return
        victim, *others = victims
        self._spend()
        moved = self._relocation.evicted(nodes, victim, at_once=False)
        if moved.landing is not None:
            for name in moved.landing.tied[:_TIED_TRIED]:
                step = Step(action=EVICT, node=victim.spec.node_name, pod=victim, lands=name)
                after = self._relocation.placed(moved.nodes, moved.landing, name)
                yield from self._moved(after, others, chained, (*steps, step), closed)
        elif chained:
            again = recreated(victim)
            for opened, number, after in self._opened(again, nodes, moved.nodes, chained, closed, steps):
                fixed = {step.pod.key for step in (*steps, *opened) if step.pod is not None}
                if victim.key not in fixed:
                    yield from self._moved(after, victims, chained - number, (*steps, *opened), closed)

    def _opened(
        self,
        again: Pod,
        nodes: Snapshot,
        without: Snapshot,
        most: int,
        closed: AbstractSet[int],
        steps: Sequence[Step],
    ) -> Iterator[tuple[tuple[Step, ...], int, Snapshot]]:
        """Yield the ways to make room for a pod that has none, with at most so many evictions from one node."""
        result = self._relocation.cycle(again, without)
        names = {name for step in steps if step.pod is not None for name in (step.node, step.lands) if name is not None}
        touched = [nodes.row_of[name] for name in names]
        near = closest(result, self._movable, replace(self._bounds, moves=most), touched).candidates
        is_opened = any(step.action == UNCORDON for step in steps)
        for number in range(1, most + 1):
            for candidate in near:
                if candidate.row in closed or candidate.least > number:
                    continue
                shut, now_closed = with_cordon(nodes, candidate.name), {*closed, candidate.row}
                first = (Step(action=CORDON, node=candidate.name),)
                last = Step(action=UNCORDON, node=candidate.name)
                chosen = None if is_opened else partial(self._has_place, closed=now_closed)
                for victims in candidate.victims(number, self._bounds.pods, chosen):
                    for order in _orders(victims):
                        for inner, after in self._moved(shut, order, 0, first, now_closed):
                            yield (*inner, last), number, without_cordon(after, candidate.name)


def _orders(victims: tuple[Pod, ...]) -> Iterator[tuple[Pod, ...]]:
    if len(victims) <= _ORDERED:
        yield from permutations(victims)
    else:
        yield victims
        yield victims[::-1]


def _looks_around(result: CycleResult) -> bool:
    """Report whether other pods decide where the pod fits."""
    filters = (each for each in result.framework.filter_plugins if each.name in result.verdicts)
    return any(each.depends_on not in {DependsOn.NODE, DependsOn.USAGE_OF_NODE} for each in filters)
