"""Small clusters whose free room is in the wrong shape, each drawn from one seed."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.policy import PodDisruptionBudget

Json = dict[str, Any]


def fragmented(seed: int, most_nodes: int = 4) -> list[Node | Pod | PodDisruptionBudget]:
    """Nodes, pods of ReplicaSets and StatefulSets on them, budgets, and the pod `waiting` that fits on none of them."""
    chance = random.Random(seed)  # noqa: S311 - each seed is one cluster
    nodes = [_node(f"n{index}", chance) for index in range(chance.randint(2, most_nodes))]
    pods: list[Pod] = []
    free = {each.name: int(str(each.status.allocatable["cpu"])) for each in nodes}
    for index in range(chance.randint(3, 9)):
        name, cpu = chance.choice(list(free)), chance.choice([1, 1, 2, 3])
        if free[name] >= cpu:
            free[name] -= cpu
            pods.append(_pod(f"p{index}", cpu, name, chance))
    wanted = max(free.values()) + chance.choice([1, 1, 2])
    budgets = [_budget(app, chance.randint(0, 2)) for app in ("a", "b", "c") if chance.random() < 0.4]
    return [*nodes, *pods, *budgets, _pod("waiting", wanted, "", chance)]


def _node(name: str, chance: random.Random) -> Node:
    labels = {"kubernetes.io/hostname": name, "disk": chance.choice(["ssd", "hdd"]), "zone": chance.choice("xy")}
    status = {"allocatable": {"cpu": str(chance.randint(4, 8)), "memory": "16Gi", "pods": "10"}}
    return msgspec.convert({"metadata": {"name": name, "labels": labels}, "status": status}, Node)


def _pod(name: str, cpu: int, on: str, chance: random.Random) -> Pod:
    app = chance.choice(["a", "b", "c"])
    kind = chance.choice(["ReplicaSet", "ReplicaSet", "StatefulSet", "Job"])
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": f"{app}-{kind}".lower(), "uid": app, "controller": True}
    metadata: Json = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": {"app": app}}
    if chance.random() < 0.9:
        metadata["ownerReferences"] = [owner]
    if chance.random() < 0.1:
        metadata["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    spec: Json = {"containers": [{"name": "main", "resources": {"requests": {"cpu": str(cpu)}}}]}
    if on:
        spec["nodeName"] = on
        if chance.random() < 0.2:
            spec["nodeSelector"] = {"disk": chance.choice(["ssd", "hdd"])}
        if chance.random() < 0.2:
            key = chance.choice(["kubernetes.io/hostname", "zone"])
            term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return msgspec.convert({"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}, Pod)


def _budget(app: str, allowed: int) -> PodDisruptionBudget:
    return msgspec.convert(
        {
            "metadata": {"name": app, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": allowed},
        },
        PodDisruptionBudget,
    )
