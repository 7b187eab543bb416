"""The texts that older kube-schedulers write, as their last patch releases have them (FitError.Error and plugins)."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.config import SUPPORTED
from kubectl_sched.diagnostics.messages.decoder import parse
from tests.plugins.clusters import node, pod, requests
from tests.plugins.storage_objects import claim, in_zone, node_in, storage_class, using, volume
from tests.scheduler.cycles import explain

TAINTED: dict[str, Any] = {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]}
ON_W1: dict[str, Any] = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["w1"]}]},
                ]
            }
        }
    }
}


def minors(first: int, last: int) -> list[str]:
    return [f"1.{minor}" for minor in range(first, last + 1)]


def each(*cases: tuple[int, int, str]) -> list[tuple[str, str]]:
    """One case a minor, out of spans of minors with one text."""
    spread = [(minor, text) for first, last, text in cases for minor in minors(first, last)]
    assert [minor for minor, _ in spread] == [str(version) for version in SUPPORTED]
    return spread


def without_claims(event: str | None) -> str:
    """The event without what DynamicResources says of pods that claim nothing, which only some minors do."""
    return (event or "").replace("no new claims to deallocate, ", "")


@pytest.mark.parametrize(
    ("minor", "taint"),
    each(
        (22, 23, "node(s) had taint {dedicated: gpu}, that the pod didn't tolerate"),
        (24, 33, "node(s) had untolerated taint {dedicated: gpu}"),
        (34, 38, "node(s) had untolerated taint(s)"),
    ),
)
def test_the_taint_is_named_until_1_33(minor: str, taint: str) -> None:
    result = explain(pod(), node(**TAINTED), version=minor)
    assert result.message == f"0/1 nodes are available: 1 {taint}."


@pytest.mark.parametrize(
    ("minor", "conflict"),
    each(
        (22, 32, "node(s) had volume node affinity conflict"),
        (33, 38, "node(s) didn't match PersistentVolume's node affinity"),
    ),
)
def test_a_volume_of_another_zone_is_called_a_conflict_until_1_32(minor: str, conflict: str) -> None:
    elsewhere = volume("pv", nodeAffinity=in_zone("b"))
    result = explain(
        pod(**using("data")), node_in("a"), claim("data", to="pv"), elsewhere, storage_class(), version=minor
    )
    assert result.message == f"0/1 nodes are available: 1 {conflict}."
    assert "zone" in str(result.filter_evidence("VolumeBinding", 0))


PREEMPTION = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."


@pytest.mark.parametrize(
    ("minor", "after"),
    each((22, 23, ""), (24, 25, f" {PREEMPTION}"), (26, 28, f" {PREEMPTION}."), (29, 38, f" {PREEMPTION}")),
)
def test_what_preemption_said_ends_in_two_full_stops_from_1_26_to_1_28(minor: str, after: str) -> None:
    full = node(allocatable={"cpu": "1", "memory": "1Gi", "pods": "110"})
    result = explain(pod(**requests(cpu="1")), full, pod("other", on="w1", **requests(cpu="1")), version=minor)
    assert without_claims(result.event) == f"0/1 nodes are available: 1 Insufficient cpu.{after}"
    assert all(clause.meaning for clause in parse(result.event or "").clauses)


@pytest.mark.parametrize(
    ("minor", "count"), each((22, 25, "2 "), (26, 38, "")), ids=[str(version) for version in SUPPORTED]
)
def test_a_rejection_by_pre_filter_is_counted_until_1_25(minor: str, count: str) -> None:
    result = explain(pod(**using("data")), node("w1"), node("w2"), version=minor)
    assert result.message == f'0/2 nodes are available: {count}persistentvolumeclaim "data" not found.'


@pytest.mark.parametrize(
    ("minor", "left_out"), each((22, 31, ""), (32, 38, "1 node(s) didn't satisfy plugin(s) [NodeAffinity], "))
)
def test_nodes_that_pre_filter_leaves_out_give_no_reason_until_1_31(minor: str, left_out: str) -> None:
    nodes = node("w1", unschedulable=True), node("w2")
    result = explain(pod(**ON_W1), *nodes, version=minor)
    assert result.message == f"0/2 nodes are available: {left_out}1 node(s) were unschedulable."
