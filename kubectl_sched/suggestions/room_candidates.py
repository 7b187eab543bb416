"""The nodes on which room for a pod is closest, and the sets of pods that would have to move from each."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, islice
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
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows

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

    def victims(self, size: int, most: int, chosen: Callable[[Pod], bool] | None = None) -> Iterator[tuple[Pod, ...]]:
        """Yield the sets of so many `chosen` pods that cover what is missing and of which none is dispensable.

        The least important come first, and among them those that free the least beyond what is missing.
        """
        useful = islice((each for each in self.pods if chosen is None or chosen(each[0])), most)
        sets = [some for some in combinations(useful, size) if self._is_needed(some)]
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
    """The candidates, the closest first, and bool[n]: the nodes on which pods that go may help at all."""

    candidates: tuple[Candidate, ...]
    curable: Mask


class MovablePods:
    """The pods of a version of the cluster that may move, and how much the largest of them free on each node."""

    def __init__(
        self, nodes: Snapshot, refusal: Callable[[Pod], str | None], most: int, rows: Rows | None = None
    ) -> None:
        """Ask about the pods on these rows alone; None for all."""
        self._nodes = nodes
        self._refusal = refusal
        self._most = most
        pods, of_pods = nodes.existing_pods.pods, nodes.existing_pods.rows
        asked = [True] * len(pods) if rows is None else np.isin(of_pods, rows).tolist()
        self._reasons = [
            refusal(pod) if is_asked else "beyond the search" for pod, is_asked in zip(pods, asked, strict=True)
        ]
        self._movable = np.array([reason is None for reason in self._reasons], dtype=np.bool_)
        self._freed: dict[str, Integers] = {}
        self._on: dict[int, list[tuple[Pod, Mapping[str, int]]]] = {}
        self.by_name = np.argsort(np.argsort(np.array(nodes.names, dtype=np.str_)))
        """int64[n]: the place of each node in the order of names."""

    def refused(self, curable: Mask) -> Counter[str]:
        """Count the pods on these nodes that may not move, by reason."""
        on_these = curable[self._nodes.existing_pods.rows].tolist()
        return Counter(why for why, here in zip(self._reasons, on_these, strict=True) if here and why is not None)

    def on(self, row: int) -> list[tuple[Pod, Mapping[str, int]]]:
        """Return the pods of the node that may move, and what each frees."""
        if row not in self._on:
            self._on[row] = self.on_other(self._nodes, row)
        return self._on[row]

    def on_other(self, nodes: Snapshot, row: int) -> list[tuple[Pod, Mapping[str, int]]]:
        """Return the same for another version of the cluster."""
        pods = (nodes.existing_pods.pods[index] for index in nodes.existing_pods.on(row).tolist())
        return [(pod, {**nodes.resource_of(pod).requested, PODS: 1}) for pod in pods if self._refusal(pod) is None]

    def freed(self, resource: str) -> Integers:
        """int64[n, most]: what the largest pod of each node frees, the two largest, and so on."""
        if resource not in self._freed:
            table = self._nodes.existing_pods
            column = table.column("resource", self._nodes.resource_of)
            amounts = np.array([each.requested.get(resource, 0) for each in column.values], dtype=np.int64)
            of_pods = np.ones(len(table), dtype=np.int64) if resource == PODS else amounts[column.codes]
            rows, of_pods = table.rows[self._movable], of_pods[self._movable]
            order = np.lexsort((-of_pods, rows))
            rows, of_pods = rows[order], of_pods[order]
            place = np.arange(len(rows)) - np.searchsorted(rows, rows)
            largest = np.zeros((len(self._nodes), self._most), dtype=np.int64)
            first = place < self._most
            largest[rows[first], place[first]] = of_pods[first]
            self._freed[resource] = largest.cumsum(axis=1)
        return self._freed[resource]


def closest(result: ScheduleResult, movable: MovablePods, bounds: Bounds, touched: Sequence[int] = ()) -> Closest:
    """Return the nodes on which evictions may make room for the pod, from the cycle in which it fits nowhere.

    On the rows `touched` are other pods than `movable` knows of.
    """
    nodes = result.nodes
    curable = _curable(result)
    beyond = _rejected_beyond_resources(result)
    missing = _missing(result.pod, nodes)
    now = {row: movable.on_other(nodes, row) for row in touched}
    least = beyond.astype(np.int64)
    distance = np.zeros(len(nodes))
    for name, amounts in missing.items():
        freed = movable.freed(name)
        if now:
            freed = freed.copy()
            for row, pods in now.items():
                largest = sorted((frees.get(name, 0) for _, frees in pods), reverse=True)[: freed.shape[1]]
                freed[row] = np.cumsum([*largest, *([0] * (freed.shape[1] - len(largest)))])
        least = np.maximum(least, np.where(amounts > 0, 1 + (freed < amounts[:, None]).sum(axis=1), 0))
        distance += np.where(amounts > 0, amounts / np.maximum(nodes.allocatable(name), 1), 0.0)
    rows = np.flatnonzero(curable & (least >= 1) & (least <= bounds.moves))
    order = np.lexsort((movable.by_name[rows], distance[rows], least[rows]))
    found = [
        _candidate(
            nodes,
            row,
            {name: int(amounts[row]) for name, amounts in missing.items() if amounts[row] > 0},
            now[row] if row in now else movable.on(row),
            int(least[row]),
            beyond_resources=bool(beyond[row]),
        )
        for row in rows[order][: bounds.nodes].tolist()
    ]
    return Closest(candidates=tuple(found), curable=curable)


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
    nodes: Snapshot,
    row: int,
    missing: Mapping[str, int],
    pods: Sequence[tuple[Pod, Mapping[str, int]]],
    least: int,
    *,
    beyond_resources: bool,
) -> Candidate:
    def use(each: tuple[Pod, Mapping[str, int]]) -> float:
        return sum(min(each[1].get(name, 0) / amount, 1.0) for name, amount in missing.items())

    useful = [each for each in pods if beyond_resources or use(each) > 0]
    useful.sort(key=lambda each: (-use(each), each[0].priority, each[0].key))
    return Candidate(
        row=row,
        name=nodes.names[row],
        missing=missing,
        pods=tuple(useful),
        least=least,
        beyond_resources=beyond_resources,
    )
