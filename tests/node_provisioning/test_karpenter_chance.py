"""Choices of Karpenter that depend on the order in which Go iterates a map are named."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_new_nodes import CAPACITY_TYPE, ZONE, answered, asked, pod, pool, screen

INSTANCE_TYPE = "node.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("pod_selector", "daemon_selector", "requested", "is_open"),
    [
        ({}, {INSTANCE_TYPE: "m5.xlarge"}, "1500m", True),
        ({}, {}, "1750m", False),
        ({}, {INSTANCE_TYPE: "c5.large"}, "1500m", False),
        ({INSTANCE_TYPE: "m5.large"}, {INSTANCE_TYPE: "m5.xlarge"}, "1500m", False),
        ({INSTANCE_TYPE: "m5.xlarge"}, {INSTANCE_TYPE: "m5.xlarge"}, "1750m", False),
    ],
    ids=["on one type", "on all types", "on none", "on a type that is out", "on the only type left"],
)
def test_requests_depend_on_chance_where_daemons_run_on_some_of_the_types(
    tmp_path: Path,
    pod_selector: dict[str, str],
    daemon_selector: dict[str, str],
    requested: str,
    *,
    is_open: bool,
) -> None:
    container = {"name": "agent", "resources": {"requests": {"cpu": "250m"}}}
    spec: dict[str, Any] = {"containers": [container], "nodeSelector": daemon_selector}
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent", "namespace": "default"},
              "spec": {"selector": {}, "template": {"spec": spec}}}  # fmt: skip
    found = answered(tmp_path, pool("general"), pod(nodeSelector=pod_selector), daemon)
    assert found["karpenter"]["nodeClaim"]["resources"]["requests"]["cpu"] == requested
    assert any("leaves a choice to chance" in each for each in found["assumed"]) == is_open


SPREAD = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
          "labelSelector": {"matchLabels": {"app": "x"}}}  # fmt: skip


def two_zones() -> bytes:
    offerings = [
        {"Price": 1, "Requirements": [{"key": key, "operator": "In", "values": [value]}
                                      for key, value in ((ZONE, zone), (CAPACITY_TYPE, "spot"))]}
        for zone in ("a", "b")
    ]  # fmt: skip
    return json.dumps([{"name": "m5.xlarge", "architecture": "amd64", "operatingSystems": ["linux"],
                        "resources": {"cpu": "4", "memory": "8Gi"}, "offerings": offerings}]).encode()  # fmt: skip


def test_the_outcome_of_most_orders_is_told_with_their_number(tmp_path: Path) -> None:
    objects = [pool("general"), pod(topologySpreadConstraints=[SPREAD])]
    found = answered(tmp_path, *objects, types=two_zones())["karpenter"]
    agreeing, replays = found["chance"]["agreeing"], found["chance"]["replays"]
    assert replays == 20
    assert replays / 2 <= agreeing < replays
    told = " ".join(screen(asked(tmp_path, *objects, types=two_zones())).split())
    assert f"(in {agreeing} of 20 replays: Karpenter leaves it to chance)." in told


def test_nothing_is_said_of_chance_where_all_orders_agree_about_the_pod(tmp_path: Path) -> None:
    other = pod("3", topologySpreadConstraints=[SPREAD])
    other["metadata"] = {"name": "other", "namespace": "default", "uid": "a-other"}
    other["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    objects = [pool("general"), other, pod("3")]
    found = answered(tmp_path, *objects, types=two_zones())
    assert found["karpenter"]["chance"] == {"agreeing": 20, "replays": 20}
    assert not any("chance" in each for each in found["assumed"])
    assert "replays" not in screen(asked(tmp_path, *objects, types=two_zones()))
