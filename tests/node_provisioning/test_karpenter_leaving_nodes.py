"""The pods of nodes that go away: which of them Karpenter places anew before it looks at the pod asked about."""

from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_new_nodes import CAPACITY_TYPE, ZONE, answered, node, pod, pool

Json = dict[str, Any]

LABELS = {
    "karpenter.sh/nodepool": "general",
    "node.kubernetes.io/instance-type": "m5.xlarge",
    ZONE: "a",
    CAPACITY_TYPE: "spot",
    "karpenter.sh/registered": "true",
    "karpenter.sh/initialized": "true",
}
DELETED: Json = {"deletionTimestamp": "2026-01-01T11:00:00Z", "finalizers": ["x/y"]}
CLAIM = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodeClaim",
    "metadata": {"name": "old", "labels": LABELS, **DELETED},
    "status": {"providerID": "x://n1", "nodeName": "n1"},
}


def small_pool() -> Json:
    """A NodePool whose limit leaves room for one machine of the larger type."""
    found = pool("general", requirements=[{"key": "node.kubernetes.io/instance-type", "operator": "In",
                                           "values": ["m5.xlarge"]}])  # fmt: skip
    return {**found, "spec": {**found["spec"], "limits": {"cpu": "4"}}}


def other(*, phase: str = "Running", start: str = "2026-01-01T10:00:00Z", **metadata: Any) -> Json:
    """A pod on the leaving node that takes most of a machine."""
    made = pod("3", nodeName="n1")
    status = {"phase": phase, "startTime": start}
    return {**made, "metadata": {"name": "other", "namespace": "default", "uid": "other", **metadata}, "status": status}


def budget(name: str = "b", **spec: Any) -> Json:
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"}, "spec": {"selector": {}, **spec}}  # fmt: skip


def verdict(folder: Path, *objects: Json) -> str:
    """The verdict about a pod that needs the whole machine; the time is that of a second pod, 11:00."""
    clock = {**pod("1", nodeName="elsewhere"), "status": {"phase": "Running"}}
    clock["metadata"] = {"name": "clock", "namespace": "x", "uid": "clock", "creationTimestamp": "2026-01-01T11:00:00Z"}
    found = answered(folder, small_pool(), CLAIM, node("n1", **LABELS), clock, pod("2500m"), *objects)["karpenter"]
    stated: str = found["verdict"]
    return stated


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("true", "Created"),
        ("30m", "Impossible"),
        ("2h", "Created"),
        ("soon", "Impossible"),
        ("-1h", "Impossible"),
        ("false", "Impossible"),
    ],
)
def test_a_pod_that_must_not_be_disrupted_stays_on_its_node(tmp_path: Path, value: str, expected: str) -> None:
    assert verdict(tmp_path, other(annotations={"karpenter.sh/do-not-disrupt": value})) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"maxUnavailable": 0}, "Created"),
        ({"maxUnavailable": "0%"}, "Created"),
        ({"minAvailable": "100%"}, "Created"),
        ({"maxUnavailable": 1}, "Impossible"),
        ({"minAvailable": 1}, "Impossible"),
        ({"maxUnavailable": 0, "selector": {"matchLabels": {"app": "x"}}}, "Impossible"),
        ({"maxUnavailable": 0, "selector": None}, "Impossible"),
    ],
)
def test_a_pod_behind_a_budget_that_never_allows_a_disruption_stays(tmp_path: Path, spec: Json, expected: str) -> None:
    assert verdict(tmp_path, other(), budget(**spec)) == expected


def test_a_pod_behind_two_budgets_stays_as_no_eviction_of_it_succeeds(tmp_path: Path) -> None:
    assert verdict(tmp_path, other(), budget(maxUnavailable=1), budget("c", maxUnavailable=1)) == "Created"


def test_a_budget_that_lets_unhealthy_pods_go_holds_only_healthy_ones(tmp_path: Path) -> None:
    lenient = budget(maxUnavailable=0, unhealthyPodEvictionPolicy="AlwaysAllow")
    unhealthy = other()
    unhealthy["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    assert verdict(tmp_path, other(), lenient) == "Created"
    assert verdict(tmp_path, unhealthy, lenient) == "Impossible"


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_a_terminating_pod_of_a_stateful_set_is_placed_anew_though_it_has_ended(tmp_path: Path, phase: str) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "s", "controller": True}
    assert verdict(tmp_path, other(phase=phase, ownerReferences=[owner], **DELETED)) == "Impossible"
    assert verdict(tmp_path, other(phase=phase, **DELETED)) == "Created"
