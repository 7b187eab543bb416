"""Pods that consume a ProvisioningRequest: cluster-autoscaler makes room for the request, and none for such pods.

Facts of cluster-autoscaler's processors/provreq and provisioningrequest/conditions.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.timestamps import seconds_between, to_the_second
from kubectl_sched.api.kueue import ProvisioningRequest
from kubectl_sched.diagnostics.awaited_changes import TIME_TO_ADD
from kubectl_sched.diagnostics.gates.gate import quoted
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.discovery.cluster_autoscalers import find_autoscaler
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.verified import stated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.meta import Condition
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings
    from kubectl_sched.suggestions.suggestion import Suggestion

_ENDS: Final = {
    "Failed": "failed",
    "CapacityRevoked": "had its room taken back",
    "BookingExpired": "is no longer kept free",
}
"""The conditions after which nobody makes or keeps room, the one that tells most first."""

_ACCEPTED, _PROVISIONED, _TRUE = "Accepted", "Provisioned", "True"


def consumes_request(result: ScheduleResult, around: Surroundings | None) -> bool:
    """Report whether the pod waits for room that is made for a request alone."""
    is_waiting = result.outcome is Outcome.UNSCHEDULABLE and not result.current_node
    return is_waiting and around is not None and bool(result.pod.provisioning_request) and _are_served(around)


@lru_cache(maxsize=1)
def _are_served(around: Surroundings) -> bool:
    """Report whether cluster-autoscaler serves requests; where its flags cannot be seen, it may."""
    found = find_autoscaler(around.dump)
    return found is None or found.serves_requests


def about_request(result: ScheduleResult, around: Surroundings) -> str:
    """Return who makes room for the pod, and how far that is."""
    key, request = _key(result), _request_of(result, around)
    told = f"the pod consumes ProvisioningRequest {key}, so cluster-autoscaler makes room for that, and not for the pod"
    if request is None:
        return f"{told}; {'there is none of that name' if _is_read(around) else 'it was not read'}"
    said = [f"{each.type} {each.status}" for each in request.status.conditions]
    return f"{told}; it says {', '.join(said)}" if said else f"{told}; nobody has answered it yet"


def step_of_request(result: ScheduleResult, around: Surroundings, now: str | None) -> Suggestion:
    """Return what has to come before the pod has room: a wait while somebody acts, else what is to be done."""
    key, request = _key(result), _request_of(result, around)
    if request is None:
        return stated(_absent(key, around))
    conditions = {each.type: each for each in request.status.conditions}
    ended = next((conditions[kind] for kind in _ENDS if _is_true(conditions, kind)), None)
    if ended is not None:
        text = f"make another ProvisioningRequest: {key} {_ENDS[ended.type]} ({_said(ended)}){_owner(request)}"
        return stated(Change(kind=Kind.PROVIDE, text=text))
    if _is_true(conditions, _PROVISIONED):
        return stated(_provisioned(key, conditions[_PROVISIONED], now))
    if _is_true(conditions, _ACCEPTED):
        open_yet = conditions.get(_PROVISIONED)
        more = f"; {_said(open_yet)}" if open_yet is not None else ""
        text = f"cluster-autoscaler makes room for ProvisioningRequest {key} ({_said(conditions[_ACCEPTED])}{more})"
        return stated(Change(kind=Kind.WAIT, text=text))
    return stated(_unanswered(key, request, now))


def _absent(key: str, around: Surroundings) -> Change:
    if _is_read(around):
        text = f"create ProvisioningRequest {key}, which the pod names in an annotation, or leave out the annotation"
        return Change(kind=Kind.PROVIDE, text=text)
    text = f"see what ProvisioningRequest {key} says: `kubectl get provisioningrequests -A -o json` has it"
    return Change(kind=Kind.REPAIR, text=text)


def _provisioned(key: str, condition: Condition, now: str | None) -> Change:
    age = seconds_between(condition.last_transition_time, now)
    if age is not None and age > TIME_TO_ADD:
        text = f"see who has the room of ProvisioningRequest {key}: it was there ({_said(condition)})"
        return Change(kind=Kind.REPAIR, text=text)
    return Change(kind=Kind.WAIT, text=f"the room of ProvisioningRequest {key} is coming ({_said(condition)})")


def _unanswered(key: str, request: ProvisioningRequest, now: str | None) -> Change:
    made = request.metadata.creation_timestamp or ""
    age = seconds_between(made, now)
    since = f" (made at {to_the_second(made)})" if made else ""
    if age is None or age <= TIME_TO_ADD:
        return Change(kind=Kind.WAIT, text=f"cluster-autoscaler has to answer ProvisioningRequest {key}{since}")
    text = (
        f"see why nobody answers ProvisioningRequest {key}{since}: cluster-autoscaler needs --enable-provisioning-"
        f"requests and has to know class {request.spec.provisioning_class_name or '(none)'}"
    )
    return Change(kind=Kind.REPAIR, text=text)


def _key(result: ScheduleResult) -> str:
    return f"{result.pod.namespace}/{result.pod.provisioning_request}"


def _request_of(result: ScheduleResult, around: Surroundings) -> ProvisioningRequest | None:
    return around.workloads.get(ProvisioningRequest, result.pod.provisioning_request or "", result.pod.namespace)


def _is_read(around: Surroundings) -> bool:
    dump, kind = around.dump, ProvisioningRequest.__name__
    is_refused = any(each.kind == kind for each in dump.forbidden)
    return kind in dump.present or (dump.is_live and not is_refused)


def _is_true(conditions: Mapping[str, Condition], kind: str) -> bool:
    return kind in conditions and conditions[kind].status == _TRUE


def _said(condition: Condition) -> str:
    since = f" at {to_the_second(condition.last_transition_time)}" if condition.last_transition_time else ""
    message = f": {quoted(condition.message)}" if condition.message else ""
    return f"{condition.type} {condition.status}{since}{message}"


def _owner(request: ProvisioningRequest) -> str:
    owner = request.metadata.controller
    return f"; Kueue made it for Workload {owner.name} and may try again" if owner and owner.kind == "Workload" else ""
