"""Labels that a provider of Karpenter adds or translates, told by the API group of its NodeClasses."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_new_nodes import CAPACITY_TYPE, ZONE, answered, asked, node, pod, pool, screen

Json = dict[str, Any]

AWS, EKS, AZURE, GCP = "karpenter.k8s.aws", "eks.amazonaws.com", "karpenter.azure.com", "karpenter.k8s.gcp"


def pool_of(group: str, **spec: Any) -> Json:
    return pool("general", nodeClassRef={"group": group, "kind": "K", "name": "default"}, **spec)


def types(name: str, *zones: str, **more: Any) -> bytes:
    offerings = [
        {"Price": 1, "Requirements": [{"key": ZONE, "operator": "In", "values": [zone]},
                                      {"key": CAPACITY_TYPE, "operator": "In", "values": ["spot"]}]}
        for zone in zones
    ]  # fmt: skip
    return json.dumps(
        [{"name": name, "architecture": "amd64", "operatingSystems": ["linux"],
          "resources": {"cpu": "4", "memory": "16Gi"}, "offerings": offerings, **more}]
    ).encode()  # fmt: skip


def with_disk(driver: str, key: str, *zones: str) -> list[Json]:
    """A pod with a disk that is reached from the zones."""
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
             "metadata": {"name": "c", "namespace": "default",
                          "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
             "spec": {"volumeName": "v", "storageClassName": "s"}}  # fmt: skip
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": list(zones)}]}]
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
              "spec": {"csi": {"driver": driver, "volumeHandle": "h"},
                       "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}}  # fmt: skip
    return [claim, volume, pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])]


@pytest.mark.parametrize(
    ("group", "driver", "key"),
    [
        (AWS, "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone"),
        (EKS, "ebs.csi.eks.amazonaws.com", "topology.ebs.csi.eks.amazonaws.com/zone"),
        (AZURE, "disk.csi.azure.com", "topology.disk.csi.azure.com/zone"),
        (GCP, "pd.csi.storage.gke.io", "topology.gke.io/zone"),
    ],
)
def test_a_disks_zone_is_the_zone_of_the_node(tmp_path: Path, group: str, driver: str, key: str) -> None:
    found = answered(tmp_path, pool_of(group), *with_disk(driver, key, "z-2"), types=types("m5.xlarge", "z-1", "z-2"))
    assert found["karpenter"]["verdict"] == "Created"
    assert found["karpenter"]["requirements"][ZONE] == [{"operator": "In", "values": ["z-2"]}]
    assert found["karpenter"]["thenScheduler"]["outcome"] == "Schedulable"


def test_an_azure_disk_without_a_zone_is_reached_from_nodes_without_one(tmp_path: Path) -> None:
    disk = with_disk("disk.csi.azure.com", "topology.disk.csi.azure.com/zone", "")
    found = answered(tmp_path, pool_of(AZURE), *disk, types=types("Standard_D4s_v5", "0", "eastus2-1"))
    assert found["karpenter"]["requirements"][ZONE] == [{"operator": "In", "values": ["0"]}]
    assert found["karpenter"]["thenScheduler"]["outcome"] == "Schedulable"


@pytest.mark.parametrize(
    ("group", "label", "value"),
    [
        (AWS, "karpenter.k8s.aws/instance-category", "m"),
        (AWS, "karpenter.k8s.aws/instance-size", "xlarge"),
        (EKS, "eks.amazonaws.com/instance-family", "m5"),
        (EKS, "eks.amazonaws.com/instance-cpu", "4"),
        (EKS, "eks.amazonaws.com/compute-type", "auto"),
        (AZURE, "kubernetes.azure.com/mode", "system"),
        (GCP, "disk-type.gke.io/hyperdisk-ml", "true"),
        (GCP, "karpenter.k8s.gcp/instance-shape", "highmem"),
    ],
)
def test_a_providers_label_needs_no_nodepool_that_names_it(tmp_path: Path, group: str, label: str, value: str) -> None:
    wanted = answered(tmp_path, pool_of(group), pod(nodeSelector={label: value}), types=types("m5.xlarge", "a"))
    assert wanted["karpenter"]["verdict"] == "Created"


def test_labels_of_ec2_types_follow_from_their_names(tmp_path: Path) -> None:
    found = answered(
        tmp_path, pool_of(AWS), pod(nodeSelector={"karpenter.k8s.aws/instance-generation": "6"}),
        types=types("m5.xlarge", "a"),
    )  # fmt: skip
    assert found["karpenter"]["verdict"] == "Impossible"


def test_a_label_of_the_provider_that_it_does_not_define_is_refused(tmp_path: Path) -> None:
    for group, label in ((AWS, "karpenter.k8s.aws/foo"), (AZURE, "karpenter.azure.com/foo"), (GCP, f"{GCP}/foo")):
        found = answered(tmp_path, pool_of(group), pod(nodeSelector={label: "x"}))["karpenter"]
        assert found["verdict"] == "Impossible"
        assert found["error"].startswith(f"using label {label} is not allowed")


def test_an_unknown_provider_may_know_any_label(tmp_path: Path) -> None:
    objects = [pool_of("example.com"), pod(nodeSelector={"example.com/size": "x"})]
    found = answered(tmp_path, *objects)["karpenter"]
    assert found["verdict"] == "Unknown"
    assert found["error"] == ("its provider, example.com, is not known here, and may know the label example.com/size")
    assert "does not have known values" not in screen(asked(tmp_path, *objects))
    known = answered(tmp_path, pool_of("example.com"), pod(nodeSelector={"kubernetes.io/arch": "arm64"}))
    assert known["karpenter"]["verdict"] == "Impossible"


def test_a_type_seen_on_nodes_lacks_the_labels_of_types_that_these_nodes_lack(tmp_path: Path) -> None:
    seen = node("n1", **{"karpenter.sh/nodepool": "general", "node.kubernetes.io/instance-type": "m5.large",
                         "karpenter.k8s.aws/instance-family": "m5", ZONE: "a", CAPACITY_TYPE: "spot",
                         "karpenter.sh/initialized": "true"})  # fmt: skip
    gpu = pod("500m", nodeSelector={"karpenter.k8s.aws/instance-gpu-name": "a10g"}, tolerations=[])
    found = answered(tmp_path, pool_of(AWS), seen, gpu, types=None)["karpenter"]
    assert found["verdict"] == "Unknown"
    assert found["error"].startswith("no instance type met all requirements")


def test_each_reservation_has_a_count_of_its_own(tmp_path: Path) -> None:
    def offering(price: float, capacity_type: str, **more: Any) -> Json:
        own = {"karpenter.k8s.aws/capacity-reservation-id": more.pop("id")} if "id" in more else {}
        requirements = [{"key": key, "operator": "In", "values": [value]}
                        for key, value in ({ZONE: "a", CAPACITY_TYPE: capacity_type} | own).items()]  # fmt: skip
        return {"Price": price, "Requirements": requirements, **more}

    offerings = [
        offering(1, "on-demand"),
        offering(0.1, "reserved", id="cr-used-up", ReservationCapacity=0),
        offering(0.1, "reserved", id="cr-free", ReservationCapacity=1),
    ]
    found = answered(tmp_path, pool_of(AWS), pod(), types=types("m5.xlarge", offerings=offerings))["karpenter"]
    assert found["requirements"]["karpenter.k8s.aws/capacity-reservation-id"] == [
        {"operator": "In", "values": ["cr-free"]}
    ]
