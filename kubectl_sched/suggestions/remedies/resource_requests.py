"""Room for a pod on a node that has too little left: requests that fit in, or pods that go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import milli_value, value
from kubectl_sched.api.component_helpers.pod_qos import pod_qos
from kubectl_sched.api.component_helpers.resource_names import PODS, is_extended_resource_name
from kubectl_sched.framework.amounts import amount_text, amount_texts, is_bytes
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.node_evictions import eviction, making_room

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubectl_sched.api.containers import Container, ResourceRequirements
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

_MEBIBYTE = 2**20
_NOBODY_NAMED = (
    "which pods have to go is left to you: those there have a higher priority, would come back at once, or are too many"
)
_WHEN_BUSY = {
    "cpu": ", and is slower when its node is busy",
    "memory": ", and is evicted or killed sooner when its node runs short",
    "ephemeral-storage": ", and is evicted sooner when its node runs short",
}


def fit_in(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Request less of every resource that is short on the row's node, or free as much there."""
    facts = [dict(fact.facts) for fact in result.filter_evidence("NodeResourcesFit", row)]
    capacity = {str(fact["resource"]): _number(fact["capacity"]) for fact in facts if "capacity" in fact}
    missing = {
        str(fact["resource"]): _number(fact["wanted"]) - _number(fact["free"]) for fact in facts if "free" in fact
    }
    if not missing or len(missing) < len(facts):
        return
    less = [_less(result.pod, resource, amount) for resource, amount in missing.items()]
    lowered = tuple(change for change in less if change is not None)
    if len(lowered) == len(less):
        yield lowered
    if all(_number(fact["wanted"]) <= capacity[str(fact["resource"])] for fact in facts):
        victims = making_room(result, row, missing)
        yield (eviction(result, victims) if victims else _free(result, row, missing, capacity),)


def _number(fact: object) -> int:
    assert isinstance(fact, int)  # noqa: S101 - amounts are in the scheduler's whole units
    return fact


def _free(result: ScheduleResult, row: int, missing: Mapping[str, int], capacity: Mapping[str, int]) -> Change:
    """As much free as is missing, by whatever means."""
    name = result.nodes.names[row]
    return Change(
        kind=Kind.FREE,
        text=f"once {' and '.join(_freed(resource, amount) for resource, amount in missing.items())} on {name}",
        node_name=name,
        frees=tuple(missing.items()),
        caution=_NOBODY_NAMED,
        cost=(sum(amount / capacity[resource] for resource, amount in missing.items()),),
    )


def _freed(resource: str, amount: int) -> str:
    if resource == PODS:
        return f"{amount} {'pod is' if amount == 1 else 'pods are'} gone"
    shown = -(-amount // _MEBIBYTE) * _MEBIBYTE if is_bytes(resource) else amount
    text = amount_text(resource, shown) if is_bytes(resource) else amount_texts(resource, shown)[0]
    return f"{text} more {resource} {'are' if text.isdigit() and text != '1' else 'is'} free"


def _less(pod: Pod, resource: str, missing: int) -> Change | None:
    """As much less in the one container that requests the most, or in the pod's own requests."""
    own = pod.spec.resources
    if resource == PODS or not pod.spec.containers:
        return None
    if own is not None and resource in own.requests:
        amount, who = _amount(own, resource), "the pod"
    else:
        asking = [(_amount(each.resources, resource), each) for each in pod.spec.containers]
        amount, container = max(asking, key=lambda each: each[0])
        who = f"container {container.name}"
    left = _rounded(resource, amount - missing)
    if left <= 0:
        return None
    text = amount_text(resource, left)
    now, then = amount_texts(resource, amount, left)
    caution = _with_less(resource, then)
    if pod_qos(pod) == "Guaranteed" and pod_qos(_requesting(pod, resource, text)) != "Guaranteed":
        caution += "; it is no longer Guaranteed, as its limits stay"
    return Change(
        kind=Kind.REQUEST_LESS,
        text=f"if {who} asked for {then} {resource} instead of {now}",
        pod=lambda pod: _requesting(pod, resource, text),
        caution=caution,
        cost=(missing / amount,),
    )


def _with_less(resource: str, amount: str) -> str:
    if is_extended_resource_name(resource) or resource.startswith("hugepages-"):
        return f"it then has no more than {amount} {resource}"
    return f"it is then promised less {resource}{_WHEN_BUSY.get(resource, '')}"


def _amount(resources: ResourceRequirements, resource: str) -> int:
    measure = milli_value if resource == "cpu" else value
    return measure(resources.requests[resource]) if resource in resources.requests else 0


def _rounded(resource: str, amount: int) -> int:
    """Whole mebibytes, where there is at least one."""
    return amount // _MEBIBYTE * _MEBIBYTE if is_bytes(resource) and amount >= _MEBIBYTE else amount


def _requesting(pod: Pod, resource: str, amount: str) -> Pod:
    """The pod with that request where the largest is now."""
    spec = pod.spec
    if spec.resources is not None and resource in spec.resources.requests:
        return replace(pod, spec=replace(spec, resources=_lowered(spec.resources, resource, amount)))
    index = max(range(len(spec.containers)), key=lambda at: _amount(spec.containers[at].resources, resource))
    container: Container = spec.containers[index]
    changed = replace(container, resources=_lowered(container.resources, resource, amount))
    containers = (*spec.containers[:index], changed, *spec.containers[index + 1 :])
    return replace(pod, spec=replace(spec, containers=containers))


def _lowered(resources: ResourceRequirements, resource: str, amount: str) -> ResourceRequirements:
    limits = resources.limits
    if is_extended_resource_name(resource) or resource.startswith("hugepages-"):
        limits = {**limits, resource: amount}  # the API server wants them equal
    return replace(resources, requests={**resources.requests, resource: amount}, limits=limits)
