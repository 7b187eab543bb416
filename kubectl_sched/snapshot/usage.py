"""Requested resources of each node: the sums that NodeInfo keeps in Requested and NonZeroRequested."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kubectl_sched.api.apimachinery.int64 import wrapped
from kubectl_sched.record import CachingRecord, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.snapshot.array_types import Codes, Integers, Rows
    from kubectl_sched.snapshot.column import Column


class PodResource(CachingRecord, frozen=True, kw_only=True):
    """The resources that one pod requests, in the scheduler's units: cpu in millicores, all others in their own unit.

    There is one for all pods that request the same. `non_zero` holds cpu and memory only, with 100m and 200Mi for each
    container that does not say.
    """

    requested: Mapping[str, int]
    non_zero: Mapping[str, int]


Amounts = dict[str, "Integers"]
_Change: TypeAlias = "tuple[PodResource, int, int]"
"""The requests of a pod, its row, and 1 if it comes or -1 if it goes."""

_Version: TypeAlias = "tuple[Sums, list[_Change], int]"
"""Sums, the changes since, and how many of these count."""


class Sums(Record, frozen=True, kw_only=True):
    """int64[n] by resource, and how many pods each node has."""

    requested: Mapping[str, Integers]
    non_zero: Mapping[str, Integers]
    pod_count: Integers


class Usage:
    """The sums of all nodes, immutable. Pods that come or go are added up once somebody asks.

    A what-if places thousands of pods and rarely asks in between: so all versions share one list of changes that only
    ever grows, and a version is how much of it it sees.
    """

    __slots__ = ("_version",)

    def __init__(self, sums: Sums, changes: list[_Change] | None = None, seen: int = 0) -> None:
        self._version: _Version = (sums, [] if changes is None else changes, seen)

    @property
    def requested(self) -> Mapping[str, Integers]:
        """int64[n] by resource."""
        return self._sums.requested

    @property
    def non_zero(self) -> Mapping[str, Integers]:
        """int64[n] for cpu and memory, with defaults for containers that ask for nothing."""
        return self._sums.non_zero

    @property
    def pod_count(self) -> Integers:
        """int64[n]: how many pods each node has."""
        return self._sums.pod_count

    @property
    def _sums(self) -> Sums:
        sums, changes, seen = self._version
        if seen:
            sums = _with_changes(sums, changes[:seen])
            self._version = (sums, [], 0)
        return sums

    @classmethod
    def of(cls, resources: Column[PodResource], rows: Rows, node_count: int) -> Usage:
        """The sums over pods, given each one's resources and row."""
        distinct = resources.values
        return cls(
            Sums(
                requested=_sums([each.requested for each in distinct], resources.codes, rows, node_count),
                non_zero=_sums([each.non_zero for each in distinct], resources.codes, rows, node_count),
                pod_count=np.bincount(rows, minlength=node_count).astype(np.int64),
            )
        )

    def changed(self, resource: PodResource, row: int, sign: int) -> Usage:
        """With one pod more (sign 1) or less (sign -1) on a row."""
        sums, changes, seen = self._version
        if len(changes) > seen:  # another version has gone on from here
            sums, changes, seen = self._sums, [], 0
        changes.append((resource, row, sign))
        return Usage(sums, changes, seen + 1)

    def plus_everywhere(self, resource: PodResource, times: int | Integers) -> Usage:
        """With so many equal pods more on every row, or on each."""
        return Usage(
            Sums(
                requested=_plus_everywhere(self.requested, resource.requested, times, len(self.pod_count)),
                non_zero=_plus_everywhere(self.non_zero, resource.non_zero, times, len(self.pod_count)),
                pod_count=self.pod_count + times,
            )
        )

    def plus(self, other: Usage) -> Usage:
        """These sums and the others, over the same nodes."""
        return Usage(
            Sums(
                requested=_total(self.requested, other.requested),
                non_zero=_total(self.non_zero, other.non_zero),
                pod_count=self.pod_count + other.pod_count,
            )
        )

    def less(self, other: Usage) -> Usage:
        """These sums without the others, over the same nodes."""
        return Usage(
            Sums(
                requested=_difference(self.requested, other.requested),
                non_zero=_difference(self.non_zero, other.non_zero),
                pod_count=self.pod_count - other.pod_count,
            )
        )

    def with_empty_row(self) -> Usage:
        """With one empty node more at the end."""
        more = np.zeros(1, dtype=np.int64)
        return Usage(
            Sums(
                requested={name: np.concatenate([amounts, more]) for name, amounts in self.requested.items()},
                non_zero={name: np.concatenate([amounts, more]) for name, amounts in self.non_zero.items()},
                pod_count=np.concatenate([self.pod_count, more]),
            )
        )

    def take(self, rows: Rows) -> Usage:
        """The sums of these rows."""
        return Usage(
            Sums(
                requested={name: amounts[rows] for name, amounts in self.requested.items()},
                non_zero={name: amounts[rows] for name, amounts in self.non_zero.items()},
                pod_count=self.pod_count[rows],
            )
        )


def _sums(per_value: Sequence[Mapping[str, int]], codes: Codes, rows: Rows, node_count: int) -> Amounts:
    names = dict.fromkeys(name for amounts in per_value for name in amounts)
    sums: Amounts = {}
    for name in names:
        amount_of = np.array([amounts.get(name, 0) for amounts in per_value], dtype=np.int64)
        sums[name] = np.zeros(node_count, dtype=np.int64)
        np.add.at(sums[name], rows, amount_of[codes])
    return sums


def _plus_everywhere(
    amounts: Mapping[str, Integers], by: Mapping[str, int], times: int | Integers, node_count: int
) -> Amounts:
    absent = {name: np.zeros(node_count, dtype=np.int64) for name in by if name not in amounts}
    numbers = np.atleast_1d(times)  # numpy warns of what wraps in a number, not in an array
    return {name: each + numbers * by[name] if name in by else each for name, each in {**amounts, **absent}.items()}


def _total(amounts: Mapping[str, Integers], added: Mapping[str, Integers]) -> Amounts:
    return {**added, **{name: each + added[name] if name in added else each for name, each in amounts.items()}}


def _difference(amounts: Mapping[str, Integers], subtracted: Mapping[str, Integers]) -> Amounts:
    return {name: each - subtracted[name] if name in subtracted else each for name, each in amounts.items()}


def _with_changes(sums: Sums, changes: Sequence[_Change]) -> Sums:
    requested, non_zero, pod_count = dict(sums.requested), dict(sums.non_zero), sums.pod_count.copy()
    for amounts, names in (
        (requested, dict.fromkeys(name for resource, _, _ in changes for name in resource.requested)),
        (non_zero, dict.fromkeys(name for resource, _, _ in changes for name in resource.non_zero)),
    ):
        for name in names:
            amounts[name] = amounts[name].copy() if name in amounts else np.zeros(len(pod_count), dtype=np.int64)
    for resource, equal in groupby(changes, key=itemgetter(0)):
        times: dict[int, int] = {}
        for _, row, sign in equal:
            times[row] = times.get(row, 0) + sign
        for row, count in times.items():
            pod_count[row] += count
            for amounts, by in ((requested, resource.requested), (non_zero, resource.non_zero)):
                for name, amount in by.items():
                    # numpy warns of what wraps in a number, not in an array
                    amounts[name][row : row + 1] += wrapped(count * amount)
    return Sums(requested=requested, non_zero=non_zero, pod_count=pod_count)
