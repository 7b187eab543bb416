"""The start and the end of kube-scheduler's search for feasible nodes (findNodesThatPassFilters).

It goes around the nodes from where the search before it left off, zones taking turns, and stops once it has met enough
feasible nodes. Answers to pkg/scheduler/schedule_one.go and pkg/scheduler/backend/cache/node_tree.go.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.api.core import ZONE
from kubectl_sched.framework.status import Code
from kubectl_sched.record import Record
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.num_feasible_nodes import num_feasible_nodes_to_find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.api.meta import Labels
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Integers, Mask, Rows


def search_order(nodes: Snapshot) -> Rows:
    """The rows in the order of kube-scheduler's node tree: zones take turns, in each the oldest node first.

    The real order is that in which kube-scheduler heard of the nodes and zones, which nobody can read; age (then name)
    comes close to it.
    """
    by_zone: dict[str, list[int]] = {}
    for row in sorted(range(len(nodes)), key=lambda row: _age(nodes, row)):
        by_zone.setdefault(zone_key(nodes.node_objects[row].metadata.labels), []).append(row)
    turns = zip_longest(*by_zone.values())
    return np.array([row for turn in turns for row in turn if row is not None], dtype=np.intp)


def _age(nodes: Snapshot, row: int) -> tuple[str, str]:
    metadata = nodes.node_objects[row].metadata
    return metadata.creation_timestamp or "", metadata.name


def zone_key(labels: Labels) -> str:
    """GetZoneKey (k8s.io/component-helpers/node/topology): region and zone, the beta labels before the others."""
    zone = _first(labels, "failure-domain.beta.kubernetes.io/zone", ZONE)
    region = _first(labels, "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
    return f"{region}:\0:{zone}" if region or zone else ""


def _first(labels: Mapping[str, str], *keys: str) -> str:
    return next((labels[key] for key in keys if key in labels), "")


class Search(Record, frozen=True, kw_only=True):
    """All searches there can be: `feasible` are the feasible rows in the order in which the search comes past them."""

    feasible: Rows
    stops_after: int
    """The number of feasible nodes that ends the search."""

    first: Integers
    """For each start, which of `feasible` is the first that it meets."""

    fails: Mask
    """The starts whose search meets a node that no filter can judge, so that the whole cycle fails."""

    def window(self, first: int) -> Rows:
        """The rows found by a search whose first feasible node is that one of `feasible`."""
        count = min(self.stops_after, len(self.feasible))
        return np.take(self.feasible, range(first, first + count), mode="wrap")


def search(result: ScheduleResult) -> Search | None:
    """The searches for a pod; None if there is none: it fits nowhere, or on the node that it is nominated to."""
    if not isinstance(result, CycleResult) or result.verdict is None:
        return None
    if not len(result.feasible) or result.nominated_first:
        return None
    order = search_order(result.nodes)
    if result.pre_filter_nodes is not None:
        names = result.pre_filter_nodes
        order = np.array([row for row in order if result.nodes.names[row] in names], dtype=np.intp)
    starts = np.arange(len(result.nodes)) % len(order)
    fits = np.isin(order, result.feasible)
    places = np.flatnonzero(fits)
    first = np.searchsorted(places, starts) % len(places)
    most = nodes_to_find(result, len(order))
    broken = result.verdict.where(lambda status: status.code is Code.ERROR)[order]
    return Search(feasible=order[places], stops_after=most, first=first, fails=_failing(broken, places, starts, most))


def nodes_to_find(result: CycleResult, searched: int) -> int:
    """After how many feasible nodes a search among so many stops: at the first where nothing is scored."""
    choosing = any(each.filter_verb or each.prioritize_verb for each in result.framework.handle.extenders)
    if not result.framework.score_plugins and not choosing:
        return 1
    return num_feasible_nodes_to_find(searched, result.framework.profile.percentage_of_nodes_to_score)


def _failing(broken: Mask, places: Rows, starts: Integers, most: int) -> Mask:
    """The search goes on until it meets one feasible node more than it needs, or has come around."""
    if not broken.any() or len(places) <= most:
        return np.full(len(starts), broken.any())
    twice = np.concatenate([places, places + len(broken)])
    last = twice[np.searchsorted(places, starts) + most]
    met = np.concatenate([[0], np.cumsum(np.concatenate([broken, broken]))])
    failing: Mask = met[np.minimum(last + 1, starts + len(broken))] > met[starts]
    return failing


def heap_ranks(count: int) -> Integers:
    """Return for each place in a list its rank in Go's heap of the list: the largest item of the lowest rank is on top.

    heap.Init moves a child up only if its parent is smaller, and the right child only if the left one is smaller. So
    among equal items a parent ranks before its children.
    """
    ranks = np.zeros(count, dtype=np.int64)
    waiting = [0]
    rank = 0
    while waiting:
        place = waiting.pop()
        if place < count:
            ranks[place] = rank
            rank += 1
            waiting += (2 * place + 2, 2 * place + 1)
    return ranks
