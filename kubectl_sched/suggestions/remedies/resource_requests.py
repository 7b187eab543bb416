"""Room for a pod on a node that has too little left: requests that fit in, or pods that go."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.apimachinery.quantity import milli_value, value
from kubectl_sched.api.component_helpers.pod_qos import pod_qos
from kubectl_sched.api.component_helpers.resource_names import PODS, is_extended_resource_name
from kubectl_sched.diagnostics.findings.resources.pending_resizes import SHRINKING, resizes_in_the_way, shortage_on
from kubectl_sched.framework.amounts import amount_text, amount_texts, is_bytes
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.lazy_pattern import pattern
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.node_evictions import eviction, making_room, may_be_freed, why_nobody_goes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kubectl_sched.api.containers import Container, ResourceRequirements
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.diagnostics.findings.resources.pending_resizes import Resize
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

_MEBIBYTE = 2**20
_MAIN, _INIT = "containers", "init_containers"
"""Fields of a pod's spec that have containers."""

_LEAST_LEFT = 0.5
"""A request that is cut by more is another request: the pod needs a larger machine instead."""

_LARGEST_MACHINE_CPU = 100
"""Whole cpus from which on a round number is more likely to be millicores."""

_LARGEST_MACHINE_BYTES = 128 << 30
_SMALLEST_BYTES = 1 << 20
_NUMBER = pattern(r"([1-9][0-9]*)([KMGTPE]i?|k)?")
_SMALLER = {"Ti": "Gi", "Gi": "Mi", "Mi": "Ki", "T": "G", "G": "M", "M": "k"}

_WHEN_BUSY = {
    "cpu": ", and is slower when its node is busy",
    "memory": ", and is evicted or killed sooner when its node runs short",
    "ephemeral-storage": ", and is evicted sooner when its node runs short",
}


def fit_in(result: ScheduleResult, row: int) -> Iterator[Way]:
    """Request less of every resource that is short on the row's node, or free as much there."""
    missing = shortage_on(result, row)
    if not missing:
        return
    capacity = {resource: int(result.nodes.allocatable(resource)[row]) for resource in missing}
    for lower in (partial(_in_its_unit, result), partial(_less, result.pod)):
        less = [lower(resource, amount) for resource, amount in missing.items()]
        lowered = tuple(change for change in less if change is not None)
        if len(lowered) == len(less):
            yield lowered
    if missing.keys() == {PODS} and capacity[PODS] > 0:
        from kubectl_sched.suggestions.remedies.max_pods import with_more_pods  # most nodes lack something else

        yield (with_more_pods(result, row, missing[PODS]),)
    requests = result.nodes.resource_of(result.pod).requested
    if all(requests.get(resource, 1) <= most for resource, most in capacity.items()):
        resizing = resizes_in_the_way(result, row)
        if resizing:
            yield (resized(resizing),)  # nobody else has to go then
            return
        victims = making_room(result, row, missing)
        if victims:
            yield (eviction(result, victims),)
        elif may_be_freed(result, row, missing):
            yield (_free(result, row, missing, capacity),)


def resized(resizing: Sequence[Resize]) -> Change:
    """Return the wait for resizes that shrink pods, else the change that takes back those which wait for room."""
    shrinking = [each for each in resizing if each.state == SHRINKING]
    pods = first_few([each.pod.key for each in resizing])
    if len(shrinking) == len(resizing):
        return Change(
            kind=Kind.WAIT,
            text=f"once the resize of {pods} is done, which gives back what it no longer asks for",
            resizes=tuple((each.pod, each.becomes) for each in resizing),
            caution="another pod may take the room first",
        )
    return Change(
        kind=Kind.RESIZE_BACK,
        text=f"with the resize of {pods} taken back to what it has",
        step=f"take the resize of {pods} back to what it has",
        resizes=tuple((each.pod, each.becomes) for each in resizing),
        caution="whoever asked for it, such as a VerticalPodAutoscaler, may ask again",
    )


def _free(result: ScheduleResult, row: int, missing: Mapping[str, int], capacity: Mapping[str, int]) -> Change:
    """Return the change that frees as much as is missing, by whatever means."""
    name = result.nodes.names[row]
    return Change(
        kind=Kind.FREE,
        text=f"once {' and '.join(_freed(resource, amount) for resource, amount in missing.items())} on {name}",
        step=f"free {' and '.join(_to_free(resource, amount) for resource, amount in missing.items())} on {name}",
        node_name=name,
        frees=tuple(missing.items()),
        caution=why_nobody_goes(result, row, missing),
        cost=(sum(amount / capacity[resource] for resource, amount in missing.items()),),
    )


def _to_free(resource: str, amount: int) -> str:
    if resource == PODS:
        return "one pod's place" if amount == 1 else f"the places of {amount} pods"
    return f"{_missing_text(resource, amount)} more {resource}"


def _missing_text(resource: str, amount: int) -> str:
    shown = -(-amount // _MEBIBYTE) * _MEBIBYTE if is_bytes(resource) else amount
    return amount_text(resource, shown) if is_bytes(resource) else amount_texts(resource, shown)[0]


def _freed(resource: str, amount: int) -> str:
    if resource == PODS:
        return f"{amount} {'pod is' if amount == 1 else 'pods are'} gone"
    text = _missing_text(resource, amount)
    return f"{text} more {resource} {'are' if text.isdigit() and text != '1' else 'is'} free"


def _largest(pod: Pod, resource: str) -> tuple[int, str, str]:
    """Return the pod's own request, or else that of the container that requests most: amount, whose, as written."""
    own = pod.spec.resources
    if own is not None and resource in own.requests:
        return _amount(own, resource), "the pod", str(own.requests[resource])
    kind, index = _deciding(pod, resource)
    container = _containers(pod, kind)[index]
    who = f"{'init container' if kind == _INIT else 'container'} {container.name}"
    return _amount(container.resources, resource), who, str(container.resources.requests.get(resource, 0))


def _deciding(pod: Pod, resource: str) -> tuple[str, int]:
    """Return the field and the index of the container whose request is to be lowered: an init container if it decides.

    It does where it requests more than all containers that run together after it.
    """
    together = sum(_amount(each.resources, resource) for each in pod.spec.containers)
    together += sum(_amount(each.resources, resource) for each in pod.spec.init_containers if _is_sidecar(each))
    alone = [0 if _is_sidecar(each) else _amount(each.resources, resource) for each in pod.spec.init_containers]
    if max(alone, default=0) > together:
        return _INIT, alone.index(max(alone))
    amounts = [_amount(each.resources, resource) for each in pod.spec.containers]
    return _MAIN, amounts.index(max(amounts))


def _is_sidecar(container: Container) -> bool:
    return container.restart_policy == "Always"


def _containers(pod: Pod, kind: str) -> tuple[Container, ...]:
    return pod.spec.init_containers if kind == _INIT else pod.spec.containers


def _in_its_unit(result: ScheduleResult, resource: str, missing: int) -> Change | None:
    """Return the request in the unit that was probably meant, where it is plainly mistyped: 500 cpu for 500m."""
    if resource == PODS or not result.pod.spec.containers:
        return None
    amount, who, written = _largest(result.pod, resource)
    meant = _meant_unit(resource, written)
    if meant is None or amount <= result.nodes.allocatable(resource).max():
        return None
    measure = milli_value if resource == "cpu" else value
    if amount - measure(meant) < missing:
        return None
    return Change(
        kind=Kind.CORRECT,
        text=f"if {who} asked for {meant} {resource} instead of {written}",
        step=f"ask for {meant} {resource} instead of {written} in {who}",
        pod=lambda pod: _requesting(pod, resource, meant),
    )


def _less(pod: Pod, resource: str, missing: int) -> Change | None:
    """Return the change that asks for less in the container that requests the most, or in the pod's requests."""
    if resource == PODS or not pod.spec.containers:
        return None
    amount, who, written = _largest(pod, resource)
    left = _rounded(resource, amount - missing)
    if left < amount * _LEAST_LEFT or left <= 0:
        return None
    text = amount_text(resource, left)
    now, then = amount_texts(resource, amount, left)
    if is_bytes(resource) and not written.isdecimal():
        now = written
    caution = _with_less(resource, then)
    if pod_qos(pod) == "Guaranteed" and pod_qos(_requesting(pod, resource, text)) != "Guaranteed":
        caution += "; it is no longer Guaranteed, as its limits stay"
    return Change(
        kind=Kind.REQUEST_LESS,
        text=f"if {who} asked for {then} {resource} instead of {now}",
        step=f"ask for {then} {resource} instead of {now} in {who}",
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
    kind, index = _deciding(pod, resource)
    there = _containers(pod, kind)
    changed = replace(there[index], resources=_lowered(there[index].resources, resource, amount))
    return replace(pod, spec=replace(spec, **{kind: (*there[:index], changed, *there[index + 1 :])}))


def _lowered(resources: ResourceRequirements, resource: str, amount: str) -> ResourceRequirements:
    limits = resources.limits
    if is_extended_resource_name(resource) or resource.startswith("hugepages-"):
        limits = {**limits, resource: amount}  # the API server wants them equal
    return replace(resources, requests={**resources.requests, resource: amount}, limits=limits)


def _meant_unit(resource: str, written: str) -> str | None:
    """Return the quantity that was probably meant; None if the one that was written is plausible."""
    found = _NUMBER.fullmatch(written)
    if found is None:
        return None
    number, suffix = found.groups()
    if resource == "cpu":
        is_millicores = suffix is None and int(number) >= _LARGEST_MACHINE_CPU and int(number) % 10 == 0
        return f"{number}m" if is_millicores else None
    if resource not in {"memory", "ephemeral-storage"} or suffix not in _SMALLER:
        return None
    if int(number) < 1000 or value(written) <= _LARGEST_MACHINE_BYTES:
        return None
    meant = f"{number}{_SMALLER[suffix]}"
    return meant if value(meant) >= _SMALLEST_BYTES else None
