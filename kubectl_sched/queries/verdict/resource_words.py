"""Clauses about nodes that lack a resource, with its amounts."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from kubectl_sched.api.apimachinery.quantity import parse_resource_list
from kubectl_sched.framework.clauses import pods
from kubectl_sched.framework.confusable_texts import nearest
from kubectl_sched.queries.verdict.wording import LONGEST_NAME, amounts, node_name, noun, typed
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Integers

_WHOLE_CPUS_MEANT_AS_MILLICORES: Final = 100


class ResourceWords(Record, frozen=True, kw_only=True):
    """Clauses about some nodes that lack one resource."""

    lack: str
    """About several nodes: `lack cpu`."""

    detail: str
    """`asks for 12, the best has 3.16 of 15.89 free`."""

    none_has: str
    """Behind `no node`: `has 12 cpu free; the best has 3.16 of 15.89`."""

    one_has: str
    """About a single node: `has 0.26 of 15.89 cpu free; it asks for 0.5`."""

    sums: str
    """About a group of nodes: `60 of 360 GPUs free, at most 4 on one node`."""


def wanted_of(result: ScheduleResult, resource: str) -> int:
    """Return how much the pod asks for, in the scheduler's unit."""
    return 1 if resource == "pods" else int(result.nodes.resource_of(result.pod).requested.get(resource, 0))


def free_of(result: ScheduleResult, resource: str) -> Integers:
    """int[n]: what each node has left of it."""
    nodes = result.nodes
    used = nodes.pod_count if resource == "pods" else nodes.requested(resource)
    free: Integers = np.maximum(nodes.allocatable(resource) - used, 0)
    return free


def of_resource(result: ScheduleResult, resource: str, rows: Sequence[int]) -> ResourceWords:
    """Return the clauses about rows that lack the resource; a cordoned node is not called the best."""
    if resource == "pods":
        most = int(result.nodes.allocatable("pods")[list(rows)].max())
        full = f"as many pods as it takes ({most})"
        return ResourceWords(
            lack="take no more pods",
            detail=f"at most {pods(most)} on one",
            none_has="takes one more pod",
            one_has=f"has {full}",
            sums=f"full: at most {pods(most)} on one node",
        )
    nodes = result.nodes
    uncordoned = [row for row in rows if not nodes.unschedulable[row]] or list(rows)
    free, capacity = free_of(result, resource), nodes.allocatable(resource)
    best = max(uncordoned, key=lambda row: (int(free[row]), int(capacity[row])))
    wanted = wanted_of(result, resource)
    asked = typed(result.pod, resource, wanted)
    has, of = amounts(resource, int(free[best]), int(capacity[best]))
    what = noun(resource, wanted)
    total, whole = amounts(resource, int(free[list(rows)].sum()), int(capacity[list(rows)].sum()))
    at_most = f", at most {amounts(resource, int(free[best]))[0]} on one node" if len(rows) > 1 else ""
    return ResourceWords(
        lack=f"lack {noun(resource)}",
        detail=f"asks for {asked}, the best has {has} of {of} free",
        none_has=f"has {asked} {what} free; the best has {has} of {of}",
        one_has=f"has {of if wanted > capacity[best] else f'{has} of {of}'} {noun(resource)} "
        f"{'in all' if wanted > capacity[best] else 'free'}; it asks for {asked}",
        sums=f"{total} of {whole} {noun(resource)} free{at_most}",
    )


def missing_amount(result: ScheduleResult, resource: str, row: int) -> str:
    """Return what one node lacks: `4 GPUs`, `1.5 GiB memory`, `a place for one more pod`."""
    if resource == "pods":
        return "a place for one more pod"
    missing = wanted_of(result, resource) - int(free_of(result, resource)[row])
    return f"{amounts(resource, missing)[0]} {noun(resource, missing)}"


def too_small(result: ScheduleResult, rows: Sequence[int], *, is_whole_cluster: bool) -> str:
    """Return the verdict on a pod larger than each of these nodes, by the resource that most of them lack."""
    if together := _wanted_together(result, rows):
        return f"asks for {together}; no node{'' if is_whole_cluster else ' it may use'} has as much of both"
    resource = resource_too_large(result, rows)
    wanted = wanted_of(result, resource)
    asked = typed(result.pod, resource, wanted)
    where = "the largest node" if is_whole_cluster else "the largest node it may use"
    if len(rows) == 1:
        name = node_name(result.nodes.names[rows[0]], result.nodes)
        only = f"the only node{'' if is_whole_cluster else ' it may use'}"
        where = only if result.nodes.unschedulable[rows[0]] or len(name) > LONGEST_NAME else f"{name}, {only},"
    largest = _largest(result, resource, rows)
    return f"asks for {asked} {noun(resource, wanted)}{meant(asked, resource)}; {where} has {largest}"


def size_of_largest(result: ScheduleResult, rows: Sequence[int]) -> str:
    """Return what the largest of some nodes has, each of which is too small: `too small: at most 16 GiB memory`."""
    if together := _wanted_together(result, rows):
        return f"too small: none has {together}"
    resource = resource_too_large(result, rows)
    return f"too small: at most {_largest(result, resource, rows)} {noun(resource)}"


def resource_too_large(result: ScheduleResult, rows: Sequence[int]) -> str:
    """Return the resource of which most of the nodes have too little in all; of several the one most asked for."""

    def lacking(resource: str) -> tuple[int, float]:
        capacity, wanted = result.nodes.allocatable(resource)[list(rows)], wanted_of(result, resource)
        return int((capacity < wanted).sum()), wanted / max(int(capacity.max()), 1)

    requested = result.nodes.resource_of(result.pod).requested
    return max((name for name, amount in requested.items() if amount), key=lacking)


def _wanted_together(result: ScheduleResult, rows: Sequence[int]) -> str:
    """Return `8 cpu and 16Gi memory` where each is on some of the nodes, but on none both; else nothing."""
    requested = result.nodes.resource_of(result.pod).requested
    lacking = {name: result.nodes.allocatable(name)[list(rows)] < wanted for name, wanted in requested.items()}
    if any(lacks.all() for lacks in lacking.values()):
        return ""
    most = sorted((name for name, lacks in lacking.items() if lacks.any()), key=lambda name: -int(lacking[name].sum()))
    either = [(one, other) for one, other in combinations(most, 2) if (lacking[one] | lacking[other]).all()]
    pair: tuple[str, ...] = either[0] if either else ()
    return " and ".join(f"{typed(result.pod, name, requested[name])} {noun(name, requested[name])}" for name in pair)


def _largest(result: ScheduleResult, resource: str, rows: Sequence[int]) -> str:
    return amounts(resource, int(result.nodes.allocatable(resource)[list(rows)].max()))[0]


def meant(asked: str, resource: str) -> str:
    """Return ` (500m meant?)` for an amount whose unit is plainly mistyped, else nothing."""
    if resource == "cpu" and asked.isdigit() and int(asked) >= _WHOLE_CPUS_MEANT_AS_MILLICORES:
        return f" ({asked}m meant?)"
    return ""


def missing_resource(result: ScheduleResult, rows: Sequence[int]) -> str:
    """Return `no GPUs`: the first resource that none of these nodes has."""
    return f"no {noun(resource_absent_from(result, rows))}"


def resource_absent_from(result: ScheduleResult, rows: Sequence[int]) -> str:
    """Return the first resource by name that the pod asks for and that none of these nodes has."""
    requested = sorted(name for name, amount in result.nodes.resource_of(result.pod).requested.items() if amount)
    return next((name for name in requested if not result.nodes.allocatable(name)[list(rows)].any()), requested[-1])


def absent(result: ScheduleResult, rows: Sequence[int]) -> str:
    """Return the verdict where no node has a resource: a near name, or the device plugin that should report it."""
    nodes, resource = result.nodes, resource_absent_from(result, rows)
    for row in rows:
        capacity = parse_resource_list(nodes.node_objects[row].status.capacity).get(resource)
        if capacity is not None and capacity.value() > 0:
            name = node_name(nodes.names[row], nodes)
            cure = "restart its kubelet" if resource.startswith("hugepages-") else "look at its device plugin"
            return f"{name} has {capacity} {noun(resource)}, none allocatable: {cure}"
    near = nearest(resource, frozenset(nodes.whole.table.allocatable))
    if near is not None:
        return f"no node has {resource}; there is {near}"
    if nodes.allocatable(resource).any():
        return f"no node that it may use has {resource}"
    return f"no node has {resource}: no device plugin reports it" if "/" in resource else f"no node has {resource}"
