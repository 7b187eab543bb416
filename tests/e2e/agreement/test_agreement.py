"""Pods that are created one by one while kube-scheduler runs land where our explanation of the state just before says.

The node is among `best`, the plugins' scores are those of the -v=10 log, a FailedScheduling event is `event`, and the
victims are those of preemption.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.decisions import explain
from tests.e2e import kubelet
from tests.e2e.api import Api, ApiError, Json
from tests.e2e.control_plane import MINOR, ControlPlane
from tests.e2e.patience import until
from tests.e2e.priority_classes import priority_class
from tests.oracle.generate.nodes import nodes
from tests.oracle.generate.pods import PRIORITIES, pending_pods
from tests.oracle.generate.samples import samples
from tests.oracle.generate.values import NAMESPACES

pytestmark = pytest.mark.e2e

PODS = int(os.environ.get("E2E_PODS", "200"))
SCHEDULER = os.environ.get("E2E_KUBE_SCHEDULER", MINOR)
"""The minor of kube-scheduler; of 1.38 the other servers cannot be built yet, so it runs beside those of 1.37."""

ABOUT = frozenset({"taints", "nodes", "topology", "images", "spread", "interpod", "ports", "preemption"})
INVALID = {403, 422}
"""How the API server refuses a pod that is not as it should be: some of the random ones are not."""

SCORED = re.compile(r'"Plugin scored node for pod" pod="([^"]+)" plugin="([^"]+)" node="([^"]+)" score=(-?\d+)')


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    with ControlPlane(minor=min(SCHEDULER, "1.37")) as plane:
        yield plane


def test_random_pods_land_where_we_say(control_plane: ControlPlane, api: Api, tmp_path: Path) -> None:
    populate(api)
    log = start_scheduler(control_plane)
    until(lambda: sees_all(api, tmp_path), lambda: f"it never saw all nodes as they are:\n{log.read_text()[-3000:]}")
    outcomes = set()
    number = 0
    for wanted in random_pods():
        before = api.everything()
        try:
            created = api.create(f"/api/v1/namespaces/{wanted['metadata']['namespace']}/pods", wanted)
        except ApiError as refused:
            if refused.code not in INVALID:
                raise
            continue
        explained = explanation([*before, {"apiVersion": "v1", "kind": "Pod"} | created], created, tmp_path)
        outcomes.add(explained["outcome"])
        check(api, created, explained, log)
        settle(api, created, number)
        number += 1
        if number == PODS:
            break
    assert number == PODS
    assert outcomes >= {"Schedulable", "Unschedulable"}


def start_scheduler(control_plane: ControlPlane) -> Path:
    """A kube-scheduler that looks at all nodes; gives its log."""
    return control_plane.start_scheduler(config={"percentageOfNodesToScore": 100}, minor=SCHEDULER).log


def sees_all(api: Api, folder: Path) -> bool:
    """Whether kube-scheduler, which has just started, says of a pod that is too big for any node what we say.

    Nodes and pods reach it by watches of their own: a pod that is made at once may be judged before the last node is
    known, or its status.
    """
    before = api.everything()
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1M"}}}
    about = {"generateName": "too-big-", "namespace": "default"}
    created = api.create("/api/v1/namespaces/default/pods", {"metadata": about, "spec": {"containers": [container]}})
    explained = explanation([*before, {"apiVersion": "v1", "kind": "Pod"} | created], created, folder)
    said = until(lambda: event(api, created))
    api.delete(kubelet.pod_path(created), grace_seconds=0)
    return bool(said == explained["event"])


def populate(api: Api) -> None:
    """Namespaces, priority classes and nodes."""
    for name in NAMESPACES:
        if name != "default":
            api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": {"env": "dev"}}})
    for value in PRIORITIES:
        priority_class(api, f"priority{value}", value)
    for node in max(samples(nodes(ABOUT, up_to=8), 100, seeded=1), key=lambda cluster: len(distinct(spec_of, cluster))):
        api.create("/api/v1/nodes", {key: node[key] for key in ("metadata", "spec")})
        api.merge(f"/api/v1/nodes/{node['metadata']['name']}/status", {"status": node["status"]})


def random_pods() -> Iterator[Json]:
    """Pods as a user would write them, no two the same, each with a name of its own."""
    for number, pod in enumerate(distinct(spec_of, samples(pending_pods(ABOUT, ["n0"], 0), 3 * PODS, seeded=2))):
        spec: Json = dict(pod["spec"])
        priority = spec.pop("priority", None)
        if priority is not None:
            spec["priorityClassName"] = f"priority{priority}"
        spec["containers"] = [{"image": "nginx:1.25"} | container for container in spec["containers"]]
        about = {
            "name": f"pod-{number:04}",
            "namespace": pod["metadata"]["namespace"],
            "labels": pod["metadata"]["labels"],
        }
        yield {"metadata": about, "spec": spec}


def spec_of(item: Json) -> str:
    return json.dumps(item["spec"], sort_keys=True)


def distinct(key: Callable[[Json], str], items: list[Json]) -> list[Json]:
    """The first of those that have the same key."""
    return list({key(item): item for item in reversed(items)}.values())[::-1]


def explanation(objects: list[Json], pod: Json, folder: Path) -> Json:
    """Ours, of the pod in the state that the objects are."""
    key = name_of(pod)
    return explain({"objects": objects, "pods": [key]}, folder, SCHEDULER)[key]


def name_of(pod: Json) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def check(api: Api, pod: Json, explained: Json, log: Path) -> None:
    """What happens is what was explained."""
    name = name_of(pod)

    def told() -> str:
        return f"{name} was explained as {explained}; the log of kube-scheduler says of it\n{said_of(log, name)}"

    decided = until(lambda: outcome(api, pod), told)
    if explained["outcome"] == "Schedulable":
        assert decided["spec"].get("nodeName") in explained["best"], told()
        if len(explained["feasible"]) > 1:
            expected = scores_of(explained)
            until(lambda: logged_scores(log, name) == expected, told)
        return
    assert "nodeName" not in decided["spec"], told()
    assert until(lambda: event(api, pod), told) == explained["event"], told()
    post_filter = explained["postFilter"]
    if post_filter and post_filter["victims"]:
        until(lambda: terminating(api), told)
        nominated = until(lambda: api.get(kubelet.pod_path(pod))["status"].get("nominatedNodeName"), told)
        if nominated == post_filter["nominatedNode"]:
            until(lambda: terminating(api) == sorted(post_filter["victims"]), told)


def outcome(api: Api, pod: Json) -> Json | None:
    """The pod once kube-scheduler has dealt with it."""
    now = api.get(kubelet.pod_path(pod))
    conditions = {each["type"]: each for each in now["status"].get("conditions", [])}
    return now if "nodeName" in now["spec"] or "PodScheduled" in conditions else None


def event(api: Api, pod: Json) -> str | None:
    """The text of the pod's FailedScheduling event."""
    about = pod["metadata"]
    selector = f"involvedObject.name={about['name']},reason=FailedScheduling"
    found = api.get(f"/api/v1/namespaces/{about['namespace']}/events?fieldSelector={selector}")["items"]
    return found[0]["message"] if found else None


def terminating(api: Api) -> list[str]:
    """The pods that are being deleted."""
    items = api.get("/api/v1/pods")["items"]
    return sorted(name_of(each) for each in items if "deletionTimestamp" in each["metadata"])


def scores_of(explained: Json) -> dict[tuple[str, str], int]:
    """(plugin, node) -> weighted score, as we explain it."""
    return {
        (score["plugin"], node["name"]): score["weighted"] for node in explained["nodes"] for score in node["scores"]
    }


def logged_scores(log: Path, pod: str) -> dict[tuple[str, str], int]:
    """(plugin, node) -> weighted score, out of kube-scheduler's log."""
    found = SCORED.findall(log.read_text(errors="replace"))
    return {(plugin, node): int(score) for about, plugin, node, score in found if about == pod}


def said_of(log: Path, pod: str) -> str:
    """The lines of kube-scheduler's log that name the pod, without what the API answered."""
    lines = (line for line in log.read_text(errors="replace").splitlines() if f'"{pod}"' in line)
    return "\n".join(line[:500] for line in lines if "round_trippers" not in line and "request.go" not in line)


def settle(api: Api, pod: Json, number: int) -> None:
    """The kubelet starts the pod, or else the pod is given up; its victims go."""
    now = api.get(kubelet.pod_path(pod))
    if "nodeName" in now["spec"]:
        kubelet.start(api, pod, f"2026-01-01T{number // 60:02}:{number % 60:02}:00Z")
    else:
        api.delete(kubelet.pod_path(pod), grace_seconds=0)
    kubelet.finish_terminating(api)
