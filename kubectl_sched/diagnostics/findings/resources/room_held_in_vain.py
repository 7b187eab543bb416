"""Pods that hold the room which the pod lacks, and that ordinary advice does not move: each node's by what they are.

Static pods stay whatever happens; placeholders are there to make way; pods that do not run use nothing; and pods that
no controller owns are gone for good once they end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.resources.lacking_nodes import FIT, ROWS_EXAMINED
from kubectl_sched.diagnostics.findings.resources.pending_resizes import shortage_on
from kubectl_sched.framework.amounts import amount_texts
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.lazy_pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

STATIC_KIND: Final = "StaticPods"
PLACEHOLDER_KIND: Final = "PlaceholderPods"
IDLE_KIND: Final = "PodsNotRunning"
OWNERLESS_KIND: Final = "OwnerlessPods"

_PLACEHOLDER = pattern(r"over-?provision|placeholder|pause-pod|balloon|headroom")
_PAUSE = pattern(r"(?:^|/)pause(?:-(?:amd64|arm64))?(?:[:@]|$)")
_STUCK: Final = frozenset(
    {
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImageNeverPull",
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
    }
)
"""The reasons for which a container waits until somebody mends it."""


class _Class(NamedTuple):
    """Pods of one sort: the name of their column, a test, and the clause about those on a node."""

    kind: str
    column: str
    is_one: Callable[[Pod], bool]
    clause: Callable[[ScheduleResult, Sequence[Pod], str, str], str]


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield for each sort of pods the first node that has no room because of them alone; victims are told elsewhere."""
    mask = result.rejection_masks.get(FIT)
    if mask is None:
        return
    victims = {each.key for each in result.post_filter.victims} if result.post_filter is not None else set()
    pods = result.nodes.existing_pods
    for sort in _CLASSES:
        rows = sorted({*pods.rows[pods.column(sort.column, sort.is_one).where(bool)].tolist()})
        tried = (row for row in [row for row in rows if mask[row]][:ROWS_EXAMINED] if len(result.rejections(row)) == 1)
        found = next((each for row in tried if (each := _on_node(result, sort, row)) is not None), None)
        if found is not None and victims.isdisjoint(pod.key for pod in found[1]):
            yield found[0]


def _on_node(result: ScheduleResult, sort: _Class, row: int) -> tuple[Finding, list[Pod]] | None:
    """Return the fact about the node, with its pods of that sort that hold what is missing; None if less is theirs."""
    missing = shortage_on(result, row)
    theirs = [
        pod for pod in result.nodes.node(row).pods if sort.is_one(pod) and pod.metadata.deletion_timestamp is None
    ]
    held = {name: sum(_requested(result, pod, name) for pod in theirs) for name in missing}
    if not missing or any(held[name] < amount for name, amount in missing.items()):
        return None
    resource, node = next(iter(missing)), result.nodes.names[row]
    holding = [pod for pod in theirs if any(_requested(result, pod, name) for name in missing)]
    most, of = amount_texts(resource, held[resource], int(result.nodes.allocatable(resource)[row]))
    clause = sort.clause(result, holding, f"{most} of {of} {resource}", node)
    return (Finding(kind=sort.kind, sentence=clause), holding) if clause else None


def _requested(result: ScheduleResult, pod: Pod, resource: str) -> int:
    return int(result.nodes.resource_of(pod).requested.get(resource, 0))


def _names(pods: Sequence[Pod]) -> str:
    return first_few([pod.key for pod in pods])


def _is_static(pod: Pod) -> bool:
    return pod.is_static


def _of_static(_: ScheduleResult, pods: Sequence[Pod], amounts: str, node: str) -> str:
    return (
        f"On {node} static pods hold {amounts} ({_names(pods)}), without which it would fit "
        f"there: no scheduler or eviction moves them; only their files on {node} make them ask for less"
    )


def is_placeholder(pod: Pod) -> bool:
    """Report whether the pod only keeps room free: by its name, or by a pause as its image and a negative priority."""
    priority = pod.spec.priority or 0
    if pod.is_static or priority > 0:
        return False
    if _PLACEHOLDER.search(pod.name) is not None:
        return True
    return priority < 0 and all(_PAUSE.search(each.image) is not None for each in pod.spec.containers)


def _of_placeholders(result: ScheduleResult, pods: Sequence[Pod], amounts: str, node: str) -> str:
    own, theirs = result.pod.spec.priority or 0, max(pod.spec.priority or 0 for pod in pods)
    if result.pod.spec.preemption_policy == "Never" and own > theirs:
        why = "it may not preempt them (preemptionPolicy: Never); a PriorityClass with PreemptLowerPriority lets it"
    elif own <= theirs:
        why = (
            f"they do not for it, as its priority {own} is not above theirs ({theirs}): give it a PriorityClass that is"
        )
    else:
        return ""
    return f"On {node} placeholder pods hold {amounts} ({_names(pods)}): they are there to make way, and {why}"


def _does_not_run(pod: Pod) -> bool:
    return bool(_waits_for(pod)) and not pod.is_static and not is_placeholder(pod)


def _waits_for(pod: Pod) -> str:
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    waiting = (each.state.waiting for each in statuses)
    return next((each.reason for each in waiting if each is not None and each.reason in _STUCK), "")


def _of_idle(_: ScheduleResult, pods: Sequence[Pod], amounts: str, node: str) -> str:
    return (
        f"On {node} {amounts} are held by pods that have not started ({_names(pods)}: {_waits_for(pods[0])}): mend "
        "them, or scale their owner down, and it would fit there"
    )


def _is_ownerless(pod: Pod) -> bool:
    is_left = pod.metadata.controller is None and not pod.is_static
    return is_left and not is_placeholder(pod) and not _waits_for(pod)


def _of_ownerless(result: ScheduleResult, pods: Sequence[Pod], amounts: str, node: str) -> str:
    if all(pod.namespace == result.pod.namespace for pod in pods):
        return ""  # what helps names each of them
    return (
        f"On {node} pods that no controller owns hold {amounts} ({_names(pods)}), without which it would fit there: "
        "nothing re-creates them, so ask whose they are before they end"
    )


_CLASSES: Final = (
    _Class(STATIC_KIND, "is_static", _is_static, _of_static),
    _Class(PLACEHOLDER_KIND, "is_placeholder", is_placeholder, _of_placeholders),
    _Class(IDLE_KIND, "does_not_run", _does_not_run, _of_idle),
    _Class(OWNERLESS_KIND, "is_ownerless", _is_ownerless, _of_ownerless),
)
