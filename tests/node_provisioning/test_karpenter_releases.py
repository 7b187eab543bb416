"""The release of Karpenter is that of its image, and decides by its own rules."""

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.node_provisioning.karpenter.karpenter_release import RELEASES, release_of
from tests.node_provisioning.test_new_nodes import CAPACITY_TYPE, ZONE, answered, node, pod, pod_on, pool

Json = dict[str, Any]


def karpenter(version: str, **env: str) -> Json:
    container = {"name": "controller", "image": f"public.ecr.aws/karpenter/controller:{version}",
                 "env": [{"name": name, "value": value} for name, value in env.items()]}  # fmt: skip
    metadata = {"name": "karpenter", "namespace": "kube-system"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
            "spec": {"selector": {}, "template": {"spec": {"containers": [container]}}}}  # fmt: skip


def types(*offerings: Json) -> bytes:
    return json.dumps([{"name": "m5.xlarge", "architecture": "amd64", "operatingSystems": ["linux"],
                        "resources": {"cpu": "4", "memory": "8Gi"},
                        "offerings": list(offerings)}]).encode()  # fmt: skip


def offering(zone: str, capacity_type: str = "on-demand", price: float = 1, **more: Any) -> Json:
    labels = {ZONE: zone, CAPACITY_TYPE: capacity_type}
    if capacity_type == "reserved":
        labels["karpenter.k8s.aws/capacity-reservation-id"] = "cr-1"
    requirements = [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]
    return {"Price": price, "Requirements": requirements, **more}


@pytest.mark.parametrize(
    ("version", "replayed"),
    [
        ("1.14.0", "1.14.1"), ("1.14.1", "1.14.1"), ("1.14.2", "1.14.1"), ("1.14.3", "1.14.3"),
        ("1.15.0", "1.15.0"), ("1.15.1", "1.15.0"), ("2.0.0", "1.15.0"),
    ],
)  # fmt: skip
def test_the_newest_release_that_is_no_newer_than_the_image_is_replayed(
    tmp_path: Path, version: str, replayed: str
) -> None:
    found = answered(tmp_path, pool("general"), karpenter(f"v{version}"), pod())
    assert found["karpenter"]["version"] == replayed
    told = f"Karpenter runs {version} here: what differs from {replayed} is not replayed"
    assert (told in found["assumed"]) == (version not in {each.version for each in RELEASES})
    assert release_of(None) is RELEASES[-1]


@pytest.mark.parametrize(("version", "verdict"), [("1.14.1", "Created"), ("1.14.3", "Impossible")])
def test_min_values_counts_only_allowed_values_since_1_14_3(tmp_path: Path, version: str, verdict: str) -> None:
    zones = {"key": ZONE, "operator": "Exists", "minValues": 2}
    objects = [pool("general", requirements=[zones]), karpenter(version), pod(nodeSelector={ZONE: "a"})]
    found = answered(tmp_path, *objects, types=types(offering("a"), offering("b")))["karpenter"]
    assert found["verdict"] == verdict


def test_a_full_reservation_leaves_on_demand_since_1_15(tmp_path: Path) -> None:
    def verdict(version: str, *offerings: Json) -> Json:
        found: Json = answered(
            tmp_path, pool("general"), karpenter(version), pod(), types=types(*offerings)
        )["karpenter"]  # fmt: skip
        return found

    full = offering("a", "reserved", 0.01, ReservationCapacity=0)
    both = [offering("a"), full]
    older, newer = verdict("1.14.3", *both), verdict("1.15.0", *both)
    assert (older["verdict"], newer["verdict"]) == ("Impossible", "Created")
    assert older["error"].endswith("but could not be reserved")
    values = newer["nodeClaim"]["requirements"]
    assert {"key": CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]} in values
    assert verdict("1.15.0", full)["error"] == (
        "all compatible reserved offerings are full and no on-demand or spot fallback is available"
    )


@pytest.mark.parametrize(("version", "zones"), [("1.14.3", []), ("1.15.0", [["b"]])])
def test_pods_of_a_service_have_the_default_spread_since_1_15(
    tmp_path: Path, version: str, zones: list[list[str]]
) -> None:
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    made = karpenter(version, SCHEDULER_CONFIG=json.dumps({"podTopologySpread": {"defaultConstraints": [spread]}}))
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
               "spec": {"selector": {"app": "web"}}}  # fmt: skip
    pods = [pod(), pod_on("n1", "1")]
    for each in pods:
        each["metadata"]["labels"] = {"app": "web"}
    objects = [pool("general"), made, service, node("n1", **{ZONE: "a"}), *pods]
    found = answered(tmp_path, *objects, types=types(offering("a"), offering("b")))["karpenter"]
    wanted = found["nodeClaim"]["requirements"]
    assert [each["values"] for each in wanted if each["key"] == ZONE] == zones


def test_a_scheduler_config_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    made = karpenter("1.15.0", SCHEDULER_CONFIG="podTopologySpread: {defaultConstraints: [{maxSkew: 0}]}")
    told = "SCHEDULER_CONFIG cannot be read: no default topology spread constraint is replayed"
    assert told in answered(tmp_path, pool("general"), made, pod())["assumed"]
