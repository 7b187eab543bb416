"""Objects as read become a Snapshot (pkg/scheduler/backend/cache/cache.go, eventhandlers.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.api.component_helpers.pod_requests import pod_resource, request_key
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.snapshot.node_table import NodeTable
from kubectl_sched.snapshot.objects import Objects
from kubectl_sched.snapshot.pod_table import PodTable
from kubectl_sched.snapshot.snapshot import Snapshot
from kubectl_sched.snapshot.usage import PodResource, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from kubectl_sched.api.component_helpers.container_resources import PodResourcesOptions
    from kubectl_sched.api.meta import KubernetesObject


_MOST_NAMES_KEPT = 64
"""Resources of a pod whose sums are kept for equal pods."""


def build(
    objects: Iterable[KubernetesObject], options: PodResourcesOptions, *, sidecar_ports_count: bool = True
) -> tuple[Snapshot, tuple[str, ...]]:
    """A snapshot of these objects, and a sentence for each one that had to be left out.

    Pods that have ended are left out, as the scheduler's informer leaves them out; so are pods on a node that is not
    there, whose NodeInfo never enters the real snapshot either. A quantity that cannot be read leaves its object out
    with a sentence.
    """
    nodes: list[Node] = []
    pods: list[Pod] = []
    others: list[KubernetesObject] = []
    for item in objects:
        if isinstance(item, Pod):
            pods.append(item)
        elif isinstance(item, Node):
            nodes.append(item)
        else:
            others.append(item)
    table, unreadable = _node_table(nodes, saturates=options.saturates)
    bound, rows, pending, stranded = _by_place(pods, table.row_of)
    resource_of = _once_per_key(options)
    existing, uncounted = _pod_table(bound, rows, resource_of)
    snapshot = Snapshot(
        table=table,
        usage=Usage.of(
            existing.column("resource", resource_of), existing.rows, len(table), saturates=options.saturates
        ),
        existing_pods=existing,
        pending=tuple(pending),
        stranded=tuple(stranded),
        objects=Objects(others),
        resource_of=resource_of,
        sidecar_ports_count=sidecar_ports_count,
    )
    return snapshot, (*unreadable, *uncounted)


def _node_table(nodes: list[Node], *, saturates: bool) -> tuple[NodeTable, list[str]]:
    table = NodeTable(tuple(nodes), saturates=saturates)
    try:
        _ = table.allocatable
    except InvalidQuantity:
        readable = {node.metadata.name: _why_unreadable(node) for node in nodes}
        kept = tuple(node for node in nodes if readable[node.metadata.name] is None)
        table = NodeTable(kept, saturates=saturates)
        return table, [f"node {name} is left out: {why}" for name, why in readable.items() if why is not None]
    return table, []


def _why_unreadable(node: Node) -> str | None:
    try:
        _ = NodeTable((node,)).allocatable
    except InvalidQuantity as error:
        return str(error)
    return None


def _by_place(pods: list[Pod], row_of: Mapping[str, int]) -> tuple[list[Pod], list[int], list[Pod], list[Pod]]:
    """Divide pods that have not ended: those on a node, its rows, those without one, and those on one not there."""
    bound: list[Pod] = []
    rows: list[int] = []
    pending: list[Pod] = []
    stranded: list[Pod] = []
    for pod in pods:
        if pod.has_ended:
            continue
        node = pod.spec.node_name
        row = row_of.get(node)
        if row is not None:
            bound.append(pod)
            rows.append(row)
        else:
            (stranded if node else pending).append(pod)
    return bound, rows, pending, stranded


def _pod_table(
    bound: list[Pod], rows: list[int], resource_of: Callable[[Pod], PodResource]
) -> tuple[PodTable, list[str]]:
    existing = PodTable.of(bound, rows)
    try:
        existing.column("resource", resource_of)
    except InvalidQuantity:
        counted: list[Pod] = []
        their_rows: list[int] = []
        uncounted: list[str] = []
        for pod, row in zip(bound, rows, strict=True):
            try:
                resource_of(pod)
                counted.append(pod)
                their_rows.append(row)
            except InvalidQuantity as error:
                uncounted.append(f"pod {pod.key} is left out: {error}")
        return PodTable.of(counted, their_rows), uncounted
    return existing, []


def _once_per_key(options: PodResourcesOptions) -> Callable[[Pod], PodResource]:
    """Compute the resources of a pod on a node once for all pods with the same requests."""
    known: dict[Hashable, PodResource] = {}
    latest: tuple[Pod, PodResource] | None = None

    def resource_of(pod: Pod) -> PodResource:
        nonlocal latest
        if latest is not None and latest[0].spec is pod.spec and latest[0].status is pod.status:  # a replica
            return latest[1]
        key = request_key(pod)
        resource = known.get(key)
        if resource is None:
            requested, non_zero = pod_resource(pod, options)
            # A name with 0 would cost an array of all nodes, and any pod may list as many as it likes.
            counted = {name: amount for name, amount in requested.items() if amount}
            resource = PodResource(requested=counted, non_zero=non_zero)
            if len(requested) <= _MOST_NAMES_KEPT:
                known[key] = resource
        latest = pod, resource
        return resource

    return resource_of
