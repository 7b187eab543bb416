"""Pods that request no CPU and no memory, of which any number seems to fit on a node.

For scoring kube-scheduler counts such a pod as 100m CPU and 200Mi of memory (pkg/scheduler/util/pod_resources.go); for
filtering it counts as nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.diagnostics.findings.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "NoRequests"

_MANY: Final = 5
"""From so many such pods on one node on, requests say little about what is left there."""


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield that neither the pod nor many pods of the node where it lands request anything."""
    if not result.fits or len(result.feasible) < 2 or not result.best or not _asks_for_nothing(result.pod, result):
        return
    node = result.best[0]
    row = result.nodes.row_of.get(node)
    if row is None:
        return
    alike = [pod for pod in result.nodes.node(row).pods if pod.key != result.pod.key and _asks_for_nothing(pod, result)]
    if len(alike) >= _MANY:
        yield Finding(
            kind=KIND,
            sentence=f"It requests no cpu and no memory, as {len(alike):,} pods on {node} do: any node has room for "
            "such pods, and scores count each as 100m cpu and 200Mi of memory, whatever it uses; set requests",
        )


def _asks_for_nothing(pod: Pod, result: ScheduleResult) -> bool:
    try:
        requested = result.nodes.resource_of(pod).requested
    except InvalidQuantity:
        return False
    return not (requested.get("cpu") or requested.get("memory"))
