"""NodeOverlays that Karpenter refuses when it reads them are passed over (RuntimeValidate)."""

from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_new_nodes import answered, karpenter, pod, pool

Json = dict[str, Any]

CAPACITY_TYPE = "karpenter.sh/capacity-type"
INSTANCE_TYPE = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.large"]}


def is_applied(folder: Path, overlay: Json) -> bool:
    """Report whether a NodeOverlay that makes m5.large the dearest type has this effect."""
    switched = karpenter("Pod", FEATURE_GATES="NodeOverlay=true")
    labelled = pool("general")
    labelled["spec"]["template"]["metadata"] = {"labels": {"cores": "4"}}
    answer = answered(folder, labelled, overlay, pod(), switched)["karpenter"]
    return {("m5.large", "m5.xlarge"): False, ("m5.xlarge", "m5.large"): True}[tuple(answer["instanceTypes"])]


def overlay_of(*requirements: Json, **spec: Any) -> Json:
    return {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": "dear"},
            "spec": {"requirements": [INSTANCE_TYPE, *requirements], "price": "9", **spec}}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "operator", "values", "applied"),
    [
        (CAPACITY_TYPE, "In", ["spot", "cheap"], True),
        (CAPACITY_TYPE, "NotIn", ["cheap"], True),
        ("team", "NotIn", ["red"], True),
        ("team", "NotIn", [], False),
        ("team", "NotIn", ["not a value"], False),
        ("not a name", "DoesNotExist", [], False),
        ("karpenter.sh/initialized", "DoesNotExist", [], False),
        ("kubernetes.io/hostname", "NotIn", ["node-0"], False),
        ("cores", "Gt", ["0"], True),
        ("cores", "Gt", [""], False),
        ("cores", "Gte", ["1", "2"], False),
    ],
)
def test_a_requirement_that_karpenter_refuses_makes_the_overlay_invalid(
    tmp_path: Path, key: str, operator: str, values: list[str], *, applied: bool
) -> None:
    assert is_applied(tmp_path, overlay_of({"key": key, "operator": operator, "values": values})) == applied


@pytest.mark.parametrize(("resource", "applied"), [("example.com/gpu", True), ("cpu", False), ("pods", False)])
def test_an_overlay_of_a_standard_resource_is_invalid(tmp_path: Path, resource: str, *, applied: bool) -> None:
    assert is_applied(tmp_path, overlay_of(capacity={resource: "100"})) == applied


@pytest.mark.parametrize(
    ("reason", "observed", "applied"),
    [("RuntimeValidation", 2, False), ("RuntimeValidation", 1, True), ("Conflict", 2, True)],
)
def test_an_overlay_that_karpenter_found_invalid_is_so_until_it_changes(
    tmp_path: Path, reason: str, observed: int, *, applied: bool
) -> None:
    condition = {"type": "ValidationSucceeded", "status": "False", "reason": reason, "observedGeneration": observed}
    overlay = overlay_of() | {"metadata": {"name": "dear", "generation": 2}, "status": {"conditions": [condition]}}
    assert is_applied(tmp_path, overlay) == applied
