"""One more node like one that the pod would fit on if it were empty, or a larger one where none would do."""

from __future__ import annotations

from itertools import count as number_from
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from kubectl_sched.api.apps import DaemonSet
from kubectl_sched.controllers.daemon_set import runs_on
from kubectl_sched.framework.amounts import amount_text, request_text
from kubectl_sched.framework.clauses import first_few
from kubectl_sched.node_provisioning.node_place import place_in_words, pool_label
from kubectl_sched.simulation.edited_cluster import daemon_on, daemon_templates, fresh_copy
from kubectl_sched.suggestions.change import Change, Kind
from kubectl_sched.suggestions.nearest_nodes import has_room_when_empty, rejections

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.pod_table import PodTable
    from kubectl_sched.suggestions.change import Way

_AGAINST_OTHER_PODS = frozenset({"NodeResourcesFit", "NodePorts", "InterPodAffinity", "PodTopologySpread"})
"""Plugins that may keep a pod out because of the pods that are there already."""

_PLACES_TRIED = 4
"""Nodes of no more than so many pools and zones are copied."""


def new_nodes(result: ScheduleResult) -> Iterator[Way]:
    """Yield the ways with one more node like those that the fewest plugins keep the pod out of, a way for each place.

    Last come larger nodes in place of those that are too small even when empty.
    """
    count, away = rejections(result)
    crowded = np.zeros(len(count), dtype=np.bool_)
    for plugin in _AGAINST_OTHER_PODS & result.rejection_masks.keys():
        crowded |= result.rejection_masks[plugin]
    roomy = crowded & has_room_when_empty(result)
    nearest = np.lexsort((away, count)).tolist()
    yield from (way for row in _places(result, nearest, roomy.tolist()) if (way := more_like(result, row)) is not None)
    small = _places(result, nearest, (crowded & ~roomy).tolist())
    yield from (way for row in small if (way := more_like(result, row, larger=True)) is not None)


def _places(result: ScheduleResult, rows: Sequence[int], wanted: Sequence[bool]) -> list[int]:
    """Return the first of the wanted rows of each pool, zone and set of taints."""
    found: dict[object, int] = {}
    for row in rows:
        if len(found) == _PLACES_TRIED:
            break
        if wanted[row]:
            node = result.nodes.node_objects[row]
            found.setdefault((place_in_words(node) if pool_label(node) else row, node.spec.taints), row)
    return list(found.values())


def more_like(result: ScheduleResult, row: int, count: int = 1, *, larger: bool = False) -> Way | None:
    """Return the way with copies of the row's node; None if they would lack the devices of their original.

    A copy is what `whatif --add-nodes` adds: ready, uncordoned, with the pods of the DaemonSets that belong on it. A
    `larger` one has room for the pod beside these.
    """
    if result.pod.spec.resource_claims or (larger and not _is_for_sale(result, row)):
        return None
    nodes = result.nodes.whole
    original = result.nodes.node_objects[row]
    templates = daemon_templates(nodes.objects.all(DaemonSet), _one_of_each_owner(nodes.existing_pods))
    names = (name for number in number_from(1) if (name := f"{original.name}-add-{number}") not in nodes.row_of)
    copies = [fresh_copy(original, name) for name in islice(names, count)]
    adds = tuple((copy, tuple(daemon_on(copy, pod) for pod in templates if runs_on(pod.spec, copy))) for copy in copies)
    size = ""
    if larger:
        adds = tuple((_enlarged(result, row, copy, daemons), daemons) for copy, daemons in adds)
        size = f", but larger, with {_size(result, row)}"
    number = "one more node" if count == 1 else f"{count:,} more nodes"
    change = Change(
        kind=Kind.ADD_NODE,
        text=f"with {number} {place_in_words(original, with_type=not larger)}{size}",
        step=f"{number} {place_in_words(original, with_type=not larger)}{size}",
        node_name=original.name,
        adds=adds,
        caution="one more machine to pay for" if count == 1 else "more machines to pay for",
    )
    return (change,)


def _one_of_each_owner(pods: PodTable) -> list[Pod]:
    """Return the first pod of each controller, which is much fewer than all pods of the cluster."""
    owners = pods.column("owner", lambda pod: (pod.namespace, pod.metadata.controller))
    return [pods.pods[first] for first in np.unique(owners.codes, return_index=True)[1].tolist()]


def _too_small(result: ScheduleResult, row: int) -> dict[str, int]:
    """Return the requests of the pod that the empty node cannot hold."""
    requested = result.nodes.resource_of(result.pod).requested
    return {name: amount for name, amount in requested.items() if amount > int(result.nodes.allocatable(name)[row])}


def _is_for_sale(result: ScheduleResult, row: int) -> bool:
    """Report whether some node has any of each resource that is short; else a device plugin may be what is missing."""
    return all(bool(result.nodes.allocatable(name).any()) for name in _too_small(result, row))


def _size(result: ScheduleResult, row: int) -> str:
    amounts = [f"{request_text(result.pod, name, amount)} {name}" for name, amount in _too_small(result, row).items()]
    return f"at least {first_few(amounts)} for it"


def _enlarged(result: ScheduleResult, row: int, node: Node, daemons: Sequence[Pod]) -> Node:
    """Return the node with room for the pod beside the DaemonSets' pods."""
    more = {
        name: amount_text(name, amount + sum(result.nodes.resource_of(pod).requested.get(name, 0) for pod in daemons))
        for name, amount in _too_small(result, row).items()
    }
    return structs.replace(node, status=structs.replace(node.status, allocatable={**node.status.allocatable, **more}))
