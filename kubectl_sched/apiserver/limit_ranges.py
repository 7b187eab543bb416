"""LimitRanges: defaults for containers that do not say, and bounds (plugin/pkg/admission/limitranger)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from kubectl_sched.api.apimachinery.int64 import MAX_INT64
from kubectl_sched.api.apimachinery.quantity import ZERO, Quantity, of_milli_value, of_value, parse_resource_list
from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
from kubectl_sched.api.component_helpers.pod_requests import pod_limits, pod_requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kubectl_sched.api.admission import LimitRange, LimitRangeItem
    from kubectl_sched.api.containers import Container
    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.pod import Pod

    Amounts = Mapping[str, Quantity]
    Compared = tuple[Quantity, Quantity, Quantity]
    Comparison = Callable[[Quantity | None, Quantity | None, Quantity], Compared]
    """Returns request, limit and bound as they are compared, zero for one that is absent."""

_MAX_MILLI = MAX_INT64 // 1000
_CONTAINER, _POD = "Container", "Pod"


def with_limit_defaults(pod: Pod, ranges: Sequence[LimitRange]) -> Pod:
    """The pod with the default limits and requests of its namespace, one LimitRange after the other."""
    for each in ranges:
        requests: ResourceList = {}
        limits: ResourceList = {}
        for item in each.spec.limits:
            if item.type == _CONTAINER:
                requests |= item.default_request
                limits |= item.default
        if requests or limits:
            spec = structs.replace(
                pod.spec,
                containers=tuple(_filled(container, requests, limits) for container in pod.spec.containers),
                init_containers=tuple(_filled(container, requests, limits) for container in pod.spec.init_containers),
            )
            pod = structs.replace(pod, spec=spec)
    return pod


def _filled(container: Container, requests: ResourceList, limits: ResourceList) -> Container:
    stated = container.resources
    filled = structs.replace(stated, requests={**requests, **stated.requests}, limits={**limits, **stated.limits})
    return structs.replace(container, resources=filled)


def outside_limits(pod: Pod, ranges: Sequence[LimitRange], *, is_exact: bool) -> str | None:
    """Return the bounds that the pod violates, in the plugin's words; None if it keeps to all of them.

    Up to 1.37 amounts are compared in thousandths, or in units if one is too large for these; with `is_exact` as they
    are.
    """
    for each in ranges:
        problems = [problem for item in each.spec.limits for problem in _problems(pod, item, is_exact=is_exact)]
        if problems:
            distinct = list(dict.fromkeys(problems))
            return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
    return None


def _problems(pod: Pod, item: LimitRangeItem, *, is_exact: bool) -> Iterator[str]:
    compared = _exact if is_exact else _rounded
    if item.type == _CONTAINER:
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            resources = container.resources
            requests, limits = parse_resource_list(resources.requests), parse_resource_list(resources.limits)
            yield from _of(item, requests, limits, compared)
    elif item.type == _POD:
        options = PodResourcesOptions()
        yield from _of(item, pod_requests(pod, options), pod_limits(pod, options), compared)


def _exact(request: Quantity | None, limit: Quantity | None, bound: Quantity) -> Compared:
    return request or ZERO, limit or ZERO, bound


def _rounded(request: Quantity | None, limit: Quantity | None, bound: Quantity) -> Compared:
    """Round all three up to thousandths or to units (requestLimitEnforcedValues)."""
    amounts = request or ZERO, limit or ZERO, bound
    in_milli = max(amount.value() for amount in amounts) <= _MAX_MILLI
    asked, most, least = (
        of_milli_value(each.milli_value()) if in_milli else of_value(each.value()) for each in amounts
    )
    return asked, most, least


def _of(item: LimitRangeItem, requests: Amounts, limits: Amounts, compared: Comparison) -> Iterator[str]:
    for name, bound in parse_resource_list(item.min).items():
        yield from _below(item.type, name, bound, requests.get(name), limits.get(name), compared)
    for name, bound in parse_resource_list(item.max).items():
        yield from _above(item.type, name, bound, requests.get(name), limits.get(name), compared)
    for name, bound in parse_resource_list(item.max_limit_request_ratio).items():
        yield from _beyond_ratio(item.type, name, bound, requests.get(name), limits.get(name), compared)


def _below(
    kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None, compared: Comparison
) -> Iterator[str]:
    said = f"minimum {name} usage per {kind} is {bound}"
    asked, most, least = compared(request, limit, bound)
    if request is None:
        yield f"{said}.  No request is specified"
    elif asked < least:
        yield f"{said}, but request is {request}"
    elif limit is not None and most < least:
        yield f"{said}, but limit is {limit}"


def _above(
    kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None, compared: Comparison
) -> Iterator[str]:
    said = f"maximum {name} usage per {kind} is {bound}"
    asked, most, highest = compared(request, limit, bound)
    if limit is None:
        yield f"{said}.  No limit is specified"
    elif most > highest:
        yield f"{said}, but limit is {limit}"
    elif request is not None and asked > highest:
        yield f"{said}, but request is {request}"


def _beyond_ratio(
    kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None, compared: Comparison
) -> Iterator[str]:
    said = f"{name} max limit to request ratio per {kind} is {bound}"
    if request is None or request == ZERO:
        yield f"{said}, but no request is specified or request is 0"
    elif limit is None or limit == ZERO:
        yield f"{said}, but no limit is specified or limit is 0"
    else:
        asked, most, _ = compared(request, limit, bound)
        ratio = _approximate(most) / _approximate(asked)
        if compared is _exact:
            over = limit > request.scaled_by(bound)
        else:
            over = ratio * 1000 > bound.milli_value() if bound.value() <= _MAX_MILLI else ratio > bound.value()
        if over:
            yield f"{said}, but provided ratio is {ratio:f}"


def _approximate(amount: Quantity) -> float:
    return float(amount.unscaled) * 10.0**amount.scale
