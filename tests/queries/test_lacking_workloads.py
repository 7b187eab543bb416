"""Triage lists the workloads that have fewer pods than they want, in groups of one cause and cure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.queries.explain import ExplainQuestion
from kubectl_sched.queries.triage import Triage, triage
from kubectl_sched.render.answers.triage import triage_data, triage_exit_code
from kubectl_sched.render.sentences.group_sentences import summary
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.pod_selection import Selection
from tests.program import run

if TYPE_CHECKING:
    from collections.abc import Sequence

FIXTURES = Path(__file__).parents[2] / "fixtures" / "never_created"
SITUATIONS: list[dict[str, Any]] = [
    each for name in ("workloads", "public") for each in msgspec.yaml.decode((FIXTURES / f"{name}.yaml").read_bytes())
]
MADE = "2026-06-01T08:00:00Z"


def node(name: str, taint: str | None = None, **labels: str) -> dict[str, Any]:
    taints = [{"key": taint, "value": "x", "effect": "NoSchedule"}] if taint else []
    allocatable = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
    return _object("Node", metadata, spec={"taints": taints}, status={"allocatable": allocatable})


def pod(name: str, owner: str | None = None, cpu: str = "1", status: Any = None, **spec: Any) -> dict[str, Any]:
    kind, _, of = (owner or "").partition("/")
    reference = {"apiVersion": "apps/v1", "kind": kind, "name": of, "uid": of, "controller": True}
    metadata: dict[str, Any] = {"name": name, "namespace": "team", "creationTimestamp": MADE}
    metadata["labels"] = {"app": of or name}
    if owner:
        metadata["ownerReferences"] = [reference]
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    return _object("Pod", metadata, spec={"containers": [container], **spec}, status=status or {})


def workload(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    version = "batch/v1" if kind in {"Job", "CronJob"} else "apps/v1"
    return _object(kind, {"name": name, "namespace": "team", "uid": name}, version, spec=spec)


def _object(kind: str, metadata: dict[str, Any], version: str = "v1", **parts: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **parts}


def answer(objects: Sequence[dict[str, Any]], folder: Path, **selection: Any) -> Triage:
    path = folder / "cluster.json"
    path.write_text(json.dumps(_object("List", {}, items=list(objects))))
    selected = Selection(**{"namespace": None, "pending": True, **selection})
    return triage(ExplainQuestion(selection=selected, replay=Replay(kube_version="1.36")), read([str(path)]))


@pytest.mark.parametrize("situation", SITUATIONS, ids=[each["situation"] for each in SITUATIONS])
def test_every_workload_whose_pods_were_never_made_is_a_row(situation: dict[str, Any], tmp_path: Path) -> None:
    found = answer([node("n1"), *situation["objects"]], tmp_path, namespace="team")
    rows = {(each.workload, each.namespace): each for each in found.workloads}
    for expected in situation["found"]:
        kind, _, name = expected["workload"].partition(" ")
        namespace, _, name = name.partition("/")
        row = rows[f"{kind}/{name}", namespace]
        assert (row.wanted, row.on_purpose) == (expected["wanted"], expected.get("on_purpose", False))
    assert triage_exit_code(found) == (1 if any(not each.on_purpose for each in found.workloads) else 0)
    grouped = {key for group in found.groups for key in group.workloads}
    assert grouped == {each.key for each in found.lacking}


def test_a_workload_is_one_row_with_the_pods_that_it_wants_and_those_on_a_node(tmp_path: Path) -> None:
    pods = [pod("db-0", "StatefulSet/db", nodeName="n1"), pod("db-1", "StatefulSet/db", "8")]
    found = answer([node("n1"), workload("StatefulSet", "db", replicas=5), *pods], tmp_path)
    (row,) = found.workloads
    assert (row.namespace, row.workload, row.wanted, row.there) == ("team", "StatefulSet/db", 5, 1)
    assert (row.verdict, row.oldest) == ("asks for 8 cpu; n1, the only node, has 4", MADE)
    assert len(found.groups) == 1  # db-2 and later ones only wait for db-1
    (data,) = triage_data(found)["workloads"]
    assert data["verdict"] == row.verdict == found.groups[0].explanations[0].verdict
    assert data["helps"]
    assert data["helps"] in summary(found.groups[0])


def test_a_pod_that_its_kubelet_refused_is_a_row_as_long_as_nothing_is_in_its_place(tmp_path: Path) -> None:
    refused = {"phase": "Failed", "reason": "OutOfcpu", "message": "no room", "startTime": MADE}
    bare = pod("bare", status=refused, nodeName="n1")
    of_job = pod("run-a", "Job/run", status=refused, nodeName="n1")
    replaced = [pod("web-a", "ReplicaSet/web", status=refused, nodeName="n1"), pod("web-b", "ReplicaSet/web")]
    workloads = [
        workload("Job", "run", parallelism=1, completions=1, template={}),
        workload("ReplicaSet", "web", replicas=1),
    ]
    found = answer([node("n1"), *workloads, bare, of_job, *replaced], tmp_path)
    rows = {each.workload: each for each in found.workloads}
    assert {name for name, each in rows.items() if each.stage == "RefusedByKubelet"} == {"Pod/bare", "Job/run"}
    assert (rows["Pod/bare"].wanted, rows["Pod/bare"].there) == (1, 0)
    assert "its kubelet refused it: OutOfcpu" in rows["Pod/bare"].verdict
    assert [group.workloads for group in found.groups if "OutOfcpu" in str(group.cause.reasons)] == [
        (("team", "Pod/bare"), ("team", "Job/run"))
    ]
    assert found.pending == 1


def test_pods_kept_out_by_one_taint_share_a_cause_and_those_by_another_do_not(tmp_path: Path) -> None:
    nodes = [node("a1", "a", pool="a"), node("b1", "b", pool="b")]
    pods = [
        *(pod(name, f"Job/{name}", nodeSelector={"pool": "a"}) for name in ("one", "two")),
        pod("three", "Job/three", nodeSelector={"pool": "b"}),
    ]
    found = answer([*nodes, *pods], tmp_path)
    assert [[name for _, name in group.workloads] for group in found.groups] == [["Job/one", "Job/two"], ["Job/three"]]


def test_an_uneven_spread_is_cured_in_its_own_workload(tmp_path: Path) -> None:
    def spread(name: str) -> list[dict[str, Any]]:
        constraint = {
            "topologyKey": "zone",
            "maxSkew": 1,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": name}},
        }
        full = pod(f"{name}-0", f"Job/{name}", nodeName="a1")
        return [full, pod(f"{name}-1", f"Job/{name}", topologySpreadConstraints=[constraint])]

    nodes = [node("a1", zone="a"), {**node("b1", zone="b"), "spec": {"unschedulable": True}}]
    found = answer([*nodes, *spread("one"), *spread("two")], tmp_path)
    assert len(found.groups) == 2
    assert all("maxSkew" in summary(group) for group in found.groups)


def test_amounts_do_not_part_pods_that_lack_the_same_on_the_same_nodes(tmp_path: Path) -> None:
    full = pod("full", nodeName="n1", cpu="3")
    found = answer([node("n1"), full, pod("a", "Job/a", "2"), pod("b", "Job/b", "4")], tmp_path)
    (group,) = found.groups
    assert "some ask for other amounts" in summary(group)


def test_the_daemons_of_several_full_nodes_are_one_group(tmp_path: Path) -> None:
    def daemon(name: str) -> dict[str, Any]:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
        return pod(f"agent-{name}", "DaemonSet/agent", "2", affinity=affinity)

    objects = [each for name in ("n1", "n2") for each in (node(name), daemon(name), pod(name, nodeName=name, cpu="3"))]
    found = answer([*objects, workload("DaemonSet", "agent", template={})], tmp_path)
    (group,) = found.groups
    assert "DaemonSet pod for node n1" in summary(group)
    assert "(and 1 more node)" in summary(group)


def test_what_kueue_says_of_a_suspended_job_is_its_cause(tmp_path: Path) -> None:
    job = workload("Job", "train", suspend=True, parallelism=2, template={"spec": {"containers": []}})
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "lq"}
    why = "insufficient unused quota for cpu in flavor on-demand, 9 more needed"
    says = f"couldn't assign flavors to pod set main: {why}"
    waiting = {
        **_object(
            "Workload",
            {
                "name": "job-train",
                "namespace": "team",
                "ownerReferences": [
                    {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "train", "controller": True}
                ],
            },
            "kueue.x-k8s.io/v1beta2",
        ),
        "spec": {"queueName": "lq", "podSets": []},
        "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": says}]},
    }
    queue = _object("LocalQueue", {"name": "lq", "namespace": "team"}, "kueue.x-k8s.io/v1beta2", spec={})
    queue["spec"] = {"clusterQueue": "cq"}
    cluster_queue = _object("ClusterQueue", {"name": "cq"}, "kueue.x-k8s.io/v1beta2", spec={"resourceGroups": []})
    found = answer([node("n1"), job, waiting, queue, cluster_queue], tmp_path)
    (row,) = found.workloads
    assert (row.workload, row.wanted, row.there, row.on_purpose) == ("Job/train", 2, 0, False)
    assert row.verdict == f"held by Kueue: {why}"
    assert says in summary(found.groups[0])


def test_what_somebody_suspended_is_listed_and_is_no_failure(tmp_path: Path) -> None:
    cron = workload("CronJob", "nightly", suspend=True, schedule="0 3 * * *", jobTemplate={})
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(_object("List", {}, items=[node("n1"), cron])))
    done = run("--from", str(path))
    assert done.returncode == 0
    assert done.stdout.startswith("nothing is pending\n")
    assert "team/CronJob/nightly" in done.stdout


def test_a_selector_is_about_pods_that_are_there(tmp_path: Path) -> None:
    situation = SITUATIONS[0]
    found = answer([node("n1"), *situation["objects"]], tmp_path, label_selector="app=nothing")
    assert (found.groups, found.workloads) == ((), ())


def test_a_dump_is_not_followed() -> None:
    done = run("-w", "--from", "fixtures/triage")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--watch follows a running cluster" in done.stderr


def test_names_are_those_of_kubectl(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    objects = [node("n1"), pod("big", cpu="9"), *SITUATIONS[0]["objects"]]
    path.write_text(json.dumps(_object("List", {}, items=objects)))
    assert set(run("--from", str(path), "-o", "name").stdout.splitlines()) == {"pod/big", "deployment.apps/web"}
    listed = run("capacity", "--from", str(path), "-o", "name").stdout.splitlines()
    assert set(listed) == {"pod/big", "replicaset.apps/web-1"}
