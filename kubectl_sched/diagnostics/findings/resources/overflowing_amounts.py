"""Amounts of nodes that are larger than kube-scheduler can count: it takes the rest of a division by 2⁶⁴.

A quantity becomes an int64 of thousandths of a processor, or of units (resource.Quantity's MilliValue and Value), and
nothing there keeps it from overflowing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.int64 import is_int64
from kubectl_sched.api.apimachinery.quantity import parse_quantity
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.resources.lacking_nodes import requests_of, too_small_for
from kubectl_sched.framework.amounts import amount_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "OverflowingAmount"

_ROWS_EXAMINED: Final = 50
_CPU: Final = "cpu"


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield a node that states so much of a resource that kube-scheduler counts another amount."""
    for resource, wanted in requests_of(result).items():
        for row in too_small_for(result, resource, wanted)[:_ROWS_EXAMINED]:
            raw = result.nodes.node_objects[row].status.allocatable.get(resource)
            if raw is not None and _overflows(str(raw), resource):
                counted = amount_text(resource, int(result.nodes.allocatable(resource)[row]))
                parts = "thousandths of a processor" if resource == _CPU else "units"
                yield Finding(
                    kind=KIND,
                    sentence=f"{result.nodes.names[row]} states {raw} {resource}, and kube-scheduler, which counts "
                    f"{parts} in 64 bits, takes that for {counted}: let the node state less",
                )
                return


def _overflows(raw: str, resource: str) -> bool:
    quantity = parse_quantity(raw)
    scale = quantity.scale + (3 if resource == _CPU else 0)
    amount = quantity.unscaled * 10**scale if scale >= 0 else quantity.unscaled // 10**-scale
    return not is_int64(amount)
