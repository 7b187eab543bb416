"""The verdict on each NodePool: the replay's own reason, what is certain without instance types, what would help."""

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.errors import SchedError
from tests.node_provisioning.test_new_nodes import TYPES, answered, asked, node, pod, pool, screen

Json = dict[str, Any]

TAINT = {"key": "dedicated", "value": "a", "effect": "NoSchedule"}


def limited(made: Json, **limits: str) -> Json:
    return {**made, "spec": {**made["spec"], "limits": limits}}


def second(name: str = "other", **spec: Any) -> Json:
    made = pod(**spec)
    said = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    return {**made, "metadata": {**made["metadata"], "name": name, "uid": f"a-{name}"},
            "status": {"phase": "Pending", "conditions": said}}  # fmt: skip


def test_the_tables_reason_is_that_of_the_replay(tmp_path: Path) -> None:
    found = answered(tmp_path, limited(pool("general", taints=[TAINT]), cpu="2"), pod("3"))["karpenter"]
    assert found["error"] == "did not tolerate taint (taint=dedicated=a:NoSchedule)"
    assert [each["reason"] for each in found["nodePools"]] == [found["error"]]
    wanted = [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["none"]}]
    found = answered(tmp_path, pool("general", taints=[TAINT], requirements=wanted), pod())["karpenter"]
    assert found["error"] == "nodepool requirements filtered out all available instance types"
    assert [each["reason"] for each in found["nodePools"]] == [found["error"]]


def test_a_pod_whose_place_another_pod_takes_is_impossible_where_all_types_are_known(tmp_path: Path) -> None:
    found = answered(tmp_path, limited(pool("general"), cpu="2"), second(cpu="1600m"), pod("1500m"))["karpenter"]
    assert found["verdict"] == "Impossible"
    (told,) = found["nodePools"]
    assert (told["verdict"], told["reason"]) == ("Impossible", found["error"])
    assert told["suggestion"].startswith("for this pod alone NodePool general would make a node")


def test_a_table_says_yes_only_where_a_node_would_be_made(tmp_path: Path) -> None:
    unlaunched = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": "new-abc"}}
    answer = asked(tmp_path, pool("general"), unlaunched, pod())
    assert "would create no node now: it places no pod until NodeClaim new-abc has launched" in screen(answer)
    assert "not needed: 2 instance types fit" in screen(answer)
    assert "yes:" not in screen(answer)


def test_without_instance_types_only_what_is_certain_is_said(tmp_path: Path) -> None:
    found = answered(tmp_path, pool("general"), pod(), types=None)["karpenter"]
    assert (found["verdict"], found["typesSeen"]) == ("Unknown", 0)
    assert "--instance-types" in found["error"]
    labelled = {**pool("general"), "spec": {**pool("general")["spec"]}}
    labelled["spec"]["template"] = {**labelled["spec"]["template"], "metadata": {"labels": {"team-name": "x"}}}
    found = answered(tmp_path, labelled, pod(nodeSelector={"team": "x"}), types=None)["karpenter"]
    assert found["verdict"] == "Impossible"
    assert found["error"] == (
        'incompatible requirements, label "team" does not have known values (typo of "team-name"?)'
    )
    found = answered(tmp_path, pool("general", taints=[TAINT]), pool("plain"), pod(), types=None)["karpenter"]
    assert found["verdict"] == "Unknown"
    assert [each["verdict"] for each in found["nodePools"]] == ["Impossible", "Unknown"]
    assert "taint" not in found["error"]


def test_a_volume_that_the_nodepool_cannot_reach_is_certain_without_instance_types(tmp_path: Path) -> None:
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}
    reached = [{"matchLabelExpressions": [{"key": zone["key"], "values": ["b"]}]}]
    storage_class = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "s"},
                     "provisioner": "p", "volumeBindingMode": "WaitForFirstConsumer",
                     "allowedTopologies": reached}  # fmt: skip
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"},
             "spec": {"storageClassName": "s"}}  # fmt: skip
    waiting = pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    found = answered(tmp_path, pool("general", requirements=[zone]), storage_class, claim, waiting, types=None)
    assert found["karpenter"]["verdict"] == "Impossible"
    assert found["karpenter"]["error"].startswith("incompatible volume requirements, key topology.kubernetes.io/zone")


def test_a_limit_is_told_in_numbers_with_the_one_that_would_do(tmp_path: Path) -> None:
    there = node("n1", **{"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m5.large",
                          "karpenter.sh/initialized": "true"})  # fmt: skip
    objects = [limited(pool("general"), cpu="3", memory="100Gi"), there, pod("1500m")]
    (told,) = answered(tmp_path, *objects)["karpenter"]["nodePools"]
    assert told["limits"] == [{"resource": "cpu", "limit": "3", "used": "2", "left": "1", "needed": "2"}]
    (advice,) = told["advice"]
    assert (advice["kind"], advice["name"]) == ("NodePool", "general")
    assert (advice["field"], advice["value"]) == ("spec.limits.cpu", "4")
    sentence = (
        "NodePool general has used 2 of its limit of 3 cpu, 1 left, and the smallest machine for the pod has 2: "
        "raise spec.limits.cpu to 4 or more"
    )
    assert sentence in " ".join(screen(asked(tmp_path, *objects)).split())


def test_a_limit_on_nodes_is_told_without_machines(tmp_path: Path) -> None:
    (told,) = answered(tmp_path, limited(pool("general"), nodes="0"), pod())["karpenter"]["nodePools"]
    assert told["advice"][0]["sentence"] == (
        "NodePool general has used 0 of its limit of 0 nodes, 0 left: raise spec.limits.nodes"
    )


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        ({"ValidationSucceeded": "True", "NodeClassReady": "False", "Ready": "False"}, "NodeClassReady is False"),
        ({"ValidationSucceeded": "Unknown", "NodeClassReady": "True"}, "ValidationSucceeded is Unknown"),
        ({}, "condition ValidationSucceeded is missing, condition NodeClassReady is missing"),
    ],
)
def test_a_nodepool_that_is_not_ready_lacks_a_condition_by_its_name(
    tmp_path: Path, conditions: dict[str, str], reason: str
) -> None:
    stated = [{"type": kind, "status": status} for kind, status in conditions.items()]
    found = answered(tmp_path, {**pool("general"), "status": {"conditions": stated}}, pod())["karpenter"]
    assert found["error"] == "no dynamic nodepools found"
    assert reason in found["nodePools"][0]["reason"]
    for new_nodes in (True, False):
        answer = asked(tmp_path, {**pool("general"), "status": {"conditions": stated}}, pod(), new_nodes=new_nodes)
        assert not new_nodes or reason in " ".join(screen(answer).split())


def test_a_gated_pod_is_looked_at_by_nobody(tmp_path: Path) -> None:
    gated = pod(schedulingGates=[{"name": "team/quota"}])
    found = answered(tmp_path, pool("general"), gated)["karpenter"]
    assert found["verdict"] == "Impossible"
    assert found["error"].startswith("the pod is gated")


def test_keys_of_a_types_file_are_read_as_go_reads_them(tmp_path: Path) -> None:
    upper = json.loads(TYPES.replace(b'"offerings"', b'"OFFERINGS"').replace(b'"name"', b'"Name"'))
    lower = json.dumps(upper).replace('"Requirements"', '"requirements"').replace('"Price"', '"price"')
    written = lower.replace('"operator"', '"Operator"').replace('"architecture"', '"Architecture"')
    assert answered(tmp_path, pool("general"), pod(), types=written.encode()) == answered(
        tmp_path, pool("general"), pod()
    )
    with pytest.raises(SchedError, match=r"types\.json has no instance type"):
        answered(tmp_path, pool("general"), pod(), types=b"[]")
