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
from kubectl_sched.scheduler.end_of_cycle import after, reserved, reserved_pod
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Simulation
from kubectl_sched.simulation.replicas.replica_placement import EqualPods
from tests.examples import examples
from tests.plugins.clusters import EXACT_MINORS, pod, snapshot
from tests.plugins.random_volumes import CLAIMS, HOST, ZONE, ZONES, VolumeGraph, decoded
from tests.plugins.storage_objects import (
    claim,
    csi_node,
    in_zone,
    node_in,
    storage_class,
    stored,
    using,
    volume,
)
from tests.simulation.counted_totals import counted_totals

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot

Json = dict[str, Any]

REPLICAS = 9
DISK = "disk.csi.example"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
OF_EACH = ("own", "ephemeral", "bound")
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


def one_by_one(replay: Scheduler, pods: list[Pod], *, stops: bool = True) -> tuple[list[Decision], Snapshot]:
    """A whole cycle for each, as long as they fit unless it is to go on."""
    nodes = replay.nodes
    decisions: list[Decision] = []
    for each in pods:
        result = replay.cycle(each, nodes)
        if not result.fits:
            decisions.append((None, (), None, result.event))
            if stops:
                break
            continue
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
    """Placements from a queue, where the pod that follows is known."""
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
        self._places = [self._place() for _ in range(random.randint(1, 3))]
        self._drivers = self._some_of([DISK] * 5 + [None, "gcePersistentDisk"])
        self.claims = [
            made
            for each in self.pods
            for number, (kind, spec) in enumerate(self._kinds)
            if kind in OF_EACH and (made := self._claim(each, number, kind, spec)) is not None
        ]
        self.volumes = [volume for each in self.claims if (volume := self._bound(each)) is not None]
        self.attachments = [self._attachment(each) for each in self.volumes if self._chance(15)]
        if running and self._chance(10):
            running[0]["spec"]["volumes"] = self.pods[random.randrange(REPLICAS)]["spec"]["volumes"]
        self.volumes += [self._reserved() for _ in range(random.choice([0, 0, 0, 0, 1]))]
        self.volumes += [self._open(number) for number in range(random.choice([0, 0, 3, 6, 12]))]

    def _chance(self, percent: int) -> bool:
        return self._random.random() * 100 < percent

    def _volume_of(self, number: int) -> tuple[Any, Json]:
        modes = ["ReadWriteOncePod" if self._chance(6) else "ReadWriteOnce"]
        spec: Json = {"accessModes": modes, "storageClassName": self._random.choice(["csi"] * 6 + ["ebs", "at-once"])}
        if self._chance(90):
            spec["resources"] = {"requests": {"storage": self._random.choice(["1Gi", "3Gi", "9Gi"])}}
        kinds = ["own", "own", "ephemeral", "ephemeral", "bound", "bound", "bound", self._random.choice(CLAIMS)]
        kind: Any = self._random.choice(kinds)
        if number and self._chance(10):
            kind = {"gcePersistentDisk": {"pdName": "vol-1", "readOnly": True}}
        return kind, spec

    def _pod(self, name: str) -> Json:
        volumes: list[Json] = []
        for number, (kind, spec) in enumerate(self._kinds):
            claim_name = f"v{number}-{name}" if kind in ("own", "bound") else kind
            source: Json = {"persistentVolumeClaim": {"claimName": claim_name}}
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
        metadata["name"] = f"{name}-v{number}" if kind == "ephemeral" else f"v{number}-{name}"
        if kind == "ephemeral":
            uid = "another" if self._chance(1) else owner["metadata"]["uid"]
            metadata["ownerReferences"] = [{"kind": "Pod", "name": name, "uid": uid, "controller": True}]
        if self._chance(2):
            spec = {**spec, "resources": {"requests": {"storage": "4Gi"}}}
        if self._chance(2):
            metadata["annotations"] = {"volume.kubernetes.io/selected-node": "n0"}
        if self._chance(1):
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        status = {"phase": "Pending"}
        if kind == "bound" and not self._chance(8):
            own = f"pv-{metadata['name']}" if self._chance(98) else f"pv-v{number}-new-0"
            spec, status = {**spec, "volumeName": own}, {"phase": "Lost" if self._chance(1) else "Bound"}
            metadata["annotations"] |= {BIND_COMPLETED: "yes"} if self._chance(99) else {}
        made = {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": status}
        return None if self._chance(1) else made

    def _some_of(self, choices: list[Any]) -> list[Any]:
        return self._random.sample(choices, self._random.choice([1, 1, 1, 2]))

    def _place(self) -> Json:
        """The labels and the node affinity of a volume: in a zone, on a node, or anywhere."""
        zone, node = self._random.choice(ZONES), f"n{self._random.randrange(5)}"
        key, values = self._random.choice([(ZONE, [zone]), (ZONE, [zone]), (HOST, [node]), (ZONE, [*ZONES[:2]])])
        operator = "NotIn" if self._chance(10) else "In"
        terms = [{"matchExpressions": [{"key": key, "operator": operator, "values": values}]}]
        affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if self._chance(80) else {}
        return {"labels": {ZONE: zone} if self._chance(30) else {}, "spec": affinity}

    def _bound(self, claim: Json) -> Json | None:
        """The volume of a bound claim, in most cases one that nobody else has."""
        name, own = claim["spec"].get("volumeName"), claim["metadata"]["name"]
        if name != f"pv-{own}" or self._chance(1):
            return None
        place, driver = self._random.choice(self._places), self._random.choice(self._drivers)
        handle = own if self._chance(97) else "another"
        source: Json = {"local": {}} if driver is None else {driver: {"pdName": handle}}
        if driver == DISK:
            source = {"csi": {"driver": DISK, "volumeHandle": handle}}
        spec = {"capacity": {"storage": "9Gi"}, "accessModes": ["ReadWriteOnce"], **place["spec"], **source}
        spec["claimRef"] = {"namespace": "default", "name": own if self._chance(99) else "another"}
        metadata = {"name": name, "labels": place["labels"]}
        return {"kind": "PersistentVolume", "metadata": metadata, "spec": spec, "status": {"phase": "Bound"}}

    def _open(self, number: int) -> Json:
        """A volume that nobody has claimed."""
        place, driver = self._random.choice(self._places), self._random.choice(self._drivers)
        handle = f"open-{number}" if self._chance(98) else "another"
        source: Json = {"local": {}} if driver is None else {driver: {"pdName": handle}}
        if driver == DISK:
            source = {"csi": {"driver": DISK, "volumeHandle": handle}}
        spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "csi", **place["spec"], **source}
        spec["capacity"] = {"storage": str((self._random.choice([1, 3, 9]) << 30) + number)}
        metadata = {"name": f"pv-open-{number}", "labels": place["labels"]}
        return {"kind": "PersistentVolume", "metadata": metadata, "spec": spec, "status": {"phase": "Available"}}

    def _attachment(self, volume: Json) -> Json:
        source = {"persistentVolumeName": volume["metadata"]["name"]}
        spec = {"attacher": DISK, "nodeName": f"n{self._random.randrange(4)}", "source": source}
        return {"kind": "VolumeAttachment", "metadata": {"name": f"of-{source['persistentVolumeName']}"}, "spec": spec}

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
    made = map(decoded, (*objects, *graph.running, *replicas.claims, *replicas.volumes, *replicas.attachments))
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


def test_what_pods_have_reserved_stays_as_it_was_when_it_was_asked_for() -> None:
    pods = [mounting(f"web-{index}", data=f"data-web-{index}") for index in range(6)]
    claims = [claim(f"data-web-{index}") for index in range(6)]
    volumes = [volume(f"pv-{index}") for index in range(6)]
    simulation = Simulation(scheduler(snapshot(*map(node_in, "ab"), storage_class(), *claims, *volumes)))
    simulation.fill(QueuedPod(pod=each) for each in pods[:4])
    early = simulation.nodes.objects
    simulation.fill(QueuedPod(pod=each) for each in pods[4:])
    for objects, count in ((early, 4), (simulation.nodes.objects, 6)):
        bound = [each for each in objects.all(PersistentVolumeClaim) if each.spec.volume_name]
        taken = [each for each in objects.all(PersistentVolume) if each.spec.claim_ref is not None]
        assert len(bound) == len(taken) == count


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
    return equal.turn_to(other)


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


def bound(name: str, **spec: Any) -> tuple[Any, Any]:
    reference = {"namespace": "default", "name": name}
    modes = spec.get("accessModes", ["ReadWriteOnce"])
    return claim(name, to=f"pv-{name}", accessModes=modes), volume(f"pv-{name}", claimRef=reference, **spec)


def lost(name: str) -> Any:
    annotations = {BIND_COMPLETED: "yes"}
    spec = {"volumeName": f"pv-{name}"}
    return stored(
        "PersistentVolumeClaim", name, metadata={"annotations": annotations}, spec=spec, status={"phase": "Lost"}
    )


def own_volume(name: str) -> Pod:
    return mounting(name, data=name)


def disk(handle: str, driver: str = DISK) -> Json:
    return {"driver": driver, "volumeHandle": handle}


def attached(name: str) -> Any:
    spec = {"attacher": DISK, "nodeName": "node-a", "source": {"persistentVolumeName": f"pv-{name}"}}
    return stored("VolumeAttachment", name, spec=spec)


def two(**fields: Any) -> tuple[Any, Any]:
    return claim("data-web-0", **fields), claim("data-web-1", **fields)


IN_A: Json = {"allowedTopologies": [{"matchLabelExpressions": [{"key": ZONE, "values": ["a"]}]}]}
SELECTED = {"annotations": {"volume.kubernetes.io/selected-node": "node-a"}}
DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
LOGS = bound("logs")
AT_A: Json = {"nodeAffinity": in_zone("a"), "csi": disk("1")}
AT_B: Json = {"nodeAffinity": in_zone("b"), "csi": disk("2")}
AT_OTHER: Json = {"csi": disk("1", "other.csi.example")}
NOBODY = "kubernetes.io/no-provisioner"
ONE_EACH = {"web-0": "one", "web-1": "other"}
GCE: Json = {"gcePersistentDisk": {"pdName": "1"}}
PD = disk("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/1", "pd.csi.storage.gke.io")
USES_PD = pod("reader", on="node-a", volumes=[{"name": "pd", **GCE}])


@pytest.mark.parametrize(
    ("objects", "of"),
    [
        ((storage_class(), *LOGS, *two()), claiming),
        ((storage_class(**IN_A), *LOGS, *two()), claiming),
        ((storage_class(), of_pod("web-0"), of_pod("web-1")), scratching),
        (LOGS, lambda name: mounting(name, logs="logs")),
        ((storage_class(), *LOGS, claim("data-web-0"), claim("data-web-1", size="6Gi")), claiming),
        ((storage_class(), *LOGS, *two(accessModes=["ReadWriteOncePod"])), claiming),
        ((*LOGS, *bound("data-web-0"), *bound("data-web-1")), claiming),
        ((*bound("web-0", accessModes=["ReadWriteOncePod"]), *bound("web-1")), own_volume),
        ((*bound("web-0", **AT_A), *bound("web-1", **AT_B)), own_volume),
        ((*bound("web-0", **AT_A), *bound("web-1", nodeAffinity=in_zone("b"), csi=disk("2"))), own_volume),
        ((storage_class(), *bound("web-0", csi=disk("1")), claim("web-1")), own_volume),
        ((*bound("web-0", csi=disk("1")), *bound("web-1", csi=disk("2")), attached("web-1")), own_volume),
        ((storage_class(), *LOGS, *two(), volume("pv-free", csi=disk("1"))), claiming),
        ((storage_class(), *LOGS, *two(), volume("pv-small", capacity={"storage": "1Gi"}, csi=disk("1"))), claiming),
        ((storage_class(provisioner=NOBODY), *LOGS, *two(), volume("pv-0"), volume("pv-1")), claiming),
        ((storage_class(provisioner=NOBODY), *LOGS, *two(), volume("pv-0"), volume("pv-1", **AT_OTHER)), claiming),
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
        ((*LOGS, claim("data-web-0"), claim("data-web-1", metadata=SELECTED)), claiming),
        ((*LOGS, *two(metadata=SELECTED)), claiming),
        ((*LOGS, claim("data-web-0"), claim("data-web-1", metadata=DELETED)), claiming),
        ((*LOGS, claim("data-web-0"), *bound("data-web-1")), claiming),
        ((*LOGS, claim("data-web-0")), claiming),
        ((*LOGS, *two(), volume("pv-free")), claiming),
        ((*LOGS, *two(), volume("pv-free", **GCE)), claiming),
        ((*LOGS, *two(), volume("pv-free", csi=disk("1", "other.csi.example"))), claiming),
        ((*LOGS, *two(), volume("pv-0", csi=disk("1")), volume("pv-1", csi=disk("1"))), claiming),
        ((*LOGS, *two(), volume("pv-free", csi=disk("1")), attached("free")), claiming),
        ((*LOGS, *two(), volume("pv-kept", claimRef={"namespace": "default", "name": "data-web-1"})), claiming),
        ((*LOGS, *two(), pod("reader", on="node-a", **using("data-web-1"))), claiming),
        (bound("logs", accessModes=["ReadWriteOncePod"]), lambda name: mounting(name, logs="logs")),
        ((claim("both"),), lambda name: mounting(name, data="both")),
        ((of_pod("web-0"), of_pod("web-1", "another")), scratching),
        (two(), with_disk),
        ((*two(), claim("more")), with_two),
        ((*bound("one"), *bound("other")), lambda name: mounting(name, data=ONE_EACH[name])),
        ((*bound("web-0"), *bound("web-1"), pod("reader", on="node-a", **using("web-1"))), own_volume),
        ((*bound("web-0"), claim("web-1", to="pv-web-0")), own_volume),
        ((*bound("web-0"), claim("web-1", to="pv-web-1")), own_volume),
        ((*bound("web-0"), claim("web-1", to="pv-web-1"), volume("pv-web-1")), own_volume),
        ((*bound("web-0"), *bound("web-1", csi=disk("2"))), own_volume),
        ((*bound("web-0", csi=disk("1")), *bound("web-1", csi=disk("2", "other.csi.example"))), own_volume),
        ((*bound("web-0", csi=disk("1")), *bound("web-1", csi=disk("1"))), own_volume),
        ((*bound("web-0", csi=disk("1")), *bound("web-1", csi=disk("2")), claim("stray", to="pv-web-1")), own_volume),
        ((*bound("web-0", **GCE), *bound("web-1", **GCE)), own_volume),
        ((*bound("web-0", csi=PD), *bound("web-1", csi=PD | {"volumeHandle": "2"}), USES_PD), own_volume),
        ((*bound("web-0"), *bound("web-1")[1:], lost("web-1")), own_volume),
    ],
)  # fmt: skip
def test_what_needs_whole_cycles(objects: Any, of: Callable[[str], Pod]) -> None:
    assert not is_placed_alike(storage_class(), *objects, of=of)


@pytest.mark.parametrize(
    ("objects", "of", "prepared"),
    [
        ((*bound("one"), *bound("other")), lambda name: mounting(name, data=ONE_EACH[name]), False),
        ((*bound("web-0"), *bound("web-1")), own_volume, True),
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


def test_nodes_that_take_no_more_volumes_are_left_out_of_the_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    """That nothing but the node of a pod is looked at again shows in how often the totals of all nodes are."""
    asked = counted_totals(monkeypatch)
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
    assert len(asked) == 1
    assert Counter(landed) == {"node-a": 2, "node-b": 2, "node-c": 2, None: 1}
    assert "3 node(s) exceed max volume count" in str(decisions[-1])
    assert_exact(scheduler(nodes), pods)
