"""A snapshot of a cluster that runs is replayed as the cluster itself is, field by field; what is true of its pods."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.api import Api, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.live.test_live import fill, grant, pod, pods_of, program
from tests.e2e.live.test_scenarios import bound
from tests.e2e.patience import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e

GATED = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}
REFUSED = {
    "phase": "Failed",
    "reason": "OutOfcpu",
    "message": "Pod was rejected: Node didn't have enough resource: cpu",
}


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    with ControlPlane(scheduler=True, controller_manager=True) as plane:
        with Api(plane.port, ADMIN_TOKEN) as api:
            fill(api)
            until(lambda: bound(api, "small"))
            api.create(pods_of("default"), pod("gated", "1", **GATED))
            api.create(pods_of("default"), pod("foreign", "1", schedulerName="volcano"))
            api.create(pods_of("default"), pod("named", "1", nodeName="n1"))
            api.create(pods_of("default"), pod("refused", "1", nodeName="n2"))
            api.merge(f"{pods_of('default')}/refused/status", {"status": REFUSED})
            quota = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "0"}}}
            api.create("/api/v1/namespaces", {"metadata": {"name": "full"}})
            api.create("/api/v1/namespaces/full/resourcequotas", quota)
            counted = {"hard": {"pods": "0"}, "used": {"pods": "0"}}
            api.merge("/api/v1/namespaces/full/resourcequotas/few/status", {"status": counted})
            api.create("/apis/apps/v1/namespaces/full/deployments", deployment())
            until(lambda: api.get(f"{pods_of('full', 'events')}?fieldSelector=reason=FailedCreate")["items"])
        yield plane


def deployment() -> Json:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": labels}, "template": template}}


def answer(plane: ControlPlane, *arguments: str) -> Any:
    """Without what is said of a dump as such, and how long ago a scheduler spoke, counted from another moment."""
    data = json.loads(program(plane, "explain", *arguments, "-o", "json").stdout)
    for each in data.get("items", [data]):
        if each["said"] is not None:
            each["said"].pop("age", None)
        each["warnings"] = [warning for warning in each["warnings"] if not warning.startswith("about the dump")]
    return data.get("items", data)


@pytest.fixture(scope="module")
def saved(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("snapshot") / "cluster.json.gz"
    done = program(control_plane, "snapshot", str(path))
    assert done.returncode == 0, done.stderr
    return path


@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("big", "Unschedulable"),
        ("small", "Bound"),
        ("stored", "Unschedulable"),
        ("gated", "Gated"),
        ("foreign", "NoScheduler"),
        ("named", "Bound"),
        ("refused", "RefusedByKubelet"),
    ],
)
def test_a_snapshot_is_replayed_as_the_cluster_is(
    control_plane: ControlPlane, saved: Path, name: str, stage: str
) -> None:
    live = answer(control_plane, name)
    assert live["stage"]["name"] == stage
    assert answer(control_plane, name, "--from", str(saved)) == live


def test_a_snapshot_of_one_namespace_has_its_pods_alone_and_says_so(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    path = str(tmp_path / "default.json.gz")
    assert program(control_plane, "snapshot", path, "-n", "default").returncode == 0
    (sentence,) = (each for each in answer(control_plane, "big", "--from", path)["warnings"] if "fuller" in each)
    assert sentence.startswith("the snapshot has pods of namespace default only, so nodes may be fuller than they seem")
    listed = answer(control_plane, "-A", "--from", path)
    assert {each["pod"]["name"] for each in listed} == {"big", "stored", "gated", "foreign"}
    gone = program(control_plane, "explain", "busy-0", "-n", "team", "--from", path)
    assert (gone.returncode, gone.stdout) == (2, "")


def allow(plane: ControlPlane, user: str, *resources: str, namespace: str | None = None) -> None:
    """Let the user list these resources of the core group, in one namespace or in all of the cluster."""
    rules = [{"apiGroups": [""], "resources": list(resources), "verbs": ["list"]}]
    name = f"{user}-lists-{'-'.join(resources)}"
    with Api(plane.port, ADMIN_TOKEN) as api:
        api.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": name}, "rules": rules})
        grant(api, user, name, namespace)


def test_a_right_to_one_namespace_is_enough_for_what_was_said_there(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    allow(control_plane, "dev", "pods", "events", namespace="default")
    path = str(tmp_path / "default.json.gz")
    done = program(control_plane, "snapshot", path, "-n", "default", "--as", "dev")
    assert done.returncode == 0, done.stderr
    assert "not allowed to list pods of all namespaces: the snapshot has pods of namespace default only" in done.stderr
    assert "not allowed to list nodes, so without the nodes nothing can be replayed; the missing rule" in done.stderr
    told = program(control_plane, "explain", "big", "--from", path)
    assert told.returncode == 3
    assert told.stdout.startswith("default/big: the dump has no Nodes")
    assert "Insufficient cpu" in told.stdout
    everybody = program(control_plane, "snapshot", path, "--as", "dev")
    assert everybody.returncode == 3
    assert "not allowed to list pods in all namespaces, but in namespace default: add -n default" in everybody.stderr


def test_with_the_nodes_a_snapshot_of_one_namespace_is_replayed(control_plane: ControlPlane, tmp_path: Path) -> None:
    allow(control_plane, "ann", "pods", "events", "persistentvolumeclaims", "services", namespace="default")
    allow(control_plane, "ann", "nodes", "namespaces", "persistentvolumes")
    mine, whole = str(tmp_path / "mine.json.gz"), str(tmp_path / "whole.json.gz")
    done = program(control_plane, "snapshot", mine, "-n", "default", "--as", "ann")
    assert done.returncode == 0, done.stderr
    for plural in ("nodes", "persistentvolumes", "namespaces", "persistentvolumeclaims", "services"):
        assert f"not allowed to list {plural}," not in done.stderr
    assert "not allowed to list storageclasses.storage.k8s.io, so" in done.stderr
    assert program(control_plane, "snapshot", whole, "-n", "default").returncode == 0
    for name in ("big", "small"):
        theirs, ours = (answer(control_plane, name, "--from", path) for path in (whole, mine))
        assert (ours["outcome"], ours["nodes"], ours["message"]) == (
            theirs["outcome"],
            theirs["nodes"],
            theirs["message"],
        )
        assert any("nodes may be fuller than they seem" in each for each in ours["warnings"])


def test_a_list_is_the_same_from_both(control_plane: ControlPlane, saved: Path) -> None:
    live = answer(control_plane, "-A")
    assert {each["pod"]["name"] for each in live} == {"big", "stored", "gated", "foreign"}
    assert answer(control_plane, "-A", "--from", str(saved)) == live


def test_the_same_state_is_the_same_bytes(control_plane: ControlPlane, tmp_path: Path) -> None:
    """Controllers that try again now and then change the state between two of them, but not always."""

    def taken(name: str) -> bytes:
        program(control_plane, "snapshot", str(tmp_path / name))
        return (tmp_path / name).read_bytes()

    assert until(lambda: taken("one.json.gz") == taken("other.json.gz"))


def test_what_a_scheduler_said_stands_beside_what_we_say(control_plane: ControlPlane) -> None:
    big = answer(control_plane, "big")
    assert big["observed"]["matchesReplay"] is True
    assert big["observed"]["event"]["component"] == "default-scheduler"


def test_who_placed_a_pod_and_that_nobody_did(control_plane: ControlPlane) -> None:
    small, named = answer(control_plane, "small")["history"], answer(control_plane, "named")["history"]
    assert (small["scheduledBy"], small["verdict"] in {"Same", "Tied", "Different"}) == ("default-scheduler", True)
    assert (named["scheduledBy"], named["verdict"]) == (None, "NotScheduled")


def test_a_quota_that_lets_no_pod_come_to_be_is_told_with_its_numbers(control_plane: ControlPlane) -> None:
    done = program(control_plane, "explain", "deployment/web", "-n", "full")
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "quota few has no room for more" in text
    assert "1 of 1 pods is missing" in text
    assert "a pod asks for 1 pods, 0 of 0 are used" in text.lower()
    assert "pods=1" in text
    assert "pods=0" in text


def test_a_gate_and_a_foreign_scheduler_are_named(control_plane: ControlPlane) -> None:
    assert "Kueue holds it back (gate kueue.x-k8s.io/admission)" in program(control_plane, "explain", "gated").stdout
    assert "Volcano" in program(control_plane, "explain", "foreign").stdout


def test_a_daemon_sets_nodes_are_told(control_plane: ControlPlane, api: Api) -> None:
    labels = {"app": "agent"}
    container = {"name": "c", "image": "i"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], "nodeSelector": {"zone": "z0"}}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    api.create("/apis/apps/v1/namespaces/team/daemonsets", {"metadata": {"name": "agent"}, "spec": spec})
    until(lambda: sum("nodeName" in each["spec"] for each in agents(api)) == 4)
    shown = program(control_plane, "explain", "ds/agent", "-n", "team", "--notes").stdout
    assert all(f"for n{number}: " in shown for number in (0, 2, 4, 6))
    assert (
        "DaemonSet team/agent: 4 of 7 nodes have its pod; its selector, affinity and tolerations leave out n1" in shown
    )
    one = agents(api)[0]["metadata"]["name"]
    assert "made it for that node alone" in program(control_plane, "explain", one, "-n", "team").stdout


def agents(api: Api) -> list[Json]:
    return list(api.get(f"{pods_of('team')}?labelSelector=app=agent")["items"])
