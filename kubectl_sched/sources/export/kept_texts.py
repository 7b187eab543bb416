"""The texts that a snapshot keeps: sentences that Kubernetes itself is known to write, and nothing else."""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = r"[\w./-]+"
_QUANTITY: Final = r"[\w.]+"
_LIST: Final = r"[\w ./(){}\[\]:>',!=-]*"

_CONDITION: Final = re.compile(
    r"(?:kubelet is posting ready status(?:\. AppArmor enabled)?"
    r"|kubelet has (?:sufficient|insufficient|no|disk) [\w ]+"
    r"|Kubelet (?:stopped posting|never posted) node status\."
    r"|container runtime is down|PLEG is not healthy|container runtime status check may not have completed yet"
    r"|container runtime network not ready: NetworkReady=false reason:\w+"
    r"(?: message:(?:Network plugin returns error|docker: network plugin is not ready): cni (?:plugin not initialized|"
    r"config uninitialized))?"
    r"|Scheduling is blocked due to non-empty scheduling gates"
    rf"|{_NAME}: preempting to accommodate a higher priority pod|Preempted in order to admit critical pod"
    r"|Eviction API: evicting|Taint manager: deleting due to NoExecute taint"
    r"|PodGC: node no longer exists|Deleted by garbage collector"
    rf"|Node didn't have enough (?:resource|capacity): {_NAME}"
    r"(?:, requested: \d+(?:, used: \d+)?(?:, capacity: \d+)?)?)"
)

_POD: Final = re.compile(
    r"(?:Pod was rejected: )?"
    rf"(?:Node didn't have enough resource: {_NAME}(?:, requested: \d+, used: \d+, capacity: \d+)?"
    r"|Predicate \w+ failed(?:: node\(s\) [\w' /,]+)?"
    r"|The node was low on resource: [\w-]+\.(?: Threshold quantity: [\w.]+, available: [\w.]+\.)?"
    rf"(?: Container {_NAME} was using {_QUANTITY}, request is {_QUANTITY}, has larger consumption of [\w-]+\.)*"
    r"|The node had condition: \[[\w, ]+\]\."
    rf"|Allocate failed due to requested number of devices unavailable for {_NAME}\. Requested: \d+, Available: \d+"
    r"|Pod was active on the node longer than the specified deadline"
    r"|Pod was terminated in response to imminent node shutdown\.|Preempted in order to admit critical pod"
    r"|Node is shutting down[\w ,]*)"
)

_EVENTS: Final = {
    "EvictionByEvictionAPI": re.compile("Evicted by Eviction API"),
    "FailedBinding": re.compile(
        "no persistent volumes available for this claim and no storage class is set|volume is already bound"
    ),
    "FailedCreate": re.compile(
        rf'Error creating: pods "{_NAME}" is forbidden: '
        rf"(?:exceeded quota: {_NAME}, requested: {_LIST}, used: {_LIST}, limited: {_LIST}"
        rf'|error looking up service account {_NAME}: serviceaccount "{_NAME}" not found'
        rf"|no PriorityClass with name {_NAME} was found"
        rf'|violates PodSecurity "{_NAME}")?'
    ),
    "Nominated": re.compile(rf"Pod should schedule on: {_NAME}(?:, {_NAME})*"),
    "NotTriggerScaleUp": re.compile(rf"pod didn't trigger scale-up{_LIST}"),
    "Preempted": re.compile(rf"Preempted by (?:a )?(?:pod )?{_NAME} on node {_NAME}"),
    "ResizeDeferred": _CONDITION,
    "ResizeInfeasible": _CONDITION,
    "Scheduled": re.compile(rf"Successfully assigned {_NAME} to {_NAME}"),
    "TriggeredScaleUp": re.compile(rf"pod triggered scale-up: {_LIST}"),
    "WaitForFirstConsumer": re.compile("waiting for first consumer to be created before binding"),
}

_SECRETS: Final = (
    r"password|passwd|pwd|secret|token|credential|authorization|accountkey|signature|x-amz-|"
    r"(?:api|access|private)[-_]?key|(?<![\w.-])sig(?=[\"']?\s*[:=])"
)
_SECRET: Final = re.compile(
    rf"(?i)(?<![\w.-])[\w.-]*(?:{_SECRETS})[\w.-]*[\"']?\s*[:=]\s*"
    r"(?:(?:bearer|basic)\s+)?(?:\"[^\"]*\"|'[^']*'|[^\s&,;}\"']+)|\b(?:bearer|basic)\s+[\w.~+/=-]{8,}"
)
_JWT: Final = re.compile(r"\beyJ[\w-]*(?:\.[\w-]*)*")
_USER_IN_URL: Final = re.compile(r"(?<=://)[^/\s@'\"]+@")
_HIDDEN: Final = "***"
_EVENT_LENGTH: Final = 1024
"""In characters, as much as the API server accepts."""


def condition_text(text: str) -> str:
    """Return what the kubelet or a controller of Kubernetes says of a condition, empty if it is none of their texts."""
    return _beginning(_CONDITION, text)


def pod_text(text: str) -> str:
    """Return why the kubelet ended or refused a pod."""
    return _beginning(_POD, text)


def event_text(reason: str, text: str) -> str:
    """Return the known part of the text of an event with that reason."""
    known = _EVENTS.get(reason)
    return "" if known is None else _beginning(known, without_credentials(text[:_EVENT_LENGTH]))


def without_credentials(text: str) -> str:
    """Return a text that may quote anybody without what looks like a credential in it."""
    return _USER_IN_URL.sub("", _JWT.sub(_HIDDEN, _SECRET.sub(_HIDDEN, text)))


def _beginning(known: re.Pattern[str], text: str) -> str:
    found = known.match(text)
    return "" if found is None else found[0]
