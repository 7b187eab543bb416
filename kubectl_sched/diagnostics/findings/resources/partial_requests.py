"""Requests that only a part of a pod causes: an init container, a sidecar, the overhead, or the pod as a whole.

A pod counts with its peak from its creation to its end: the largest init container, beside the sidecars before it, or
all containers and sidecars together, then the overhead (k8s.io/component-helpers/resource/helpers.go).
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, parse_quantity
from kubectl_sched.api.component_helpers.pod_requests import in_scheduler_units
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.resources.lacking_nodes import FIT, ROWS_EXAMINED
from kubectl_sched.diagnostics.findings.resources.pending_resizes import shortage_on
from kubectl_sched.framework.amounts import amount_texts, request_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "PartialRequest"

_ALWAYS: Final = "Always"


class _Part(NamedTuple):
    """A part of the pod, and the pod without it."""

    words: str
    without: Pod


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield the part of the pod, else those of a node's pods, without which there would be room."""
    mask = result.rejection_masks.get(FIT)
    if mask is None or not (_has_parts(result.pod) or _past_their_init_requests(result).any()):
        return
    alone = (row for row in np.flatnonzero(mask).tolist() if len(result.rejections(row)) == 1)
    rows = list(islice(alone, ROWS_EXAMINED))
    shortages = {row: shortage_on(result, row) for row in rows}
    yield from islice(chain(_of_own_parts(result, shortages), _of_neighbours(result, shortages)), 1)


def _has_parts(pod: Pod) -> bool:
    return bool(pod.spec.init_containers or pod.spec.overhead or pod.spec.resources)


def _past_their_init_requests(result: ScheduleResult) -> Mask:
    """bool[existing pods]: those that hold requests of init containers that have ended."""
    return result.nodes.existing_pods.column("initialized_with_requests", _is_past_its_init_requests).where(bool)


def _of_own_parts(result: ScheduleResult, shortages: Mapping[int, Mapping[str, int]]) -> Iterator[Finding]:
    asked = result.nodes.resource_of(result.pod).requested
    for part in _parts(result.pod, {name for missing in shortages.values() for name in missing}):
        try:
            left = result.nodes.resource_of(part.without).requested
        except InvalidQuantity:
            continue
        for row, missing in shortages.items():
            if missing and all(asked.get(name, 0) - left.get(name, 0) >= amount for name, amount in missing.items()):
                name = max(missing, key=lambda each: asked[each] - left.get(each, 0))
                yield _own(result, part, name, left.get(name, 0), row)
                return


def _own(result: ScheduleResult, part: _Part, resource: str, left: int, row: int) -> Finding:
    asked = int(result.nodes.resource_of(result.pod).requested[resource])
    free = int(result.nodes.allocatable(resource)[row] - result.nodes.requested(resource)[row])
    whole, only, without, has = request_texts(result.pod, resource, asked, asked - left, left, free)
    node = result.nodes.names[row]
    return Finding(
        kind=KIND,
        sentence=f"Of the {whole} {resource} that it asks for, {only} are for {part.words} alone; without that it "
        f"would ask for {without}, and {node} has {has} free",
    )


def _parts(pod: Pod, resources: set[str]) -> Iterator[_Part]:
    """Yield each part of the pod that asks for one of the resources, in the order in which a person would cut it."""
    inits = pod.spec.init_containers
    own = [each for each in inits if each.restart_policy != _ALWAYS and _asks(each, resources)]
    if own:
        which = f"init container {own[0].name}" if len(own) == 1 else f"its {len(own)} init containers"
        kept = tuple(each for each in inits if each not in own)
        yield _Part(f"{which}, which ends before the others start,", _with_inits(pod, kept))
    if resources & pod.spec.overhead.keys():
        runtime = f" of RuntimeClass {pod.spec.runtime_class_name}" if pod.spec.runtime_class_name else ""
        yield _Part(f"the overhead{runtime}", replace(pod, spec=replace(pod.spec, overhead={})))
    for sidecar in (each for each in inits if each.restart_policy == _ALWAYS and _asks(each, resources)):
        kept = tuple(each for each in inits if each is not sidecar)
        yield _Part(f"sidecar {sidecar.name}", _with_inits(pod, kept))
    of_pod = pod.spec.resources
    if of_pod is not None and resources & of_pod.requests.keys():
        yield _Part("the pod as a whole (spec.resources)", replace(pod, spec=replace(pod.spec, resources=None)))


def _asks(container: Container, resources: set[str]) -> bool:
    return bool(resources & container.resources.requests.keys())


def _with_inits(pod: Pod, kept: tuple[Container, ...]) -> Pod:
    return replace(pod, spec=replace(pod.spec, init_containers=kept))


def _of_neighbours(result: ScheduleResult, shortages: Mapping[int, Mapping[str, int]]) -> Iterator[Finding]:
    """Yield what pods of a node hold for init containers that have ended, where that would be enough."""
    pods = result.nodes.existing_pods
    initialized, rows = _past_their_init_requests(result), pods.rows
    for row, missing in shortages.items():
        there = (pods.at(index) for index in np.flatnonzero(initialized & (rows == row)).tolist())
        held = [(pod, _held(result, pod)) for pod in there]
        for name, amount in missing.items():
            holding = sorted(((each.get(name, 0), pod) for pod, each in held), key=lambda one: (-one[0], one[1].key))
            total = sum(each for each, _ in holding)
            if len(missing) > 1 or total < amount:
                continue
            most, pod = holding[0]
            largest = max(pod.spec.init_containers, key=lambda each: _amount(each, name))
            many, of = amount_texts(name, total, most)
            others = f" (most, {of}, by {pod.key})" if total > most else f" by {pod.key}"
            yield Finding(
                kind=KIND,
                sentence=f"{result.nodes.names[row]} has {many} {name} held{others} for init containers that have long "
                f"ended, such as {largest.name}: kube-scheduler counts the peak of a pod as long as it lives",
            )
            return


def _is_past_its_init_requests(pod: Pod) -> bool:
    """Report whether init containers that ask for something have ended, and the pod runs on."""
    is_initialized = pod.condition("Initialized")
    return (
        pod.status.phase == "Running"
        and any(each.restart_policy != _ALWAYS and each.resources.requests for each in pod.spec.init_containers)
        and (is_initialized is None or is_initialized.status == "True")
    )


def _held(result: ScheduleResult, pod: Pod) -> dict[str, int]:
    """Return what the pod counts with beyond its containers and sidecars."""
    kept = tuple(each for each in pod.spec.init_containers if each.restart_policy == _ALWAYS)
    now, then = result.nodes.resource_of(pod).requested, result.nodes.resource_of(_with_inits(pod, kept)).requested
    return {name: amount - then.get(name, 0) for name, amount in now.items() if amount > then.get(name, 0)}


def _amount(container: Container, resource: str) -> int:
    raw = container.resources.requests.get(resource)
    try:
        return in_scheduler_units(resource, parse_quantity(raw)) if raw is not None else 0
    except InvalidQuantity:
        return 0
