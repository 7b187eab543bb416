"""Random clusters with what is new in Karpenter 1.15: volume limits of types, and default spread constraints."""

import copy
import json
from random import Random
from typing import Any

from tests.oracle.karpenter.generate import APPS, ARCH, CAPACITY_TYPE, HOSTNAME, ZONE

Json = dict[str, Any]

DRIVERS = ["ebs.example.com", "pd.csi.storage.gke.io"]


def with_newer_rules(request: Json, seed: int) -> Json:
    """The cluster with types that limit volumes, pods with several, a SCHEDULER_CONFIG, Services and owners."""
    random = Random(f"newer-{seed}")  # noqa: S311 - reproducible on purpose
    made = copy.deepcopy(request)
    for types in made["instanceTypes"].values():
        for kind in types["types"]:
            if random.random() < 0.6:
                kind["volumeLimits"] = {driver: random.randint(0, 2) for driver in DRIVERS if random.random() < 0.8}
    owners = [random.choice([None, "ReplicaSet", "StatefulSet", "ReplicationController", "Job"]) for _ in APPS]
    for app, kind in zip(APPS, owners, strict=True):
        made["objects"] += _objects(random, app, kind)
    for pod in (each for each in made["objects"] if each["kind"] == "Pod"):
        _change(random, pod, dict(zip(APPS, owners, strict=True)))
    if random.random() < 0.7:
        made["schedulerConfig"] = json.dumps({"podTopologySpread": {"defaultConstraints": _constraints(random)}})
    return made


def _objects(random: Random, app: str, kind: str | None) -> list[Json]:
    """A Service that may select the app's pods, the app's controller, and claims of its own."""
    made: list[Json] = []
    if random.random() < 0.5:
        selector = random.choice([{"app": app}, {"app": app, "shape": "0"}, {}, {"app": "none"}])
        metadata = {"name": f"service-{app}", "namespace": "default"}
        made.append({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": selector}})
    if kind in {"ReplicaSet", "StatefulSet", "ReplicationController"} and random.random() < 0.9:
        labels: Json = {"matchLabels": {"app": app}} if kind != "ReplicationController" else {"app": app}
        if kind != "ReplicationController" and random.random() < 0.3:
            labels = {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "other"]}]}
        version = "v1" if kind == "ReplicationController" else "apps/v1"
        metadata = {"name": f"owner-{app}", "namespace": "default", "uid": f"owner-{app}"}
        made.append({"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"selector": labels}})
    for number in range(3):
        metadata = {"name": f"{app}-data-{number}", "namespace": "default"}
        spec = {"storageClassName": random.choice(["late", "zonal"])}
        made.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec})
    return made


def _change(random: Random, pod: Json, owners: dict[str, str | None]) -> None:
    """Give a pod claims of its app and an owner, and take its own spread constraints off."""
    app = pod["metadata"]["labels"].get("app", "")
    kind = owners.get(app)
    pod["spec"] = copy.deepcopy(pod["spec"])
    if kind is not None and random.random() < 0.8:
        version = {"ReplicationController": "v1", "Job": "batch/v1"}.get(kind, "apps/v1")
        owner = {"apiVersion": version, "kind": kind, "name": f"owner-{app}", "uid": f"owner-{app}", "controller": True}
        pod["metadata"] = {**pod["metadata"], "ownerReferences": [owner]}
    if app and random.random() < 0.35:
        claims = random.sample(range(3), random.randint(1, 3))
        pod["spec"]["volumes"] = [
            {"name": f"data-{number}", "persistentVolumeClaim": {"claimName": f"{app}-data-{number}"}}
            for number in claims
        ]
    if random.random() < 0.5:
        pod["spec"].pop("topologySpreadConstraints", None)


def _constraints(random: Random) -> list[Json]:
    keys = random.sample([ZONE, HOSTNAME, CAPACITY_TYPE, ARCH], random.choice([1, 1, 2]))
    return [
        {
            "maxSkew": random.choice([1, 1, 2]),
            "topologyKey": key,
            "whenUnsatisfiable": random.choice(["DoNotSchedule", "ScheduleAnyway"]),
        }
        for key in keys
    ]
