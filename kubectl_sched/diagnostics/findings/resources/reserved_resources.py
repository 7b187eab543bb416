"""Room that no scheduler gives away: what the kubelet keeps for the system, and what its static pods hold.

Allocatable is capacity less kube-reserved, system-reserved and the hard eviction threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.resources.lacking_nodes import (
    FIT,
    ROWS_EXAMINED,
    capacity_of,
    is_large_enough,
    requests_of,
    too_small_for,
)
from kubectl_sched.diagnostics.findings.resources.pending_resizes import shortage_on
from kubectl_sched.framework.amounts import amount_text, amount_texts
from kubectl_sched.framework.clauses import first_few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "ReservedBySystem"
STATIC_KIND: Final = "StaticPods"

_RESERVED: Final = ("cpu", "memory", "ephemeral-storage")


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield each resource of which the pod asks for more than the largest node offers, and no more than it has.

    Where static pods fill a node that the pod would fit on without them, they are named, too.
    """
    if result.fits:
        return
    yield from _static_pods(result)
    allocatable = result.nodes.allocatable
    for resource, wanted in requests_of(result).items():
        rows = too_small_for(result, resource, wanted) if resource in _RESERVED else []
        if not rows or is_large_enough(result, resource, wanted):
            continue
        best = max(rows, key=lambda row: int(allocatable(resource)[row]))
        offered, has = int(allocatable(resource)[best]), capacity_of(result, best, resource)
        if not offered < wanted <= has:
            continue
        asked, of, most = amount_texts(resource, wanted, has, offered)
        yield Finding(
            kind=KIND,
            sentence=f"It asks for {asked} {resource}; {result.nodes.names[best]} has {of} in its capacity, of which "
            f"its kubelet keeps a part for the system: {most} is allocatable ({amount_text(resource, offered)})",
        )


def _static_pods(result: ScheduleResult) -> Iterator[Finding]:
    """Yield the first node that has no room alone because of its static pods; as victims they are named elsewhere."""
    if result.post_filter is not None and any(map(_is_static, result.post_filter.victims)):
        return
    pods, mask = result.nodes.existing_pods, result.rejection_masks.get(FIT)
    if mask is None:
        return
    rows = sorted({*pods.rows[pods.column("is_static", _is_static).where(bool)].tolist()})
    for row in [row for row in rows if mask[row]][:ROWS_EXAMINED]:
        if len(result.rejections(row)) > 1:
            continue
        static = [pod for pod in result.nodes.node(row).pods if pod.is_static]
        missing = shortage_on(result, row)
        held = {name: sum(_requested(result, pod, name) for pod in static) for name in missing}
        if not missing or any(held[name] < amount for name, amount in missing.items()):
            continue
        resource, node = next(iter(missing)), result.nodes.names[row]
        most, of = amount_texts(resource, held[resource], int(result.nodes.allocatable(resource)[row]))
        names = first_few([pod.key for pod in static if _requested(result, pod, resource)])
        yield Finding(
            kind=STATIC_KIND,
            sentence=f"On {node} static pods hold {most} of {of} {resource} ({names}), without which it would fit "
            f"there: no scheduler or eviction moves them; only their files on {node} make them ask for less",
        )
        return


def _is_static(pod: Pod) -> bool:
    return pod.is_static


def _requested(result: ScheduleResult, pod: Pod, resource: str) -> int:
    return int(result.nodes.resource_of(pod).requested.get(resource, 0))
