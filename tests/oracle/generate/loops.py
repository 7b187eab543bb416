"""Queues of equal pods under profiles that sign pods, over nodes that soon are full."""

import json
import random

from hypothesis import strategies as st

from tests.oracle.generate.clusters import requests
from tests.oracle.generate.values import Json

TOPICS = ("preferences", "ports", "taints", "nodes", "resources", "images", "interpod", "queue")

_NO_SPREADING: Json = {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}}
_NO_LABELS: Json = {"name": "InterPodAffinity", "args": {"ignorePreferredTermsOfExistingPods": True}}
_MOST: Json = {
    "name": "NodeResourcesFit",
    "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}},
}


@st.composite
def loops(draw: st.DrawFn, topic: str, gates: frozenset[str]) -> Json:
    """A request whose pods wait in several copies, and are all taken by the scheduling loop."""
    if topic == "preferences":
        return preferring(random.Random(draw(st.integers(0, 2**32))))  # noqa: S311 - to be repeatable
    request = draw(requests(topic, gates))
    nodes = [item for item in request["objects"] if item["kind"] == "Node"]
    templates = [item for item in request["objects"] if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
    others = [item for item in request["objects"] if item not in templates and item not in nodes]
    signed = draw(st.integers(0, 7)) > 0
    names = ["default-scheduler", "other"]
    profiles = [_profile(draw, name, signed=signed) for name in names]
    pods = [_copy(draw, draw(st.sampled_from(templates)), i, names) for i in range(draw(st.integers(2, 10)))]
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {
        **request,
        "objects": [*(_small(draw, node, others) for node in nodes), *others, *pods],
        "config": json.dumps({**config, "profiles": profiles}),
        "featureGates": {**request["featureGates"], **draw(st.sampled_from([{}] * 7 + [_OFF]))},
        "pods": [],
        "loop": True,
    }


def preferring(chance: random.Random) -> Json:
    """Pods whose points for a node change as others fill up: preferred affinity, taints, and terms of running pods."""
    nodes = [_preferred_node(chance, f"n{i}") for i in range(chance.randint(3, 9))]
    running = [_running(chance, f"run-{i}", len(nodes)) for i in range(chance.randint(0, 8))]
    templates = [_preferring_pod(chance, f"web-{i}") for i in range(chance.choice([1, 1, 1, 2]))]
    pods = [_waiting(chance.choice(templates), i) for i in range(chance.randint(3, 12))]
    pods = [_named(pod, chance.choice(["default-scheduler"] * 9 + ["other"])) for pod in pods]
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    profile = {"pluginConfig": [_NO_SPREADING, *chance.choice([[], [], [_NO_LABELS], [_MOST]])]}
    profiles = [{"schedulerName": name, **profile} for name in ("default-scheduler", "other")]
    return {
        "id": "preferences",
        "objects": [*nodes, *running, *pods],
        "config": json.dumps({**config, "profiles": profiles}),
        "featureGates": chance.choice([{}] * 9 + [_OFF]),
        "pods": [],
        "loop": True,
    }


def _waiting(template: Json, index: int) -> Json:
    name = f"{template['metadata']['name']}-{index}"
    return {**template, "metadata": {**template["metadata"], "name": name, "uid": name}}


def _named(pod: Json, scheduler: str) -> Json:
    return {**pod, "spec": {**pod["spec"], "schedulerName": scheduler}}


def _preferred_node(chance: random.Random, name: str) -> Json:
    keys = chance.sample(["edge", "spare", "fast"], chance.randint(0, 2))
    soft = {"key": "soft", "value": chance.choice("ab"), "effect": "PreferNoSchedule"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name, **dict.fromkeys(keys, "")}},
        "spec": {"taints": [soft] * (chance.random() < 0.3)},
        "status": {
            "allocatable": {
                "cpu": chance.choice("248"),
                "memory": "16Gi",
                "pods": chance.choice(["2", "3", "110", "110"]),
            }
        },
    }


def _running(chance: random.Random, name: str, nodes: int) -> Json:
    """A pod that may prefer to be near, or away from, pods that wait."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    terms = [{"weight": chance.choice([1, 50, 100]), "podAffinityTerm": term}] * (chance.random() < 0.3)
    kind = chance.choice(["podAffinity", "podAntiAffinity"])
    requests = {"cpu": chance.choice(["100m", "500m", "1"]), "memory": chance.choice(["1Gi", "4Gi", "8Gi"])}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {
            "schedulerName": "default-scheduler",
            "nodeName": f"n{chance.randrange(nodes)}",
            "containers": [{"name": "c", "image": "x", "resources": {"requests": requests}}],
            "affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": terms}},
        },
        "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"},
    }


def _preferring_pod(chance: random.Random, name: str) -> Json:
    preferred = [
        {
            "weight": chance.choice([1, 5, 20, 50, 100]),
            "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]},
        }
        for key in chance.sample(["edge", "spare", "fast"], chance.randint(0, 3))
    ]
    port = {"containerPort": 80, "hostPort": 80, "protocol": chance.choice(["TCP", "UDP"])}
    requests = {"cpu": chance.choice(["100m", "600m", "1"]), "memory": chance.choice(["64Mi", "2Gi"])}
    container = {"name": "c", "image": "x", "resources": {"requests": requests}}
    nominated = {"nominatedNodeName": f"n{chance.randrange(3)}"} if chance.random() < 0.1 else {}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
        "spec": {
            "containers": [{**container, "ports": [port] * (chance.random() < 0.7)}],
            "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}},
            "tolerations": [{"key": "soft", "operator": "Equal", "value": "a"}] * (chance.random() < 0.3),
            "priority": chance.choice([0, 0, 10]),
            "preemptionPolicy": "Never",
        },
        "status": {"phase": "Pending", **nominated},
    }


_OFF = {"OpportunisticBatching": False}


def _profile(draw: st.DrawFn, name: str, *, signed: bool) -> Json:
    settings = [_NO_SPREADING] if signed else []
    settings += [each for each in (_NO_LABELS, _MOST) if draw(st.integers(0, 3)) == 0]
    return {"schedulerName": name, "pluginConfig": settings}


def _copy(draw: st.DrawFn, template: Json, index: int, names: list[str]) -> Json:
    """A pod like the template that does not preempt, most often with its labels and its scheduler."""
    metadata, name = template["metadata"], f"{template['metadata']['name']}-{index}"
    spec = {**template["spec"], "preemptionPolicy": "Never"}
    spec.pop("schedulingGates", None)
    spec["schedulerName"] = names[draw(st.integers(0, 9)) == 0]
    if draw(st.integers(0, 4)):
        spec.pop("topologySpreadConstraints", None)
        affinity = {key: value for key, value in spec.get("affinity", {}).items() if key == "nodeAffinity"}
        spec = {**spec, "affinity": affinity} if affinity else {k: v for k, v in spec.items() if k != "affinity"}
    labels = metadata.get("labels", {}) if draw(st.integers(0, 4)) else {"version": str(draw(st.integers(0, 1)))}
    about = {**metadata, "name": name, "uid": name, "namespace": metadata.get("namespace", "default"), "labels": labels}
    about.pop("deletionTimestamp", None)
    status = template.get("status", {}) if draw(st.integers(0, 4)) == 0 else {"phase": "Pending"}
    return {**template, "metadata": about, "spec": spec, "status": status}


def _small(draw: st.DrawFn, node: Json, others: list[Json]) -> Json:
    """The node with room for a few pods more than it has, or with all its room."""
    name = node["metadata"]["name"]
    running = sum(item["kind"] == "Pod" and item["spec"].get("nodeName") == name for item in others)
    allocatable = dict(node["status"].get("allocatable", {}))
    if draw(st.integers(0, 4)):
        allocatable["pods"] = str(running + draw(st.integers(1, 2)))
    return {**node, "status": {**node["status"], "allocatable": allocatable}}
