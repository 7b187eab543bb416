"""Huge pages that a node does not offer, because none were reserved before its kubelet started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.component_helpers.resource_names import is_huge_page_resource_name
from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.diagnostics.findings.resources.lacking_nodes import capacity_of, requests_of, too_small_for
from kubectl_sched.framework.amounts import amount_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "HugePages"

_HOW: Final = "the kubelet counts huge pages when it starts: reserve them on the node, then restart its kubelet"


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield the node that comes closest, for each size of huge pages of which nodes have too little in all."""
    nodes = result.nodes
    for resource, wanted in requests_of(result).items():
        if not is_huge_page_resource_name(resource):
            continue
        rows = too_small_for(result, resource, wanted)
        if not rows:
            continue
        best = max(rows, key=lambda row: (capacity_of(result, row, resource), int(nodes.allocatable(resource)[row])))
        offered, has = int(nodes.allocatable(resource)[best]), capacity_of(result, best, resource)
        amounts = f"{amount_text(resource, offered)} {resource} allocatable"
        of = f" of {amount_text(resource, has)} in its capacity" if has > offered else ""
        yield Finding(
            kind=KIND, sentence=f"{nodes.names[best]} has {amounts}{of}; {_HOW}{_other_size(result, resource)}"
        )


def _other_size(result: ScheduleResult, resource: str) -> str:
    """Return a clause about another size of which nodes have some, empty if there is none."""
    nodes = result.nodes.whole
    for other, amounts in sorted(nodes.table.allocatable.items()):
        if other != resource and is_huge_page_resource_name(other) and amounts.any():
            row = int(amounts.argmax())
            return f"; {nodes.names[row]} has {amount_text(other, int(amounts[row]))} {other}"
    return ""
