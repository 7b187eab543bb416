"""In-place resizes of pods on a node that hold more than their pods have, or more than they will have.

The scheduler counts the largest of three amounts: what a pod asks for, what its kubelet has promised, and what is in
effect (k8s.io/component-helpers/resource/helpers.go). So a resize that waits for room counts as if it had found it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.component_helpers.resource_names import PODS
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.resources.lacking_nodes import FIT, ROWS_EXAMINED
from kubectl_sched.framework.amounts import amount_texts
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.containers import Container, ResourceRequirements
    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.pod import ContainerStatus, Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "PendingResize"

DEFERRED: Final = "Deferred"
SHRINKING: Final = "Shrinking"
GROWING: Final = "Growing"

_NODES_NAMED: Final = 2
_FULL: Final = "Too many pods"
_LACKING: Final = "Insufficient "


class Resize(Record, frozen=True, kw_only=True):
    """A pod whose resize is under way, and the same pod as it would count without the part that it does not have."""

    pod: Pod
    state: str
    becomes: Pod
    """Of a resize that waits: taken back; of one that shrinks: done; of one that grows: as before."""

    frees: Mapping[str, int]
    """The amounts that count less then, by resource, in the scheduler's units."""


def resizes_on(result: ScheduleResult, row: int) -> Iterator[Resize]:
    """Yield the resizes of the pods on the node that make the scheduler count more there than the pods have."""
    for pod in result.nodes.node(row).pods:
        state = _state(pod)
        if state is None:
            continue
        becomes = _done(pod if state == SHRINKING else _taken_back(pod))
        try:
            now, then = result.nodes.resource_of(pod).requested, result.nodes.resource_of(becomes).requested
        except InvalidQuantity:
            continue
        frees = {name: amount - then.get(name, 0) for name, amount in now.items() if amount > then.get(name, 0)}
        if frees:
            yield Resize(pod=pod, state=state, becomes=becomes, frees=frees)


def shortage_on(result: ScheduleResult, row: int) -> dict[str, int]:
    """Return how much of each resource the node lacks for the pod, in the scheduler's units."""
    nodes, requests = result.nodes, result.nodes.resource_of(result.pod).requested
    missing: dict[str, int] = {}
    for reason in (reason for status in result.rejections(row) if status.plugin == FIT for reason in status.reasons):
        is_places = reason == _FULL
        resource = PODS if is_places else reason.removeprefix(_LACKING)
        used = nodes.pod_count if is_places else nodes.requested(resource)
        free = int(nodes.allocatable(resource)[row]) - int(used[row])
        lacks = (1 if is_places else requests.get(resource, 0)) - free
        if lacks > 0:
            missing[resource] = lacks
    return missing


def resizes_in_the_way(result: ScheduleResult, row: int) -> tuple[Resize, ...]:
    """Return the resizes without which the node would have room for the pod, the largest first; none if it had not."""
    missing = shortage_on(result, row)
    found = [each for each in resizes_on(result, row) if missing.keys() & each.frees.keys()]
    found.sort(key=lambda each: (each.state != SHRINKING, -sum(each.frees.get(name, 0) for name in missing)))
    chosen: list[Resize] = []
    for each in found:
        chosen.append(each)
        if all(sum(one.frees.get(name, 0) for one in chosen) >= amount for name, amount in missing.items()):
            return tuple(chosen)
    return ()


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield the resizes that fill a node on which the pod would have room without them."""
    mask = result.rejection_masks.get(FIT)
    if mask is None:
        return
    pods = result.nodes.existing_pods
    rows = sorted({*pods.rows[pods.column("resize_state", _state).where(lambda state: state is not None)].tolist()})
    told = 0
    for row in [row for row in rows if mask[row]][:ROWS_EXAMINED]:
        if len(result.rejections(row)) > 1:
            continue
        for each in resizes_in_the_way(result, row):
            resource = next(name for name in shortage_on(result, row) if name in each.frees)
            yield Finding(kind=KIND, sentence=_sentence(result, each, resource, result.nodes.names[row]))
            told += 1
        if told >= _NODES_NAMED:
            return


def _sentence(result: ScheduleResult, resize: Resize, resource: str, node: str) -> str:
    counts = int(result.nodes.resource_of(resize.pod).requested.get(resource, 0))
    frees = resize.frees[resource]
    more, whole, has = amount_texts(resource, frees, counts, counts - frees)
    start = f"{more} of the {whole} {resource} of {resize.pod.key} on {node}"
    if resize.state == DEFERRED:
        return f"{start} are a resize that waits for room (Deferred): it has {has} until then, and all of it counts"
    if resize.state == SHRINKING:
        return f"{start} are free once its resize to {has} is done"
    return f"{start} are a resize that its kubelet is carrying out now (from {has})"


def _state(pod: Pod) -> str | None:
    """Return the state of the pod's resize, None without one; one that is Infeasible does not count."""
    if pod.is_resize_deferred or pod.status.resize == DEFERRED:
        return DEFERRED
    under_way = pod.condition("PodResizeInProgress")
    if pod.status.resize == "InProgress" or (under_way is not None and under_way.status != "False"):
        return GROWING if _grows(pod) else SHRINKING
    return None


def _grows(pod: Pod) -> bool:
    """Report whether a container asks for something that is not in effect yet."""
    statuses = {each.name: each for each in (*pod.status.container_statuses, *pod.status.init_container_statuses)}
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        status = statuses.get(container.name)
        reached = _reached(status) if status is not None else None
        if reached is not None and _larger(container.resources.requests, reached):
            return True
    return False


def _larger(wanted: ResourceList, reached: ResourceList) -> bool:
    from kubectl_sched.api.apimachinery.quantity import parse_resource_list  # resizes are rare

    try:
        asked, has = parse_resource_list(wanted), parse_resource_list(reached)
    except InvalidQuantity:
        return False
    return any(name in has and amount > has[name] for name, amount in asked.items())


def _reached(status: ContainerStatus) -> ResourceList | None:
    if status.resources is not None and status.resources.requests is not None:
        return status.resources.requests
    return status.allocated_resources


def _taken_back(pod: Pod) -> Pod:
    """Return the pod asking for what it has, as the kubelet's status says."""
    statuses = {each.name: each for each in (*pod.status.container_statuses, *pod.status.init_container_statuses)}

    def as_it_is(container: Container) -> Container:
        status = statuses.get(container.name)
        if status is None:
            return container
        requests = status.allocated_resources if pod.is_resize_deferred else _reached(status)
        limits = status.resources.limits if status.resources is not None else None
        return replace(container, resources=_with(container.resources, requests, limits))

    spec = replace(
        pod.spec,
        containers=tuple(map(as_it_is, pod.spec.containers)),
        init_containers=tuple(map(as_it_is, pod.spec.init_containers)),
    )
    own, reported = spec.resources, pod.status.resources
    if own is not None and (reported is not None or pod.status.allocated_resources is not None):
        requests = pod.status.allocated_resources or (reported.requests if reported is not None else None)
        spec = replace(spec, resources=_with(own, requests, reported.limits if reported is not None else None))
    return _settled(replace(pod, spec=spec))


def _with(
    resources: ResourceRequirements, requests: ResourceList | None, limits: ResourceList | None
) -> ResourceRequirements:
    """Replace the amounts that are there, and add none."""
    return replace(
        resources,
        requests={name: (requests or {}).get(name, amount) for name, amount in resources.requests.items()},
        limits={name: (limits or {}).get(name, amount) for name, amount in resources.limits.items()},
    )


def _done(pod: Pod) -> Pod:
    """Return the pod once its kubelet has carried out what it asks for."""
    asked = {each.name: each.resources.requests for each in (*pod.spec.containers, *pod.spec.init_containers)}

    def reached(status: ContainerStatus) -> ContainerStatus:
        requests = asked.get(status.name)
        if requests is None:
            return status
        reported = None if status.resources is None else replace(status.resources, requests=requests)
        allocated = None if status.allocated_resources is None else requests
        return replace(status, resources=reported, allocated_resources=allocated)

    status = replace(
        pod.status,
        container_statuses=tuple(map(reached, pod.status.container_statuses)),
        init_container_statuses=tuple(map(reached, pod.status.init_container_statuses)),
    )
    return _settled(replace(pod, status=status))


def _settled(pod: Pod) -> Pod:
    """Return the pod without the conditions of a resize; growth that is given up is no longer in effect either."""
    conditions = tuple(each for each in pod.status.conditions if not each.type.startswith("PodResize"))
    return replace(pod, status=replace(pod.status, conditions=conditions, resize=""))
