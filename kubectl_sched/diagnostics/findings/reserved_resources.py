"""Pods that ask for as much as a machine has, of which the kubelet keeps a part for the system.

Allocatable is capacity less kube-reserved, system-reserved and the hard eviction threshold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.lacking_nodes import capacity_of, is_large_enough, requests_of, too_small_for
from kubectl_sched.framework.amounts import amount_text, amount_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "ReservedBySystem"

_RESERVED: Final = ("cpu", "memory", "ephemeral-storage")


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield each resource of which the pod asks for more than the largest node offers, and no more than it has."""
    if result.fits:
        return
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
