"""The constraint that binds as a value: pods with equal ones share a cause and a cure, whatever they ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.queries.nodes_by_pool import pool_name, zone_of
from kubectl_sched.queries.verdict.constraint import shared_by_all
from kubectl_sched.queries.verdict.narrowing import NAMED, SELECTOR, narrowed
from kubectl_sched.queries.verdict.rejections import (
    CORDONED,
    FIT,
    NOMINATED,
    TAINTS,
    Rejection,
    counted_sets,
    rejections_of_row,
    resource_in,
)
from kubectl_sched.queries.verdict.selector_words import is_of_daemon_set, selected
from kubectl_sched.record import Record
from kubectl_sched.simulation.queue_simulation import owner_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_sched.scheduler.result import ScheduleResult

_COMMON = frozenset({FIT, TAINTS, CORDONED})
"""The plugins whose rejections are cured in the same way for pods of several workloads."""


class Binding(Record, frozen=True, kw_only=True):
    """The rejections that bind, of which nodes, and whose own they are."""

    rejections: frozenset[Rejection]
    """The plugins, with the resource or the taint where the cure depends on it."""

    nodes: frozenset[tuple[str | None, str | None]] = frozenset()
    """Pool and zone of the nodes that could otherwise take the pod; empty for all nodes, and for the pod's own."""

    of: str = ""
    """The labels that the pod selects, or its workload; empty where the cure is common to all workloads."""


def binding_constraint(result: ScheduleResult) -> tuple[Binding, tuple[str, ...]]:
    """Return what keeps a pod that passes PreFilter off the nodes that could take it, and kube-scheduler's reasons."""
    if result.pre_filter_nodes is not None and is_of_daemon_set(result.pod):
        return _of_daemon(result, result.pre_filter_nodes)
    found = narrowed(result)
    # The verdict names the rejections that all these nodes share, else those of the largest set of nodes.
    largest, rows = next(iter(counted_sets(found.rejections, found.rows).items()), ((), found.rows))
    binding = shared_by_all(result, found) or largest
    nodes: frozenset[tuple[str | None, str | None]] = frozenset()
    if len(found.rows) < len(result.nodes):
        objects = (result.nodes.node_objects[row] for row in found.rows)
        nodes = frozenset((pool_name(node), zone_of(node)) for node in objects)
    of = selected(result.pod) if found.folds_all in {SELECTOR, NAMED} else _whose(binding, result)
    reasons = _reasons(result, binding, rows[0]) if rows else ()
    return Binding(rejections=_cured_alike(binding), nodes=nodes, of=of), reasons


def _of_daemon(result: ScheduleResult, names: Iterable[str]) -> tuple[Binding, tuple[str, ...]]:
    """Return what keeps a DaemonSet's pod off its own node, which is no part of the cause."""
    row = next((result.nodes.row_of[name] for name in names if name in result.nodes.row_of), None)
    if row is None:
        return Binding(rejections=frozenset(), of=_whose((), result)), ()
    binding = rejections_of_row(result, row)
    return Binding(rejections=_cured_alike(binding), of=_whose(binding, result)), _reasons(result, binding, row)


def _cured_alike(binding: Iterable[Rejection]) -> frozenset[Rejection]:
    return frozenset(each if each.plugin in _COMMON else Rejection(each.plugin, "") for each in binding)


def _whose(binding: Sequence[Rejection], result: ScheduleResult) -> str:
    is_common = binding and all(each.plugin in _COMMON for each in binding)
    return "" if is_common else f"{result.pod.namespace}/{owner_of(result.pod) or result.pod.metadata.name}"


def _reasons(result: ScheduleResult, binding: Sequence[Rejection], row: int) -> tuple[str, ...]:
    """Return kube-scheduler's reasons for the rejections, as it has them for one node that has them all."""
    plugins = {TAINTS if each.plugin == CORDONED else each.plugin for each in binding} | {CORDONED}
    own = result.rejections(row) or ((result.verdict[row],) if result.verdict is not None else ())
    if Rejection(FIT, NOMINATED) in binding:
        return tuple(reason for status in own for reason in status.reasons)
    return tuple(
        reason
        for status in own
        for reason in status.reasons
        if (Rejection(FIT, resource_in(reason)) in binding if status.plugin == FIT else status.plugin in plugins)
    )
