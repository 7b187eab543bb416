"""Commands of suggestions pasted into a shell: kube-scheduler then puts the pod where it was promised."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.api.pod import Pod
from kubectl_sched.sources.discovery.replay_setup import Replay, configuration_for, scheduler_for
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.suggestions.change import Kind
from kubectl_sched.suggestions.search import suggest
from kubectl_sched.suggestions.suggestion import Promise
from tests.e2e.api import Api, ApiError
from tests.e2e.control_plane import ControlPlane
from tests.e2e.patience import until
from tests.oracle.build import GoMissingError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from kubectl_sched.suggestions.suggestion import Suggestion

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")]

Json = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
DEDICATED = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
BLUE = {"labelSelector": {"matchLabels": {"app": "blue"}}, "topologyKey": "rack"}

HOST_PORT = {"ports": [{"containerPort": 80, "hostPort": 80}]}


def cpu(amount: str) -> Json:
    return {"resources": {"requests": {"cpu": amount}}}


CASES: dict[str, tuple[Json, Json, Json | None]] = {
    "cordoned": ({"spec": {"unschedulable": True}}, {}, None),
    "tainted": ({"spec": {"taints": [DEDICATED]}}, {}, None),
    "selector": ({}, {"nodeSelector": {"disk": "ssd"}}, None),
    "too large": ({}, {"container": cpu("3")}, None),
    "full": ({}, {"container": cpu("1")}, {"container": cpu("1500m")}),
    "port": ({}, {"container": HOST_PORT}, {"container": HOST_PORT}),
    "gated": ({}, {"schedulingGates": [{"name": "example.com/a"}]}, None),
    "topology key": ({}, {"affinity": {"podAffinity": {REQUIRED: [BLUE]}}}, {}),
    "anti-affinity": (
        {"metadata": {"labels": {"rack": "r"}}},
        {"affinity": {"podAntiAffinity": {REQUIRED: [BLUE]}}},
        {},
    ),
    "two at once": ({"spec": {"taints": [DEDICATED], "unschedulable": True}}, {}, None),
}
"""The node n0 (merged into a plain one), the pod that waits, and one that runs there."""

EVICTING = {"full", "port", "anti-affinity"}
"""Cases in which one of the suggestions evicts the pod that runs there."""


def body(name: str, spec: Json) -> Json:
    spec = dict(spec)
    container = {"name": "main", "image": "example.com/none", **spec.pop("container", {})}
    about = {"name": name, "namespace": "default", "labels": {"app": name}}
    return {"metadata": about, "spec": {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}}


def populate(api: Api, case: str) -> None:
    node, waiting, running = CASES[case]
    for path in (PODS, "/api/v1/nodes"):
        for item in api.get(path)["items"]:
            api.delete(f"{path}/{item['metadata']['name']}", grace_seconds=0)
    labels = {"kubernetes.io/hostname": "n0", **node.get("metadata", {}).get("labels", {})}
    api.create("/api/v1/nodes", {"metadata": {"name": "n0", "labels": labels}})
    amounts = {"cpu": "2", "memory": "4Gi", "pods": "10"}
    api.merge("/api/v1/nodes/n0/status", {"status": {"allocatable": amounts, "capacity": amounts}})
    if running is not None:
        api.create(PODS, body("blue", {**running, "nodeName": "n0"}))
    api.merge("/api/v1/nodes/n0", {"spec": {"taints": None, **node.get("spec", {})}})
    api.create(PODS, body("web", waiting))


def suggestions(api: Api, folder: Path, minor: str, name: str = "web") -> Iterator[Suggestion]:
    dump_file = folder / "dump.json"
    dump_file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": api.everything()}))
    dump = read([str(dump_file)])
    scheduler, _ = scheduler_for(
        dump, configuration_for(dump, Replay(config=None, kube_version=minor, feature_gates=None))
    )
    incoming = next(item for item in dump.objects if isinstance(item, Pod) and item.metadata.name == name)
    yield from (each for each in suggest(scheduler.schedule_one(incoming)) if each.commands or each.manual)


def paste(commands: tuple[str, ...], control_plane: ControlPlane) -> None:
    environment = {**os.environ, "KUBECONFIG": str(control_plane.kubeconfig)}
    done = subprocess.run(
        ["/bin/sh", "-ec", "\n".join(commands)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, (commands, done.stderr)


def placed(api: Api) -> str:
    """Where kube-scheduler puts the pod."""
    return until(lambda: node_of(api), lambda: f"it is on no node: {api.get(PODS)}")


def node_of(api: Api) -> str | None:
    try:
        name: str | None = api.get(f"{PODS}/web")["spec"].get("nodeName")
    except ApiError:  # the workload makes it anew
        return None
    return name


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    """A control plane that makes the pods of workloads and schedules them."""
    try:
        with ControlPlane(controller_manager=True) as plane:
            plane.start_scheduler(config={"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1})
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("case", CASES)
def test_the_pod_lands_where_it_was_promised(control_plane: ControlPlane, api: Api, case: str, tmp_path: Path) -> None:
    populate(api, case)
    number = len(list(suggestions(api, tmp_path, "1.36")))
    assert number
    pasted: list[str] = []
    for index in range(number):
        if index:
            populate(api, case)
        suggestion = list(suggestions(api, tmp_path, "1.36"))[index]
        assert suggestion.promise is Promise.WINS
        pasted += map(str, suggestion.commands)
        paste(tuple(map(str, suggestion.commands)), control_plane)
        assert placed(api) == suggestion.node, suggestion.text
    assert any("/pods/blue/eviction" in command for command in pasted) is (case in EVICTING), pasted


WORKLOADS = ("deployments", "statefulsets", "replicasets")


def workload(kind: str) -> Json:
    template = body(
        "", {"nodeSelector": {"kubernetes.io/os": "linux"}, "tolerations": [{"key": "own"}], "container": cpu("1")}
    )
    spec: Json = {"selector": {"matchLabels": template["metadata"]["labels"]}, "template": template}
    spec |= {"serviceName": "none"} if kind == "statefulsets" else {}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}


def pods_of_workloads(api: Api) -> list[Json]:
    return [each for each in api.get(PODS)["items"] if each["metadata"].get("ownerReferences")]


@pytest.mark.parametrize("kind", WORKLOADS)
def test_the_workload_is_changed_where_it_makes_its_pods(
    control_plane: ControlPlane, api: Api, kind: str, tmp_path: Path
) -> None:
    populate(api, "tainted")
    api.delete(f"{PODS}/web", grace_seconds=0)
    api.merge("/api/v1/nodes/n0", {"metadata": {"labels": {"kubernetes.io/os": "linux"}}})
    api.create(f"/apis/apps/v1/namespaces/default/{kind}", workload(kind))
    (made,) = until(lambda: pods_of_workloads(api))
    tolerating = next(iter(suggestions(api, tmp_path, "1.36", made["metadata"]["name"])))
    assert tolerating.changes[0].kind is Kind.TOLERATE
    paste(tuple(map(str, tolerating.commands)), control_plane)
    bound = until(lambda: [each for each in pods_of_workloads(api) if each["spec"].get("nodeName") == "n0"])
    assert bound
    stored = api.get(f"/apis/apps/v1/namespaces/default/{kind}/web")["spec"]["template"]["spec"]
    assert [each["key"] for each in stored["tolerations"]] == ["own", "dedicated"]
    api.delete(f"/apis/apps/v1/namespaces/default/{kind}/web")
    assert until(lambda: [] if pods_of_workloads(api) else [True])
