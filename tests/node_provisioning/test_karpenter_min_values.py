"""minValues that Karpenter lowers, as its NodeClaims say it."""

from typing import Any

from tests.karpenter_decisions import replay
from tests.node_provisioning.test_new_nodes import CAPACITY_TYPE, UNSCHEDULABLE, pod, pool, without_uid

INSTANCE_TYPE = "node.kubernetes.io/instance-type"


def selector(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}


def instance_type(name: str) -> dict[str, Any]:
    offering = {"requirements": [selector(CAPACITY_TYPE, "spot")], "price": 1.0, "available": True}
    return {"name": name, "requirements": [selector(INSTANCE_TYPE, name)], "offerings": [offering],
            "capacity": {"cpu": "2", "memory": "8Gi", "pods": "10"}}  # fmt: skip


def asking(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    return {**without_uid(pod(cpu, **spec), name), "status": UNSCHEDULABLE}


def test_node_claims_of_one_node_pool_share_the_word_on_lowered_min_values() -> None:
    two = pool("general", requirements=[{"key": INSTANCE_TYPE, "operator": "Exists", "minValues": 2}])
    outcome = replay(
        {
            "objects": [two, asking("one", "1900m", nodeSelector={INSTANCE_TYPE: "a"}), asking("any", "1800m")],
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
