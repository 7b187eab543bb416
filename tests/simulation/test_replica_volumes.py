"""Replicas with volumes of their own are placed without a whole cycle each, and where whole cycles put them."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.examples import examples
from tests.plugins.clusters import EXACT_MINORS, node, pod, requests, snapshot
from tests.plugins.random_volumes import HOST
from tests.plugins.storage_objects import ZONE, claim, csi_node, in_zone, storage_class, volume
from tests.simulation.counted_totals import counted_totals
from tests.simulation.test_replica_claims import DISK, SPREAD, from_queue, one_by_one, scheduler, simulated
from tests.simulation.test_replica_placement import preferring

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

Json = dict[str, Any]

ZONES = ("a", "b", "c")


MIXED = ["open", "open", "zone"]
KINDS = (
    ["zone"],
    ["zone", "label"],
    ["node"],
    ["zone", "node", "made"],
    ["any", "label", "not"],
    ["open"],
    ["open"],
    MIXED,
)


SOFTLY: Json = {**SPREAD, "whenUnsatisfiable": "ScheduleAnyway"}
PREFERS_A: Json = {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
    {"weight": 7, "preference": {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}}
]}}}  # fmt: skip
RULES: tuple[Json, ...] = (
    {},
    {},
    {},
    requests(cpu="700m", memory="1Gi"),
    requests(cpu="700m", memory="1Gi"),
    {"topologySpreadConstraints": [SPREAD]},
    {"topologySpreadConstraints": [SOFTLY, {**SOFTLY, "topologyKey": HOST}]},
    {"topologySpreadConstraints": [SOFTLY], **requests(cpu="700m", memory="1Gi")},
    preferring("podAffinity", ZONE, "db"),
    preferring("podAntiAffinity", HOST, "db"),
    PREFERS_A,
)  # fmt: skip


def of_claim(name: str) -> Json:
    return {"persistentVolumeClaim": {"claimName": name}}


def reached(key: str, *values: str, operator: str = "In") -> Json:
    expression = {"key": key, "operator": operator, "values": values}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


class Shelf:
    """A StatefulSet in an orderly cluster: its claims are bound to volumes, or are yet to be.

    Volumes are in zones or on nodes; some that nobody has claimed are open to claims, fewer or more than these.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = [f"n{number}" for number in range(random.choice([3, 5, 7, 10, 10, 40, 40]))]
        self.count = random.randint(4, 24)
        templates = ("data", "logs")[: random.choice([1, 1, 2])]
        self._templates = dict(zip(templates, [random.choice(KINDS)] * 2, strict=False))
        if random.random() < 0.5:
            self._templates = {template: random.choice(KINDS) for template in templates}
        self._makes_volumes = MIXED in self._templates.values() or random.random() < 0.5
        self._bound_class = random.choice(["slow", "open"])
        made_by = DISK if self._makes_volumes else "kubernetes.io/no-provisioner"
        self.objects: list[Any] = [storage_class(), storage_class("open", made_by), *self._nodes()]
        self.objects += [self._open(number) for number in range(random.choice([0, self.count // 2, 2 * self.count]))]
        self.objects += [made for name in self._pod_names() for made in self._claims(name)]

    def _pod_names(self) -> list[str]:
        return [f"web-{number}" for number in range(self.count)]

    def _nodes(self) -> list[Any]:
        limit, made = self._random.choice([None, 2, 3, 5]), []
        tainted = self._random.choice([[""], ["", "", "x", "xy"]])
        for name in self._names:
            labels = {HOST: name, ZONE: self._random.choice(ZONES)}
            allocatable = {"cpu": self._random.choice(["2", "8"]), "memory": "16Gi", "pods": "110"}
            taints = [{"key": key, "effect": "PreferNoSchedule"} for key in self._random.choice(tainted)]
            made += [node(name, labels=labels, allocatable=allocatable, taints=taints), csi_node(name, disk=limit)]
        return made

    def _claims(self, name: str) -> list[Any]:
        zone, host = self._place()
        return [
            made
            for template, kinds in self._templates.items()
            for made in self._claim(self._random.choice(kinds), f"{template}-{name}", zone, host)
        ]

    def _place(self) -> tuple[str, str]:
        return self._random.choice(ZONES), self._random.choice(self._names)

    def _open(self, number: int) -> Any:
        """A volume that nobody has claimed, in a zone, on a node or on one of two."""
        zone, host = self._place()
        hosts = [host, self._random.choice(self._names)] if self._random.random() < 0.3 else [host]
        affinity = in_zone(zone) if self._random.random() < 0.4 else reached(HOST, *hosts)
        spec: Json = {"csi": {"driver": DISK, "volumeHandle": f"open-{number}"}} if self._makes_volumes else {}
        if self._random.random() < 0.9:
            spec["nodeAffinity"] = affinity
        capacity = {"storage": f"{self._random.randint(1, 12)}Gi"}
        return volume(f"open-{number}", storageClassName="open", capacity=capacity, **spec)

    def _claim(self, kind: str, name: str, zone: str, host: str) -> list[Any]:
        if kind == "open":
            return [claim(name, storageClassName="open", size=self._random.choice(["1Gi", "4Gi", "4Gi", "6Gi"]))]
        if kind == "made":
            return [claim(name)]
        spec: Json = {"csi": {"driver": DISK, "volumeHandle": name}, "storageClassName": self._bound_class}
        labels: Json = {}
        if kind == "zone":
            spec["nodeAffinity"] = in_zone(zone)
        if kind == "node":
            spec["nodeAffinity"] = reached(HOST, host)
        if kind == "not":
            spec["nodeAffinity"] = reached(HOST, host, operator="NotIn")
        if kind == "label":
            labels = {ZONE: self._random.choice([zone, "a__b"])}
        reference = {"namespace": "default", "name": name}
        phase = self._random.choice(["Bound", "Bound", "Available"])
        bound = volume(f"pv-{name}", metadata={"labels": labels}, phase=phase, claimRef=reference, **spec)
        return [claim(name, to=f"pv-{name}", storageClassName=self._bound_class), bound]

    def pods(self) -> list[Pod]:
        """The replicas."""
        spec: Json = {"metadata": {"labels": {"app": "db"}}, **self._random.choice(RULES)}
        return [pod(name, volumes=self._volumes(name), **spec) for name in self._pod_names()]

    def _volumes(self, name: str) -> list[Json]:
        return [{"name": template, **of_claim(f"{template}-{name}")} for template in self._templates]


@settings(max_examples=examples(150), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), version=st.sampled_from(EXACT_MINORS))
def test_replicas_whose_volumes_are_of_a_few_kinds(seed: int, version: str) -> None:
    shelf = Shelf(Random(seed))  # noqa: S311 - a test case, not a secret
    nodes, pods = snapshot(*shelf.objects, version=version), shelf.pods()
    replay = scheduler(nodes, version)
    with patch.object(Scheduler, "cycle", autospec=True, side_effect=Scheduler.cycle) as cycle:
        decisions, after = simulated(replay, pods)
    assert cycle.call_count == 1 + (len(decisions) > 1 and decisions[-1][0] is None)
    expected, _ = one_by_one(replay, pods, stops=False)
    assert decisions == expected[: len(decisions)]
    assert from_queue(replay, pods) == expected
    _, whole = one_by_one(replay, pods)
    for kind in (PersistentVolumeClaim, PersistentVolume):
        assert list(after.objects.all(kind)) == list(whole.objects.all(kind))


@pytest.mark.parametrize("key", [ZONE, HOST])
def test_pods_with_volumes_of_several_kinds_are_ranked(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """That nothing but the node of a pod is looked at again shows in how often the totals of all nodes are."""
    asked = counted_totals(monkeypatch)
    places = [{HOST: f"n{index}", ZONE: ZONES[index % 3]} for index in range(60)]
    nodes = [node(labels[HOST], labels=labels) for labels in places]
    names = [f"web-{index}" for index in range(30)]
    claims = [
        made
        for name, labels in zip(names, places, strict=False)
        for made in _bound(name, {"nodeAffinity": reached(key, labels[key])})
    ]
    pods = [pod(name, volumes=[{"name": "data", **of_claim(name)}]) for name in names]
    replay = scheduler(snapshot(*nodes, *claims))
    decisions = simulated(replay, pods)[0]
    assert len(asked) == 1
    assert decisions == one_by_one(replay, pods)[0]


def test_kinds_in_turn_weigh_constraints_by_the_domains_that_they_reach() -> None:
    nodes = [node(f"n{index}", labels={HOST: f"n{index}", ZONE: ZONES[index % 3]}) for index in range(48)]
    labels: Json = {"metadata": {"labels": {"app": "db"}}}
    running = [pod(f"run-{index}", on="n0", **labels) for index in range(20)]
    names = [f"web-{index}" for index in range(20)]
    claims = [made for index, name in enumerate(names) for made in _reached_from_two_zones_or_all(name, index)]
    spread: Json = {"topologySpreadConstraints": [{**SOFTLY, "maxSkew": 5}], **PREFERS_A, **labels}
    pods = [pod(name, volumes=[{"name": "data", **of_claim(name)}], **spread) for name in names]
    replay = scheduler(snapshot(*nodes, *running, *claims))
    assert simulated(replay, pods)[0] == one_by_one(replay, pods)[0]


def _reached_from_two_zones_or_all(name: str, index: int) -> tuple[Any, Any]:
    return _bound(name, {"nodeAffinity": reached(ZONE, "a", "b")} if index % 2 else {})


def _bound(name: str, spec: Json) -> tuple[Any, Any]:
    return claim(name, to=f"pv-{name}"), volume(f"pv-{name}", claimRef={"namespace": "default", "name": name}, **spec)
