"""What a suggestion promises holds: apply its change to the stored objects and ask the real kube-scheduler."""

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

from kubectl_sched.api.apimachinery.quantity import milli_value, value
from kubectl_sched.api.apimachinery.strategic_merge import merge
from kubectl_sched.api.core import Node
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.policy import PriorityClass
from kubectl_sched.config import ConfigurationError, FeatureGateError
from kubectl_sched.framework.amounts import amount_text
from kubectl_sched.record import plain
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.suggestions.change import Kind
from kubectl_sched.suggestions.search import suggest
from kubectl_sched.suggestions.suggestion import Promise
from tests.oracle.generate.clusters import requests
from tests.plugins.clusters import pod
from tests.suggestions.test_search import CASES, WINNING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.suggestions.suggestion import Suggestion
    from tests.oracle.build import Oracle

pytestmark = pytest.mark.oracle

Json = dict[str, Any]

EXAMPLES = int(os.environ.get("ORACLE_EXAMPLES", "200")) // 8
NODES_ASKED = 2
TOO_MUCH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
TOPICS = (
    *("resources", "taints", "nodes", "ports", "images", "spread", "interpod", "preemption", "queue"),
    *("configuration", "volumes", "devices", "mixed"),
)
CLASSES = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1_000_000},
]
SCENARIOS = sorted((Path(__file__).parents[2] / "fixtures" / "scenarios").iterdir())


def scheduler_of(request: Json, folder: Path, version: str) -> tuple[Scheduler, dict[str, Pod]]:
    dump_file, config = folder / "dump.json", folder / "config.yaml"
    dump_file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": request["objects"]}))
    config.write_text(request.get("config") or "")
    gates = ",".join(f"{name}={str(value).lower()}" for name, value in (request.get("featureGates") or {}).items())
    dump = read([str(dump_file)])
    replay = Replay(
        config=str(config) if request.get("config") else None, kube_version=version, feature_gates=gates or None
    )
    scheduler, _ = scheduler_for(dump, configuration_for(dump, replay))
    return scheduler, {item.key: item for item in dump.objects if isinstance(item, Pod)}


def suggestions(scheduler: Scheduler, pod: Pod) -> Iterator[Suggestion]:
    """About the pod in general, and about some nodes."""
    result = scheduler.schedule_one(pod)
    yield from suggest(result)
    for name in result.nodes.names[:NODES_ASKED]:
        yield from suggest(result, name)


def applied(request: Json, key: str, suggestion: Suggestion, profile: str) -> Json:
    """The request after the changes, about this pod alone."""
    evicted = {pod.key for change in suggestion.changes for pod in change.evicts}
    patches = {(each.kind, each.namespace, each.name): each.patch for each in suggestion.patches}
    objects = []
    for item in request["objects"]:
        about = item["metadata"]
        namespace = "" if item["kind"] == "Node" else about.get("namespace", "default")
        if item["kind"] == "Pod" and f"{namespace}/{about['name']}" in evicted:
            continue
        patch = patches.get((item["kind"], namespace, about["name"]))
        patched = item if patch is None else merge(item, dict(patch))
        objects.append(repaired(freed(patched, suggestion), suggestion) if item["kind"] == "Node" else patched)
    for node, daemons in (added for change in suggestion.changes for added in change.adds):
        objects.append({"apiVersion": "v1", "kind": "Node", **plain(node)})
        objects += ({"apiVersion": "v1", "kind": "Pod", **plain(pod)} for pod in daemons)
    weights = dict(change.weight for change in suggestion.changes if change.weight is not None)
    config = weighing(request.get("config") or "", profile, weights) if weights else request.get("config")
    return {**request, "objects": objects, "config": config, "pods": [key]}


def freed(node: Json, suggestion: Suggestion) -> Json:
    """The node with as much more to give as is to be freed on it."""
    status, name = node.get("status", {}), node["metadata"]["name"]
    changes = [change for change in suggestion.changes if change.frees and change.node_name == name]
    more = {resource: amount for change in changes for resource, amount in change.frees}
    allocatable = dict(status.get("allocatable", {}))
    for resource, amount in more.items():
        has = (milli_value if resource == "cpu" else value)(allocatable[resource])
        allocatable[resource] = amount_text(resource, has + amount)
    return {**node, "status": {**status, "allocatable": allocatable}} if more else node


def repaired(node: Json, suggestion: Suggestion) -> Json:
    """The node as its kubelet and controllers make it, by no command: without taints, with more pods."""
    spec, status = node.get("spec", {}), node.get("status", {})
    for change in suggestion.changes:
        if change.node is None or change.node_name != node["metadata"]["name"]:
            continue
        becomes = change.node(msgspec.convert(node, Node))
        if change.kind in {Kind.REPAIR, Kind.WAIT}:
            kept = {taint.key for taint in becomes.spec.taints}
            spec = {**spec, "taints": [taint for taint in spec["taints"] if taint["key"] in kept]}
        if change.kind is Kind.RAISE_MAX_PODS:
            status = {**status, "allocatable": {**status["allocatable"], "pods": becomes.status.allocatable["pods"]}}
    return {**node, "spec": spec, "status": status}


def weighing(config: str, profile: str, weights: dict[str, int]) -> str:
    """The configuration with these weights in the profile."""
    document = json.loads(
        config or '{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}'
    )
    profiles = document.setdefault("profiles", []) or [{"schedulerName": profile}]
    document["profiles"] = profiles
    meant = next(each for each in profiles if each.get("schedulerName", "default-scheduler") == profile)
    score = meant.setdefault("plugins", {}).setdefault("score", {})
    others = [each for each in score.get("enabled", []) if each["name"] not in weights]
    score["enabled"] = [*others, *({"name": name, "weight": weight} for name, weight in weights.items())]
    return json.dumps(document)


def broken_promise(suggestion: Suggestion, answer: Json) -> str | None:
    """What the real scheduler says that is not as it was promised."""
    if answer.get("error"):
        return f"error: {answer['error']}"
    if suggestion.promise is Promise.PREEMPTS:
        preempted = answer.get("postFilter") or {}
        nominated = preempted.get("nominatedNodes") or [preempted.get("nominatedNode")]
        return None if suggestion.node in nominated else f"nominated: {nominated}"
    said = {
        "feasible": sorted(answer["feasible"] or ()),
        "best": [answer["nominatedFirst"]] if answer.get("nominatedFirst") else sorted(answer["best"] or ()),
    }
    if answer.get("preEnqueue") or suggestion.node not in said["feasible"]:
        return f"does not fit: {answer.get('preEnqueue')} {said}"
    if len(said["feasible"]) != suggestion.feasible_count or tuple(said["best"]) != suggestion.nodes:
        return f"otherwise: {said}"
    return None


def check(oracle: Oracle, request: Json) -> set[str]:
    """Ask about every suggestion; gives the names of their kinds of change."""
    kinds: set[str] = set()
    with TemporaryDirectory() as folder:
        try:
            scheduler, pods = scheduler_of(request, Path(folder), oracle.patch)
        except (ConfigurationError, FeatureGateError):
            return kinds
        for key in request["pods"]:
            profile = pods[key].spec.scheduler_name or "default-scheduler"
            for suggestion in suggestions(scheduler, pods[key]):
                asked = applied(request, key, suggestion, profile)
                (answer,) = oracle.ask(asked)
                wrong = broken_promise(suggestion, answer)
                told = {
                    "pod": key,
                    "text": suggestion.text,
                    "commands": [*map(str, suggestion.commands)],
                    "nodes": suggestion.nodes,
                }
                assert wrong is None, json.dumps({**told, "real": wrong}, indent=1)
                kinds.update(change.kind.name for change in suggestion.changes)
    return kinds


@pytest.mark.parametrize("topic", TOPICS)
def test_the_real_scheduler_does_what_is_promised(oracle: Oracle, gates: frozenset[str], topic: str) -> None:
    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=TOO_MUCH)
    @given(requests(topic, gates), st.booleans())
    def holds(request: Json, classes: bool) -> None:
        check(oracle, {**request, "objects": [*request["objects"], *(CLASSES if classes else [])]})

    holds()


ALL_CASES = {**{kind.name: case for kind, case in CASES.items()}, **WINNING}


@pytest.mark.parametrize("name", ALL_CASES)
def test_every_kind_of_change_does_what_is_promised(oracle: Oracle, name: str) -> None:
    case = ALL_CASES[name]
    of_priorities = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    objects = [
        {**(of_priorities if isinstance(each, PriorityClass) else {"apiVersion": "v1"}), **plain(each)}
        for each in (*case.objects, pod("web-0", **case.spec))
    ]
    kinds = check(oracle, {"id": name, "objects": objects, "config": "", "pods": ["default/web-0"]})
    assert kinds >= {name} & set(Kind.__members__)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.name)
def test_and_so_it_does_in_the_scenarios(oracle: Oracle, scenario: Path) -> None:
    import yaml

    documents = yaml.safe_load_all((scenario / "cluster.yaml").read_text())
    objects = [item for each in documents if each for item in (each["items"] if each["kind"] == "List" else [each])]
    for item in objects:
        item["metadata"] = {key: value for key, value in item["metadata"].items() if key != "creationTimestamp"}
        if item["kind"] == "Pod":
            item["metadata"].setdefault("namespace", "default")
    pending = [item for item in objects if item["kind"] == "Pod" and not item["spec"].get("nodeName")][:2]
    pods = [f"{item['metadata']['namespace']}/{item['metadata']['name']}" for item in pending]
    check(oracle, {"id": scenario.name, "objects": objects, "config": "", "featureGates": {}, "pods": pods})
