"""Events of other components about the pod and its claims, in plain words.

Autoscalers' events are told with the nodes that these would make, and refusals of a pod's own kubelet with its stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.findings.finding import Finding

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

_SHOWN: Final = 2
_RUNNING: Final = "Running"


def findings(result: ScheduleResult, around: Surroundings) -> Iterator[Finding]:
    """Yield what the newest events of trouble about a pod that does not run yet, or about its claims, mean."""
    pod = result.pod
    if pod.status.phase == _RUNNING or pod.has_ended:
        return
    events = [("it", event) for event in around.events(pod)]
    for volume in pod.spec.volumes:
        claim = volume.persistent_volume_claim
        if claim is not None:
            named = around.events_of("PersistentVolumeClaim", pod.namespace, claim.claim_name)
            events += [(f"claim {claim.claim_name}", event) for event in named]
    told: set[str] = set()
    for about, event in sorted(events, key=lambda each: each[1].last_seen, reverse=True):
        said = _meaning(event) if event.reason in _TROUBLES and len(told) < _SHOWN else None
        if said is not None and said not in told:
            told.add(said)
            yield Finding(kind=KIND, sentence=f"{event.component or 'A component'} said about {about}: {said}")


def _meaning(event: Event) -> str | None:
    """Return what an event means and what helps; None where its text is not known."""
    from kubectl_sched.diagnostics.messages.component_statements import statements_in  # most pods have no such event

    known = next((each.meaning for each in statements_in(event.text) if each.meaning is not None), None)
    return None if known is None else "; ".join(filter(None, (known.says, known.helps)))
