"""What a node group could be given so that cluster-autoscaler adds a node: a group per zone, tags of its template."""

from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.api.core import Node, NodeSpec
from kubectl_sched.node_provisioning.cluster_autoscaler.template_hints import template_hint
from tests.node_provisioning.test_cluster_autoscaler import ZONE, asked, autoscaler, node, pod

Json = dict[str, Any]

UUID = "aac0a1b2-1111-2222-3333-444455556666"


def status(*names: str) -> Json:
    groups = "".join(
        f"- name: {name}\n  health: {{status: Healthy, cloudProviderTarget: 0, minSize: 0, maxSize: 5,"
        " nodeCounts: {registered: {ready: 0}}}\n  scaleUp: {status: NoActivity}\n"
        for name in names
    )
    text = f"autoscalerStatus: Running\nnodeGroups:\n{groups}"
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"},
            "data": {"status": text}}  # fmt: skip


def event(text: str) -> Json:
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "web.1", "namespace": "default"},
            "involvedObject": {"kind": "Pod", "name": "web", "namespace": "default", "uid": "uid-web"},
            "reason": "NotTriggerScaleUp", "message": f"pod didn't trigger scale-up: {text}",
            "source": {"component": "cluster-autoscaler"}, "lastTimestamp": "2026-01-01T00:00:00Z"}  # fmt: skip


def in_zone(name: str, zone: str) -> Json:
    made = node(name, "work")
    return {**made, "metadata": {**made["metadata"], "labels": {**made["metadata"]["labels"], ZONE: zone}}}


def groups(folder: Path, *objects: Json) -> dict[str, Any]:
    found = asked(folder, *objects).explanations[0].new_nodes
    assert found is not None
    assert found.cluster_autoscaler is not None
    return {each.name: each for each in found.cluster_autoscaler.groups}


def test_a_group_over_several_zones_is_judged_by_one_template(tmp_path: Path) -> None:
    objects = [autoscaler(), in_zone("n-a", "a"), in_zone("n-c", "c")]
    (advice,) = groups(tmp_path, *objects, pod(nodeSelector={ZONE: "b"}))["work"].advice
    assert (advice.name, advice.field, advice.value) == ("work", "zone", "b")
    assert advice.sentence == (
        "Node group work is judged by a template made of node n-a in a, and the pod needs b: make one node group per "
        "zone, with one in b"
    )
    large = groups(tmp_path, *objects, pod(cpu="9", nodeSelector={ZONE: "b"}))["work"]
    assert (large.verdict, large.advice) == ("Impossible", ())


def test_the_events_count_of_groups_speaks_for_a_group_without_nodes(tmp_path: Path) -> None:
    name = f"eks-win-{UUID}"
    affinity = "node(s) didn't match Pod's node affinity/selector"
    objects = [autoscaler(), status(f"eks-base-{UUID}", name), node("n1", "base"), pod(nodeSelector={"team": "x"})]
    assert groups(tmp_path, *objects, event(f"2 {affinity}"))[name].verdict == "Impossible"
    assert groups(tmp_path, *objects, event(f"2 {affinity}"))[name].reason == affinity
    assert groups(tmp_path, *objects, event(f"1 {affinity}"))[name].verdict == "Unknown"
    assert groups(tmp_path, *objects, event(f"1 {affinity}, 1 Insufficient cpu"))[name].verdict == "Unknown"


@pytest.mark.parametrize(
    ("group", "field", "value"),
    [
        (f"eks-win-{UUID}", "k8s.io/cluster-autoscaler/node-template/label/example.com/team_a", "x"),
        ("aks-win-123-vmss", "k8s.io_cluster-autoscaler_node-template_label_example.com_team~2a", "x"),
        ("MachineDeployment/default/win", "capacity.cluster-autoscaler.kubernetes.io/labels", "example.com/team_a=x"),
        ("https://x/zones/a/instanceGroups/win-grp", "example.com/team_a", "x"),
    ],
)
def test_a_group_without_nodes_learns_of_a_label_by_its_clouds_tag(
    tmp_path: Path, group: str, field: str, value: str
) -> None:
    wanted = pod(nodeSelector={"example.com/team_a": "x", "kubernetes.io/os": "linux"})
    (advice,) = groups(tmp_path, autoscaler(), status(group), node("n1", "base"), wanted)[group].advice
    assert (advice.name, advice.field, advice.value) == (group, field, value)
    assert "without the label example.com/team_a" in advice.sentence


def test_a_resource_of_a_device_plugin_has_a_tag_of_its_own(tmp_path: Path) -> None:
    name = f"eks-win-{UUID}"
    wanted = pod()
    wanted["spec"]["containers"][0]["resources"]["requests"] |= {"example.com/fpga": "2", "nvidia.com/gpu": "1"}
    (advice,) = groups(tmp_path, autoscaler(), status(name), node("n1", "base"), wanted)[name].advice
    assert (advice.field, advice.value) == ("k8s.io/cluster-autoscaler/node-template/resources/example.com/fpga", "2")


def test_the_cloud_of_an_unknown_name_is_that_of_the_nodes() -> None:
    aws = Node(spec=NodeSpec(provider_id="aws:///us-east-1a/i-1"))
    found = template_hint("my-group", [Node(), aws])
    assert found is not None
    assert found.what == "tag of its Auto Scaling group"
    assert template_hint("my-group", [Node()]) is None


def test_a_gated_pod_makes_no_group_grow(tmp_path: Path) -> None:
    gated = pod(schedulingGates=[{"name": "team/quota"}])
    found = groups(tmp_path, autoscaler(), node("n1", "base", cpu="8"), gated)["base"]
    assert found.verdict == "Impossible"
    assert found.reason.startswith("the pod is gated")


def grown(group: str, before: int = 0) -> Json:
    text = f"pod triggered scale-up: [{{{group} {before}->{before + 1} (max: 5)}}]"
    return {**event(text), "metadata": {"name": "web.2", "namespace": "default"}, "reason": "TriggeredScaleUp",
            "message": text}  # fmt: skip


def tainted(name: str, group: str, key: str, value: str = "true", effect: str = "NoSchedule") -> Json:
    made = node(name, group, cpu="8")
    return {**made, "spec": {**made.get("spec", {}), "taints": [{"key": key, "value": value, "effect": effect}]}}


def test_a_group_that_grew_in_vain_is_told_the_tag_of_its_taint(tmp_path: Path) -> None:
    name = f"eks-gpu-{UUID}"
    objects = [autoscaler(), status(name), tainted("n1", "gpu", "nvidia.com/gpu"), pod()]
    found = groups(tmp_path, *objects, grown(name))["gpu"]
    (advice,) = found.advice
    assert found.grown_in_vain
    assert (advice.field, advice.value) == (
        "k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu",
        "true:NoSchedule",
    )
    assert not groups(tmp_path, *objects, grown(name, before=1))["gpu"].grown_in_vain
    assert not groups(tmp_path, *objects)["gpu"].grown_in_vain


def test_a_group_that_grew_in_vain_is_told_the_label_that_its_nodes_lack(tmp_path: Path) -> None:
    name = f"eks-fast-{UUID}"
    objects = [autoscaler(), status(name), node("n1", "fast", cpu="8"), pod(nodeSelector={"disk": "ssd"}), grown(name)]
    (advice,) = groups(tmp_path, *objects)["fast"].advice
    assert (advice.field, advice.value) == ("k8s.io/cluster-autoscaler/node-template/label/disk", "ssd")


@pytest.mark.parametrize(
    ("flags", "told"),
    [((), ["--startup-taint"]), (("--startup-taint=node.cilium.io/agent-not-ready",), [])],
    ids=["unknown", "known"],
)
def test_a_taint_that_goes_by_itself_belongs_into_the_autoscalers_flags(
    tmp_path: Path, flags: tuple[str, ...], told: list[str]
) -> None:
    objects = [autoscaler(*flags), tainted("n1", "work", "node.cilium.io/agent-not-ready", effect="NoExecute"), pod()]
    assert [each.field for each in groups(tmp_path, *objects)["work"].advice] == told


def test_gpus_of_a_machine_deployment_are_an_annotation(tmp_path: Path) -> None:
    name = "MachineDeployment/default/gpu"
    wanted = pod()
    wanted["spec"]["containers"][0]["resources"]["requests"] |= {"nvidia.com/gpu": "2"}
    (advice,) = groups(tmp_path, autoscaler(), status(name), node("n1", "base"), wanted)[name].advice
    assert (advice.field, advice.value) == ("capacity.cluster-autoscaler.kubernetes.io/gpu-count", "2")


def test_an_instance_group_without_nodes_has_the_template_of_its_pool_in_its_own_zone(tmp_path: Path) -> None:
    address = "https://x/zones/{}/instanceGroups/gke-c-pool-{}-grp"
    here, there = address.format("z-a", "0123abcd"), address.format("z-b", "4567abcd")
    labels = {"cloud.google.com/gke-nodepool": "pool", ZONE: "z-a"}
    made = node("gke-c-pool-0123abcd-x", "", cpu="8")
    made["metadata"]["labels"] = {**labels, "kubernetes.io/hostname": "gke-c-pool-0123abcd-x"}
    found = groups(tmp_path, autoscaler(), status(here, there), made, pod(nodeSelector={ZONE: "z-b"}))
    assert found[there].verdict == "Created"
    assert found["gke-c-pool-0123abcd-grp"].verdict == "Impossible"
    assert found["gke-c-pool-0123abcd-grp"].advice == ()
