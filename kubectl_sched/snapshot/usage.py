"""Requested resources of each node: the sums that NodeInfo keeps in Requested and NonZeroRequested."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


class Usage(Record, frozen=True, kw_only=True):
    """int64[n] by resource, and how many pods each node has."""

    requested: Mapping[str, Integers]
    non_zero: Mapping[str, Integers]
    pod_count: Integers

    @classmethod
    def of(cls, resources: Column[PodResource], rows: Rows, node_count: int) -> Usage:
        """The sums over pods, given each one's resources and row."""
        distinct = resources.values
        return cls(
            requested=_sums([each.requested for each in distinct], resources.codes, rows, node_count),
            non_zero=_sums([each.non_zero for each in distinct], resources.codes, rows, node_count),
            pod_count=np.bincount(rows, minlength=node_count).astype(np.int64),
        )

    def changed(self, resource: PodResource, row: int, sign: int) -> Usage:
        """With one pod more (sign 1) or less (sign -1) on a row."""
        pod_count = self.pod_count.copy()
        pod_count[row] += sign
        return Usage(
            requested=_changed(self.requested, resource.requested, row, sign, len(pod_count)),
            non_zero=_changed(self.non_zero, resource.non_zero, row, sign, len(pod_count)),
            pod_count=pod_count,
        )

    def plus_everywhere(self, resource: PodResource, times: int) -> Usage:
        """With so many equal pods more on every row."""
        return Usage(
            requested=_plus_everywhere(self.requested, resource.requested, times, len(self.pod_count)),
            non_zero=_plus_everywhere(self.non_zero, resource.non_zero, times, len(self.pod_count)),
            pod_count=self.pod_count + times,
        )

    def plus(self, other: Usage) -> Usage:
        """These sums and the others, over the same nodes."""
        return Usage(
            requested=_total(self.requested, other.requested),
            non_zero=_total(self.non_zero, other.non_zero),
            pod_count=self.pod_count + other.pod_count,
        )

    def less(self, other: Usage) -> Usage:
        """These sums without the others, over the same nodes."""
        return Usage(
            requested=_difference(self.requested, other.requested),
            non_zero=_difference(self.non_zero, other.non_zero),
            pod_count=self.pod_count - other.pod_count,
        )

    def with_rows(self, count: int) -> Usage:
        """With so many empty nodes more at the end."""
        more = np.zeros(count, dtype=np.int64)
        return Usage(
            requested={name: np.concatenate([amounts, more]) for name, amounts in self.requested.items()},
            non_zero={name: np.concatenate([amounts, more]) for name, amounts in self.non_zero.items()},
            pod_count=np.concatenate([self.pod_count, more]),
        )

    def take(self, rows: Rows) -> Usage:
        """The sums of these rows."""
        return Usage(
            requested={name: amounts[rows] for name, amounts in self.requested.items()},
            non_zero={name: amounts[rows] for name, amounts in self.non_zero.items()},
            pod_count=self.pod_count[rows],
        )


def _sums(per_value: Sequence[Mapping[str, int]], codes: Codes, rows: Rows, node_count: int) -> Amounts:
    names = dict.fromkeys(name for amounts in per_value for name in amounts)
    sums: Amounts = {}
    for name in names:
        amount_of = np.array([amounts.get(name, 0) for amounts in per_value], dtype=np.int64)
        sums[name] = np.zeros(node_count, dtype=np.int64)
        np.add.at(sums[name], rows, amount_of[codes])
    return sums


def _plus_everywhere(amounts: Mapping[str, Integers], by: Mapping[str, int], times: int, node_count: int) -> Amounts:
    absent = {name: np.zeros(node_count, dtype=np.int64) for name in by if name not in amounts}
    return {name: each + wrapped(times * by.get(name, 0)) for name, each in {**amounts, **absent}.items()}


def _total(amounts: Mapping[str, Integers], added: Mapping[str, Integers]) -> Amounts:
    return {**added, **{name: each + added[name] if name in added else each for name, each in amounts.items()}}


def _difference(amounts: Mapping[str, Integers], subtracted: Mapping[str, Integers]) -> Amounts:
    return {name: each - subtracted[name] if name in subtracted else each for name, each in amounts.items()}


def _changed(amounts: Mapping[str, Integers], by: Mapping[str, int], row: int, sign: int, node_count: int) -> Amounts:
    changed = dict(amounts)
    for name, amount in by.items():
        column = changed[name].copy() if name in changed else np.zeros(node_count, dtype=np.int64)
        column[row : row + 1] += wrapped(sign * amount)  # numpy warns of what wraps in a number, not in an array
        changed[name] = column
    return changed
