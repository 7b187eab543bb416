"""The quality of service that a pod gets: Guaranteed, Burstable or BestEffort.

Answers to pkg/apis/core/v1/helper/qos/qos.go of 1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from kubectl_sched.api.apimachinery.quantity import ZERO, parse_resource_list
from kubectl_sched.api.component_helpers.container_resources import Resources, add
from kubectl_sched.api.component_helpers.resource_names import CPU, MEMORY

if TYPE_CHECKING:
    from kubectl_sched.api.core import ResourceList
    from kubectl_sched.api.pod import Pod

QOSClass: TypeAlias = Literal["Guaranteed", "Burstable", "BestEffort"]


def pod_qos(pod: Pod) -> str:
    """The class in the pod's status, else the one that its resources make (GetPodQOS); raise InvalidQuantity."""
    return pod.status.qos_class or compute_pod_qos(pod)


def compute_pod_qos(pod: Pod) -> QOSClass:
    """The class by cpu and memory alone (ComputePodQOS), of the pod as a whole if it says anything as a whole."""
    if pod.spec.resources is not None:
        parts = [pod.spec.resources]
        must_limit = bool(pod.spec.resources.limits)
    else:
        parts = [container.resources for container in (*pod.spec.containers, *pod.spec.init_containers)]
        must_limit = True
    requests: Resources = {}
    limits: Resources = {}
    all_limited = True
    for part in parts:
        add(requests, _compute_resources(part.requests))
        limited = _compute_resources(part.limits)
        add(limits, limited)
        all_limited = all_limited and (len(limited) == 2 or not must_limit)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if all_limited and requests == limits else "Burstable"


def _compute_resources(resources: ResourceList) -> Resources:
    """The cpu and memory in a list that are more than 0."""
    named = parse_resource_list({name: raw for name, raw in resources.items() if name in {CPU, MEMORY}})
    return {name: quantity for name, quantity in named.items() if quantity > ZERO}
