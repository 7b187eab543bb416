"""The nodes on which room for a pod is closest, and the sets of pods that would have to move from each."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.component_helpers.resource_names import PODS
from kubectl_sched.framework.status import Code
from kubectl_sched.record import CachingRecord, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.arrays import Integers, Mask

_FIT = "NodeResourcesFit"


class Bounds(Record, frozen=True, kw_only=True):
    """The bounds of the search: evictions in all, nodes closest to room, pods of each, and simulated evictions."""

    moves: int = 4
    nodes: int = 50
    pods: int = 12
    evictions: int = 400


class Candidate(CachingRecord, frozen=True, kw_only=True):
    """A node, the amounts that are missing there by resource, and its pods that may move, the most useful first."""

    row: int
    name: str
    missing: Mapping[str, int]
    pods: tuple[tuple[Pod, Mapping[str, int]], ...]
    least: int
    """No fewer pods than this can make the room."""

    beyond_resources: bool
    """Something else than resources keeps the pod out, which pods that go may cure."""

    def victims(self, size: int, most: int) -> Iterator[tuple[Pod, ...]]:
        """Yield the sets of so many pods that cover what is missing and of which none is dispensable.

        The least important come first, and among them those that free the least beyond what is missing.
        """
        sets = [some for some in combinations(self.pods[:most], size) if self._is_needed(some)]
        yield from (tuple(pod for pod, _ in some) for some in sorted(sets, key=self._cost))

    def _is_needed(self, some: Sequence[tuple[Pod, Mapping[str, int]]]) -> bool:
        if not self._covers(some):
            return False
        if self.beyond_resources:
            return True
        return not any(self._covers([*some[:index], *some[index + 1 :]]) for index in range(len(some)))

    def _covers(self, some: Sequence[tuple[Pod, Mapping[str, int]]]) -> bool:
        return all(sum(frees.get(name, 0) for _, frees in some) >= amount for name, amount in self.missing.items())

    def _cost(self, some: Sequence[tuple[Pod, Mapping[str, int]]]) -> tuple[list[int], float, list[str]]:
        priorities = sorted((pod.priority for pod, _ in some), reverse=True)
        excess = sum(frees.get(name, 0) / amount for _, frees in some for name, amount in self.missing.items())
        return priorities, excess, [pod.key for pod, _ in some]


class Closest(CachingRecord, frozen=True, kw_only=True):
    """The candidates, the closest first, and the number of pods that may not move, by reason."""

    candidates: tuple[Candidate, ...]
    refused: Mapping[str, int]


def closest(result: ScheduleResult, refusal: Callable[[Pod], str | None], bounds: Bounds) -> Closest:
    """Return the nodes on which evictions may make room for the pod, from the cycle in which it fits nowhere."""
    nodes = result.nodes
    curable = _curable(result)
    missing = _missing(result.pod, nodes)
    beyond = _rejected_beyond_resources(result)
    refused: Counter[str] = Counter()
    movable: dict[int, list[Pod]] = {row: [] for row in np.flatnonzero(curable).tolist()}
    for pod, row in zip(nodes.existing_pods.pods, nodes.existing_pods.rows.tolist(), strict=True):
        if row in movable:
            why = refusal(pod)
            if why is None:
                movable[row].append(pod)
            else:
                refused[why] += 1
    found = []
    for row, pods in movable.items():
        lacks = {name: int(amounts[row]) for name, amounts in missing.items() if amounts[row] > 0}
        candidate = _candidate(nodes, row, lacks, pods, beyond_resources=bool(beyond[row]))
        if candidate is not None and candidate.least <= bounds.moves:
            found.append(candidate)
    found.sort(key=lambda each: (each.least, _distance(each, nodes), each.name))
    return Closest(candidates=tuple(found[: bounds.nodes]), refused=refused)


def _curable(result: ScheduleResult) -> Mask:
    """bool[n]: the nodes whose rejections are such that pods which go may cure them."""
    if result.verdict is None:
        return np.zeros(len(result.nodes), dtype=np.bool_)
    return result.verdict.where(lambda status: status.code is Code.UNSCHEDULABLE)


def _rejected_beyond_resources(result: ScheduleResult) -> Mask:
    masks = [mask for plugin, mask in result.rejection_masks.items() if plugin != _FIT]
    beyond = np.zeros(len(result.nodes), dtype=np.bool_)
    for mask in masks:
        beyond |= mask
    return beyond


def _missing(pod: Pod, nodes: Snapshot) -> dict[str, Integers]:
    """int64[n] by resource: the amount that each node has too little of; 0 and less where there is enough."""
    wanted = {name: amount for name, amount in nodes.resource_of(pod).requested.items() if amount}
    missing = {name: amount - (nodes.allocatable(name) - nodes.requested(name)) for name, amount in wanted.items()}
    return {**missing, PODS: 1 - (nodes.allocatable(PODS) - nodes.pod_count)}


def _candidate(
    nodes: Snapshot, row: int, missing: Mapping[str, int], pods: Sequence[Pod], *, beyond_resources: bool
) -> Candidate | None:
    freed = [(pod, {**nodes.resource_of(pod).requested, PODS: 1}) for pod in pods]
    least = 1 if beyond_resources else 0
    for name, amount in missing.items():
        amounts = sorted((frees.get(name, 0) for _, frees in freed), reverse=True)
        total = number = 0
        while total < amount and number < len(amounts) and amounts[number]:
            total += amounts[number]
            number += 1
        if total < amount:
            return None
        least = max(least, number)
    if least == 0:
        return None

    def use(each: tuple[Pod, Mapping[str, int]]) -> float:
        return sum(min(each[1].get(name, 0) / amount, 1.0) for name, amount in missing.items())

    useful = [each for each in freed if beyond_resources or use(each) > 0]
    useful.sort(key=lambda each: (-use(each), each[0].priority, each[0].key))
    return Candidate(
        row=row,
        name=nodes.names[row],
        missing=missing,
        pods=tuple(useful),
        least=least,
        beyond_resources=beyond_resources,
    )


def _distance(candidate: Candidate, nodes: Snapshot) -> float:
    """Return the sum of what is missing, each resource as a share of the node."""
    return sum(
        amount / max(int(nodes.allocatable(name)[candidate.row]), 1) for name, amount in candidate.missing.items()
    )
