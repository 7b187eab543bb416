from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.config.types import NodeResourcesBalancedAllocationArgs, ResourceSpec
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.plugins.node_resources.balanced_allocation import NodeResourcesBalancedAllocation, balance
from tests.plugins.clusters import make, node, pod, requests, scored, snapshot

EQUAL = {"cpu": "10", "memory": "10Gi", "pods": "10"}


def wanting(**amounts: str) -> Any:
    return pod("new", **requests(**amounts))


@pytest.mark.parametrize(
    ("version", "incoming", "score"),
    [
        ("1.35", wanting(cpu="4", memory="4Gi"), 100),
        ("1.35", wanting(cpu="10"), 50),
        ("1.36", wanting(cpu="4", memory="4Gi"), 75),
        ("1.36", wanting(cpu="10"), 50),
        ("1.37", wanting(cpu="5", memory="3Gi"), 50 + (50 + 90 - 100) // 2),
    ],
)
def test_since_1_36_the_balance_is_compared_to_the_one_before(version: str, incoming: Any, score: int) -> None:
    nodes = snapshot(node("w1", allocatable=EQUAL))
    assert scored(make(NodeResourcesBalancedAllocation, version=version), incoming, nodes) == [score]


def test_a_pod_that_evens_out_a_node_is_worth_most() -> None:
    nodes = snapshot(node("w1", allocatable=EQUAL), pod("old", on="w1", **requests(cpu="8")))
    assert scored(make(NodeResourcesBalancedAllocation), wanting(memory="8Gi"), nodes) == [50 + (50 + 100 - 60) // 2]


def test_best_effort_pods_are_skipped() -> None:
    nodes = snapshot(node())
    assert scored(make(NodeResourcesBalancedAllocation), pod("new", containers=[{"name": "main"}]), nodes) is None
    assert scored(make(NodeResourcesBalancedAllocation), wanting(cpu="0"), nodes) is None


def test_best_effort_pods_without_prescore_get_nothing() -> None:
    nodes = snapshot(node())
    plugin = make(NodeResourcesBalancedAllocation)
    assert plugin.score(CycleState(), pod("new"), nodes, nodes.pod_count.argsort()).tolist() == [0]


def test_the_pod_as_a_whole_counts_here() -> None:
    nodes = snapshot(node("w1", allocatable=EQUAL))
    whole = pod("new", resources={"requests": {"cpu": "10"}}, **requests(cpu="1"))
    assert scored(make(NodeResourcesBalancedAllocation), whole, nodes) == [50]


def test_a_resource_that_the_pod_does_not_ask_for_is_left_out() -> None:
    args = NodeResourcesBalancedAllocationArgs(
        resources=(ResourceSpec(name="cpu"), ResourceSpec(name="memory"), ResourceSpec(name="nvidia.com/gpu"))
    )
    nodes = snapshot(node("w1", allocatable={**EQUAL, "nvidia.com/gpu": "1"}))
    assert scored(make(NodeResourcesBalancedAllocation, args), wanting(cpu="4", memory="4Gi"), nodes) == [75]


def test_evidence_tells_the_shares_before_and_after() -> None:
    nodes = snapshot(node("w1", allocatable=EQUAL), pod("old", on="w1", **requests(cpu="2")))
    incoming = wanting(cpu="3", memory="1Gi")
    evidence = make(NodeResourcesBalancedAllocation).explain_score(CycleState(), incoming, nodes, 0)
    assert [each.text for each in evidence] == [
        "cpu would go from 20% to 50% requested",
        "memory would go from 0% to 10% requested",
    ]


def one_by_one(requested: list[int], allocatable: list[int]) -> int:
    """balancedResourceScore for a single node, in plain Python floats."""
    shares = [min(some / whole, 1.0) for some, whole in zip(requested, allocatable, strict=True) if whole]
    deviation = 0.0
    if len(shares) == 2:
        deviation = abs((shares[0] - shares[1]) / 2)
    elif len(shares) > 2:
        total = 0.0
        for share in shares:
            total += share
        mean, squares = total / len(shares), 0.0
        for share in shares:
            squares += (share - mean) * (share - mean)
        deviation = math.sqrt(squares / len(shares))
    return int((1 - deviation) * 100)


AMOUNT = st.integers(0, 2**40)


@given(
    st.lists(
        st.tuples(*[st.tuples(AMOUNT, st.sampled_from([0, 1, 7, 4000, 2**35, 10**12]))] * 4), min_size=1, max_size=8
    )
)
def test_all_nodes_at_once_are_the_same_as_each_alone(rows: list[tuple[tuple[int, int], ...]]) -> None:
    columns = np.array(rows, dtype=np.int64)
    requested, allocatable = list(columns[:, :, 0].T), list(columns[:, :, 1].T)
    expected = [one_by_one([r for r, _ in row], [a for _, a in row]) for row in rows]
    assert balance(requested, allocatable).tolist() == expected
