"""Replicas with volumes land where a whole cycle puts each of them, and reserve what it reserves."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.core import Service
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.scheduler.reserve import after, reserved, reserved_pod
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Simulation
from kubectl_sched.simulation.replicas.replica_placement import EqualPods
from tests.examples import examples
from tests.plugins.clusters import EXACT_MINORS, pod, snapshot
from tests.plugins.random_volumes import CLAIMS, ZONE, VolumeGraph, decoded
from tests.plugins.storage_objects import claim, csi_node, node_in, storage_class, stored, using, volume

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot

Json = dict[str, Any]

REPLICAS = 9
POD_NAME = "statefulset.kubernetes.io/pod-name"
SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "db"}},
}


def scheduler(nodes: Snapshot, version: str = "1.36") -> Scheduler:
    return Scheduler(load_configuration(None, KubeVersion.parse(version), None), nodes)


Decision = tuple[str | None, tuple[str, ...], int | None, str | None]


def one_by_one(replay: Scheduler, pods: list[Pod]) -> tuple[list[Decision], Snapshot]:
    """A whole cycle for each, as long as they fit."""
    nodes = replay.nodes
    decisions: list[Decision] = []
    for each in pods:
        result = replay.cycle(each, nodes)
        if not result.fits:
            decisions.append((None, (), None, result.event))
            break
        node = result.best[0]
        decisions.append((node, result.best, int(result.totals.max()), None))
        taken = reserved(result, node)
        nodes = after(nodes, taken).assume(reserved_pod(each, taken), nodes.row_of[node])
    return decisions, nodes


def simulated(replay: Scheduler, pods: list[Pod]) -> tuple[list[Decision], Snapshot]:
    simulation = Simulation(replay)
    simulation.fill(QueuedPod(pod=each) for each in pods)
    decisions: list[Decision] = [(each.node, each.tied, each.total, None) for each in simulation.placements]
    if simulation.stopped is not None:
        decisions.append((None, (), None, simulation.stopped.event))
    return decisions, simulation.nodes


def from_queue(replay: Scheduler, pods: list[Pod]) -> list[Decision]:
    """The same from a queue, where the pod that follows is known."""
    simulation = Simulation(replay)
    simulation.enqueue(QueuedPod(pod=each) for each in pods)
    simulation.run()
    return [(each.node, each.tied, each.total, each.event) for each in simulation.placements]


def assert_exact(replay: Scheduler, pods: list[Pod]) -> None:
    decisions, nodes = simulated(replay, pods)
    placed = [each for each in decisions if each[0] is not None]
    assert from_queue(replay, pods)[: len(placed)] == placed
    expected, whole = one_by_one(replay, pods)
    assert decisions == expected
    for kind in (PersistentVolumeClaim, PersistentVolume):
        assert list(nodes.objects.all(kind)) == list(whole.objects.all(kind))


class Replicas:
    """The replicas of one random workload, and the claims that its controllers make for them."""

    def __init__(self, random: Random, running: list[Json]) -> None:
        self._random = random
        self._spread = [SPREAD] if self._chance(30) else []
        self._kinds = [self._volume_of(number) for number in range(random.choice([1, 1, 1, 2, 3]))]
        self.pods = [self._pod(f"new-{index}") for index in range(REPLICAS)]
        self.claims = [
            made
            for each in self.pods
            for number, (kind, spec) in enumerate(self._kinds)
            if kind in ("own", "ephemeral") and (made := self._claim(each, number, kind, spec)) is not None
        ]
        if running and self._chance(10):
            running[0]["spec"]["volumes"] = self.pods[random.randrange(REPLICAS)]["spec"]["volumes"]
        self.volumes = [self._reserved() for _ in range(random.choice([0, 0, 0, 0, 1]))]

    def _chance(self, percent: int) -> bool:
        return self._random.random() * 100 < percent

    def _volume_of(self, number: int) -> tuple[Any, Json]:
        modes = ["ReadWriteOncePod" if self._chance(6) else "ReadWriteOnce"]
        spec: Json = {"accessModes": modes, "storageClassName": self._random.choice(["csi"] * 6 + ["ebs", "at-once"])}
        if self._chance(90):
            spec["resources"] = {"requests": {"storage": self._random.choice(["1Gi", "3Gi", "9Gi"])}}
        kind: Any = self._random.choice(["own", "own", "ephemeral", "ephemeral", self._random.choice(CLAIMS)])
        if number and self._chance(10):
            kind = {"gcePersistentDisk": {"pdName": "vol-1", "readOnly": True}}
        return kind, spec

    def _pod(self, name: str) -> Json:
        volumes: list[Json] = []
        for number, (kind, spec) in enumerate(self._kinds):
            source: Json = {"persistentVolumeClaim": {"claimName": f"v{number}-{name}" if kind == "own" else kind}}
            if kind == "ephemeral":
                source = {"ephemeral": {"volumeClaimTemplate": {"spec": spec}}}
            volumes.append({"name": f"v{number}", **(kind if isinstance(kind, dict) else source)})
        spec = {"schedulerName": "default-scheduler", "volumes": volumes, "topologySpreadConstraints": self._spread}
        labels = {"app": "db", POD_NAME: name}
        metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "labels": labels}
        return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}

    def _claim(self, owner: Json, number: int, kind: str, spec: Json) -> Json | None:
        """A claim like the others', in most cases."""
        name = owner["metadata"]["name"]
        metadata: Json = {"namespace": "default", "uid": f"uid-v{number}-{name}", "annotations": {}}
        metadata["name"] = f"v{number}-{name}" if kind == "own" else f"{name}-v{number}"
        if kind == "ephemeral":
            uid = "another" if self._chance(1) else owner["metadata"]["uid"]
            metadata["ownerReferences"] = [{"kind": "Pod", "name": name, "uid": uid, "controller": True}]
        if self._chance(2):
            spec = {**spec, "resources": {"requests": {"storage": "4Gi"}}}
        if self._chance(2):
            metadata["annotations"] = {"volume.kubernetes.io/selected-node": "n0"}
        if self._chance(1):
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        made = {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": {"phase": "Pending"}}
        return None if self._chance(1) else made

    def _reserved(self) -> Json:
        """A volume that is set aside for one of the claims."""
        spec = {"capacity": {"storage": "20Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "csi"}
        reference = {"namespace": "default", "name": f"v0-new-{self._random.randrange(REPLICAS)}"}
        status = {"phase": "Available"}
        return {
            "kind": "PersistentVolume",
            "metadata": {"name": "pv-set-aside"},
            "spec": {**spec, "claimRef": reference, "csi": {"driver": "disk.csi.example", "volumeHandle": "aside"}},
            "status": status,
        }


def random_replicas(seed: int, version: str) -> tuple[Snapshot, list[Pod]]:
    random = Random(seed)  # noqa: S311 - a test case, not a secret
    graph = VolumeGraph(random)
    replicas = Replicas(random, graph.running)
    keeps_open = random.random() < 0.2
    objects = [each for each in graph.objects if keeps_open or not is_open(each)]
    made = map(decoded, (*objects, *graph.running, *replicas.claims, *replicas.volumes))
    services = map(service_of, replicas.pods) if random.random() < 0.3 else ()
    nodes = snapshot(*made, *services, version=version)
    return nodes, [each for each in map(decoded, replicas.pods) if isinstance(each, Pod)]


def service_of(item: Json) -> Service:
    metadata = {"name": item["metadata"]["name"], "namespace": "default"}
    return msgspec.convert({"metadata": metadata, "spec": {"selector": {POD_NAME: metadata["name"]}}}, Service)


def is_open(item: Json) -> bool:
    return item["kind"] == "PersistentVolume" and "claimRef" not in item["spec"]


@settings(max_examples=examples(400), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), version=st.sampled_from(EXACT_MINORS))
def test_replicas_with_volumes(seed: int, version: str) -> None:
    nodes, pods = random_replicas(seed, version)
    assert_exact(scheduler(nodes, version), pods)


def first_and_next(*objects: KubernetesObject, of: Callable[[str], Pod]) -> tuple[Scheduler, ScheduleResult, Pod]:
    nodes = snapshot(*map(node_in, "ab"), csi_node("node-a", disk=8), csi_node("node-b", disk=8), *objects)
    replay = scheduler(nodes)
    framework = replay.framework("default-scheduler")
    assert framework is not None
    return replay, cycle(of("web-0"), nodes, framework), of("web-1")


def is_placed_alike(*objects: KubernetesObject, of: Callable[[str], Pod]) -> bool:
    _, first, other = first_and_next(*objects, of=of)
    equal = EqualPods.after(first)
    if equal is None:
        return False
    equal.assume(first.pod, int(first.feasible[0]))
    return equal.stands_for(other)


def mounting(name: str, **claims: str) -> Pod:
    sources = [{"name": key, "persistentVolumeClaim": {"claimName": of}} for key, of in claims.items()]
    return pod(name, volumes=sources)


def claiming(name: str) -> Pod:
    return mounting(name, data=f"data-{name}", logs="logs")


def scratching(name: str) -> Pod:
    source = {"volumeClaimTemplate": {"spec": {"storageClassName": "slow"}}}
    return pod(name, volumes=[{"name": "scratch", "ephemeral": source}])


def of_pod(name: str, uid: str = "") -> Any:
    owner = {"kind": "Pod", "name": name, "uid": uid or f"uid-{name}", "controller": True}
    return claim(f"{name}-scratch", metadata={"ownerReferences": [owner]})


def bound(name: str) -> tuple[Any, Any]:
    return claim(name, to=f"pv-{name}"), volume(f"pv-{name}", claimRef={"namespace": "default", "name": name})


def two(**fields: Any) -> tuple[Any, Any]:
    return claim("data-web-0", **fields), claim("data-web-1", **fields)


IN_A: Json = {"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}]}
SELECTED = {"annotations": {"volume.kubernetes.io/selected-node": "node-a"}}
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
LOGS = bound("logs")


@pytest.mark.parametrize(
    ("objects", "of"),
    [
        ((storage_class(), *LOGS, *two()), claiming),
        ((storage_class(**IN_A), *LOGS, *two()), claiming),
        ((storage_class(), of_pod("web-0"), of_pod("web-1")), scratching),
        (LOGS, lambda name: mounting(name, logs="logs")),
    ],
)
def test_what_is_placed_without_whole_cycles(objects: Any, of: Callable[[str], Pod]) -> None:
    assert is_placed_alike(*objects, of=of)


def with_two(name: str) -> Pod:
    return mounting(name, data=f"data-{name}", more="more" if name == "web-0" else f"data-{name}")


def with_disk(name: str) -> Pod:
    disk = {"name": "disk", "gcePersistentDisk": {"pdName": "disk", "readOnly": True}}
    return pod(name, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}"}}, disk])


@pytest.mark.parametrize(
    ("objects", "of"),
    [
        ((*LOGS, claim("data-web-0"), claim("data-web-1", size="6Gi")), claiming),
        ((*LOGS, claim("data-web-0"), claim("data-web-1", metadata=SELECTED)), claiming),
        ((*LOGS, *two(metadata=SELECTED)), claiming),
        ((*LOGS, claim("data-web-0"), claim("data-web-1", metadata=DELETED)), claiming),
        ((*LOGS, claim("data-web-0"), *bound("data-web-1")), claiming),
        ((*LOGS, *bound("data-web-0"), *bound("data-web-1")), claiming),
        ((*LOGS, claim("data-web-0")), claiming),
        ((*LOGS, *two(), volume("pv-free")), claiming),
        ((*LOGS, *two(), volume("pv-kept", claimRef={"namespace": "default", "name": "data-web-1"})), claiming),
        ((*LOGS, *two(), pod("reader", on="node-a", **using("data-web-1"))), claiming),
        ((*LOGS, *two(accessModes=["ReadWriteOncePod"])), claiming),
        ((claim("both"),), lambda name: mounting(name, data="both")),
        ((of_pod("web-0"), of_pod("web-1", "another")), scratching),
        (two(), with_disk),
        ((*two(), claim("more")), with_two),
        ((*bound("web-0"), *bound("web-1")), lambda name: mounting(name, data=name)),
    ],
)  # fmt: skip
def test_what_needs_whole_cycles(objects: Any, of: Callable[[str], Pod]) -> None:
    assert not is_placed_alike(storage_class(), *objects, of=of)


@pytest.mark.parametrize(
    ("objects", "of", "prepared"),
    [
        ((*bound("web-0"), *bound("web-1")), lambda name: mounting(name, data=name), False),
        (LOGS, lambda name: mounting(name, logs="logs"), True),
        ((storage_class(), *LOGS, *two()), claiming, True),
    ],
)
def test_nothing_is_prepared_where_the_pod_that_follows_is_bound_to_another_volume(
    objects: Any, of: Callable[[str], Pod], prepared: bool
) -> None:
    _, first, other = first_and_next(*objects, of=of)
    assert (EqualPods.after(first, other) is not None) == prepared
    assert EqualPods.after(first) is not None


def test_nodes_that_take_no_more_volumes_are_left_out() -> None:
    pods = [mounting(f"web-{index}", data=f"data-web-{index}") for index in range(8)]
    old = {"driver": "disk.csi.example", "volumeHandle": "old"}
    attachment = {"attacher": "disk.csi.example", "nodeName": "node-c", "source": {"persistentVolumeName": "pv-old"}}
    nodes = snapshot(
        *map(node_in, "abc"),
        *(csi_node("node-a", disk=2), csi_node("node-b", disk=3), csi_node("node-c", disk=3)),
        *(storage_class(), *(claim(f"data-web-{index}") for index in range(8))),
        *(claim("old", to="pv-old"), volume("pv-old", csi=old), stored("VolumeAttachment", "old", spec=attachment)),
        pod("old", on="node-b", **using("old")),
    )
    decisions, _ = simulated(scheduler(nodes), pods)
    landed = [decision[0] for decision in decisions]
    assert Counter(landed) == {"node-a": 2, "node-b": 2, "node-c": 2, None: 1}
    assert "3 node(s) exceed max volume count" in str(decisions[-1])
    assert_exact(scheduler(nodes), pods)
