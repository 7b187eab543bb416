"""Events of other components about the pod and its claims, in plain words.

Autoscalers' events are told with the nodes that these would make, and refusals of a pod's own kubelet with its stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.component_helpers.volume_claims import is_fully_bound
from kubectl_sched.api.storage import PersistentVolumeClaim
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import Event
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "ComponentEvent"

_TROUBLES: Final = frozenset(
    {
        "ClaimLost",
        "ClaimMisbound",
        "FailedAttachVolume",
        "FailedCreatePodSandBox",
        "FailedMapVolume",
        "FailedMount",
        "FailedPrepareDynamicResources",
        "FailedResourceClaimCreation",
        "InsufficientCapacityError",
        "NetworkNotReady",
        "ProvisioningFailed",
        "VolumeMismatch",
    }
)
"""The reasons of events that tell of trouble, and that no plugin's verdict shows."""

_NOT_MADE: Final = "ProvisioningFailed"
_BOUND: Final = pattern(r"^the pod is bound(,? and (cannot start|waits):|, and) ")
"""Beginnings that a verdict says by itself."""

_SHOWN: Final = 2
_RUNNING: Final = "Running"


def findings(result: ScheduleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield what the newest events of trouble about a pod that does not run yet, or about its claims, mean."""
    pod = result.pod
    if pod.status.phase == _RUNNING or pod.has_ended:
        return
    told: set[str] = set()
    for claim, event in sorted(_events(result, around), key=lambda each: each[1].last_seen, reverse=True):
        found = _finding(result, claim, event) if event.reason in _TROUBLES and len(told) < _SHOWN else None
        if found is not None and found.sentence not in told:
            told.add(found.sentence)
            yield found


def _events(result: ScheduleResult, around: Surroundings) -> Iterator[tuple[str, Event]]:
    """Yield the events about the pod, and with a claim's name those about a claim that has no volume yet."""
    pod = result.pod
    yield from (("", event) for event in around.events(pod))
    for volume in pod.spec.volumes:
        use = volume.persistent_volume_claim
        claim = result.nodes.objects.get(PersistentVolumeClaim, use.claim_name, pod.namespace) if use else None
        if use is not None and (claim is None or not is_fully_bound(claim)):
            events = around.events_of("PersistentVolumeClaim", pod.namespace, use.claim_name)
            yield from ((use.claim_name, event) for event in events)


def _finding(result: ScheduleResult, claim: str, event: Event) -> Finding | None:
    """Return what an event means and what helps; None where its text is not known."""
    from kubectl_sched.diagnostics.messages.component_statements import statements_in  # most pods have no such event

    statement = next((each for each in statements_in(event.text) if each.meaning is not None), None)
    known = statement.meaning if statement is not None else None
    if statement is None or known is None:
        return None
    about = f"claim {claim}" if claim else "it"
    said = "; ".join(filter(None, (known.says, known.helps)))
    clauses: tuple[str, ...] = ()
    if claim and event.reason == _NOT_MADE:
        from kubectl_sched.diagnostics.findings.volumes.failed_volumes import not_made  # few claims have such

        clauses = not_made(claim, event.text)
    elif result.current_node and not claim:
        head, *parts = _BOUND.sub("", known.says).split(": ")
        clauses = (*(f"{head}: {': '.join(parts[at:])}" for at in range(len(parts))), head)
    return Finding(
        kind=KIND, sentence=f"{event.component or 'A component'} said about {about}: {said}", clauses=clauses
    )
