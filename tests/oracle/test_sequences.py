"""Pods placed one after the other go where the real kube-scheduler puts them, step by step."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.api.storage import PersistentVolume, PersistentVolumeClaim
from kubectl_sched.simulation.placements import Placement, QueuedPod
from tests.decisions import is_refused
from tests.oracle.generate.clusters import requests
from tests.oracle.loops.simulated import simulated

if TYPE_CHECKING:
    from kubectl_sched.simulation.queue_simulation import Simulation
    from tests.oracle.build import Oracle

pytestmark = pytest.mark.oracle

Json = dict[str, Any]

EXAMPLES = int(os.environ.get("ORACLE_EXAMPLES", "200")) // 4
TOO_MUCH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
BY_STATE = ("devices", "volumes", "mixed")
"""Resources that pods set aside besides room: everybody sees them only once the pods are bound."""

TOPICS = ("resources", "taints", "nodes", "ports", "images", "spread", "interpod", "preemption", "configuration")
COPIES = 4


@st.composite
def sequences(draw: st.DrawFn, topic: str, gates: frozenset[str]) -> Json:
    """A request whose pods are placed in a sequence, each pending one in several copies."""
    request = draw(requests(topic, gates))
    templates = [item for item in request["objects"] if item["kind"] == "Pod" and not item["spec"].get("nodeName")]
    copies = [copy(item, index) for item in templates for index in range(COPIES)]
    if draw(st.booleans()):
        copies = copies[::2] + copies[1::2]
    steps = [{"pod": f"{item['metadata']['namespace']}/{item['metadata']['name']}"} for item in copies]
    others = [item for item in request["objects"] if item not in templates]
    return {**request, "objects": [*others, *copies], "pods": [], "sequence": steps}


def copy(item: Json, index: int) -> Json:
    metadata = item["metadata"]
    name = f"{metadata['name']}-copy{index}"
    named = {**metadata, "name": name, "uid": name, "namespace": metadata.get("namespace", "default")}
    return {**item, "metadata": named}


@st.composite
def sequences_with_claims(draw: st.DrawFn, topic: str, gates: frozenset[str]) -> Json:
    """Sequences like `sequences`, but each copy has claims of its own, or else all of them share the first one's."""
    request = draw(requests(topic, gates))
    shared = draw(st.booleans())
    objects: list[Json] = list(request["objects"])
    steps: list[Json] = []
    for pod in [item for item in request["objects"] if item["kind"] == "Pod" and not item["spec"].get("nodeName")]:
        name = pod["metadata"]["name"]
        own = [pod] if shared else [item for item in request["objects"] if is_of(item, name)]
        objects = [item for item in objects if item not in own]
        for index in range(COPIES):
            copies = [copy(pod, index)] if shared else renamed(own, name, f"{name}-copy{index}")
            objects += copies
            steps += [item for item in copies if item["kind"] == "Pod"]
    keys = [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in steps]
    return {**request, "objects": objects, "pods": [], "sequence": [{"pod": key} for key in keys]}


def is_of(item: Json, pod: str) -> bool:
    """Report whether an object is the pod, one of its claims, or the volume of such a claim."""
    name = item["metadata"]["name"]
    return name == pod or f"{pod}-" in name


def renamed(items: list[Json], before: str, after: str) -> list[Json]:
    found: list[Json] = json.loads(json.dumps(items).replace(before, after))
    return found


def in_state(request: Json, simulation: Simulation, done: list[Placement]) -> list[Json]:
    """The request's objects as they are after our placements, as a server would have them."""
    nodes = simulation.nodes
    changed = {
        (kind.__name__, item.key): json.loads(msgspec.json.encode(item))
        for kind in (PersistentVolume, PersistentVolumeClaim, ResourceClaim)
        for item in nodes.objects.all(kind)
    }
    keys = {(item["kind"], key_of(item)) for item in request["objects"]}
    bound = {placement.pod.key: placement.node for placement in done if placement.is_placed}
    objects = [changed.get((item["kind"], key_of(item)), item) for item in request["objects"]]
    made = [item for key, item in changed.items() if key not in keys]
    nominated = {pod.key: name for name, pods in nodes.nominated.items() for pod in pods}
    return [
        on_node(item, bound.get(key_of(item)), nominated.get(key_of(item))) if item["kind"] == "Pod" else item
        for item in (*objects, *made)
    ]


def key_of(item: Json) -> str:
    namespace = item["metadata"].get("namespace")
    return f"{namespace}/{item['metadata']['name']}" if namespace else str(item["metadata"]["name"])


def on_node(pod: Json, node: str | None, nominated: str | None) -> Json:
    """The pod on its node, or with the nomination that it has by now, as preemption may have cleared it."""
    if node is None:
        return {**pod, "status": {**pod.get("status", {}), "nominatedNodeName": nominated or ""}}
    status = {**pod.get("status", {}), "phase": "Running", "startTime": "2026-01-01T00:00:00Z"}
    return {**pod, "spec": {**pod["spec"], "nodeName": node}, "status": status}


def placed(request: Json, folder: Path, minor: str) -> list[Placement]:
    """What we say of each step."""
    simulation, pods = simulated(request, folder, minor)
    return [simulation.place(QueuedPod(pod=pods[step["pod"]])) for step in request["sequence"]]


def decided(answer: Json) -> Json:
    kept = answer.get("kept") or {}
    node = kept.get("node") or None
    points = (answer.get("nodes") or {}).get(node) or {}
    if node is not None and not answer.get("nominatedFirst") and not answer.get("scoreError"):
        return {"node": node, "tied": answer["best"], "total": points.get("total")}
    return {"node": node, "event": answer.get("eventMessage") or answer.get("finalMessage") if node is None else None}


def ours(placement: Placement, real: Json) -> Json:
    said = {"node": placement.node, "tied": list(placement.tied), "total": placement.total, "event": placement.event}
    return {aspect: said[aspect] for aspect in real}


def goes_on_alike(answer: Json, placement: Placement) -> bool:
    """Preemption's last tie falls to chance: where it fell otherwise, the steps after it are of another story."""
    kept = answer.get("kept") or {}
    return (kept.get("nominated") or None) == placement.nominated_node


def is_scheduled(answer: Json) -> bool:
    return bool(answer.get("profileFound")) and not any(answer.get(key) for key in ("skip", "preEnqueue", "error"))


@pytest.mark.parametrize("topic", TOPICS)
def test_each_step_is_the_real_schedulers(oracle: Oracle, gates: frozenset[str], topic: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=TOO_MUCH)
    @given(sequences(topic, gates))
    def agrees(request: Json) -> None:
        answers = oracle.ask(request)
        if not all(map(is_scheduled, answers)):
            return
        with TemporaryDirectory() as folder:
            placements = placed(request, Path(folder), oracle.patch)
        for step, (answer, placement) in enumerate(zip(answers, placements, strict=True)):
            real = decided(answer)
            assert ours(placement, real) == real, step
            if not goes_on_alike(answer, placement):
                return

    agrees()


def test_devices_in_flight_are_taken(oracle: Oracle, gates: frozenset[str]) -> None:
    """Claims of their own are all that pods whose binding is under way hold back from those after them."""

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=TOO_MUCH)
    @given(sequences_with_claims("devices", gates).filter(lambda request: not shares_a_claim(request)))
    def agrees(request: Json) -> None:
        answers = oracle.ask(request)
        if not all(map(is_scheduled, answers)):
            return
        with TemporaryDirectory() as folder:
            placements = placed(request, Path(folder), oracle.patch)
        for step, (answer, placement) in enumerate(zip(answers, placements, strict=True)):
            real = decided(answer)
            assert ours(placement, real) == real, step

    agrees()


def shares_a_claim(request: Json) -> bool:
    used = [
        (item["metadata"]["namespace"], each["resourceClaimName"])
        for item in request["objects"]
        if item["kind"] == "Pod"
        for each in item["spec"].get("resourceClaims", ())
    ]
    return len(used) != len(set(used))


@pytest.mark.parametrize("topic", BY_STATE)
def test_each_step_is_the_real_schedulers_in_the_state_that_the_former_left(
    oracle: Oracle, gates: frozenset[str], topic: str
) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=TOO_MUCH)
    @given(sequences_with_claims(topic, gates))
    def agrees(request: Json) -> None:
        if is_refused(oracle.ask({**request, "sequence": request["sequence"][:1]})[0]):
            return
        with TemporaryDirectory() as folder:
            simulation, pods = simulated(request, Path(folder), oracle.patch)
        done: list[Placement] = []
        for step in request["sequence"]:
            asked = {**request, "objects": in_state(request, simulation, done), "sequence": [step]}
            (answer,) = oracle.ask(asked)
            if not is_scheduled(answer):
                return
            placement = simulation.place(QueuedPod(pod=pods[step["pod"]]))
            real = decided(answer)
            assert ours(placement, real) == real, step
            if not goes_on_alike(answer, placement) or placement.nominated_node:
                return
            done.append(placement)

    agrees()
