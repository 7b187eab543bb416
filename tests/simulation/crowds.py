"""Clusters of more nodes than kube-scheduler looks at, each drawn from one seed."""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]

CONFIG = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def crowd(seed: int, *, count: int = 130) -> list[Json]:
    """Nodes n000, n001, ... in zones of different sizes, pods on them, and the pending pod `web`."""
    chance = random.Random(seed)  # noqa: S311 - each seed is one cluster
    spread = {"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": "web"}}}
    spec: Json = {"containers": [container(chance)]}
    if chance.random() < 0.6:
        keys = chance.choice([["zone"], ["kubernetes.io/hostname"], ["zone", "kubernetes.io/hostname"]])
        spec["topologySpreadConstraints"] = [{**spread, "topologyKey": key} for key in keys]
    if chance.random() < 0.5:
        term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone"}
        preferred = [{"weight": 10, "podAffinityTerm": term}]
        kind = chance.choice(["podAffinity", "podAntiAffinity"])
        spec["affinity"] = {kind: {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    nodes = [node(chance, index) for index in range(count)]
    pods = [
        pod(f"p{index}", {"nodeName": f"n{chance.randrange(count):03}", "containers": [container(chance)]})
        for index in range(count)
    ]
    return [*nodes, *pods, pod("web", spec)]


def node(chance: random.Random, index: int) -> Json:
    """A node with a zone of either label, a size, and perhaps a taint."""
    zone = f"z{chance.choice([0, 0, 0, 1, 1, 2])}"
    labels = {"kubernetes.io/hostname": f"n{index:03}", "topology.kubernetes.io/zone": zone}
    if chance.random() < 0.9:
        labels["zone"] = zone
    taints = [{"key": "soft", "effect": "PreferNoSchedule"}] if chance.random() < 0.3 else []
    taints += [{"key": "hard", "effect": "NoSchedule"}] if chance.random() < 0.1 else []
    status = {"allocatable": {"cpu": chance.choice(["4", "8"]), "memory": "16Gi", "pods": "20"}}
    metadata = {"name": f"n{index:03}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": taints}, "status": status}


def pod(name: str, spec: Json) -> Json:
    """A pod labelled `app: web`."""
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": {"app": "web"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"schedulerName": "default-scheduler", **spec},
    }


def container(chance: random.Random) -> Json:
    """A container that asks for something."""
    amounts = {"cpu": chance.choice(["100m", "500m", "2"]), "memory": chance.choice(["128Mi", "1Gi"])}
    return {"name": "c", "image": "app:1", "resources": {"requests": amounts}}
