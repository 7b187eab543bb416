"""The number of feasible nodes that ends a search (numFeasibleNodesToFind in pkg/scheduler/schedule_one.go)."""

from __future__ import annotations

MIN_FEASIBLE_NODES_TO_FIND = 100
MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND = 5


def num_feasible_nodes_to_find(node_count: int, percentage: int) -> int:
    """After how many feasible nodes the search stops. A percentage of 0 adapts: 50 % less one for each 125 nodes."""
    if node_count < MIN_FEASIBLE_NODES_TO_FIND:
        return node_count
    if percentage == 0:
        percentage = max(50 - node_count // 125, MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND)
    return max(node_count * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)
