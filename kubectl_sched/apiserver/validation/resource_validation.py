"""Validation of requests and limits: of containers, of the pod as a whole, of its overhead.

Answers to validateResourceRequirements and validatePodResources of pkg/apis/core/validation/validation.go, in the words
of 1.36. All amounts are quantities already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity, Quantity, parse_quantity
from kubectl_sched.api.apimachinery.validation import (
    dns_label_errors,
    invalid,
    label_key_errors,
    not_supported,
    quoted,
    text_problems,
)
from kubectl_sched.api.component_helpers.container_resources import (
    PodResourcesOptions,
    aggregate_container_limits,
    aggregate_container_requests,
)
from kubectl_sched.api.component_helpers.resource_names import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    is_extended_resource_name,
    is_huge_page_resource_name,
    is_supported_pod_level_resource,
)
from kubectl_sched.api.containers import ResourceRequirements

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from kubectl_sched.api.containers import ResourceClaimReference
    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.pod import Pod

    NameProblems = Callable[[str, str], Iterator[str]]

_OF_CONTAINERS: Final = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE})
_OF_PODS: Final = (CPU, "hugepages-", MEMORY)
_OF_QUOTAS: Final = frozenset(
    {
        *(f"{kind}.{name}" for kind in ("requests", "limits") for name in _OF_CONTAINERS),
        *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
        *("persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers"),
    }
)
_NATIVE: Final = "kubernetes.io/"


def resource_problems(pod: Pod) -> Iterator[str]:
    """Yield the errors of all requests, limits and claims of a pod."""
    yield from pod_resource_problems(pod)
    claims = [claim.name for claim in pod.spec.resource_claims]
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        yield from container_resource_problems(container.resources, f"{container.name}.resources", claims)


def container_resource_problems(
    resources: ResourceRequirements, path: str, pod_claims: Collection[str]
) -> Iterator[str]:
    """Yield the errors of a container's requests, limits and claims; `pod_claims` names the pod's claims."""
    yield from _requirements(resources, path, _container_name)
    yield from _claims(resources.claims, f"{path}.claims", pod_claims)


def overhead_problems(overhead: ResourceList, path: str) -> Iterator[str]:
    """Yield the errors of a pod's overhead, which is judged as limits."""
    return _requirements(ResourceRequirements(limits=overhead), path, _container_name)


def pod_resource_problems(pod: Pod) -> Iterator[str]:
    """Yield the errors of the pod-level requests and limits."""
    resources, path = pod.spec.resources, "spec.resources"
    if resources is None:
        return
    if pod.spec.os is not None and pod.spec.os.name == "windows":
        yield f"{path}: Forbidden: may not be set for a windows pod"
        return
    if resources.claims:
        yield f"{path}.claims: Forbidden: claims may not be set for Resources at pod-level"
    yield from _requirements(resources, path, _pod_name)
    yield from _claims(resources.claims, f"{path}.claims", [claim.name for claim in pod.spec.resource_claims])
    yield from _less_than_containers(pod, resources, path)


def _less_than_containers(pod: Pod, resources: ResourceRequirements, path: str) -> Iterator[str]:
    options = PodResourcesOptions()
    for name, wanted in sorted(aggregate_container_requests(pod, options).items()):
        stated = _amount(resources.requests, name)
        if stated is not None and wanted > stated:
            said = f"must be greater than or equal to aggregate container requests of {wanted}"
            yield invalid(f"{path}.requests[{name}]", str(stated), said)
    for name, allowed in sorted(aggregate_container_limits(pod, options).items()):
        stated = _amount(resources.limits, name) if is_huge_page_resource_name(name) else None
        if stated is not None and allowed > stated:
            said = f"must be greater than or equal to aggregate container limits of {allowed}"
            yield invalid(f"{path}.limits[{name}]", str(stated), said)
    for index, container in enumerate(pod.spec.containers):
        for name in container.resources.limits:
            limit, most = _amount(container.resources.limits, name), _amount(resources.limits, name)
            if limit is not None and most is not None and limit > most:
                said = f"must be less than or equal to pod limits of {most}"
                yield invalid(f"{path}.containers[{index}][{name}].limits", str(limit), said)


def _requirements(resources: ResourceRequirements, path: str, names: NameProblems) -> Iterator[str]:
    limits, requests = resources.limits, resources.requests
    for field, amounts in (("limits", limits), ("requests", requests)):
        for name in amounts:
            where = f"{path}.{field}[{name}]"
            yield from names(name, where)
            yield from _value(name, parse_quantity(amounts[name]), where)
            if field == "requests":
                yield from _beside_limit(name, parse_quantity(amounts[name]), _amount(limits, name), path)
    asked = {*limits, *requests}
    if any(map(is_huge_page_resource_name, asked)) and not asked & {CPU, MEMORY}:
        yield f"{path}: Forbidden: HugePages require cpu or memory"


def _value(name: str, quantity: Quantity, path: str) -> Iterator[str]:
    if quantity.unscaled < 0:
        yield invalid(path, str(quantity), "must be greater than or equal to 0")
    if is_extended_resource_name(name) and quantity.milli_value() % 1000:
        yield invalid(path, str(quantity), "must be an integer")
    if is_huge_page_resource_name(name) and not _is_divisible(name, quantity):
        yield invalid(path, str(quantity), f"{quantity} is not positive integer multiple of {name}")


def _is_divisible(name: str, quantity: Quantity) -> bool:
    """Report whether it is a whole number of pages."""
    try:
        page = parse_quantity(name.removeprefix("hugepages-"))
    except InvalidQuantity:
        return False
    return page.unscaled > 0 and page.milli_value() % 1000 == 0 and quantity.value() % page.value() == 0


def _beside_limit(name: str, quantity: Quantity, limit: Quantity | None, path: str) -> Iterator[str]:
    """Yield an error if a resource that cannot be overcommitted has a limit other than its request."""
    exact = not _may_be_overcommitted(name)
    if limit is None:
        if exact:
            yield f"{path}.limits: Required value: Limit must be set for non overcommitable resources"
    elif exact and quantity != limit:
        yield invalid(f"{path}.requests", str(quantity), f"must be equal to {name} limit of {limit}")
    elif quantity > limit:
        yield invalid(f"{path}.requests", str(quantity), f"must be less than or equal to {name} limit of {limit}")


def _may_be_overcommitted(name: str) -> bool:
    return ("/" not in name or _NATIVE in name) and not is_huge_page_resource_name(name)


def _amount(amounts: ResourceList, name: str) -> Quantity | None:
    return parse_quantity(amounts[name]) if name in amounts else None


def _resource_name(name: str, path: str) -> Iterator[str]:
    problems = label_key_errors(name)
    yield from (invalid(path, name, said) for said in problems)
    if not problems and "/" not in name and not _is_standard(name):
        yield invalid(path, name, "must be a standard resource type or fully qualified")


def _is_standard(name: str) -> bool:
    return (
        name in _OF_CONTAINERS
        or name in _OF_QUOTAS
        or is_huge_page_resource_name(name)
        or name.startswith("requests.hugepages-")
    )


def _container_name(name: str, path: str) -> Iterator[str]:
    yield from _resource_name(name, path)
    if "/" not in name:
        if name not in _OF_CONTAINERS and not is_huge_page_resource_name(name):
            yield invalid(path, name, "must be a standard resource for containers")
    elif _NATIVE not in name and not is_extended_resource_name(name):
        yield invalid(path, name, "doesn't follow extended resource name standard")


def _pod_name(name: str, path: str) -> Iterator[str]:
    problems = list(_resource_name(name, path))
    yield from problems
    if not problems and not is_supported_pod_level_resource(name):
        yield not_supported(path, name, _OF_PODS)


def _claims(claims: Sequence[ResourceClaimReference], path: str, known: Collection[str]) -> Iterator[str]:
    whole: set[str] = set()
    parts: set[tuple[str, str]] = set()
    for index, claim in enumerate(claims):
        where = f"{path}[{index}]"
        if not claim.name:
            yield f"{where}: Required value"
            continue
        if claim.request:
            yield from text_problems(f"{where}.request", claim.request, dns_label_errors)
        if claim.name in whole or (not claim.request and any(name == claim.name for name, _ in parts)):
            yield f"{where}: Duplicate value: {quoted(claim.name)}"
        elif (claim.name, claim.request) in parts:
            yield f"{where}: Duplicate value: {quoted(f'{claim.name}/{claim.request}')}"
        if claim.request:
            parts.add((claim.name, claim.request))
        else:
            whole.add(claim.name)
        if claim.name not in known:
            there = f": {', '.join(sorted(known))}" if known else " which is empty"
            said = f"must be one of the names in pod.spec.resourceClaims{there}"
            yield f"{where}: Not found: {quoted(claim.name)}: {said}"
