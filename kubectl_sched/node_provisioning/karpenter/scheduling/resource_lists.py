"""Sums and comparisons of resource lists (pkg/utils/resources/resources.go)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import ZERO, Format, of_value
from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions, Resources
from kubectl_sched.api.component_helpers.pod_requests import pod_requests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubectl_sched.api.apimachinery.quantity import Quantity
    from kubectl_sched.api.pod import Pod

_COUNTED = PodResourcesOptions(use_status_resources=True)


def requests_for_pods(*pods: Pod) -> Resources:
    """Return what the pods request together, and how many they are (RequestsForPods)."""
    total = merge(*(pod_requests(pod, _COUNTED) for pod in pods))
    total["pods"] = of_value(len(pods), Format.DECIMAL_EXPONENT)
    return total


def merge(*lists: Mapping[str, Quantity]) -> Resources:
    """The sum of each resource (Merge)."""
    total: Resources = {}
    for each in lists:
        for name, quantity in each.items():
            total[name] = total.get(name, ZERO) + quantity
    return total


def subtract(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Resources:
    """Return what is left of each resource of `left` (Subtract)."""
    return {name: quantity - right[name] if name in right else quantity for name, quantity in left.items()}


def min_resources(left: Mapping[str, Quantity], right: Mapping[str, Quantity]) -> Resources:
    """The smaller of each resource that both have (MinResources)."""
    return {name: min(quantity, right[name]) for name, quantity in left.items() if name in right}


def max_resources(lists: Iterable[Mapping[str, Quantity]]) -> Resources:
    """The largest of each resource (MaxResources)."""
    result: Resources = {}
    for each in lists:
        for name, quantity in each.items():
            if name not in result or quantity > result[name]:
                result[name] = quantity
    return result


def fits(candidate: Mapping[str, Quantity], total: Mapping[str, Quantity]) -> bool:
    """Report whether the candidate is within the total; nothing is within a negative one (Fits)."""
    if any(quantity < ZERO for quantity in total.values()):
        return False
    return all(quantity <= total.get(name, ZERO) for name, quantity in candidate.items())


def resources_text(resources: Mapping[str, Quantity]) -> str:
    """A resource list as error texts have it (String)."""
    return json.dumps({name: str(resources[name]) for name in sorted(resources)}, separators=(",", ":"))
