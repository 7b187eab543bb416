"""The resources of a pod's containers, summed: sidecars, init containers, and what an in-place resize has reached.

Answers to AggregateContainerRequests, AggregateContainerLimits and the effective pod-level resources of
k8s.io/component-helpers/resource/helpers.go. From 1.37 on status counts differently: `sums_status_per_pod`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity, parse_quantity, parse_resource_list
from kubectl_sched.api.component_helpers.resource_names import (
    is_huge_page_resource_name,
    is_supported_pod_level_resource,
)
from kubectl_sched.api.containers import Container

if TYPE_CHECKING:
    from kubectl_sched.api.pod import ContainerStatus, NodeAllocatableResourceClaimStatus, Pod

Resources: TypeAlias = dict[str, Quantity]
_OfContainer: TypeAlias = Callable[[Container], Mapping[str, Quantity]]


class RequestRules(Protocol):
    """A minor's ways to sum up requests: fields of its Release."""

    @property
    def status_requests_summed_per_pod(self) -> bool:
        """Report whether status is counted as from 1.37 on."""

    @property
    def amounts_saturate(self) -> bool:
        """Report whether amounts are held at the limit of int64."""

    @property
    def device_overhead_per_container(self) -> bool:
        """Report whether the overhead of devices counts while their container runs."""


class PodResourcesOptions(msgspec.Struct, frozen=True, kw_only=True):
    """PodResourcesOptions of upstream, and which of its two ways to count status."""

    use_status_resources: bool = False
    in_place_pod_level_resources_vertical_scaling: bool = False
    exclude_overhead: bool = False
    non_missing_container_requests: tuple[tuple[str, Quantity], ...] = ()
    """Stands in for requests that a container does not make; an explicit 0 stays."""
    skip_pod_level_resources: bool = False
    skip_container_level_resources: bool = False
    use_dra_node_allocatable_resource_claim_status: bool = False
    sums_status_per_pod: bool = False
    """From 1.37 on: sum spec, allocated and actuated resources apart, then take the largest sum."""
    saturates: bool = False
    """From 1.38 on: hold amounts beyond int64 at its limit."""
    overhead_per_container: bool = False
    """From 1.38 on: count the overhead of devices for a container while it runs, as its own requests."""


def add(total: Resources, resources: Mapping[str, Quantity]) -> None:
    """Add to a sum (addResourceList)."""
    for name, quantity in resources.items():
        total[name] = total[name] + quantity if name in total else quantity


def largest(*lists: Mapping[str, Quantity]) -> Resources:
    """The largest of each resource (max)."""
    result: Resources = {}
    for each in lists:
        _raise(result, each)
    return result


def is_resize_infeasible(pod: Pod) -> bool:
    """Report whether the kubelet has refused a resize for good (IsPodResizeInfeasible)."""
    for condition in pod.status.conditions:
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def aggregate_container_requests(pod: Pod, options: PodResourcesOptions) -> Resources:
    """Return the sum of all containers' requests (AggregateContainerRequests)."""
    if options.use_status_resources and options.sums_status_per_pod:
        return _requests_summed_per_pod(pod, options)
    effective = _effective_requests(pod) if options.use_status_resources else _spec_requests
    total = _aggregated(pod, _completed(effective, options), _overhead(pod, options))
    add(total, _claimed(pod, options))
    return total


def has_absent_requests(pod: Pod) -> bool:
    """Report whether a container lacks the list of requests that its status has (up to 1.36).

    1.33.0 to 1.33.3 write the larger amounts into the absent list (max), which Go does not survive.
    """
    if not pod.status.container_statuses and not pod.status.init_container_statuses:
        return False
    infeasible = is_resize_infeasible(pod)
    statuses = _statuses(pod)
    sidecars = (each for each in pod.spec.init_containers if _is_sidecar(each))
    for container in (*pod.spec.containers, *sidecars):
        status = statuses.get(container.name)
        if status is None or status.resources is None:
            continue
        actuated, allocated = status.resources.requests, status.allocated_resources
        if infeasible and allocated and not actuated:
            return True
        if not infeasible and (actuated or allocated) and not container.resources.requests:
            return True
    return False


def aggregate_container_limits(pod: Pod, options: PodResourcesOptions) -> Resources:
    """Return the sum of all containers' limits (AggregateContainerLimits)."""
    if options.sums_status_per_pod:
        return _limits_summed_per_pod(pod, options)
    return _aggregated(pod, _effective_limits(pod) if options.use_status_resources else _spec_limits)


def effective_pod_level_requests(pod: Pod, options: PodResourcesOptions) -> Resources:
    """The requests of the pod as a whole, which replace the sums of its containers."""
    status = pod.status.resources
    spec = parse_resource_list(pod.spec.resources.requests if pod.spec.resources else {})
    if status is None or not _scales_pod_level(options):
        return _supported(spec)
    reached = largest(
        parse_resource_list(status.requests or {}), parse_resource_list(pod.status.allocated_resources or {})
    )
    effective = reached if is_resize_infeasible(pod) else largest(spec, reached)
    return _replacing(spec, effective, options)


def effective_pod_level_limits(pod: Pod, options: PodResourcesOptions) -> Resources:
    """The limits of the pod as a whole, which replace the sums of its containers."""
    status = pod.status.resources
    spec = parse_resource_list(pod.spec.resources.limits if pod.spec.resources else {})
    if status is None or not _scales_pod_level(options):
        return _supported(spec)
    reached = parse_resource_list(status.limits or {})
    effective = reached if is_resize_infeasible(pod) else largest(spec, reached)
    if not effective and not options.sums_status_per_pod:
        return _supported(spec)  # upstream's copy of an absent list is absent, and then the spec stands
    return _replacing(spec, effective, options)


def _scales_pod_level(options: PodResourcesOptions) -> bool:
    return options.in_place_pod_level_resources_vertical_scaling and options.use_status_resources


def _supported(resources: Resources) -> Resources:
    return {name: quantity for name, quantity in resources.items() if is_supported_pod_level_resource(name)}


def _replacing(spec: Resources, effective: Resources, options: PodResourcesOptions) -> Resources:
    """Up to 1.36 only what the spec names is replaced, by 0 where nothing is in effect."""
    if options.sums_status_per_pod:
        return _supported(effective)
    return {name: effective.get(name, ZERO) for name in _supported(spec)}


def _aggregated(
    pod: Pod, requested: _OfContainer, overhead: Mapping[str, Resources] = MappingProxyType({})
) -> Resources:
    """Containers and sidecars run together; an init container runs beside the sidecars before it.

    Only what a container itself asks for can raise the peak, as the sidecars before it have raised it already.
    """

    def of_container(container: Container) -> Mapping[str, Quantity]:
        if container.name not in overhead:
            return requested(container)
        own = dict(requested(container))
        add(own, overhead[container.name])
        return own

    total: Resources = {}
    for container in pod.spec.containers:
        add(total, of_container(container))
    sidecars: Resources = {}
    peak: Resources = {}
    for container in pod.spec.init_containers:
        own = of_container(container)
        if _is_sidecar(container):
            add(total, own)
            add(sidecars, own)
            _raise(peak, {name: sidecars[name] for name in own})
        else:
            beside = {name: quantity + sidecars.get(name, ZERO) for name, quantity in own.items()}
            _raise(peak, beside)
    _raise(total, peak)
    return total


def _raise(result: Resources, resources: Mapping[str, Quantity]) -> None:
    """Keep the larger of each resource (maxResourceList)."""
    for name, quantity in resources.items():
        if name not in result or quantity > result[name]:
            result[name] = quantity


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def _spec_requests(container: Container) -> Resources:
    return parse_resource_list(container.resources.requests)


def _spec_limits(container: Container) -> Resources:
    return parse_resource_list(container.resources.limits)


def _completed(of_container: _OfContainer, options: PodResourcesOptions) -> _OfContainer:
    """Put the non-missing requests where a container makes none (applyNonMissing)."""
    if not options.non_missing_container_requests:
        return of_container
    return lambda container: {**dict(options.non_missing_container_requests), **of_container(container)}


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    """By the container's name; of several the last (up to 1.36)."""
    return {each.name: each for each in (*pod.status.container_statuses, *pod.status.init_container_statuses)}


def _first_statuses(pod: Pod) -> dict[str, ContainerStatus]:
    """By the container's name; of several statuses the first counts (findContainerStatus)."""
    told = (*pod.status.container_statuses, *pod.status.init_container_statuses)
    return {each.name: each for each in reversed(told)}


def _effective_requests(pod: Pod) -> _OfContainer:
    """The largest of spec, actuated and allocated requests, where the kubelet reports them (up to 1.36)."""
    return _with_reached(pod, _spec_requests, _reached_requests)


def _effective_limits(pod: Pod) -> _OfContainer:
    """The larger of spec and actuated limits, where the kubelet reports them (up to 1.36)."""
    return _with_reached(pod, _spec_limits, _reached_limits)


def _with_reached(
    pod: Pod, of_spec: Callable[[Container], Resources], reached: Callable[[ContainerStatus], Resources | None]
) -> _OfContainer:
    """Count the resources that a resize reached beside the spec, or instead of it if the resize is infeasible."""
    statuses = _statuses(pod)
    infeasible = is_resize_infeasible(pod)
    once = {container.name for container in pod.spec.init_containers if not _is_sidecar(container)}

    def of_container(container: Container) -> Resources:
        status = statuses.get(container.name)
        found = reached(status) if status is not None and container.name not in once else None
        if found is None:
            return of_spec(container)
        return found if infeasible else largest(of_spec(container), found)

    return of_container


def _reached_requests(status: ContainerStatus) -> Resources | None:
    if status.resources is None:
        return None
    actuated, allocated = status.resources.requests or {}, status.allocated_resources or {}
    return largest(parse_resource_list(actuated), parse_resource_list(allocated))


def _reached_limits(status: ContainerStatus) -> Resources | None:
    return None if status.resources is None else parse_resource_list(status.resources.limits or {})


def _requests_summed_per_pod(pod: Pod, options: PodResourcesOptions) -> Resources:
    """From 1.37 on: the largest of the sums of spec, allocated and actuated requests."""
    infeasible = is_resize_infeasible(pod)
    claimed = _claimed(pod, options)
    overhead = _overhead(pod, options)
    spec = _aggregated(pod, _completed(_spec_requests, options), overhead)
    add(spec, claimed)
    status = pod.status
    if (
        options.in_place_pod_level_resources_vertical_scaling
        and status.allocated_resources is not None
        and status.resources is not None
        and status.resources.requests is not None
    ):
        allocated = parse_resource_list(status.allocated_resources)
        actuated = parse_resource_list(status.resources.requests)
    else:
        reported = _completed(_reported_requests(pod, infeasible, actuated=False), options)
        allocated = _aggregated(pod, reported, overhead)
        add(allocated, claimed)
        actuated = _aggregated(pod, _completed(_reported_requests(pod, infeasible, actuated=True), options))
    return largest(actuated, allocated) if infeasible else largest(spec, actuated, allocated)


def _reported_requests(pod: Pod, infeasible: bool, *, actuated: bool) -> _OfContainer:
    """Count the resources that the kubelet reports, else the spec unless a resize of it is infeasible."""
    statuses = _first_statuses(pod)

    def of_container(container: Container) -> Resources:
        status = statuses.get(container.name)
        if actuated and status is not None and status.resources and status.resources.requests is not None:
            return parse_resource_list(status.resources.requests)
        if status is not None and status.allocated_resources is not None:
            return parse_resource_list(status.allocated_resources)
        return {} if infeasible else _spec_requests(container)

    return of_container


def _limits_summed_per_pod(pod: Pod, options: PodResourcesOptions) -> Resources:
    """From 1.37 on: the larger of the sums of spec and actuated limits."""
    spec = _aggregated(pod, _spec_limits, _overhead(pod, options))
    for name, quantity in _claimed(pod, options).items():
        if options.overhead_per_container or name in spec or is_huge_page_resource_name(name):
            add(spec, {name: quantity})
    if not options.use_status_resources:
        return spec
    infeasible = is_resize_infeasible(pod)
    status = pod.status.resources
    if options.in_place_pod_level_resources_vertical_scaling and status is not None and status.limits is not None:
        actuated = parse_resource_list(status.limits)
    else:
        actuated = _aggregated(pod, _reported_limits(pod, infeasible))
    return actuated if infeasible else largest(spec, actuated)


def _reported_limits(pod: Pod, infeasible: bool) -> _OfContainer:
    statuses = _first_statuses(pod)

    def of_container(container: Container) -> Resources:
        status = statuses.get(container.name)
        if status is not None and status.resources is not None and status.resources.limits is not None:
            return parse_resource_list(status.resources.limits)
        return {} if infeasible else _spec_limits(container)

    return of_container


def _claimed(pod: Pod, options: PodResourcesOptions) -> Resources:
    """Return the amounts that claims take from the node's own resources, if the options count them."""
    total: Resources = {}
    if options.use_dra_node_allocatable_resource_claim_status:
        for claim in pod.status.node_allocatable_resource_claim_statuses:
            if options.sums_status_per_pod:
                _add_mapped(total, claim, 0 if options.overhead_per_container else len(claim.containers))
            else:
                add(total, parse_resource_list(claim.resources))
    return total


def container_claims(pod: Pod, name: str) -> Resources:
    """Return the amounts that one container's claims take from the node's own resources, from 1.37 on.

    Answers to GetContainerDRAAllocations.
    """
    total: Resources = {}
    for claim in pod.status.node_allocatable_resource_claim_statuses:
        if name in claim.containers:
            _add_mapped(total, claim, 1)
    return total


def _overhead(pod: Pod, options: PodResourcesOptions) -> dict[str, Resources]:
    """Return the overhead of devices by container, if the options count it while the container runs."""
    by_container: dict[str, Resources] = {}
    if options.overhead_per_container and options.use_dra_node_allocatable_resource_claim_status:
        for claim in pod.status.node_allocatable_resource_claim_statuses:
            for name in claim.containers:
                own = by_container.setdefault(name, {})
                for each in claim.overhead:
                    if each.per_container is not None:
                        add(own, {each.name: parse_quantity(each.per_container)})
    return by_container


def _add_mapped(total: Resources, claim: NodeAllocatableResourceClaimStatus, containers: int) -> None:
    """Add what the claim takes for the pod, and its overhead for so many containers."""
    for mapping in claim.mapping:
        if mapping.quantity is not None:
            add(total, {mapping.name: parse_quantity(mapping.quantity)})
    for overhead in claim.overhead:
        cost = ZERO
        if overhead.per_pod is not None:
            cost += parse_quantity(overhead.per_pod)
        if overhead.per_container is not None and containers:
            cost += parse_quantity(overhead.per_container) * containers
        add(total, {overhead.name: cost})
