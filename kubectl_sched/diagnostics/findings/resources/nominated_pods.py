"""Pods that are nominated to a node and keep its room there, though they are not bound.

kube-scheduler counts a nominated pod of the same or a higher priority as if it ran there
(pkg/scheduler/framework/runtime: addGENominatedPods).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.framework.runtime import nominated_ahead
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.shell_commands import explain_pod

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "NominatedPod"


def findings(result: CycleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield the first node whose room a nominated pod keeps, with what keeps that pod from being bound there."""
    for node, nominated in sorted(result.nodes.nominated.items()):
        row = result.nodes.row_of.get(node)
        ahead = nominated_ahead(nominated, result.pod)
        if row is None or not ahead or result.rejections(row):
            continue
        if result.verdict is None or result.verdict[row].is_success:
            continue
        command = explain_pod(ahead[0].namespace, ahead[0].name)
        yield Finding(
            kind=KIND,
            sentence=f"{node} has room, and keeps it for {ahead[0].key}, which is nominated to it and not bound: "
            f"{_outlook(result, ahead[0], row)}",
            commands=(command,) if command is not None else (),
        )
        return


def _outlook(result: CycleResult, nominated: Pod, row: int) -> str:
    """Return whether the nominated pod can still get the node."""
    own = cycle(nominated, result.nodes.remove_pod(nominated.namespace, nominated.name), result.framework)
    if own.verdict is None or own.verdict[row].is_success:
        return "it is bound next, so this pod needs another node or a higher priority"
    return (
        f"it does not fit there itself ({', '.join(own.verdict[row].reasons)}); its nomination goes when "
        "kube-scheduler tries it again and fails, or with the pod"
    )
