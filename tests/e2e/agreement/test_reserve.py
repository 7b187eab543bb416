"""What we say that Reserve sets aside is what kube-scheduler has written once the pod is bound, byte by byte.

Only what it draws (names, share IDs) and the time are left aside.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubectl_sched.api.meta import KubernetesObject
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_sched.config.versions import RELEASES, KubeVersion
from kubectl_sched.dynamic_resource_allocation.device_configs import device_configs
from kubectl_sched.framework.reserved_object import Reservation, Write
from kubectl_sched.scheduler.end_of_cycle import reserved
from kubectl_sched.scheduler.result import ScheduleResult
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.dump.reader import read
from tests.e2e.api import LISTS, Api, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.patience import until
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

GATES = "DRANodeAllocatableResources=true"
DRIVER = "gpu.example.com"
DEVICES = "/apis/resource.k8s.io/v1"
CLAIMS = f"{DEVICES}/namespaces/default/resourceclaims"
PODS = "/api/v1/namespaces/default/pods"
STORAGE = ("/api/v1/persistentvolumes", "/api/v1/persistentvolumeclaims", "/apis/storage.k8s.io/v1/storageclasses")
LISTED = (
    *LISTS,
    *STORAGE,
    *(f"{DEVICES}/{kind}" for kind in ("deviceclasses", "resourceslices", "resourceclaims")),
)
NOW = "2026-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    try:
        with ControlPlane(scheduler=True, controller_manager=True, feature_gates=GATES) as plane:
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def server(plane: ControlPlane) -> Iterator[Api]:
    with Api(plane.port, ADMIN_TOKEN) as api:
        for path, body in INVENTORY:
            stored = api.create(path, body)
            if "status" in body:
                api.merge(f"{path}/{stored['metadata']['name']}/status", {"status": body["status"]})
        api.merge(
            "/api/v1/namespaces/default", {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
        )
        yield api


def node(name: str, zone: str) -> Json:
    status = {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}
    return {"metadata": {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}}, "status": status}


def opaque(parameters: Json) -> Json:
    return {"opaque": {"driver": DRIVER, "parameters": parameters}}


def device_class(name: str, model: str, *configs: Json, **spec: Any) -> Json:
    expression = f'device.attributes["{DRIVER}"].model == "{model}"'
    return {
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}], "config": list(configs), **spec},
    }


def device(name: str, model: str, **fields: Any) -> Json:
    return {"name": name, "attributes": {"model": {"string": model}}, **fields}


def slice_of(name: str, devices: list[Json], **where: Any) -> Json:
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    return {"metadata": {"name": name}, "spec": {"driver": DRIVER, "pool": pool, "devices": devices, **where}}


IN_A = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}
SHARED = {"memory": {"value": "40Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}}
FAST = opaque({"mode": "fast"})
INVENTORY: list[tuple[str, Json]] = [
    *(("/api/v1/nodes", node(name, zone)) for name, zone in (("w1", "a"), ("w2", "a"), ("w3", "b"))),
    (f"{DEVICES}/deviceclasses", device_class("gpu", "a100", FAST, extendedResourceName="x.io/gpu")),
    (f"{DEVICES}/deviceclasses", device_class("t4", "t4")),
    (f"{DEVICES}/deviceclasses", device_class("net", "net")),
    (f"{DEVICES}/deviceclasses", device_class("part", "part")),
    (f"{DEVICES}/deviceclasses", device_class("cores", "cores")),
    *(
        (
            f"{DEVICES}/resourceslices",
            slice_of(
                on,
                [
                    *(device(f"a-{i}", "a100") for i in range(4)),
                    device("t-0", "t4", taints=[{"key": "worn", "value": "a-bit", "effect": "NoSchedule"}]),
                    device("p-0", "part", allowMultipleAllocations=True, capacity=SHARED),
                    device(
                        "c-0",
                        "cores",
                        nodeAllocatableResourceMappings={"cpu": {"allocationMultiplier": "2"}},
                    ),
                ],
                nodeName=on,
            ),
        )
        for on in ("w1", "w2")
    ),
    (f"{DEVICES}/resourceslices", slice_of("fabric", [device(f"n-{i}", "net") for i in range(3)], nodeSelector=IN_A)),
    ("/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }),
    ("/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": "made"}, "provisioner": "made.example.com", "volumeBindingMode": "WaitForFirstConsumer",
    }),
]  # fmt: skip


def exactly(name: str, device_class_name: str, **fields: Any) -> Json:
    return {"name": name, "exactly": {"deviceClassName": device_class_name, **fields}}


TOLERANT = [{"key": "worn", "operator": "Equal", "value": "a-bit", "effect": "NoSchedule"}]
CLAIMED: dict[str, list[Json]] = {
    "exact": [{"requests": [exactly("r", "gpu", count=2)]}],
    "every-device": [{"requests": [exactly("r", "net", allocationMode="All")]}],
    "tolerated": [{"requests": [exactly("r", "t4", tolerations=TOLERANT)]}],
    "administrator": [{"requests": [exactly("r", "gpu", adminAccess=True), exactly("other", "gpu", adminAccess=True)]}],
    "alternatives": [
        {
            "requests": [
                {"name": "r", "firstAvailable": [{"name": "many", "deviceClassName": "t4", "count": 9},
                                                 {"name": "one", "deviceClassName": "gpu"}]},
                exactly("n", "gpu"),
            ],
            "config": [
                {"requests": ["r/one"], **opaque({"of": "one"})},
                {"requests": ["r/many"], **opaque({"of": "many"})},
                {"requests": ["n", "r"], **opaque({"of": "both"})},
                opaque({"of": "all"}),
            ],
        }
    ],
    "part": [{"requests": [exactly("r", "part", capacity={"requests": {"memory": "1536Mi"}})]}],
    "default-part": [{"requests": [exactly("r", "part")]}],
    "two-claims": [{"requests": [exactly("r", "gpu")]}, {"requests": [exactly("r", "part")]}],
    "cores": [{"requests": [exactly("r", "cores")]}],
}  # fmt: skip


@pytest.mark.parametrize("name", CLAIMED)
def test_claims_are_written_as_kube_scheduler_writes_them(server: Api, tmp_path: Path, name: str) -> None:
    claims = [f"{name}-{place}" for place in range(len(CLAIMED[name]))]
    for claim, devices in zip(claims, CLAIMED[name], strict=True):
        server.create(CLAIMS, {"metadata": {"name": claim}, "spec": {"devices": devices}})
    spec = pod_spec(claims)
    check_claims(server, tmp_path, name, spec)
    if name != "cores":  # What stands for the node's own cores cannot be shared.
        check_claims(server, tmp_path, f"{name}-again", spec)


def test_a_claim_for_extended_resources_is_made_as_kube_scheduler_makes_it(server: Api, tmp_path: Path) -> None:
    limits = {"resources": {"limits": {"x.io/gpu": "1"}}}
    spec = {
        "initContainers": [{"name": "first", "image": "i", "resources": {"limits": {"x.io/gpu": "2"}}}],
        "containers": [{"name": "main", "image": "i", **limits}, {"name": "idle", "image": "i"}],
    }
    check_claims(server, tmp_path, "extended", spec)


def test_volumes_are_taken_as_kube_scheduler_takes_them(server: Api, tmp_path: Path) -> None:
    on_w1 = {
        "nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["w1"]}]}
        ]
    }
    volume = {
        "metadata": {"name": "disk"},
        "spec": {
            "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local",
            "local": {"path": "/mnt"}, "nodeAffinity": {"required": on_w1},
        },
    }  # fmt: skip
    server.create(STORAGE[0], volume)
    for name in ("local", "made"):
        claim = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": name,
            "resources": {"requests": {"storage": "1Gi"}},
        }
        server.create("/api/v1/namespaces/default/persistentvolumeclaims", {"metadata": {"name": name}, "spec": claim})
    until(lambda: server.get(f"{STORAGE[0]}/disk")["status"].get("phase") == "Available" or None)
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in ("local", "made")]
    before = everything(server)
    pod = server.create(PODS, {"metadata": {"name": "stored"}, "spec": {**pod_spec([]), "volumes": volumes}})
    found = {type(each.item): each for each in explained(before, pod, "w1", tmp_path)}
    path = "/api/v1/namespaces/default/persistentvolumeclaims"
    made = until(lambda: selected(server.get(f"{path}/made")))
    local = until(lambda: bound(server.get(f"{path}/local")))
    disk = server.get(f"{STORAGE[0]}/disk")
    assert set(found) == {PersistentVolume, PersistentVolumeClaim}
    (write,) = found[PersistentVolume].writes
    assert disk["spec"]["claimRef"] == write.body["spec"]["claimRef"]
    assert disk["metadata"]["annotations"].items() >= write.body["metadata"]["annotations"].items()
    reservations = {each.item.name: each for each in explained(before, pod, "w1", tmp_path)}
    assert same(reservations["disk"].item, disk)
    assert same(reservations["local"].item, local)
    assert same(reservations["made"].item, made)
    assert (
        made["metadata"]["annotations"].items()
        >= reservations["made"].writes[0].body["metadata"]["annotations"].items()
    )


def same(item: KubernetesObject, stored: Json) -> bool:
    """Whether an object is as it is stored, versions and times aside."""
    kept = msgspec.convert(stored, type(item))
    metadata = msgspec.structs.replace(item.metadata, resource_version=kept.metadata.resource_version)
    assert msgspec.structs.replace(item, metadata=metadata) == kept
    return True


def selected(claim: Json) -> Json | None:
    annotations = claim["metadata"].get("annotations", {})
    return claim if "volume.kubernetes.io/selected-node" in annotations else None


def bound(claim: Json) -> Json | None:
    return claim if claim["status"]["phase"] == "Bound" else None


def pod_spec(claims: list[str]) -> Json:
    names = [f"c{place}" for place in range(len(claims))]
    return {
        "containers": [{"name": "main", "image": "i", "resources": {"claims": [{"name": name} for name in names]}}],
        "resourceClaims": [
            {"name": name, "resourceClaimName": claim} for name, claim in zip(names, claims, strict=True)
        ],
        "terminationGracePeriodSeconds": 0,
    }


def check_claims(server: Api, folder: Path, name: str, spec: Json) -> None:
    """Create the pod, see where it goes, and compare what was written with what we would have."""
    before = everything(server)
    pod = server.create(PODS, {"metadata": {"name": name}, "spec": spec})
    on = until(lambda: server.get(f"{PODS}/{name}")["spec"].get("nodeName"))
    found = explained(before, pod, on, folder)
    assert found
    written: dict[str, Json] = {}
    raw = {item["metadata"]["name"]: item for item in before if item["kind"] in {"ResourceClaim", "DeviceClass"}}
    for reservation in found:
        for write in reservation.writes:
            check_write(server, name, write, reservation, raw, written)


def check_write(
    server: Api, pod_name: str, write: Write, reservation: Reservation, raw: dict[str, Json], written: dict[str, Json]
) -> None:
    """Each write leaves what is stored as it is."""
    if write.kind == "Pod":
        stored = server.get(f"{PODS}/{pod_name}")["status"]
        (field,) = write.body["status"]
        said = json.dumps(write.body["status"][field])
        for assumed, given in written.items():
            said = said.replace(assumed, str(given["metadata"]["name"]))
        assert stored[field] == json.loads(said)
        return
    claim = reservation.item
    assert isinstance(claim, ResourceClaim)
    if write.verb == "create":
        stored = next(
            each
            for each in server.get(CLAIMS)["items"]
            if each["metadata"]["name"].startswith(claim.metadata.generate_name)
        )
        written[claim.name] = stored
        assert stored["spec"] == write.body["spec"]
        assert stored["metadata"]["annotations"] == write.body["metadata"]["annotations"]
        assert stored["metadata"]["ownerReferences"] == write.body["metadata"]["ownerReferences"]
        return
    stored = written.get(claim.name) or server.get(f"{CLAIMS}/{write.name}")
    if "metadata" in write.body:
        assert stored["metadata"]["finalizers"] == write.body["metadata"]["finalizers"]
        return
    status: Json = write.body["status"]
    assert stored["status"]["reservedFor"] == status["reservedFor"]
    if "allocation" in status:
        source = raw.get(claim.name) or written[claim.name]
        configs = device_configs(source, raw, reservation.chosen, RELEASES[KubeVersion(1, 36)].devices)
        devices = {**status["allocation"]["devices"], **({"config": configs} if configs else {})}
        ours = {**status["allocation"], "devices": devices}
        assert without_chance(stored["status"]["allocation"]) == without_chance(ours)


def without_chance(allocation: Json) -> Json:
    """Share IDs are drawn, and the time goes on."""
    assert allocation["allocationTimestamp"]
    results = [
        {**one, **({"shareID": "drawn"} if one.get("shareID") else {})} for one in allocation["devices"]["results"]
    ]
    return {**allocation, "allocationTimestamp": "", "devices": {**allocation["devices"], "results": results}}


def everything(server: Api) -> list[Json]:
    """All objects that a replay of these pods needs."""
    found = []
    for path in LISTED:
        answer = server.get(path)
        kind = {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List")}
        found += [kind | item for item in answer["items"]]
    return found


def result_of(before: list[Json], pod: Json, folder: Path) -> ScheduleResult:
    path = folder / "before.json"
    items = [*before, {"apiVersion": "v1", "kind": "Pod"} | pod]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    dump = read([str(path)])
    scheduler, _ = scheduler_for(
        dump, configuration_for(dump, Replay(config=None, kube_version="1.36", feature_gates=GATES))
    )
    found = next(item for item in dump.objects if isinstance(item, Pod) and item.name == pod["metadata"]["name"])
    return scheduler.schedule_one(found)


def explained(before: list[Json], pod: Json, on: str, folder: Path) -> tuple[Reservation, ...]:
    """What we would reserve for the pod on that node, which must be one of the best."""
    result = result_of(before, pod, folder)
    assert on in result.best
    return reserved(result, on, NOW)
