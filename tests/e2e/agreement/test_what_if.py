"""What whatif says beforehand is what a real control plane then does: each placement, each rollout's end.

The real controllers make the pods and the real kube-scheduler places them; this test is the kubelet.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.queries.what_if.question import WhatIfQuestion
from kubectl_sched.queries.whatif import what_if
from kubectl_sched.simulation.placements import Placement
from kubectl_sched.simulation.what_if_result import WhatIfResult
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from tests.e2e import kubelet
from tests.e2e.api import LISTS, Api, ApiError, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

WORKLOADS = ("replicasets", "deployments", "statefulsets", "daemonsets")
LISTED = (*LISTS, *(f"/apis/apps/v1/{kind}" for kind in WORKLOADS), "/apis/batch/v1/jobs")
COLLECTIONS = {
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
    "ReplicaSet": "/apis/apps/v1/namespaces/default/replicasets",
    "StatefulSet": "/apis/apps/v1/namespaces/default/statefulsets",
    "DaemonSet": "/apis/apps/v1/namespaces/default/daemonsets",
    "Job": "/apis/batch/v1/namespaces/default/jobs",
}
PODS = "/api/v1/namespaces/default/pods"
NODES = {"n0": "za", "n1": "za", "n2": "zb"}
HOSTNAME = "kubernetes.io/hostname"


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    try:
        with ControlPlane(controller_manager=True) as plane:
            plane.start_scheduler(config={"percentageOfNodesToScore": 100})
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def server(plane: ControlPlane) -> Iterator[Api]:
    """Three nodes, and nothing else; what a test leaves is taken away."""
    with Api(plane.port, ADMIN_TOKEN) as api:
        if not api.get("/api/v1/nodes")["items"]:
            for name, zone in NODES.items():
                labels = {HOSTNAME: name, "zone": zone}
                status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}}
                api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": status})
                api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
        yield api
        for path in COLLECTIONS.values():
            for item in api.get(path)["items"]:
                with suppress(ApiError):  # The garbage collector deletes ReplicaSets, too.
                    api.delete(f"{path}/{item['metadata']['name']}")
        kubelet.meanwhile(api, lambda: not without_owner(api))


def without_owner(api: Api) -> list[Json]:
    """The pods that are left, which are told to go: those of a Job stay where it is deleted."""
    left: list[Json] = api.get(PODS)["items"]
    for pod in left:
        with suppress(ApiError):  # Others delete pods, too.
            api.merge(kubelet.pod_path(pod), {"metadata": {"finalizers": None}})
            api.delete(kubelet.pod_path(pod), grace_seconds=0)
    return left


def template(app: str, **spec: Any) -> Json:
    container = {"name": "main", "image": "x:1", "resources": {"requests": {"cpu": "100m"}}}
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **spec}}


def workload(kind: str, app: str, made_from: Json, **spec: Any) -> Json:
    version = "batch/v1" if kind == "Job" else "apps/v1"
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": app}}}
    wanted = {**selector, "template": made_from, **spec}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": app, "namespace": "default"}, "spec": wanted}


def spread(app: str) -> Json:
    """Over zones at all costs, over hosts where possible, and rather apart."""
    selector = {"labelSelector": {"matchLabels": {"app": app}}}
    constraints = [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **selector},
        {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway", **selector},
    ]
    term = {"weight": 10, "podAffinityTerm": {"topologyKey": HOSTNAME, **selector}}
    rather = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {"topologySpreadConstraints": constraints, "affinity": rather}


def one_a_node(app: str) -> Json:
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": app}}}
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


SCALED = {
    "Deployment": (workload("Deployment", "web", template("web", **spread("web")), replicas=0), "replicas", 5),
    "StatefulSet": (workload("StatefulSet", "db", template("db", **one_a_node("db")), replicas=0), "replicas", 4),
    "Job": (workload("Job", "sum", template("sum", restartPolicy="Never"), parallelism=0, completions=9),
            "parallelism", 4),
}  # fmt: skip


@pytest.mark.parametrize("kind", SCALED)
def test_each_pod_of_a_workload_lands_where_it_was_said_to(server: Api, tmp_path: Path, kind: str) -> None:
    item, field, most = SCALED[kind]
    server.create(COLLECTIONS[kind], item)
    for number in range(1, most + 1):
        scaled = {**item, "spec": {**item["spec"], field: number}}
        (said,) = ask(server, tmp_path, scaled).simulated.placements
        known = {pod["metadata"]["name"] for pod in kubelet.pods(server)}
        server.merge(f"{COLLECTIONS[kind]}/{item['metadata']['name']}", {"spec": {field: number}})
        check(server, said, known)


def test_a_manifest_of_a_daemon_set_lands_on_each_node_as_said(server: Api, tmp_path: Path) -> None:
    item = workload("DaemonSet", "agent", template("agent", nodeSelector={"zone": "za"}))
    said = {each.node for each in ask(server, tmp_path, item).simulated.placements}
    server.create(COLLECTIONS["DaemonSet"], item)
    kubelet.meanwhile(server, lambda: {pod["spec"].get("nodeName") for pod in kubelet.pods(server)} == said)
    assert said == {"n0", "n1"}


ROLLING = {
    "surge-without-room": ({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}, 3),
    "one-may-be-missing": ({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}, 3),
    "room-for-the-surge": ({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}, 2),
    "recreate": ({"type": "Recreate"}, 3),
}


@pytest.mark.parametrize("name", ROLLING)
def test_a_deployment_is_rolled_out_as_far_as_said(server: Api, tmp_path: Path, name: str) -> None:
    strategy, replicas = ROLLING[name]
    before = workload("Deployment", "web", template("web", **one_a_node("web")), replicas=replicas, strategy=strategy)
    roll(server, tmp_path, before, {**before, "spec": {**before["spec"], "template": changed(before)}}, replicas)


@pytest.mark.parametrize("fits", [True, False])
def test_a_stateful_set_is_rolled_out_as_far_as_said(server: Api, tmp_path: Path, fits: bool) -> None:
    before = workload("StatefulSet", "db", template("db"), replicas=3)
    made_from = changed(before)
    if not fits:
        made_from["spec"]["nodeSelector"] = {"zone": "nowhere"}
    roll(server, tmp_path, before, {**before, "spec": {**before["spec"], "template": made_from}}, 3)


@pytest.mark.parametrize("surge", [0, 1])
def test_a_daemon_set_is_rolled_out_as_far_as_said(server: Api, tmp_path: Path, surge: int) -> None:
    rolling = {"rollingUpdate": {"maxSurge": surge, "maxUnavailable": 1 - surge}}
    made_from = template("agent")
    made_from["spec"]["containers"][0]["ports"] = [{"containerPort": 99, "hostPort": 99}]
    before = workload("DaemonSet", "agent", made_from, updateStrategy=rolling)
    roll(server, tmp_path, before, {**before, "spec": {**before["spec"], "template": changed(before)}}, len(NODES))


def test_a_stateful_set_makes_no_pod_after_one_that_has_no_node(server: Api, tmp_path: Path) -> None:
    item = workload("StatefulSet", "db", template("db", **one_a_node("db")), replicas=6)
    said = ask(server, tmp_path, item).simulated.placements
    made = {each.pod.name for each in said if each.reason is None}
    server.create(COLLECTIONS["StatefulSet"], item)
    settled(server, lambda: {pod["metadata"]["name"] for pod in kubelet.pods(server)} == made)
    assert made == {"db-0", "db-1", "db-2", "db-3"}


@pytest.mark.parametrize(("kind", "change", "wanted"), [
    ("Deployment", {"paused": True, "replicas": 3}, ["x:1"]),
    ("ReplicaSet", {"replicas": 3}, ["x:2"]),
    ("StatefulSet", {"replicas": 4, "updateStrategy": {"rollingUpdate": {"partition": 3}}}, ["x:1", "x:2"]),
    ("StatefulSet", {"replicas": 4, "updateStrategy": {"type": "OnDelete", "rollingUpdate": None}}, ["x:2", "x:2"]),
])  # fmt: skip
def test_pods_are_made_from_the_template_that_was_said(
    server: Api, tmp_path: Path, kind: str, change: Json, wanted: list[str]
) -> None:
    before = workload(kind, "web", template("web"), replicas=2)
    server.create(COLLECTIONS[kind], before)
    kubelet.meanwhile(server, lambda: len(kubelet.ready(server)) == 2)
    known = {pod["metadata"]["name"] for pod in kubelet.pods(server)}
    after = {**before, "spec": {**before["spec"], **change, "template": changed(before)}}
    said = sorted(each.pod.spec.containers[0].image for each in ask(server, tmp_path, after).simulated.placements)
    server.merge(f"{COLLECTIONS[kind]}/web", {"spec": {**change, "template": after["spec"]["template"]}})

    def images() -> list[str]:
        new = [pod for pod in kubelet.pods(server) if pod["metadata"]["name"] not in known]
        return sorted(pod["spec"]["containers"][0]["image"] for pod in new)

    settled(server, lambda: images() == wanted)
    assert said == wanted


def roll(server: Api, folder: Path, before: Json, after: Json, count: int) -> None:
    """Roll the workload out, and compare how many old and new pods there are once nothing moves any more."""
    path = COLLECTIONS[before["kind"]]
    server.create(path, before)
    kubelet.meanwhile(server, lambda: len(kubelet.ready(server)) == count)
    answer = ask(server, folder, after)
    (rollout,) = answer.rollouts
    old = {pod["metadata"]["uid"] for pod in kubelet.pods(server)}
    server.merge(f"{path}/{after['metadata']['name']}", {"spec": {"template": after["spec"]["template"]}})
    made = {each.is_placed for each in rollout.placements}
    placed = sum(each.is_placed for each in rollout.placements)

    def is_as_said() -> bool:
        now = kubelet.pods(server)
        left = [pod for pod in now if pod["metadata"]["uid"] in old]
        new = [pod for pod in now if pod["metadata"]["uid"] not in old]
        running = [pod for pod in new if kubelet.is_ready(pod)]
        refused = [pod for pod in new if kubelet.is_refused(pod)]
        return (len(left), len(running), bool(refused)) == (len(rollout.remaining), placed, False in made)

    settled(server, is_as_said)
    assert (rollout.stuck_at is None) == (not rollout.remaining and made == {True})


def settled(server: Api, holds: Callable[[], bool]) -> None:
    """It comes to hold, and does so still a moment later."""
    kubelet.meanwhile(server, holds)
    time.sleep(1)
    kubelet.meanwhile(server, holds)


def changed(item: Json) -> Json:
    """The template with another image."""
    made_from: Json = json.loads(json.dumps(item["spec"]["template"]))
    made_from["spec"]["containers"][0]["image"] = "x:2"
    return made_from


def ask(server: Api, folder: Path, manifest: Json) -> WhatIfResult:
    """whatif MANIFEST, over what the server has at this moment."""
    items = []
    for path in LISTED:
        answer = server.get(path)
        kind = {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List")}
        items += [kind | item for item in answer["items"]]
    (folder / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    (folder / "manifest.json").write_text(json.dumps(manifest))
    dump = read([str(folder / "dump.json")])
    return what_if(
        WhatIfQuestion(targets=(str(folder / "manifest.json"),), replay=Replay(config=None, kube_version="1.36")), dump
    ).result


def check(server: Api, said: Placement, known: set[str]) -> None:
    """The pod that comes next lands on one of the tied nodes, or fails with the very event."""
    pod = kubelet.meanwhile(server, lambda: decided(server, known))
    if said.is_placed:
        assert pod["spec"].get("nodeName") in said.tied
        kubelet.meanwhile(server, lambda: kubelet.is_ready(server.get(kubelet.pod_path(pod))))
        return
    assert "nodeName" not in pod["spec"]
    selector = f"involvedObject.name={pod['metadata']['name']},reason=FailedScheduling"
    path = f"/api/v1/namespaces/default/events?fieldSelector={selector}"
    kubelet.meanwhile(server, lambda: said.event in [each["message"] for each in server.get(path)["items"]])


def decided(server: Api, known: set[str]) -> Json | None:
    """The one new pod, once kube-scheduler has dealt with it."""
    new = [pod for pod in kubelet.pods(server) if pod["metadata"]["name"] not in known]
    return next((pod for pod in new if "nodeName" in pod["spec"] or kubelet.is_refused(pod)), None)
