"""A what-if, a drain, a capacity and a node know nothing of pods that need an unread kind, and name the kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.queries.what_if.question import WhatIfQuestion
from kubectl_sched.queries.whatif import what_if
from kubectl_sched.render.answers.whatif import answer_exit_code, what_if_document
from kubectl_sched.render.display import Display
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from tests.program import run

if TYPE_CHECKING:
    from pathlib import Path

    from kubectl_sched.queries.whatif import WhatIfAnswer

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a", "labels": {"kubernetes.io/hostname": "a"}},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
CLAIMING = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]


def manifest(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}]
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def answer(folder: Path, *pods: dict[str, Any], mixed: bool = False) -> WhatIfAnswer:
    """Place the pods in a cluster of which a directory with a list of nodes is read, or one list of all kinds."""
    dump = folder / "dump"
    dump.mkdir()
    kind = "List" if mixed else "NodeList"
    (dump / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": kind, "items": [NODE]}))
    file = folder / "pods.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(pods)}))
    question = WhatIfQuestion(targets=(str(file),), namespace="default", replay=Replay(kube_version="1.36"))
    return what_if(question, read([str(dump / "nodes.json" if mixed else dump)]))


def test_a_pod_that_needs_a_missing_kind_is_neither_placed_nor_rejected(tmp_path: Path) -> None:
    found = answer(tmp_path, manifest("plain"), manifest("claims", volumes=CLAIMING))
    placements = {each.pod.name: each for each in found.result.simulated.placements}
    assert placements["plain"].node == "a"
    assert placements["claims"].outcome is Outcome.UNKNOWN
    assert placements["claims"].node is None
    document = what_if_document(found, Display())
    assert document.notes.changing[0].startswith("the dump has no PersistentVolumeClaims, so VolumeBinding")
    assert "of 1 it is not known: the dump has no PersistentVolumeClaims" in document.verdict.text
    assert answer_exit_code(found) == 3


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "PersistentVolume"])
def test_a_list_of_mixed_kinds_tells_of_no_absence_and_the_kind_is_named_all_the_same(
    kind: str, tmp_path: Path
) -> None:
    found = answer(tmp_path, manifest("claims", volumes=CLAIMING), mixed=True)
    (placed,) = found.result.simulated.placements
    assert placed.outcome is Outcome.UNSCHEDULABLE
    assert any(f"the dump has no {kind}s" in each for each in found.changing)


def cluster_of(folder: Path, *pods: dict[str, Any], more: tuple[dict[str, Any], ...] = (), mixed: bool = False) -> Path:
    """Write a directory with two nodes and the pods, each a list of its kind, or one list of all of them."""
    second = {**NODE, "metadata": {"name": "b", "labels": {"kubernetes.io/hostname": "b"}}}
    dump = folder / "dump"
    dump.mkdir()
    if mixed:
        file = dump / "all.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE, second, *pods, *more]}))
        return file
    lists = {"NodeList": [NODE, second], "PodList": list(pods), "PodDisruptionBudgetList": []}
    for kind, items in lists.items():
        version = "policy/v1" if kind == "PodDisruptionBudgetList" else "v1"
        (dump / f"{kind}.json").write_text(json.dumps({"apiVersion": version, "kind": kind, "items": items}))
    for number, item in enumerate(more):
        (dump / f"{number}.json").write_text(json.dumps(item))
    return dump


def of_set(pod: dict[str, Any]) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "db", "uid": "db", "controller": True}
    runs = "nodeName" in pod["spec"]
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        **pod,
        "metadata": {**pod["metadata"], "ownerReferences": [owner]},
        "status": ready if runs else {"phase": "Pending"},
    }


def asked_for_data(*arguments: str) -> tuple[int, dict[str, Any]]:
    done = run(*arguments, "-o", "json")
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def test_a_drain_does_not_know_where_a_pod_goes_that_needs_a_missing_kind(tmp_path: Path) -> None:
    pods = (of_set(manifest("claims", nodeName="a", volumes=CLAIMING)), of_set(manifest("plain", nodeName="a")))
    dump = str(cluster_of(tmp_path, *pods))
    code, data = asked_for_data("drain", "a", "--from", dump)
    assert (code, data["outcome"], data["finishes"]) == (3, "Unknown", None)
    assert [(each["owner"], each["outcome"]) for each in data["pending"]] == [("ReplicaSet/db", "Unknown")]
    assert [each["node"] for each in data["moves"]] == ["b"]
    assert [each["kind"] for each in data["unreadable"]] == ["PersistentVolumeClaim", "PersistentVolume"]
    first, second = run("drain", "a", "--from", dump).stdout.splitlines()[:2]
    assert "nobody can say whether all its pods would have a node" in first
    assert "PersistentVolumeClaims" in first + second


def test_a_drain_that_a_budget_blocks_is_blocked_whatever_was_not_read(tmp_path: Path) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "all", "namespace": "default"},
        "spec": {"selector": {}, "minAvailable": "100%"},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2, "expectedPods": 2},
    }
    claiming = of_set(manifest("claims", nodeName="a", volumes=CLAIMING))
    code, data = asked_for_data("drain", "a", "--from", str(cluster_of(tmp_path, claiming, more=(budget,))))
    assert (code, data["outcome"]) == (1, "Blocked")


def test_a_budget_that_waits_for_a_successor_of_unknown_place_leaves_the_drain_unknown(tmp_path: Path) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "one", "namespace": "default"},
        "spec": {"selector": {}, "maxUnavailable": 1},
        "status": {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2},
    }
    pods = [of_set(manifest(name, nodeName="a", volumes=CLAIMING)) for name in ("one", "two")]
    code, data = asked_for_data("drain", "a", "--from", str(cluster_of(tmp_path, *pods, more=(budget,))))
    assert (code, data["outcome"]) == (3, "Unknown")


def test_the_room_for_a_pending_workload_that_needs_a_missing_kind_is_not_known(tmp_path: Path) -> None:
    dump = str(cluster_of(tmp_path, of_set(manifest("claims", volumes=CLAIMING)), manifest("plain")))
    code, data = asked_for_data("capacity", "--from", dump)
    known = {each["name"]: each["isKnown"] for each in data["shapes"]}
    assert code == 3
    assert sorted(known.values()) == [False, True]
    assert not known["default/ReplicaSet/db"]
    first, second = run("capacity", "--from", dump).stdout.splitlines()[:2]
    assert "1 of 2 pending workloads fit, of 1 it is not known: the dump has no PersistentVolumeClaims" in first
    assert "VolumeBinding" in second


def test_a_workload_that_fits_nowhere_without_the_missing_kind_has_no_room(tmp_path: Path) -> None:
    claiming = manifest("claims", volumes=CLAIMING, nodeSelector={"disk": "ssd"})
    code, data = asked_for_data("capacity", "--from", str(cluster_of(tmp_path, of_set(claiming))))
    assert (code, [(each["fits"], each["isKnown"]) for each in data["shapes"]]) == (0, [(0, True)])


def test_a_list_of_mixed_kinds_leaves_room_as_it_is_and_a_drained_pod_without_a_node_open(
    tmp_path: Path,
) -> None:
    pods = (of_set(manifest("claims", nodeName="a", volumes=CLAIMING)), of_set(manifest("more", volumes=CLAIMING)))
    file = str(cluster_of(tmp_path, *pods, mixed=True))
    for arguments, code in ((("drain", "a"), 1), (("capacity",), 0)):
        done = run(*arguments, "--from", file)
        assert done.returncode == code
        assert "the dump has no PersistentVolumeClaims" in done.stdout


def test_a_node_is_not_known_to_go_nor_to_stay_for_a_pod_that_needs_a_missing_kind(tmp_path: Path) -> None:
    pods = (of_set(manifest("claims", nodeName="a", volumes=CLAIMING)), of_set(manifest("more", volumes=CLAIMING)))
    dump = str(cluster_of(tmp_path, *pods, manifest("plain")))
    code, data = asked_for_data("explain", "node", "a", "--from", dump)
    assert (code, data["stays"]["verdict"], data["stays"]["reasons"]) == (3, "Unknown", [])
    assert "the dump has no PersistentVolumeClaims" in data["verdict"]
    assert data["moves"] == []
    assert {each["pod"]["name"]: each["fits"] for each in data["pending"]} == {"more": None, "plain": True}
    text = run("explain", "node", "a", "--from", dump).stdout
    assert text.count("not known") == 2
    assert "`kubectl get persistentvolumeclaims -A -o json` has them" in text


def test_a_node_that_a_bare_pod_holds_stays_whatever_was_not_read(tmp_path: Path) -> None:
    pods = (of_set(manifest("claims", nodeName="a", volumes=CLAIMING)), manifest("bare", nodeName="a"))
    _, data = asked_for_data("explain", "node", "a", "--from", str(cluster_of(tmp_path, *pods)))
    assert data["stays"]["verdict"] == "Held"
    assert [each["pod"]["name"] for each in data["stays"]["reasons"]] == ["bare"]
