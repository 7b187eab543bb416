"""Room that no scheduler gives away: what the kubelet keeps for the system.

Allocatable is capacity less kube-reserved, system-reserved and the hard eviction threshold.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

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
from kubectl_sched.framework.amounts import amount_text, amount_texts, request_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "ReservedBySystem"

_RESERVED: Final = ("cpu", "memory", "ephemeral-storage")

_USUAL: Final = 10
"""A kubelet usually keeps at most a tenth of a machine."""

_SHARE: Final = 4
"""From a quarter on, what it keeps is worth a word."""


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield each resource of which the pod asks for more than the largest node offers, and no more than it has.

    Where a node would do, one whose kubelet keeps an unusual share of what the pod lacks is named.
    """
    yield from islice(_much_reserved(result), 1)
    allocatable = result.nodes.allocatable
    for resource, wanted in requests_of(result).items():
        rows = too_small_for(result, resource, wanted) if resource in _RESERVED else []
        if not rows or is_large_enough(result, resource, wanted):
            continue
        best = max(rows, key=lambda row: int(allocatable(resource)[row]))
        offered, has = int(allocatable(resource)[best]), capacity_of(result, best, resource)
        if not offered < wanted <= has:
            continue
        asked, of, most = request_texts(result.pod, resource, wanted, has, offered)
        exact = amount_text(resource, offered)
        exactly = f" ({exact})" if exact != most else ""
        yield Finding(
            kind=KIND,
            sentence=f"It asks for {asked} {resource}; {result.nodes.names[best]} has {of} in its capacity, of which "
            f"its kubelet keeps a part for the system: {most} is allocatable{exactly}",
        )


def _much_reserved(result: ScheduleResult) -> Iterator[Finding]:
    """Yield nodes that would have room if their kubelet kept a tenth of the machine, and that keep far more."""
    mask = result.rejection_masks.get(FIT)
    rows = np.flatnonzero(mask).tolist()[:ROWS_EXAMINED] if mask is not None else []
    for row in rows:
        if len(result.rejections(row)) > 1:
            continue
        missing = shortage_on(result, row)
        if len(missing) != 1 or not missing.keys() <= {"cpu", "memory"}:
            continue
        ((resource, lacks),) = missing.items()
        offered, has = int(result.nodes.allocatable(resource)[row]), capacity_of(result, row, resource)
        kept = has - offered
        if kept * _SHARE < has or kept - has // _USUAL < lacks or offered < requests_of(result)[resource]:
            continue
        most, of, short = amount_texts(resource, kept, has, lacks)
        yield Finding(
            kind=KIND,
            sentence=f"The kubelet of {result.nodes.names[row]} keeps {most} of {of} {resource} for the system, and "
            f"the pod lacks {short} there: see kubeReserved, systemReserved and evictionHard of that kubelet",
        )
