"""The winner against another node: the points of the plugins add up to the lead."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.queries.contrast import contrast_of
from tests.plugins.clusters import node, pod, requests
from tests.scheduler.cycles import explain

BIG: dict[str, Any] = {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110"}}
IMAGES: dict[str, Any] = {"images": [{"names": ["app:1"], "sizeBytes": 900_000_000}]}
NODES = [
    node("w1"),
    node("w2", **BIG),
    node("w3", **BIG, **IMAGES),
    node("tainted", taints=[{"key": "a", "effect": "NoSchedule"}]),
]
WEB = pod(containers=[{"name": "web", "image": "app:1", "resources": {"requests": {"cpu": "2", "memory": "3Gi"}}}])


@pytest.mark.parametrize("asked", [None, "w1", "w2", "w3"])
def test_the_differences_add_up_to_the_lead_and_the_largest_comes_first(asked: str | None) -> None:
    result = explain(WEB, *NODES)
    found = contrast_of(result, asked)
    assert found is not None
    rows = result.nodes.row_of
    assert found.lead == result.total_of[rows[found.node]] - result.total_of[rows[found.other]]
    assert sum(each.difference for each in found.plugins) == found.lead
    sizes = [abs(each.difference) for each in found.plugins]
    assert sizes == sorted(sizes, reverse=True)
    assert 0 not in sizes
    assert all(each.because for each in found.plugins)


def test_it_compares_with_the_runner_up_or_with_the_node_that_was_asked_about() -> None:
    result = explain(WEB, *NODES)
    winner = contrast_of(result, None)
    assert winner is not None
    assert (winner.node, winner.other) == ("w3", "w2")
    asked = contrast_of(result, "w1")
    assert asked is not None
    assert (asked.node, asked.other) == ("w3", "w1")
    assert contrast_of(result, "w3") == winner


def test_there_is_none_where_points_do_not_decide() -> None:
    assert contrast_of(explain(WEB, *NODES), "tainted") is None
    assert contrast_of(explain(WEB, *NODES), "nowhere") is None
    assert contrast_of(explain(WEB, node("w1"))) is None
    assert contrast_of(explain(pod(**requests(cpu="99")), node("w1"), node("w2"))) is None
    assert contrast_of(explain(pod(status={"nominatedNodeName": "w1"}), node("w1"), node("w2"))) is None
