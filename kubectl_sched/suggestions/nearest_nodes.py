"""The nodes that it would take the least to make feasible, to be examined first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.interface import FilterPlugin

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Floats, Integers, Mask, Rows

_EXAMINED = 48
"""Of how many nodes with as many rejections the evidence is looked at; it is too slow to be asked of all."""

_OF_ONE_TAINT_SET = 8


def by_rejections(result: ScheduleResult, curable: Collection[str]) -> Iterator[list[int]]:
    """Some rejected rows with the fewest rejections, the nearest to passing first; then some with one more; and so on.

    Rows that a plugin other than the `curable` rejects are left out.
    """
    counts, away = rejections(result)
    hopeless: Mask = counts == 0
    for plugin, mask in result.rejection_masks.items():
        if plugin not in curable:
            hopeless = hopeless | mask
    for number in sorted(set(counts[~hopeless].tolist())):
        rows = np.flatnonzero(~hopeless & (counts == number))
        yield _some(result, rows[np.argsort(away[rows], kind="stable")])


def rejections(result: ScheduleResult) -> tuple[Integers, Floats]:
    """By row: how many plugins keep the pod out, and how far they are from letting it in (`shortfall`), summed up.

    A cordoned node has the taint of cordoned nodes, too: that is one thing.
    """
    masks = result.rejection_masks
    count: Integers = np.zeros(len(result.nodes), dtype=np.int64)
    away: Floats = np.zeros(len(result.nodes), dtype=np.float64)
    for name, mask in masks.items():
        count += mask
        rows = np.flatnonzero(mask)
        plugin = result.framework.plugins.get(name) if result.framework else None
        if len(rows) and result.state is not None and isinstance(plugin, FilterPlugin):
            away[rows] += plugin.shortfall(result.state, result.pod, result.nodes, rows)
    if {"NodeUnschedulable", "TaintToleration"} <= masks.keys():
        count -= masks["NodeUnschedulable"] & masks["TaintToleration"]
    return count, away


def has_room_when_empty(result: ScheduleResult) -> Mask:
    """bool[n]: the nodes whose allocatable amounts cover what the pod requests, whoever is on them."""
    nodes = result.nodes
    enough: Mask = np.ones(len(nodes), dtype=np.bool_)
    for resource, amount in nodes.resource_of(result.pod).requested.items():
        enough &= nodes.allocatable(resource) >= amount
    return enough


def last_rows(result: ScheduleResult) -> Rows:
    """Return the rows that the fewest plugins keep out, for the fewest reasons, among those that PreFilter leaves.

    Those that are too small for the pod even when empty are left out, unless all are.
    """
    rows: Rows = np.arange(len(result.nodes), dtype=np.intp)
    if result.pre_filter_nodes is not None:
        inside = [result.nodes.row_of[name] for name in result.pre_filter_nodes if name in result.nodes.row_of]
        rows = np.array(sorted(inside), dtype=np.intp)
    reasons: Integers = np.zeros(len(result.nodes), dtype=np.int64)
    for plugin, mask in result.rejection_masks.items():
        reasons += result.verdicts[plugin].numbers(lambda status: len(status.reasons)) * mask
    for key in (rejections(result)[0], reasons, ~has_room_when_empty(result)):
        if len(rows):
            rows = rows[key[rows] == key[rows].min()]
    return rows


def _some(result: ScheduleResult, rows: Rows) -> list[int]:
    """The first of them, though not many that have the same taints: others may ask for less."""
    taken: list[int] = []
    alike: Counter[int] = Counter()
    codes = result.nodes.taints.codes
    for row in rows.tolist():
        if alike[int(codes[row])] < _OF_ONE_TAINT_SET or not len(result.nodes.taints[row]):
            alike[int(codes[row])] += 1
            taken.append(row)
        if len(taken) == _EXAMINED:
            break
    return taken
