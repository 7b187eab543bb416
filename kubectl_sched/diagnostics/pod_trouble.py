"""The trouble of a pod that has its node: what its kubelet, or the node itself, still lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.meta import find_condition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.core import Event, Node
    from kubectl_sched.api.pod import ContainerStatus, Pod

ORDINARY_WAITS: Final = frozenset({"", "ContainerCreating", "PodInitializing"})
"""Reasons of containers that are about to start."""

WAITING_FOR: Final = {
    "FailedAttachVolume": "it waits for a volume",
    "FailedCreatePodSandBox": "its sandbox cannot be made",
    "FailedMount": "it waits for a volume",
}
_SAID_BY_THE_MESSAGE: Final = frozenset({"CreateContainerConfigError"})
_CAUSES: Final = frozenset({"OOMKilled", "DeadlineExceeded", "StartError", "ContainerCannotRun"})
"""Reasons of an end that say more than that the container failed."""


def trouble_of(pod: Pod, events: Iterable[Event], node: Node | None) -> tuple[str, ...]:
    """Return clauses on what keeps a bound pod from running, the fullest first; none if nothing is known to."""
    if pod.metadata.deletion_timestamp or pod.has_ended:
        return ()
    if node is not None and is_silent(node):
        return (f"its node {node.name} does not answer ({not_ready(node)})", "its node does not answer")
    return tuple(_of_containers(pod)) or tuple(_before_containers(pod, events))


def not_ready(node: Node | None) -> str | None:
    """Return the reason for which a node's kubelet is not ready; None if it is, or nothing says so."""
    ready = find_condition(node.status.conditions, "Ready") if node is not None else None
    return (ready.reason or "NotReady") if ready is not None and ready.status != "True" else None


def is_silent(node: Node) -> bool:
    """Report whether nothing is known of the node's pods, as its kubelet has stopped reporting."""
    ready = find_condition(node.status.conditions, "Ready")
    return ready is not None and ready.status == "Unknown"


def _of_containers(pod: Pod) -> Iterator[str]:
    status = pod.status
    for each in (*status.init_container_statuses, *status.container_statuses):
        waiting = each.state.waiting
        if waiting is not None and waiting.reason not in ORDINARY_WAITS:
            cause = _ended_by(each)
            if waiting.reason in _SAID_BY_THE_MESSAGE and waiting.message:
                yield f"{waiting.message} ({waiting.reason} in container {each.name})"
                yield f"{waiting.message} ({waiting.reason})"
            yield f"{waiting.reason}{f' ({cause})' if cause else ''} in container {each.name}"
            yield waiting.reason
            return
    is_running = status.phase == "Running" and _is_unready(pod)
    unready = [each.name for each in status.container_statuses if not each.ready and each.state.waiting is None]
    if is_running and unready:
        more = f" and {len(unready) - 1} more" if len(unready) > 1 else ""
        yield f"container {unready[0]}{more} is not ready"
        yield "not all containers are ready"


def _is_unready(pod: Pod) -> bool:
    ready = pod.condition("Ready")
    return ready is not None and ready.status == "False" and ready.reason in {"", "ContainersNotReady"}


def _ended_by(status: ContainerStatus) -> str:
    """Return why the container ended the last time, where that says more than that it did."""
    ended = status.last_state.terminated or status.state.terminated
    return ended.reason if ended is not None and ended.reason in _CAUSES else ""


def running_init_container(pod: Pod) -> str | None:
    """Return the name of the init container that has not ended; None if none runs."""
    return next(
        (
            each.name
            for each in pod.status.init_container_statuses
            if each.state.waiting is None and each.state.terminated is None and not each.ready
        ),
        None,
    )


def _before_containers(pod: Pod, events: Iterable[Event]) -> Iterator[str]:
    """Yield what comes before every container: the node's kubelet, volumes and the sandbox, then init containers."""
    if pod.status.phase == "Running":
        return
    event = next((each for each in events if each.reason in WAITING_FOR), None)
    if event is not None:
        yield f"{WAITING_FOR[event.reason]} ({event.reason})"
        return
    running = running_init_container(pod)
    if running is not None:
        yield f"its init container {running} has not ended"
        yield "an init container has not ended"
        return
    starting = (each.state.waiting for each in pod.status.container_statuses)
    if any(waiting is not None and waiting.reason == "ContainerCreating" for waiting in starting):
        yield "its containers are being created (ContainerCreating)"
