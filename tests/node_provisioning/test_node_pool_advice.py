"""What a NodePool could be given so that Karpenter makes a node of it for a pod: a label, a value, no taint."""

from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_new_nodes import answered, pod, pool

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
TAINT = {"key": "dedicated", "value": "a", "effect": "NoSchedule"}
SYSTEM = {"key": "CriticalAddonsOnly", "value": "", "effect": "NoSchedule"}


def of_zone(*zones: str) -> Json:
    return {"key": ZONE, "operator": "In", "values": list(zones)}


def advice(folder: Path, *objects: Json, **more: Any) -> list[Json]:
    found: list[Json] = answered(folder, *objects, **more)["karpenter"]["advice"]
    return found


def test_a_label_that_the_nodepool_lacks_is_named_with_its_value(tmp_path: Path) -> None:
    (told,) = advice(tmp_path, pool("general"), pod(nodeSelector={"team": "x"}), types=None)
    assert (told["name"], told["field"], told["value"]) == ("general", "spec.template.metadata.labels", "team: x")
    with_types = advice(tmp_path, pool("general"), pod(nodeSelector={"team": "x"}))
    assert [each["value"] for each in with_types] == ["team: x"]


@pytest.mark.parametrize(
    "selector",
    [
        {"node-role.kubernetes.io/worker": ""},
        {"team": "x", "stage": "y", "tier": "z"},
        {"topology.kubernetes.io/zon": "a"},
    ],
    ids=["a label of Kubernetes", "more labels than two", "a typo"],
)
def test_of_other_labels_nothing_is_advised(tmp_path: Path, selector: dict[str, str]) -> None:
    assert advice(tmp_path, pool("general"), pod(nodeSelector=selector), types=None) == []


def test_a_value_that_the_nodepool_does_not_allow_is_named(tmp_path: Path) -> None:
    objects = [pool("general", requirements=[of_zone("a", "b")]), pod(nodeSelector={ZONE: "c"})]
    (told,) = advice(tmp_path, *objects, types=None)
    assert (told["field"], told["value"]) == ("spec.template.spec.requirements", f"{ZONE}: c")
    assert f"allows {ZONE} a and b, and the pod needs c" in told["sentence"]
    assert "no machine there is known here" in told["sentence"]


def test_a_change_that_known_machines_cannot_follow_is_not_advised(tmp_path: Path) -> None:
    arch = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
    objects = [pool("general", requirements=[arch]), pod(nodeSelector={"kubernetes.io/arch": "riscv64"})]
    assert advice(tmp_path, *objects) == []
    assert len(advice(tmp_path, *objects, types=None)) == 1


def test_a_taint_is_the_last_thing_to_be_named(tmp_path: Path) -> None:
    (told,) = advice(tmp_path, pool("general", taints=[TAINT]), pod(), types=None)
    assert told["field"] == "spec.template.spec.taints"
    assert "tolerate it where the pod belongs" in told["sentence"]
    objects = [pool("kept", taints=[TAINT]), pool("general", requirements=[of_zone("a")])]
    (told,) = advice(tmp_path, *objects, pod(nodeSelector={ZONE: "b"}), types=None)
    assert told["name"] == "general"
    assert advice(tmp_path, pool("kept", taints=[TAINT]), pool("general"), pod(), types=None) == []


def test_nobody_is_told_to_tolerate_the_taint_of_system_nodes(tmp_path: Path) -> None:
    (told,) = advice(tmp_path, pool("system", taints=[SYSTEM]), pod(), types=None)
    assert "have a NodePool without the taint" in told["sentence"]
    assert "tolerate it" not in told["sentence"]


def test_a_static_nodepool_grows_by_its_replicas(tmp_path: Path) -> None:
    static = pool("fixed")
    static["spec"]["replicas"] = 2
    (told,) = advice(tmp_path, static, pod())
    assert (told["field"], told["value"]) == ("spec.replicas", "3")
    assert advice(tmp_path, static, pod(cpu="64")) == []
