"""Sentences about what a what-if cannot show in its placements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apps import StatefulSet

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kubectl_sched.cluster.making import Workload
    from kubectl_sched.scheduler.simulate import Simulation


def about_order(workloads: list[Workload], simulation: Simulation) -> Iterator[str]:
    """Sets whose pods are made one after the other, where one of them does not fit."""
    unplaced = {each.pod.key for each in simulation.placements if not each.is_placed}
    for workload in workloads:
        source = workload.replicas.source
        if not isinstance(source, StatefulSet) or source.spec.pod_management_policy == "Parallel" or workload.old:
            continue
        first = next((index for index, pod in enumerate(workload.pods) if pod.key in unplaced), None)
        waiting = [pod.name for pod in workload.pods[first + 1 :]] if first is not None else []
        if first is not None and waiting:
            names = ", ".join(waiting[:3]) + (f" and {len(waiting) - 3} more" if len(waiting) > 3 else "")
            are = "is" if len(waiting) == 1 else "are"
            yield (
                f"{workload.replicas.owner} makes its pods one after the other: {names} {are} not made before "
                f"{workload.pods[first].name} runs"
            )


def about_unknown_nodes(workloads: list[Workload], nodes: Collection[str]) -> Iterator[str]:
    """Pods that name a node which is not there."""
    for workload in workloads:
        named = {pod.spec.node_name for pod in workload.pods} - {"", *nodes}
        for name in sorted(named):
            what = workload.replicas.owner or f"pod {workload.replicas.source.key}"
            yield f"{what} names node {name}, which does not exist: no scheduler looks at it, and no kubelet runs it"
