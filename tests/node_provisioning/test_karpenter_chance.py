"""Choices of Karpenter that depend on the order in which Go iterates a map are named."""

from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_new_nodes import answered, pod, pool

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
