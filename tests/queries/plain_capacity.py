"""Random clusters, and their room in plain arithmetic over the objects as they are written."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
CONDITION = "node.kubernetes.io/not-ready"
ZONES = ("a", "b", None)
LACKS = {"pods": "Too many pods", **{name: f"Insufficient {name}" for name in ("cpu", "memory", GPU)}}
UNITS = {"cpu": 1000, "memory": 1 << 30, GPU: 1, "pods": 1}


def cluster(seed: int) -> list[Json]:
    """Nodes of three pools in three zones, workloads that run, and some that wait, also with volumes of one zone."""
    draw = Random(seed)  # noqa: S311 - clusters, not keys
    nodes = [_node(draw, index) for index in range(draw.randint(4, 9))]
    objects: list[Json] = [*nodes, {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", **_class()}]
    for index in range(draw.randint(3, 7)):
        objects += _workload(draw, index, nodes)
    return objects


def _class() -> Json:
    return {"metadata": {"name": "zonal"}, "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "Immediate"}


def _node(draw: Random, index: int) -> Json:
    pool, zone = draw.choice(("general", "gpu", "spare")), draw.choice(ZONES)
    labels = {"kubernetes.io/hostname": f"n{index}", "pool": pool}
    if zone:
        labels["topology.kubernetes.io/zone"] = zone
    taints = [{"key": "gpu", "effect": "NoSchedule"}] if pool == "gpu" else []
    taints += [{"key": CONDITION, "effect": "NoSchedule"}] if draw.random() < 0.15 else []
    allocatable = {"cpu": str(draw.choice((2, 4, 8))), "memory": f"{draw.choice((4, 8, 16))}Gi", "pods": "5"}
    if pool == "gpu":
        allocatable[GPU] = str(draw.choice((2, 4)))
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{index}", "labels": labels},
        "spec": {"taints": taints, "unschedulable": draw.random() < 0.15},
        "status": {"allocatable": allocatable},
    }


def _workload(draw: Random, index: int, nodes: list[Json]) -> Iterator[Json]:
    requests = {"cpu": str(draw.choice((1, 2, 3))), "memory": f"{draw.choice((1, 2, 6))}Gi"}
    spec: Json = {"schedulerName": "default-scheduler"}
    if draw.random() < 0.3:
        requests[GPU] = str(draw.choice((1, 2)))
        spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
    if draw.random() < 0.3:
        spec["nodeSelector"] = {"pool": draw.choice(("general", "gpu"))}
    if draw.random() < 0.4:
        name, zone = f"claim-{index}", draw.choice(("a", "b"))
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
        if draw.random() < 0.7:
            yield from _bound_claim(name, zone)
    spec["containers"] = [{"name": "main", "image": "app", "resources": {"requests": requests}}]
    kind = draw.choice(("StatefulSet", "Job"))
    for number in range(draw.randint(1, 3)):
        on = draw.choice([*(node["metadata"]["name"] for node in nodes), None])
        yield _pod(kind, f"w{index % 4}", f"w{index}-{number}", {**spec, **({"nodeName": on} if on else {})})


def _bound_claim(name: str, zone: str) -> Iterator[Json]:
    term = {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}
    claim = {"storageClassName": "zonal", "volumeName": f"pv-{name}", "accessModes": ["ReadWriteMany"]}
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": name,
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
        },
        "spec": {**claim, "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"},
    }
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "zonal",
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "team", "name": name, "uid": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            "hostPath": {"path": "/data"},
        },
        "status": {"phase": "Bound"},
    }


def _pod(kind: str, owner: str, name: str, spec: Json) -> Json:
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": f"{kind}/{owner}", "controller": True}
    metadata = {"name": name, "namespace": "team", "uid": name, "ownerReferences": [reference]}
    status = {"phase": "Running" if "nodeName" in spec else "Pending"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def amount(resource: str, text: str) -> int:
    return int(text.removesuffix("Gi")) * UNITS[resource]


class Arithmetic:
    """The cluster as sums, without any part of the program."""

    def __init__(self, objects: list[Json]) -> None:
        self.nodes = {each["metadata"]["name"]: each for each in objects if each["kind"] == "Node"}
        self.pods = [each for each in objects if each["kind"] == "Pod"]
        self.volumes = {
            each["spec"]["claimRef"]["name"]: each["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]
            for each in objects
            if each["kind"] == "PersistentVolume"
        }
        self.used: dict[str, dict[str, int]] = {name: defaultdict(int) for name in self.nodes}
        for pod in self.pods:
            if "nodeName" in pod["spec"]:
                self.take(self.used[pod["spec"]["nodeName"]], pod)

    def take(self, used: dict[str, int], pod: Json) -> None:
        for name, wanted in self.requests(pod).items():
            used[name] += wanted

    def requests(self, pod: Json) -> dict[str, int]:
        asked = pod["spec"]["containers"][0]["resources"]["requests"]
        return {**{name: amount(name, text) for name, text in asked.items()}, "pods": 1}

    def has(self, node: str, resource: str) -> int:
        return amount(resource, self.nodes[node]["status"]["allocatable"].get(resource, "0"))

    def free(self, node: str, resource: str) -> int:
        return max(self.left(node, resource), 0)

    def takes_pods(self, node: str) -> bool:
        spec = self.nodes[node]["spec"]
        return not spec["unschedulable"] and all(taint["key"] != CONDITION for taint in spec["taints"])

    def may_use(self, pod: Json, node: str, *, with_claims: bool) -> bool:
        spec, labels = pod["spec"], self.nodes[node]["metadata"]["labels"]
        tolerated = {each["key"] for each in spec.get("tolerations", ())}
        if not self.takes_pods(node) or any(t["key"] not in tolerated for t in self.nodes[node]["spec"]["taints"]):
            return False
        if any(labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
            return False
        claims = [each["persistentVolumeClaim"]["claimName"] for each in spec.get("volumes", ())]
        return not with_claims or all(self.reaches(claim, labels) for claim in claims)

    def reaches(self, claim: str, labels: Json) -> bool:
        if claim not in self.volumes:
            return False
        (term,) = self.volumes[claim]["matchExpressions"]
        return labels.get(term["key"]) in term["values"]

    def fits(self, pod: Json, node: str, *, with_claims: bool = True) -> int:
        """The number of such pods that the node takes."""
        if not self.may_use(pod, node, with_claims=with_claims):
            return 0
        asked = self.requests(pod)
        # A resource that is requested beyond what there is takes nothing more, whatever is free of the others.
        return min(max(self.left(node, name), 0) // wanted for name, wanted in asked.items())

    def left(self, node: str, resource: str) -> int:
        """What pods do not request; less than nothing where they request more than there is."""
        return self.has(node, resource) - self.used[node][resource]

    def reasons(self, pod: Json, node: str) -> tuple[str, ...]:
        """Why the node takes none of such pods: the reasons of the first plugin that rejects it."""
        spec, own = pod["spec"], self.nodes[node]
        claims = [each["persistentVolumeClaim"]["claimName"] for each in spec.get("volumes", ())]
        missing = [claim for claim in claims if claim not in self.volumes]
        if missing:
            return (f'persistentvolumeclaim "{missing[0]}" not found',)
        if own["spec"]["unschedulable"]:
            return ("node(s) were unschedulable",)
        tolerated = {each["key"] for each in spec.get("tolerations", ())}
        if any(taint["key"] not in tolerated for taint in own["spec"]["taints"]):
            return ("node(s) had untolerated taint(s)",)
        labels = own["metadata"]["labels"]
        if any(labels.get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
            return ("node(s) didn't match Pod's node affinity/selector",)
        lacking = [name for name, wanted in self.requests(pod).items() if wanted > self.left(node, name)]
        if lacking:
            order = ("pods", "cpu", "memory", GPU)
            return tuple(LACKS[name] for name in order if name in lacking)
        return ("node(s) didn't match PersistentVolume's node affinity",)
