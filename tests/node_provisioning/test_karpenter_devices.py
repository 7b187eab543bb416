"""Devices of claims where Karpenter does not ignore them: those that a node of a type has published are expected."""

from pathlib import Path
from typing import Any

import pytest

from tests.node_provisioning.test_karpenter_releases import karpenter
from tests.node_provisioning.test_new_nodes import CAPACITY_TYPE, TYPES, ZONE, answered, node, pod, pool

Json = dict[str, Any]

DRIVER = "gpu.example.com"
SEEN = "m5.xlarge"


def seen_node(name: str = "n1", kind: str = SEEN) -> Json:
    labels = {
        "node.kubernetes.io/instance-type": kind,
        "karpenter.sh/nodepool": "general",
        "karpenter.sh/initialized": "true",
        "karpenter.sh/registered": "true",
        ZONE: "a",
        CAPACITY_TYPE: "spot",
    }
    return node(name, **labels)


def published(name: str, count: int, **more: Any) -> Json:
    devices = [
        {"name": f"gpu-{number}", "attributes": {"model": {"string": "a" if number == 0 else "b"}}, **more}
        for number in range(count)
    ]
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": name}
    spec = {"driver": DRIVER, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}, "nodeName": name,
            "devices": devices}  # fmt: skip
    metadata = {"name": f"{name}-{DRIVER}", "ownerReferences": [owner]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": metadata, "spec": spec}


def device_class(name: str, expression: str = f'device.driver == "{DRIVER}"') -> Json:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]}}  # fmt: skip


def exact(count: int, device_class_name: str = "gpu", **more: Any) -> Json:
    return {"deviceClassName": device_class_name, "allocationMode": "ExactCount", "count": count, **more}


def claim(request: Json) -> Json:
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
            "metadata": {"name": "gpus", "namespace": "default", "uid": "gpus"},
            "spec": {"devices": {"requests": [{"name": "r", **request}]}}}  # fmt: skip


CLAIMING = pod("1500m", resourceClaims=[{"name": "gpus", "resourceClaimName": "gpus"}])
CLASSES = (device_class("gpu"), device_class("none", "false"))
NOT_FIRST = f'device.attributes["{DRIVER}"].model == "a"'


def replayed(folder: Path, request: Json, *, version: str = "1.15.0", slices: tuple[Json, ...] = ()) -> Json:
    """The answer where IGNORE_DRA_REQUESTS is off and one of the two instance types is seen with devices."""
    objects = [pool("general"), karpenter(version, IGNORE_DRA_REQUESTS="false"), seen_node(), *CLASSES, *slices]
    found: Json = answered(folder, *objects, claim(request), CLAIMING, types=TYPES)
    return found


@pytest.mark.parametrize(
    "request_",
    [
        {"exactly": exact(2)},
        {"exactly": {"deviceClassName": "gpu", "allocationMode": "All"}},
        {"exactly": exact(1, selectors=[{"cel": {"expression": NOT_FIRST}}])},
        {"firstAvailable": [{"name": "many", **exact(3)}, {"name": "some", **exact(2)}]},
    ],
)
def test_a_new_node_is_of_a_type_that_has_the_devices(tmp_path: Path, request_: Json) -> None:
    found = replayed(tmp_path, request_, slices=(published("n1", 2),))
    answer = found["karpenter"]
    assert (answer["verdict"], answer["instanceTypes"]) == ("Created", [SEEN])
    assert answer["thenScheduler"]["outcome"] == "Schedulable"
    assert "the devices of new nodes are those that a node of the same type has published" in found["assumed"]


def test_a_shared_device_gives_each_claim_a_part(tmp_path: Path) -> None:
    shared = published("n1", 1, allowMultipleAllocations=True, capacity={"memory": {"value": "10"}})
    fits, exceeds = ({"exactly": exact(1, capacity={"requests": {"memory": each}})} for each in ("6", "11"))
    assert replayed(tmp_path, fits, slices=(shared,))["karpenter"]["verdict"] == "Created"
    assert replayed(tmp_path, exceeds, slices=(shared,))["karpenter"]["verdict"] == "Unknown"


def test_types_whose_devices_no_node_shows_may_have_what_the_others_lack(tmp_path: Path) -> None:
    answer = replayed(tmp_path, {"exactly": exact(3)}, slices=(published("n1", 2),))["karpenter"]
    assert answer["verdict"] == "Unknown"
    assert "no node shows the devices of 1 of the 2 instance types" in answer["error"]


@pytest.mark.parametrize(
    ("version", "verdict", "error"),
    [
        ("1.14.1", "Impossible", "only Exactly requests are supported"),
        ("1.15.0", "Created", ""),
    ],
)
def test_alternatives_are_known_since_1_15(tmp_path: Path, version: str, verdict: str, error: str) -> None:
    objects = [pool("general"), karpenter(version, IGNORE_DRA_REQUESTS="false"), *CLASSES]
    for name, kind in (("n1", SEEN), ("n2", "m5.large")):
        objects += [seen_node(name, kind), published(name, 1)]
    listed = {"firstAvailable": [{"name": "none", **exact(1, "none")}, {"name": "one", **exact(1)}]}
    answer = answered(tmp_path, *objects, claim(listed), CLAIMING, types=TYPES)["karpenter"]
    assert answer["verdict"] == verdict
    assert error in answer["error"]


def test_a_claim_that_is_not_there_is_waited_for(tmp_path: Path) -> None:
    objects = [pool("general"), karpenter("1.15.0", IGNORE_DRA_REQUESTS="false"), CLAIMING]
    answer = answered(tmp_path, *objects, types=TYPES)["karpenter"]
    assert (answer["verdict"], answer["error"]) == ("Impossible", 'resourceclaim "default/gpus" not found')


def test_devices_of_a_node_that_is_there_are_taken_before_a_node_is_made(tmp_path: Path) -> None:
    small = {**CLAIMING, "spec": {**CLAIMING["spec"], "containers": pod("500m")["spec"]["containers"]}}
    objects = [pool("general"), karpenter("1.15.0", IGNORE_DRA_REQUESTS="false"), seen_node(), *CLASSES]
    objects += [published("n1", 1), claim({"exactly": exact(1)}), small]
    answer = answered(tmp_path, *objects, types=TYPES)["karpenter"]
    assert (answer["verdict"], answer["node"]) == ("Existing", "n1")
    held = claim({"exactly": exact(1)})
    held["metadata"] = {"name": "held", "namespace": "default", "uid": "held"}
    result = {"request": "r", "driver": DRIVER, "pool": "n1", "device": "gpu-0"}
    held["status"] = {"allocation": {"devices": {"results": [result]}}}
    answer = answered(tmp_path, *objects, held, types=TYPES)["karpenter"]
    assert (answer["verdict"], answer["instanceTypes"]) == ("Created", [SEEN])
