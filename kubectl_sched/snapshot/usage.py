"""Requested resources of each node: the sums that NodeInfo keeps in Requested and NonZeroRequested."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from kubectl_sched.api.apimachinery.int64 import MAX_INT64, MIN_INT64, is_int64, wrapped
from kubectl_sched.record import CachingRecord, Record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

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
    """Amounts of each node by resource, and how many pods it has."""

    requested: Mapping[str, Integers]
    non_zero: Mapping[str, Integers]
    pod_count: Integers


class Usage:
    """The sums of all nodes, immutable. Pods that come or go are added up once somebody asks.

    A what-if places thousands of pods and rarely asks in between: so all versions share one list of changes that only
    ever grows, and a version is how much of it it sees.

    Sums that leave int64 wrap around. If it `saturates` they show as the limit of int64, and are kept as Python's own
    integers, so that they are right again once pods go.
    """

    __slots__ = ("_version", "saturates")

    def __init__(
        self, sums: Sums, changes: list[_Change] | None = None, seen: int = 0, *, saturates: bool = False
    ) -> None:
        self._version: _Version = (sums, [] if changes is None else changes, seen)
        self.saturates = saturates

    def requested(self, resource: str) -> Integers | None:
        """int64[n], None if no pod requests the resource."""
        return _as_int64(self._sums.requested.get(resource))

    def non_zero(self, resource: str) -> Integers | None:
        """int64[n] for cpu and memory, with defaults for containers that ask for nothing."""
        return _as_int64(self._sums.non_zero.get(resource))

    @property
    def resources(self) -> Collection[str]:
        """The resources that pods request."""
        return self._sums.requested.keys()

    @property
    def pod_count(self) -> Integers:
        """int64[n]: how many pods each node has."""
        return self._sums.pod_count

    @property
    def _sums(self) -> Sums:
        sums, changes, seen = self._version
        if seen:
            sums = self._with_changes(sums, changes[:seen])
            self._version = (sums, [], 0)
        return sums

    @classmethod
    def of(cls, resources: Column[PodResource], rows: Rows, node_count: int, *, saturates: bool) -> Usage:
        """The sums over pods, given each one's resources and row."""
        distinct = resources.values
        codes = resources.codes
        requested = _sums([each.requested for each in distinct], codes, rows, node_count, saturates=saturates)
        non_zero = _sums([each.non_zero for each in distinct], codes, rows, node_count, saturates=saturates)
        pod_count = np.bincount(rows, minlength=node_count).astype(np.int64)
        return cls(Sums(requested=requested, non_zero=non_zero, pod_count=pod_count), saturates=saturates)

    def changed(self, resource: PodResource, row: int, sign: int) -> Usage:
        """With one pod more (sign 1) or less (sign -1) on a row."""
        sums, changes, seen = self._version
        if len(changes) > seen:  # another version has gone on from here
            sums, changes, seen = self._sums, [], 0
        changes.append((resource, row, sign))
        return Usage(sums, changes, seen + 1, saturates=self.saturates)

    def plus_everywhere(self, resource: PodResource, times: int | Integers) -> Usage:
        """With so many equal pods more on every row, or on each."""
        sums = self._sums
        return self._with(
            requested=self._plus_everywhere(sums.requested, resource.requested, times),
            non_zero=self._plus_everywhere(sums.non_zero, resource.non_zero, times),
            pod_count=self.pod_count + times,
        )

    def plus(self, other: Usage) -> Usage:
        """These sums and the others, over the same nodes."""
        return self._with(
            requested=self._total(self._sums.requested, other._sums.requested),
            non_zero=self._total(self._sums.non_zero, other._sums.non_zero),
            pod_count=self.pod_count + other.pod_count,
        )

    def less(self, other: Usage) -> Usage:
        """These sums without the others, over the same nodes."""
        return self._with(
            requested=_difference(self._sums.requested, other._sums.requested),
            non_zero=_difference(self._sums.non_zero, other._sums.non_zero),
            pod_count=self.pod_count - other.pod_count,
        )

    def with_empty_row(self) -> Usage:
        """With one empty node more at the end."""
        more = np.zeros(1, dtype=np.int64)
        return self._each(lambda amounts: np.concatenate([amounts, more]))

    def take(self, rows: Rows) -> Usage:
        """The sums of these rows."""
        return self._each(lambda amounts: amounts[rows])

    def _each(self, change: Callable[[Integers], Integers]) -> Usage:
        return self._with(
            requested={name: change(amounts) for name, amounts in self._sums.requested.items()},
            non_zero={name: change(amounts) for name, amounts in self._sums.non_zero.items()},
            pod_count=change(self.pod_count),
        )

    def _with(self, *, requested: Amounts, non_zero: Amounts, pod_count: Integers) -> Usage:
        sums = Sums(requested=requested, non_zero=non_zero, pod_count=pod_count)
        return Usage(sums, saturates=self.saturates)

    def _plus_everywhere(self, sums: Mapping[str, Integers], by: Mapping[str, int], times: int | Integers) -> Amounts:
        numbers = np.atleast_1d(times)  # numpy warns of what wraps in a number, not in an array
        most = int(numbers.max(initial=0))
        changed = dict(sums)
        for name, amount in by.items():
            before = changed.get(name)
            wide = self._wide(np.zeros_like(self.pod_count) if before is None else before, most * amount)
            changed[name] = wide + numbers.astype(wide.dtype) * amount
        return changed

    def _total(self, sums: Mapping[str, Integers], added: Mapping[str, Integers]) -> Amounts:
        total = {**added, **sums}
        for name in sums.keys() & added.keys():
            total[name] = self._wide(sums[name], int(added[name].max(initial=0))) + added[name]
        return total

    def _with_changes(self, sums: Sums, changes: Sequence[_Change]) -> Sums:
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
                        self._add(amounts, name, row, count * amount)
        return Sums(requested=requested, non_zero=non_zero, pod_count=pod_count)

    def _add(self, amounts: Amounts, name: str, row: int, amount: int) -> None:
        if self.saturates and not is_int64(int(amounts[name][row]) + amount):
            amounts[name] = amounts[name].astype(object)
        if amounts[name].dtype == object:
            amounts[name][row] += amount
        else:
            # numpy warns of what wraps in a number, not in an array
            amounts[name][row : row + 1] += wrapped(amount)

    def _wide(self, amounts: Integers, more: int) -> Integers:
        """Return the amounts, as Python's own integers if they must not wrap and could with so much more."""
        if self.saturates and int(amounts.max(initial=0)) + more > MAX_INT64:
            return amounts.astype(object)
        return amounts


def _sums(
    per_value: Sequence[Mapping[str, int]], codes: Codes, rows: Rows, node_count: int, *, saturates: bool
) -> Amounts:
    names = dict.fromkeys(name for amounts in per_value for name in amounts)
    sums: Amounts = {}
    for name in names:
        amount_of = np.array([amounts.get(name, 0) for amounts in per_value], dtype=np.int64)
        if saturates and int(amount_of.max()) * len(rows) > MAX_INT64:
            amount_of = amount_of.astype(object)
        sums[name] = np.zeros(node_count, dtype=amount_of.dtype)
        np.add.at(sums[name], rows, amount_of[codes])
    return sums


def _difference(amounts: Mapping[str, Integers], subtracted: Mapping[str, Integers]) -> Amounts:
    return {name: each - subtracted[name] if name in subtracted else each for name, each in amounts.items()}


def _as_int64(amounts: Integers | None) -> Integers | None:
    """Return the amounts as int64[n], those beyond at its limit."""
    if amounts is None or amounts.dtype != object:
        return amounts
    return np.clip(amounts, MIN_INT64, MAX_INT64).astype(np.int64)
