"""The nodes that it would take the least to make feasible, to be examined first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.component_helpers.taints import DO_NOT_SCHEDULE, UNSCHEDULABLE_TAINT
from kubectl_sched.diagnostics.taint_owners import taint_owner
from kubectl_sched.framework.interface import FilterPlugin
from kubectl_sched.scheduler.cycle_result import CycleResult

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kubectl_sched.api.core import Taint
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Floats, Integers, Mask, Rows

_EXAMINED = 48
"""Of how many nodes with as many rejections the evidence is looked at; it is too slow to be asked of all."""

_SETS = 16
"""No more distinct sets of rejections are examined, those of most nodes first."""

_OF_ONE_SET = 4


def by_rejections(result: ScheduleResult, curable: Collection[str]) -> Iterator[list[list[int]]]:
    """Rejected rows with the fewest rejections, then some with one more, and so on.

    Rows are grouped by their set of rejections, the sets of most nodes first; of each set there are the rows that are
    nearest to passing. Rows that a plugin other than the `curable` rejects are left out, as are those with a taint that
    no pod should tolerate.
    """
    counts, away = rejections(result)
    hopeless: Mask = (counts == 0) | _kept_away(result)
    for plugin, mask in result.rejection_masks.items():
        if plugin not in curable:
            hopeless = hopeless | mask
    sets = _sets(result)
    for number in sorted(set(counts[~hopeless].tolist())):
        rows = np.flatnonzero(~hopeless & (counts == number))
        rows = rows[np.argsort(away[rows], kind="stable")]
        of_sets, sizes = np.unique(sets[rows], return_counts=True)
        most_first = of_sets[np.argsort(-sizes, kind="stable")][:_SETS].tolist()
        share = max(_EXAMINED // len(most_first), _OF_ONE_SET)
        yield [rows[sets[rows] == each][:share].tolist() for each in most_first]


def _sets(result: ScheduleResult) -> Integers:
    """int64[n]: a number for each distinct set of rejections; taints of different keys are different ones."""
    columns = [result.verdicts[plugin].codes * mask for plugin, mask in result.rejection_masks.items()]
    masks = result.rejection_masks
    if "TaintToleration" in masks:
        columns.append(np.where(masks["TaintToleration"], result.nodes.taints.codes, -1))
    if not columns:
        return np.zeros(len(result.nodes), dtype=np.int64)
    _, numbers = np.unique(np.column_stack([*columns, *masks.values()]), axis=0, return_inverse=True)
    found: Integers = numbers.reshape(-1).astype(np.int64)
    return found


def _kept_away(result: ScheduleResult) -> Mask:
    """bool[n]: nodes with an untolerated taint that a controller takes off by itself, or of the system's own nodes."""
    nodes = result.nodes
    mask = result.rejection_masks.get("TaintToleration")
    if mask is None:
        return np.zeros(len(nodes), dtype=np.bool_)
    tolerations = result.tolerations

    def keeps(taints: Iterable[Taint]) -> bool:
        return any(
            each.effect in DO_NOT_SCHEDULE
            and each.key != UNSCHEDULABLE_TAINT.key
            and taint_owner(each.key) is not None
            and not tolerations.tolerate(each)
            for each in taints
        )

    kept: Mask = mask & nodes.taints.where(keeps)
    return kept


def rejections(result: ScheduleResult) -> tuple[Integers, Floats]:
    """By row: how many plugins keep the pod out, and how far they are from letting it in (`shortfall`), summed up.

    A cordoned node has the taint of cordoned nodes, too: that is one thing.
    """
    masks = result.rejection_masks
    count: Integers = np.zeros(len(result.nodes), dtype=np.int64)
    away: Floats = np.zeros(len(result.nodes), dtype=np.float64)
    if not isinstance(result, CycleResult):
        return count, away
    for name, mask in masks.items():
        count += mask
        rows = np.flatnonzero(mask)
        plugin = result.framework.plugins.get(name)
        if len(rows) and isinstance(plugin, FilterPlugin):
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
