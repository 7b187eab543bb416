"""The nodes that any pod of a cluster could still use: free room elsewhere is stranded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import structs

from kubectl_sched.api.containers import ResourceRequirements
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.framework.status import passing
from kubectl_sched.plugins.node_resources.fit import PRE_FILTER_STATE, NodeResourcesFit
from kubectl_sched.queries.room.free_amounts import allocatable, total

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.queries.room.shapes import Shape
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Mask
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers

MOST_ASKED: Final = 1000
"""No more shapes of pods are asked for what is stranded, the largest first."""

ANY: Final = ""
"""The key of the nodes that a pod of any shape can use."""


def largest_first(shapes: Sequence[Shape], nodes: Snapshot) -> list[Shape]:
    """Sort shapes by the largest share of a resource of the cluster that one of the pods requests."""
    whole = {name: max(total(allocatable(nodes, name)), 1) for name in nodes.table.allocatable}

    def size(shape: Shape) -> tuple[float, str]:
        asked = nodes.resource_of(shape.pod).requested
        shares = (amount / whole.get(name, 1) for name, amount in asked.items())
        return (-max(shares, default=0.0), shape.name)

    return sorted(shapes, key=size)


def reached_nodes(shapes: Sequence[Shape], schedulers: ClusterSchedulers) -> Mapping[str, Mask]:
    """Return by resource bool[n]: the nodes on which a pod fits that requests the resource; ANY for any pod.

    A shape is judged by one cycle for all that differ from it in their requests alone: what they lack is arithmetic.
    """
    found: dict[str, Mask] = {}
    others: dict[tuple[Scheduler, bytes], Mask] = {}
    for shape in shapes:
        scheduler = schedulers.scheduler(shape.pod)
        mask = _feasible(shape.pod, scheduler, schedulers.profile, others)
        asked = scheduler.nodes.resource_of(shape.pod).requested
        for name in (ANY, *(name for name, amount in asked.items() if amount)):
            found[name] = found[name] | mask if name in found else mask
    return found


def _feasible(pod: Pod, scheduler: Scheduler, profile: str | None, others: dict[tuple[Scheduler, bytes], Mask]) -> Mask:
    """bool[n]: the nodes that the pod fits on; `others` has what the other plugins say of pods with its constraints."""
    nodes = scheduler.nodes
    framework = scheduler.framework(profile or scheduler_name_of(pod))
    fit = framework.plugins.get(NodeResourcesFit.name) if framework is not None else None
    if nodes.nominated or scheduler.asks_extenders or not isinstance(fit, NodeResourcesFit):
        return scheduler.cycle(pod, nodes, profile).feasible_mask
    state = CycleState()
    if not fit.pre_filter(state, pod, nodes).status.is_success or state.read(PRE_FILTER_STATE).device_backed:
        return scheduler.cycle(pod, nodes, profile).feasible_mask
    bare = _without_requests(pod)
    key = scheduler, msgspec.json.encode((bare.metadata.labels, pod.namespace, bare.spec))
    if key not in others:
        others[key] = scheduler.cycle(bare, nodes, profile).feasible_mask
    mask: Mask = others[key] & passing(fit.filter(state, pod, nodes))
    return mask


def _without_requests(pod: Pod) -> Pod:
    """Return the pod without what its containers request, and without what else counts as requested."""
    nothing = ResourceRequirements()
    spec = structs.replace(
        pod.spec,
        resources=None,
        containers=tuple(structs.replace(each, resources=nothing) for each in pod.spec.containers),
        init_containers=tuple(structs.replace(each, resources=nothing) for each in pod.spec.init_containers),
        overhead={},
    )
    return structs.replace(pod, spec=spec)
