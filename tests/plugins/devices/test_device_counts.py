"""Scores of extended resources that devices stand behind."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kubectl_sched.api.resource import DeviceClass, ResourceClaim, ResourceSlice
from kubectl_sched.config.types import (
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    ResourceSpec,
    ScoringStrategy,
)
from kubectl_sched.framework.cycle_state import CycleState, PluginError
from kubectl_sched.plugins.node_resources.balanced_allocation import NodeResourcesBalancedAllocation
from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit
from tests.plugins.clusters import make, node, pod, scored, snapshot

GPU = "example.com/gpu"
ARGS = NodeResourcesFitArgs(scoring_strategy=ScoringStrategy(type="MostAllocated", resources=(ResourceSpec(name=GPU),)))
WANTING = pod("new", containers=[{"name": "main", "resources": {"requests": {GPU: "1"}}}])


def device_class(*expressions: str) -> DeviceClass:
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    spec = {"extendedResourceName": GPU, "selectors": selectors}
    return msgspec.convert({"metadata": {"name": "gpu"}, "spec": spec}, DeviceClass)


def published(name: str, devices: int, **where: Any) -> ResourceSlice:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    listed = [{"name": f"d{number}"} for number in range(devices)]
    spec = {"driver": "example.com", "pool": pool, "devices": listed, **where}
    return msgspec.convert({"metadata": {"name": name}, "spec": spec}, ResourceSlice)


def holding(pool: str, device: str) -> ResourceClaim:
    result = {"request": "r", "driver": "example.com", "pool": pool, "device": device}
    status = {"allocation": {"devices": {"results": [result]}}}
    return msgspec.convert({"metadata": {"name": "c", "namespace": "default"}, "status": status}, ResourceClaim)


NODES = (node("w1", labels={"zone": "a"}), node("w2", labels={"zone": "b"}))
IN_ZONE_A = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}


@pytest.mark.parametrize(
    ("objects", "scores"),
    [
        ([published("p", 4, nodeName="w1")], [25, 0]),
        ([published("p", 4, nodeName="w1"), holding("p", "d0")], [50, 0]),
        ([published("p", 4, allNodes=True)], [25, 25]),
        ([published("p", 4, nodeSelector=IN_ZONE_A)], [25, 0]),
        ([published("p", 2, nodeName="w1"), published("q", 4, nodeName="w2")], [50, 25]),
    ],
)
def test_devices_count_as_the_resource(objects: list[Any], scores: list[int]) -> None:
    nodes = snapshot(*NODES, device_class(), *objects)
    assert scored(make(NodeResourcesFit, ARGS), WANTING, nodes) == scores


@pytest.mark.parametrize(
    ("expression", "score"),
    [('device.driver == "example.com"', 50), ('device.driver == "other.com"', 0), ("device.driver ==", 0)],
)
def test_only_devices_of_the_class_count(expression: str, score: int) -> None:
    nodes = snapshot(node("w1"), device_class(expression), published("p", 2, nodeName="w1"))
    assert scored(make(NodeResourcesFit, ARGS), WANTING, nodes) == [score]


def test_what_the_node_offers_itself_comes_first() -> None:
    offered = node("w1", allocatable={"pods": "10", GPU: "10"})
    nodes = snapshot(offered, device_class(), published("p", 2, nodeName="w1"))
    assert scored(make(NodeResourcesFit, ARGS), WANTING, nodes) == [10]


@pytest.mark.parametrize(("version", "score"), [("1.34", 0), ("1.35", 50), ("1.37", 50)])
def test_since_1_35(version: str, score: int) -> None:
    nodes = snapshot(node("w1"), device_class(), published("p", 2, nodeName="w1"))
    assert scored(make(NodeResourcesFit, ARGS, version=version, DRAExtendedResource=True), WANTING, nodes) == [score]


def test_evidence_counts_devices_too() -> None:
    nodes = snapshot(node("w1"), device_class(), published("p", 2, nodeName="w1"))
    (evidence,) = make(NodeResourcesFit, ARGS).explain_score(CycleState(), WANTING, nodes, 0)
    assert evidence.text == f"1 of 2 {GPU} would be requested: 50 points, as fuller nodes get more"


def test_balanced_allocation_goes_down_over_a_selector() -> None:
    resources = (ResourceSpec(name="cpu"), ResourceSpec(name=GPU))
    balanced = make(NodeResourcesBalancedAllocation, NodeResourcesBalancedAllocationArgs(resources=resources))
    without = snapshot(node("w1"), device_class(), published("p", 2, nodeName="w1"))
    assert scored(balanced, WANTING, without) == [62]
    nodes = snapshot(node("w1"), device_class('device.driver == "example.com"'), published("p", 2, nodeName="w1"))
    with pytest.raises(PluginError, match="kube-scheduler crashes while it scores devices"):
        scored(balanced, WANTING, nodes)
