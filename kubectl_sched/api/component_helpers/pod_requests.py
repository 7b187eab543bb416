"""The resources that a pod requests, and the amounts that the scheduler counts.

Answers to PodRequests and PodLimits of k8s.io/component-helpers/resource/helpers.go; PodInfo.CalculateResource of
pkg/scheduler/framework/types.go; computePodResourceRequest and calculatePodResourceRequest of
pkg/scheduler/framework/plugins/noderesources. Sums are exact and are rounded up once per pod. Containers are summed in
`container_resources`.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar

import msgspec

from kubectl_sched.api.apimachinery.quantity import ZERO, InvalidQuantity, of_milli_value, of_value, parse_resource_list
from kubectl_sched.api.component_helpers.container_resources import (
    PodResourcesOptions,
    Resources,
    add,
    aggregate_container_limits,
    aggregate_container_requests,
    effective_pod_level_limits,
    effective_pod_level_requests,
    is_resize_infeasible,
)
from kubectl_sched.api.component_helpers.resource_names import (
    CPU,
    MEMORY,
    is_counted_resource_name,
    is_supported_pod_level_resource,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.component_helpers.container_resources import RequestRules
    from kubectl_sched.api.containers import ResourceRequirements
    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.pod import Pod, ReportedResources

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_MILLI_CPU_REQUEST: Final = 100
DEFAULT_MEMORY_REQUEST: Final = 200 * 1024 * 1024
_DEFAULT_CPU: Final = (CPU, of_milli_value(DEFAULT_MILLI_CPU_REQUEST))
_DEFAULT_MEMORY: Final = (MEMORY, of_value(DEFAULT_MEMORY_REQUEST))
DEFAULT_REQUESTS: Final = (_DEFAULT_CPU, _DEFAULT_MEMORY)
"""The requests that scoring assumes for a container without requests: 100m and 200Mi."""


def scheduler_options(enabled: Callable[[str], bool], rules: RequestRules | None = None) -> PodResourcesOptions:
    """The options with which the scheduler counts a pod, given which features are on, and the rules of its minor.

    Without rules it counts as 1.36 does.
    """
    return PodResourcesOptions(
        use_status_resources=enabled("InPlacePodVerticalScaling"),
        in_place_pod_level_resources_vertical_scaling=enabled("InPlacePodLevelResourcesVerticalScaling"),
        skip_pod_level_resources=not enabled("PodLevelResources"),
        use_dra_node_allocatable_resource_claim_status=enabled("DRANodeAllocatableResources"),
        sums_status_per_pod=rules is not None and rules.status_requests_summed_per_pod,
        saturates=rules is not None and rules.amounts_saturate,
        overhead_per_container=rules is not None and rules.device_overhead_per_container,
    )


def _naming_the_pod(count: Callable[Concatenate[Pod, P], R]) -> Callable[Concatenate[Pod, P], R]:
    """Let InvalidQuantity say in which pod it was."""

    @wraps(count)
    def counted(pod: Pod, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return count(pod, *args, **kwargs)
        except InvalidQuantity as error:
            raise error.within(f"pod {pod.key}") from error

    return counted


@_naming_the_pod
def pod_requests(pod: Pod, options: PodResourcesOptions = PodResourcesOptions()) -> Resources:  # noqa: B008 - frozen
    """Return the requests of a pod, overhead included (PodRequests); raise InvalidQuantity."""
    requests = {} if options.skip_container_level_resources else aggregate_container_requests(pod, options)
    if not options.skip_pod_level_resources and is_pod_level_requests_set(pod):
        requests |= effective_pod_level_requests(pod, options)
    if not options.exclude_overhead:
        add(requests, parse_resource_list(pod.spec.overhead))
    return requests


@_naming_the_pod
def pod_limits(pod: Pod, options: PodResourcesOptions = PodResourcesOptions()) -> Resources:  # noqa: B008 - frozen
    """Return the limits of a pod; overhead raises only limits that are set (PodLimits); raise InvalidQuantity."""
    limits = aggregate_container_limits(pod, options)
    if not options.skip_pod_level_resources and is_pod_level_resources_set(pod):
        limits |= effective_pod_level_limits(pod, options)
    if not options.exclude_overhead:
        for name, quantity in parse_resource_list(pod.spec.overhead).items():
            if not limits.get(name, ZERO).is_zero:
                limits[name] += quantity
    return limits


def is_pod_level_requests_set(pod: Pod) -> bool:
    """Report whether the pod as a whole requests something (IsPodLevelRequestsSet)."""
    return pod.spec.resources is not None and any(map(is_supported_pod_level_resource, pod.spec.resources.requests))


def is_pod_level_resources_set(pod: Pod) -> bool:
    """Report whether the pod as a whole requests or is limited to something (IsPodLevelResourcesSet)."""
    resources = pod.spec.resources
    return is_pod_level_requests_set(pod) or (
        resources is not None and any(map(is_supported_pod_level_resource, resources.limits))
    )


def pod_resource(pod: Pod, options: PodResourcesOptions) -> tuple[dict[str, int], dict[str, int]]:
    """Return the resources of a pod on a node, and its cpu and memory with defaults (CalculateResource).

    In the scheduler's units: cpu in millicores, all others in their own unit. Resources that NodeInfo does not count
    are left out. Raise InvalidQuantity.
    """
    requests = pod_requests(pod, options)
    non_missing = _non_missing(requests, not options.skip_pod_level_resources and is_pod_level_requests_set(pod))
    with_defaults = requests
    if non_missing:
        defaulting = msgspec.structs.replace(options, non_missing_container_requests=non_missing)
        with_defaults = pod_requests(pod, defaulting)
    non_zero = {
        CPU: with_defaults.get(CPU, ZERO).milli_value(saturates=options.saturates),
        MEMORY: with_defaults.get(MEMORY, ZERO).value(saturates=options.saturates),
    }
    return _counted(requests, options), non_zero


def fit_request(pod: Pod, options: PodResourcesOptions) -> dict[str, int]:
    """Return the amounts that NodeResourcesFit needs for a pod without a node, whose status says nothing.

    In the scheduler's units (computePodResourceRequest).
    """
    spec_alone = PodResourcesOptions(skip_pod_level_resources=options.skip_pod_level_resources)
    requests = pod_requests(pod, spec_alone)
    return {name: max(amount, 0) for name, amount in _counted(requests, options).items()}


def scoring_request(pod: Pod, options: PodResourcesOptions, *, use_requested: bool) -> dict[str, int]:
    """Return the requests that the scorers of node resources count for a pod (calculatePodResourceRequest).

    Without `use_requested`, containers that do not say count with DEFAULT_REQUESTS. Holds every resource by name.
    """
    scoring = msgspec.structs.replace(
        options,
        non_missing_container_requests=() if use_requested else DEFAULT_REQUESTS,
        use_dra_node_allocatable_resource_claim_status=False,
    )
    requests = pod_requests(pod, scoring)
    return {
        name: in_scheduler_units(name, quantity, saturates=options.saturates) for name, quantity in requests.items()
    }


def in_scheduler_units(name: str, quantity: Quantity, *, saturates: bool = False) -> int:
    """Millicores of cpu, whole units of anything else."""
    return quantity.milli_value(saturates=saturates) if name == CPU else quantity.value(saturates=saturates)


def request_key(pod: Pod) -> Hashable:
    """Equal keys mean equal requests, whatever the options. Made in microseconds, for pods by the hundred thousand."""
    spec, status = pod.spec, pod.status
    containers: tuple[Hashable, ...]
    if len(spec.containers) == 1 and (requests := spec.containers[0].resources.requests):
        containers = (*requests, *requests.values())
    else:
        containers = tuple([tuple(container.resources.requests.items()) for container in spec.containers])
    claims = status.node_allocatable_resource_claim_statuses
    differs = _status_differs(pod)
    if not (differs or spec.init_containers or spec.overhead or spec.resources is not None or claims):
        return containers
    return (
        containers,
        tuple([(init.restart_policy, *init.resources.requests.items()) for init in spec.init_containers]),
        tuple(spec.overhead.items()),
        _requests_key(spec.resources),
        _status_key(pod) if differs else (),
        (str(claims), _names(pod)) if claims else (),
    )


def _status_differs(pod: Pod) -> bool:
    """Report whether the status says something else than the spec, as it does only around a resize.

    Where it says the same of all containers, it does not matter whether a resize is infeasible.
    """
    spec, status = pod.spec, pod.status
    if status.resources is not None or status.allocated_resources is not None:
        return True
    told = [
        each
        for each in status.container_statuses + status.init_container_statuses
        if each.resources is not None or each.allocated_resources is not None
    ]
    if not told:
        return is_resize_infeasible(pod)
    asked = {each.name: each.resources.requests for each in spec.containers + spec.init_containers}
    for each in told:
        requests = asked.pop(each.name, None)
        if each.resources is None or each.resources.requests != requests or each.allocated_resources != requests:
            return True
    return bool(asked) and is_resize_infeasible(pod)


def _status_key(pod: Pod) -> Hashable:
    """The part of the status that may change what is requested, and which container each of it is about."""
    status = pod.status
    return (
        tuple(
            [
                (each.name, _requests_key(each.resources), _list_key(each.allocated_resources))
                for each in (*status.container_statuses, *status.init_container_statuses)
            ]
        ),
        _names(pod),
        _requests_key(status.resources),
        _list_key(status.allocated_resources),
        is_resize_infeasible(pod),
    )


def _names(pod: Pod) -> tuple[str, ...]:
    return tuple([container.name for container in (*pod.spec.containers, *pod.spec.init_containers)])


def _requests_key(resources: ResourceRequirements | ReportedResources | None) -> Hashable:
    return None if resources is None else (_list_key(resources.requests),)


def _list_key(resources: ResourceList | None) -> Hashable:
    return None if resources is None else tuple(resources.items())


def _counted(requests: Resources, options: PodResourcesOptions) -> dict[str, int]:
    """The resources that NodeInfo keeps, in the scheduler's units (Resource.Add)."""
    return {
        name: in_scheduler_units(name, quantity, saturates=options.saturates)
        for name, quantity in requests.items()
        if is_counted_resource_name(name)
    }


def _non_missing(requests: Resources, pod_level: bool) -> tuple[tuple[str, Quantity], ...]:
    """Return the requests assumed for containers without requests (getNonMissingContainerRequests)."""
    return tuple(default for default in DEFAULT_REQUESTS if not pod_level or default[0] not in requests)
