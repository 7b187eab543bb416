"""Devices and volumes that a placement takes are gone for the next, and free again once their pod is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests import program

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

DRIVER = "gpu.example.com"
NO_DEVICE = "2 cannot allocate all claims"


def asked(folder: Path, cluster: list[Json], *arguments: str, manifests: list[Json] | None = None) -> Json:
    """The answer, over a cluster of these objects."""
    dump = folder / "cluster.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster}))
    command = ["whatif", "--from", str(dump), "-o", "json", *arguments]
    if manifests is not None:
        path = folder / "manifests.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))
        command.append(str(path))
    done = program.run(*command)
    assert done.returncode in {0, 1}, done.stderr
    answer: Json = json.loads(done.stdout)
    return answer


def landed(answer: Json) -> dict[str, str | None]:
    return {each["pod"]["name"]: each["node"] for each in answer["placements"]}


def events(answer: Json) -> list[str]:
    return [each["event"] for each in answer["placements"] if each["event"]]


def node(name: str) -> Json:
    status = {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}, "nodeInfo": {"kubeletVersion": "v1.36.2"}}
    labels = {"kubernetes.io/hostname": name}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def device_class() -> Json:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}


def devices(on: str, count: int) -> Json:
    pool = {"name": on, "generation": 1, "resourceSliceCount": 1}
    found = [{"name": f"gpu-{index}"} for index in range(count)]
    spec = {"driver": DRIVER, "nodeName": on, "pool": pool, "devices": found}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": on}, "spec": spec}


def template(name: str = "one-gpu") -> Json:
    spec = {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}}
    about = {"name": name, "namespace": "default"}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": about, "spec": spec}


CLAIMING = {
    "containers": [{"name": "main", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
    "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
}


def deployment(replicas: int, spec: Json, name: str = "trainer") -> Json:
    labels = {"app": name}
    made = {"metadata": {"labels": labels}, "spec": spec}
    wanted = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": made}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": wanted}


GPUS = [node("w1"), node("w2"), device_class(), devices("w1", 1), devices("w2", 2)]


def test_each_pod_of_a_template_gets_devices_of_its_own(tmp_path: Path) -> None:
    answer = asked(tmp_path, GPUS, manifests=[deployment(4, CLAIMING), template()])
    assert sorted(landed(answer).values(), key=str) == [None, "w1", "w2", "w2"]
    assert NO_DEVICE in events(answer)[0]


def test_a_template_of_the_cluster_is_used_and_one_that_is_missing_is_named(tmp_path: Path) -> None:
    with_template = asked(tmp_path, [*GPUS, template()], manifests=[deployment(1, CLAIMING)])
    without = asked(tmp_path, GPUS, manifests=[deployment(1, CLAIMING)])
    assert with_template["placed"] == 1
    assert without["placed"] == 0
    assert any("ResourceClaimTemplate default/one-gpu was not found" in each for each in without["warnings"])


def test_extended_resources_of_devices_run_out_too(tmp_path: Path) -> None:
    spec = {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"example.com/gpu": "1"}}}]}
    named = {**device_class(), "spec": {"extendedResourceName": "example.com/gpu"}}
    cluster = [node("w1"), node("w2"), named, devices("w1", 1), devices("w2", 2)]
    answer = asked(tmp_path, cluster, manifests=[deployment(4, spec)])
    assert answer["placed"] == 3


def test_a_drained_pod_takes_its_devices_elsewhere(tmp_path: Path) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "t-1", "uid": "rs", "controller": True}
    running = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "t-1-a", "namespace": "default", "uid": "u", "ownerReferences": [owner]},
        "spec": {**CLAIMING, "nodeName": "w1"},
        "status": {"phase": "Running", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "t-1-a-gpu"}]},
    }
    result = {"request": "r", "driver": DRIVER, "pool": "w1", "device": "gpu-0"}
    on_w1 = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["w1"]}]}
    pod_owner = {"apiVersion": "v1", "kind": "Pod", "name": "t-1-a", "uid": "u", "controller": True}
    exact = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "t-1-a-gpu", "namespace": "default", "uid": "c", "ownerReferences": [pod_owner]},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exact}]}},
        "status": {
            "allocation": {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [on_w1]}},
            "reservedFor": [{"resource": "pods", "name": "t-1-a", "uid": "u"}],
        },
    }
    answer = asked(tmp_path, [*GPUS, running, claim], "--drain", "w1")
    assert landed(answer) == {"t-1-a": "w2"}


def local_volume(name: str, on: str, size: str = "10Gi") -> Json:
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}
    spec = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}},
    }
    status = {"phase": "Available"}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec, "status": status}


def storage_class(name: str, provisioner: str, mode: str, **fields: Any) -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
        **fields,
    }


def claim_spec(of_class: str) -> Json:
    return {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": of_class,
        "resources": {"requests": {"storage": "1Gi"}},
    }


def stateful_set(replicas: int, of_class: str) -> Json:
    labels = {"app": "db"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "x"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim_spec(of_class)}],
        },
    }


LOCAL = [
    node("w1"),
    node("w2"),
    storage_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer"),
    local_volume("disk-1", "w1"),
    local_volume("disk-2", "w2"),
]


def test_volumes_that_a_pod_is_bound_to_are_gone_for_the_next(tmp_path: Path) -> None:
    answer = asked(tmp_path, LOCAL, manifests=[stateful_set(3, "local")])
    assert landed(answer)["db-2"] is None
    assert {landed(answer)["db-0"], landed(answer)["db-1"]} == {"w1", "w2"}
    assert "didn't find available persistent volumes to bind" in events(answer)[0]


def test_ephemeral_volumes_are_claimed_and_bound(tmp_path: Path) -> None:
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim_spec("local")}}}
    spec = {"containers": [{"name": "main", "image": "x"}], "volumes": [volume]}
    answer = asked(tmp_path, LOCAL, manifests=[deployment(3, spec)])
    assert answer["placed"] == 2


def test_pods_that_share_a_claim_land_where_its_volume_is(tmp_path: Path) -> None:
    about = {"name": "shared", "namespace": "default"}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": about, "spec": claim_spec("local")}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "shared"}}
    spec = {"containers": [{"name": "main", "image": "x"}], "volumes": [volume]}
    answer = asked(tmp_path, LOCAL, manifests=[deployment(3, spec), claim])
    assert answer["placed"] == 3
    assert len(set(landed(answer).values())) == 1


def test_a_class_that_binds_at_once_makes_volumes_where_it_may(tmp_path: Path) -> None:
    only_w2 = [{"matchLabelExpressions": [{"key": "kubernetes.io/hostname", "values": ["w2"]}]}]
    fast = storage_class("fast", "disk.example.com", "Immediate", allowedTopologies=only_w2)
    answer = asked(tmp_path, [node("w1"), node("w2"), fast], manifests=[stateful_set(2, "fast")])
    assert set(landed(answer).values()) == {"w2"}
    assert any(each.startswith("volumes of class fast are made as soon as") for each in answer["warnings"])


def test_a_claim_that_nobody_can_serve_keeps_its_pod_waiting(tmp_path: Path) -> None:
    slow = storage_class("slow", "kubernetes.io/no-provisioner", "Immediate")
    answer = asked(tmp_path, [node("w1"), slow], manifests=[stateful_set(1, "slow")])
    assert "unbound immediate PersistentVolumeClaims" in events(answer)[0]


def test_what_a_chart_holds_besides_workloads_counts(tmp_path: Path) -> None:
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "p"}, "value": 7}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "r"}}
    spec = {"containers": [{"name": "main", "image": "x"}], "priorityClassName": "p"}
    answer = asked(tmp_path, [node("w1")], manifests=[deployment(1, spec), priority, role])
    assert answer["placed"] == 1
    assert "the manifests hold objects that do not matter here or are not applied: 1 Role" in answer["warnings"]


def test_a_copy_of_a_node_has_devices_of_its_own(tmp_path: Path) -> None:
    arguments = ("--find-nodes", "w2")
    answer = asked(tmp_path, GPUS, *arguments, manifests=[deployment(7, CLAIMING), template()])
    assert (answer["placed"], answer["nodesNeeded"]) == (7, 2)


def tracked(capacity: str) -> list[Json]:
    """A driver that has so much room on both nodes together."""
    name = "csi.example.com"
    driver = {"metadata": {"name": name}, "spec": {"storageCapacity": True}}
    offered = {"metadata": {"name": "all", "namespace": "kube-system"}, "nodeTopology": {}, "capacity": capacity}
    return [
        *(node("w1"), node("w2"), storage_class("fast", name, "WaitForFirstConsumer")),
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", **driver},
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity", "storageClassName": "fast", **offered},
    ]


@pytest.mark.parametrize(("capacity", "told"), [("2Gi", True), ("3Gi", False)])
def test_what_a_driver_is_promised_beyond_what_it_reports_is_said(tmp_path: Path, capacity: str, told: bool) -> None:
    answer = asked(tmp_path, tracked(capacity), manifests=[stateful_set(3, "fast")])
    assert answer["placed"] == 3  # as each claim alone is compared
    about = f"csi.example.com reports {capacity} for new volumes of class fast (CSIStorageCapacity kube-system/all), "
    more = f"{about}and 3 of 3Gi in all would be made of it"
    assert any(each.startswith(more) for each in answer["warnings"]) == told
    assert any("csi.example.com" in each for each in answer["warnings"]) == told
