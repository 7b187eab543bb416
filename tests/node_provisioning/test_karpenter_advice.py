"""Causes for which Karpenter makes nodes in vain, or none: startup taints, promises of NodeClaims, spread domains."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_new_nodes import CAPACITY_TYPE, ZONE, answered, asked, node, pod, pool, screen

Json = dict[str, Any]

TYPE = "node.kubernetes.io/instance-type"
LABELS = {"karpenter.sh/nodepool": "general", TYPE: "m5.large", ZONE: "a", CAPACITY_TYPE: "spot",
          "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}  # fmt: skip
AGENT = {"key": "node.cilium.io/agent-not-ready", "value": "true", "effect": "NoExecute"}


def claim(cpu: str = "2", **spec: Any) -> Json:
    labels = {key: value for key, value in LABELS.items() if not key.startswith("karpenter.sh/r")}
    amounts = {"cpu": cpu, "memory": "4Gi", "pods": "10"}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "general-1", "labels": labels},
            "spec": spec,
            "status": {"providerID": "x://n1", "nodeName": "n1", "capacity": amounts,
                       "allocatable": amounts}}  # fmt: skip


def tainted(*taints: Json) -> Json:
    made = node("n1", **LABELS)
    return {**made, "spec": {**made["spec"], "taints": list(taints)}}


@pytest.mark.parametrize("key", ["node.cilium.io/agent-not-ready", "ebs.csi.aws.com/agent-not-ready", "x/not-ready"])
def test_a_taint_that_goes_by_itself_belongs_among_the_startup_taints(tmp_path: Path, key: str) -> None:
    taint = {**AGENT, "key": key}
    found = answered(tmp_path, pool("general"), claim(), tainted(taint), pod("500m"))["karpenter"]
    assert found["verdict"] == "Created"
    (advice,) = found["advice"]
    assert (advice["name"], advice["field"]) == ("general", "spec.template.spec.startupTaints")
    assert advice["value"] == f"{key}=true:NoExecute"
    assert advice["sentence"] in " ".join(
        screen(asked(tmp_path, pool("general"), claim(), tainted(taint), pod("500m"), new_nodes=False)).split()
    )


@pytest.mark.parametrize(
    ("made", "taint", "cpu"),
    [
        (pool("general", startupTaints=[AGENT]), AGENT, "500m"),
        (pool("general"), {"key": "dedicated", "value": "x", "effect": "NoSchedule"}, "500m"),
        (pool("general"), AGENT, "1800m"),
    ],
    ids=["announced", "lasting", "too small without it"],
)
def test_other_taints_are_not_blamed(tmp_path: Path, made: Json, taint: Json, cpu: str) -> None:
    assert answered(tmp_path, made, claim("1"), tainted(taint), pod(cpu))["karpenter"]["advice"] == []


def test_a_node_with_less_than_its_nodeclaim_promises_is_named(tmp_path: Path) -> None:
    objects = [pool("general"), claim(), node("n1", **LABELS), pod("1500m")]
    (advice,) = answered(tmp_path, *objects)["karpenter"]["advice"]
    assert advice["sentence"].startswith(
        "Node n1 has 1 cpu for pods where its NodeClaim general-1 promises 2: Karpenter may go on creating nodes"
    )
    assert (
        answered(tmp_path, pool("general"), claim("1"), node("n1", **LABELS), pod("1500m"))["karpenter"]["advice"] == []
    )


def test_a_spread_domain_that_only_another_nodepool_brings_is_named(tmp_path: Path) -> None:
    def of_zone(name: str, zone: str, **more: Any) -> Json:
        return pool(name, requirements=[{"key": ZONE, "operator": "In", "values": [zone]}], **more)

    def offering(zone: str) -> Json:
        requirements = [{"key": key, "operator": "In", "values": [value]}
                        for key, value in ((ZONE, zone), (CAPACITY_TYPE, "spot"))]  # fmt: skip
        return {"Price": 1, "Requirements": requirements}

    types = json.dumps([{"name": "m5.xlarge", "architecture": "amd64", "operatingSystems": ["linux"],
                         "resources": {"cpu": "4", "memory": "8Gi"},
                         "offerings": [offering("a"), offering("b")]}]).encode()  # fmt: skip
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    there = pod("100m", nodeName="n1")
    there["metadata"] = {"name": "other", "namespace": "default", "uid": "other"}
    there["status"] = {"phase": "Running"}
    taint = {"key": "team", "value": "b", "effect": "NoSchedule"}
    objects = [of_zone("plain", "a"), of_zone("kept", "b", taints=[taint]), node("n1", **LABELS), there]
    found = answered(tmp_path, *objects, pod("3", topologySpreadConstraints=[spread]), types=types)["karpenter"]
    assert found["verdict"] == "Impossible"
    assert [each["name"] for each in found["advice"]] == ["kept"]
    assert found["advice"][0]["sentence"].startswith("Without NodePool kept, Karpenter would make a node of NodePool")
    honoring = {**spread, "nodeTaintsPolicy": "Honor"}
    honored = answered(tmp_path, *objects, pod("3", topologySpreadConstraints=[honoring]), types=types)["karpenter"]
    assert honored["verdict"] == "Created"
