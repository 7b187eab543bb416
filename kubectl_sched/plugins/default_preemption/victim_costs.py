"""Ranks nodes by the victims that a member of the preempting group would cost there (RankNodes, since 1.38).

A node costs all of its potential victims that no member placed before has condemned: those on the members' nodes. What
the members need of them is seen once all members have a node.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.plugins.default_preemption.victims import Victim
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_Cost: TypeAlias = tuple[int, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]
_NOTHING: _Cost = (-1, (), ())
"""The cost of a node without victims, less than that of any other."""


class VictimOnNodes(Record, frozen=True, kw_only=True):
    """A potential victim, the number of its pods that violate a budget, and the rows of its nodes."""

    victim: Victim
    violations: int
    rows: frozenset[int]


class RankingByVictims:
    """Ranks the nodes of potential victims, the most important first, for the pods of a group that preempts them."""

    def __init__(self, victims: Sequence[VictimOnNodes], members: Sequence[Pod]) -> None:
        self._victims = victims
        self._members = members
        self._on: dict[int, list[int]] = defaultdict(list)
        for place, each in enumerate(victims):
            for row in each.rows:
                self._on[row].append(place)
        self._whole = {row: _cost(victims[place] for place in places) for row, places in self._on.items()}

    def first(self, nodes: Snapshot, rows: Rows) -> Rows:
        """Return those of the rows whose victims cost least, with the members that have a node in this cluster."""
        existing = nodes.existing_pods
        placed = (existing.find(pod.metadata.namespace, pod.metadata.name) for pod in self._members)
        taken = {int(existing.rows[index]) for index in placed if index is not None}
        condemned = {place for row in taken for place in self._on.get(row, ())}
        cheaper = {
            row: self._without(row, condemned)
            for row in frozenset[int]().union(*(self._victims[place].rows for place in condemned))
        }
        costs = [cheaper.get(row) or self._whole.get(row, _NOTHING) for row in rows.tolist()]
        least = min(costs)
        return rows[np.array([cost == least for cost in costs], dtype=np.bool_)]

    def _without(self, row: int, condemned: AbstractSet[int]) -> _Cost:
        return _cost(self._victims[place] for place in self._on[row] if place not in condemned)


def _cost(surviving: Iterable[VictimOnNodes]) -> _Cost:
    """Violated budgets count first, then pods from the highest priority down, then how victims go together.

    CompareVictimSets in pkg/scheduler/framework/preemption/util.go.
    """
    victims = list(surviving)
    if not victims:
        return _NOTHING
    by_priority = groupby(victims, key=lambda each: each.victim.priority)
    pods = tuple((priority, sum(len(each.victim.indices) for each in same)) for priority, same in by_priority)
    return (
        sum(each.violations for each in victims),
        pods,
        tuple((each.victim.rank, len(each.victim.indices)) for each in victims),
    )
