"""What the tests of `bind` share: a small cluster with volumes and devices, and the program run against it."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.api import Api, ApiError, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane

TWIN = "twin-scheduler"
"""Served by the real kube-scheduler, and by nobody else."""

OURS = "kube-extra-scheduler"
"""Served by nobody."""

PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
DEVICES = "/apis/resource.k8s.io/v1"
RESOURCE_CLAIMS = f"{DEVICES}/namespaces/default/resourceclaims"
STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
SELECTED_NODE = "volume.kubernetes.io/selected-node"
DRIVER = "gpu.example.com"


def fill(api: Api) -> None:
    """Four nodes of 4 CPUs, two of which have GPUs; a class of local volumes and one whose provisioner is away."""
    for name in ("n1", "n2", "n3", "n4"):
        node(api, name)
    for name, provisioner in (("local", "kubernetes.io/no-provisioner"), ("made", "made.example.com")):
        body = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}
        api.create(STORAGE_CLASSES, body)
    expression = f'device.driver == "{DRIVER}"'
    configs = [{"opaque": {"driver": DRIVER, "parameters": {"mode": "fast"}}}]
    spec = {"selectors": [{"cel": {"expression": expression}}], "config": configs, "extendedResourceName": "x.io/gpu"}
    api.create(f"{DEVICES}/deviceclasses", {"metadata": {"name": "gpu"}, "spec": spec})
    for name in ("n1", "n2"):
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = [{"name": f"gpu-{number}"} for number in range(4)]
        spec = {"driver": DRIVER, "pool": pool, "nodeName": name, "devices": devices}
        api.create(f"{DEVICES}/resourceslices", {"metadata": {"name": name}, "spec": spec})


def node(api: Api, name: str, cpu: str = "4", **more_labels: str) -> None:
    resources = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, **more_labels}
    status = {"capacity": resources, "allocatable": resources}
    api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": status})
    api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})


def pod(api: Api, name: str, cpu: str = "10m", *, claims: tuple[str, ...] = (), **spec: Any) -> Json:
    """A pending pod that nobody serves, unless it says so."""
    container = {"name": "c", "image": "nginx", "command": ["nginx"], "resources": {"requests": {"cpu": cpu}}}
    volumes = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    body = {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "containers": [container],
            "volumes": volumes,
            "schedulerName": OURS,
            "terminationGracePeriodSeconds": 0,
            **spec,
        },
    }
    return api.create(PODS, body)


def claim(api: Api, name: str, storage_class: str) -> Json:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return api.create(CLAIMS, {"metadata": {"name": name}, "spec": spec})


def volume(name: str, node: str, storage_class: str = "local", **spec: Any) -> Json:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]}]
    return {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": f"/{name}"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            **spec,
        },
    }


def resource_claim(api: Api, name: str, device_class: str = "gpu") -> Json:
    request = {"name": "gpu", "exactly": {"deviceClassName": device_class}}
    return api.create(RESOURCE_CLAIMS, {"metadata": {"name": name}, "spec": {"devices": {"requests": [request]}}})


def uses(name: str) -> Json:
    """The parts of a pod's spec by which it uses a ResourceClaim."""
    return {"resourceClaims": [{"name": "gpu", "resourceClaimName": name}]}


class Program:
    """`kubectl-sched bind` as a process of its own."""

    def __init__(self, plane: ControlPlane, kind: str = "pod") -> None:
        self._kind = kind
        self._environment = {**os.environ, "KUBECONFIG": str(plane.kubeconfig)}

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A run that is under way, and at an end with the block."""
        process = self.start(*arguments)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A run that is under way."""
        return subprocess.Popen(
            [sys.executable, "-m", "kubectl_sched", "bind", self._kind, *arguments],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments)
        out, error = process.communicate(timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, error)

    def bind(self, *arguments: str) -> Json:
        """The JSON of a run that succeeds without asking."""
        done = self.run(*arguments, "--yes", "-o", "json")
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        answer: Json = json.loads(done.stdout)
        return answer


def node_of(api: Api, name: str) -> str:
    return str(api.get(f"{PODS}/{name}")["spec"].get("nodeName", ""))


def events(api: Api, name: str, reason: str) -> list[Json]:
    """The events of that reason about the pod, as events.k8s.io has them.

    Some of kube-apiserver's own regard nothing that has a name.
    """
    listed = api.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    return [event for event in listed if event["reason"] == reason and event["regarding"]["name"] == name]


@contextmanager
def provisioner(plane: ControlPlane, only: str = "") -> Iterator[None]:
    """Makes a volume for each claim of class `made` that has a node selected, as an external provisioner does."""
    stop = threading.Event()

    def serve() -> None:
        with Api(plane.port, ADMIN_TOKEN) as api:
            while not stop.wait(0.1):
                for item in api.get(CLAIMS)["items"]:
                    if only in {"", item["metadata"]["name"]}:
                        provision(api, item)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def provision(api: Api, item: Json) -> None:
    chosen = item["metadata"].get("annotations", {}).get(SELECTED_NODE)
    if item["spec"].get("storageClassName") != "made" or chosen is None or item["spec"].get("volumeName"):
        return
    reference = {
        "kind": "PersistentVolumeClaim",
        "apiVersion": "v1",
        "namespace": "default",
        "name": item["metadata"]["name"],
        "uid": item["metadata"]["uid"],
    }
    body = volume(f"pvc-{item['metadata']['uid']}", chosen, "made", claimRef=reference)
    body["metadata"]["annotations"] = {"pv.kubernetes.io/provisioned-by": "made.example.com"}
    with contextlib.suppress(ApiError):  # it is there since the last time
        api.create(VOLUMES, body)


def versions(api: Api) -> dict[str, str]:
    """The resourceVersion of everything that binding a pod might touch, but for what others say in events."""
    others = {TWIN, "persistentvolume-controller"}
    paths = (PODS, CLAIMS, VOLUMES, RESOURCE_CLAIMS, "/apis/events.k8s.io/v1/namespaces/default/events")
    return {
        f"{path}/{item['metadata']['name']}": item["metadata"]["resourceVersion"]
        for path in paths
        for item in api.get(path)["items"]
        if not others & {item.get("reportingController"), item.get("deprecatedSource", {}).get("component")}
    }


def audited(log: Path) -> list[Json]:
    """What the server noted of our requests."""
    seen = (json.loads(line) for line in log.read_text().splitlines())
    return [event for event in seen if event.get("userAgent") == "kubectl-sched"]
