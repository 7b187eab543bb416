"""minValues that Karpenter lowers, as its NodeClaims say it."""

from typing import Any

from tests.karpenter_decisions import replay

INSTANCE_TYPE = "node.kubernetes.io/instance-type"
CAPACITY_TYPE = "karpenter.sh/capacity-type"


def selector(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def instance_type(name: str) -> dict[str, Any]:
    offering = {"requirements": [selector(CAPACITY_TYPE, "spot")], "price": 1.0, "available": True}
    return {"name": name, "requirements": [selector(INSTANCE_TYPE, name)], "offerings": [offering],
            "capacity": {"cpu": "2", "memory": "8Gi", "pods": "10"}}  # fmt: skip


def pod(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "resources": {"requests": {"cpu": cpu}}}
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {"containers": [container], **spec},
            "status": {"phase": "Pending", "conditions": [condition]}}  # fmt: skip


def test_node_claims_of_one_node_pool_share_the_word_on_lowered_min_values() -> None:
    conditions = [{"type": kind, "status": "True"} for kind in ("ValidationSucceeded", "NodeClassReady", "Ready")]
    two = {"key": INSTANCE_TYPE, "operator": "Exists", "minValues": 2}
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"},
            "spec": {"template": {"spec": {"requirements": [two]}}}, "status": {"conditions": conditions}}  # fmt: skip
    outcome = replay(
        {
            "objects": [pool, pod("one", "1900m", nodeSelector={INSTANCE_TYPE: "a"}), pod("any", "1800m")],
            "instanceTypes": {"": {"types": [instance_type("a"), instance_type("b")]}},
            "wellKnownLabels": [INSTANCE_TYPE, CAPACITY_TYPE],
            "reservationIDLabel": "",
            "preferencePolicy": "Respect",
            "minValuesPolicy": "BestEffort",
            "noReservedCapacity": False,
            "maxInstanceTypes": 600,
        }
    )
    assert [(each.pods, each.min_values_relaxed) for each in outcome.claims] == [
        (("default/one",), False),
        (("default/any",), False),
    ]
