"""What the commands do to a cluster, as the API server's audit log has it: they read, and nothing else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.e2e.api import Api, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.live.test_live import fill, pod, pods_of, program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e

READING = {"get", "list"}
STORAGE = {
    "persistentvolumeclaims",
    "persistentvolumes",
    "storageclasses",
    "csinodes",
    "csidrivers",
    "csistoragecapacities",
    "volumeattachments",
}
DEVICES = {"resourceclaims", "resourceslices", "deviceclasses", "resourceclaimtemplates"}
WORKLOADS = {
    "replicationcontrollers",
    "replicasets",
    "statefulsets",
    "deployments",
    "daemonsets",
    "jobs",
    "cronjobs",
}
NEEDLESS = {"events", *STORAGE, *DEVICES, *WORKLOADS}
APPS = "/apis/apps/v1/namespaces/default"
POD_SPEC: Json = {"containers": [{"name": "c", "image": "i"}]}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "new"},
    "spec": POD_SPEC,
}


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def control_plane(audit_log: Path) -> Iterator[ControlPlane]:
    policy = audit_log.with_name("policy.yaml")
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={audit_log}", "--audit-log-mode=blocking-strict")
    with ControlPlane(extra_apiserver_flags=flags) as plane:
        with Api(plane.port, ADMIN_TOKEN) as api:
            fill(api)
        yield plane


def done_by(audit_log: Path, *arguments: str, plane: ControlPlane) -> list[Json]:
    """What the server has seen of us while the program ran on these arguments."""
    before = len(ours(audit_log))
    done = program(plane, *arguments)
    assert done.returncode in {0, 1}, done.stderr
    return ours(audit_log)[before:]


def ours(audit_log: Path) -> list[Json]:
    seen: list[Json] = [msgspec.json.decode(line) for line in audit_log.read_bytes().splitlines()]
    return [
        event for event in seen if event.get("userAgent") == "kubectl-sched" and event["stage"] == "ResponseComplete"
    ]


def listed(events: list[Json]) -> set[str]:
    return {event["objectRef"]["resource"] for event in events if event["verb"] == "list"}


def verbs(events: list[Json]) -> set[str]:
    return {event["verb"] for event in events}


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "big"),
        ("explain", "small", "--node", "n1"),
        ("explain", "stored", "--evidence", "-o", "json"),
        *(("explain", "big", "small", "-o", output) for output in ("wide", "yaml", "name")),
        ("explain", "-A"),
        ("explain", "pods", "-A", "--drifted"),
        ("explain", "pods", "-n", "team", "--at-decision"),
        ("explain", "-l", "app=small"),
        ("schedulers",),
        ("diff", "-A", "--to-kube-version", "1.35"),
    ],
    ids=" ".join,
)
def test_nothing_is_written(control_plane: ControlPlane, audit_log: Path, arguments: tuple[str, ...]) -> None:
    seen = done_by(audit_log, *arguments, plane=control_plane)
    assert seen
    assert verbs(seen) <= READING


def test_a_snapshot_only_reads(control_plane: ControlPlane, audit_log: Path, tmp_path: Path) -> None:
    for options in ((), ("--anonymize",)):
        seen = done_by(audit_log, "snapshot", str(tmp_path / "s.json.gz"), *options, plane=control_plane)
        assert verbs(seen) == READING


def test_a_what_if_only_reads(control_plane: ControlPlane, audit_log: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(POD))
    seen = done_by(audit_log, "whatif", str(manifest), "--replicas", "3", "--drain", "n0", plane=control_plane)
    assert verbs(seen) == READING


@pytest.mark.parametrize(
    ("spec", "options", "left_out"),
    [
        ({}, (), NEEDLESS),
        ({}, ("--replace",), NEEDLESS),
        ({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}, (), NEEDLESS - STORAGE),
        ({"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]}, (), NEEDLESS - DEVICES),
        ({}, ("--find-nodes", "n0"), set()),
        ({}, ("--with-pending",), set()),
        ({}, ("--requeue-victims",), set()),
        ({}, ("--drain", "n0"), set()),
        ({}, ("--dry-run", "server"), set()),
        ({}, ("--new-nodes",), set()),
        ({}, ("deployment/web",), set()),
    ],
)
def test_a_what_if_lists_what_the_pods_of_its_manifests_need(
    control_plane: ControlPlane,
    api: Api,
    audit_log: Path,
    tmp_path: Path,
    spec: Json,
    options: tuple[str, ...],
    left_out: set[str],
) -> None:
    if not api.get(f"{APPS}/deployments")["items"]:
        template = {"metadata": {"labels": {"app": "web"}}, "spec": POD_SPEC}
        web = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
        api.create(f"{APPS}/deployments", {"metadata": {"name": "web"}, "spec": web})
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps({**POD, "spec": {**POD_SPEC, **spec}}))
    seen = done_by(audit_log, "whatif", str(manifest), *options, plane=control_plane)
    assert listed(seen) & NEEDLESS == NEEDLESS - left_out
    assert {"pods", "nodes", "namespaces", "poddisruptionbudgets"} <= listed(seen)


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_a_what_if_of_a_workload_lists_the_workloads(
    control_plane: ControlPlane, audit_log: Path, tmp_path: Path, kind: str
) -> None:
    template = {"metadata": {"labels": {"app": "new"}}, "spec": POD_SPEC}
    spec = {"selector": {"matchLabels": {"app": "new"}}, "template": template}
    manifest = tmp_path / "workload.json"
    manifest.write_text(json.dumps({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": "new"}, "spec": spec}))
    seen = done_by(audit_log, "whatif", str(manifest), plane=control_plane)
    assert listed(seen) & NEEDLESS == WORKLOADS


def test_a_pod_that_nobody_owns_is_spread_by_its_service_as_from_a_whole_snapshot(
    control_plane: ControlPlane, api: Api, tmp_path: Path
) -> None:
    labels = {"app": "spread"}
    port = {"selector": labels, "ports": [{"port": 80}]}
    api.create(pods_of("default", "services"), {"metadata": {"name": "spread"}, "spec": port})
    for number in range(2, 7):
        for copy in "ab":
            there = pod(f"spread-{number}{copy}", "1m", nodeName=f"n{number}")
            there["metadata"]["labels"] = labels
            api.create(pods_of("default"), there)
    manifest, snapshot = tmp_path / "pod.json", tmp_path / "all.json"
    manifest.write_text(json.dumps({**POD, "metadata": {"name": "new", "labels": labels}}))
    command = ("whatif", str(manifest), "--replicas", "3", "-o", "json")
    assert program(control_plane, "snapshot", str(snapshot)).returncode == 0
    live, replayed = program(control_plane, *command), program(control_plane, *command, "--from", str(snapshot))
    placements = json.loads(live.stdout)["placements"]
    assert placements == json.loads(replayed.stdout)["placements"]
    assert {each["node"] for each in placements} == {"n0", "n1"}


def test_a_manifest_whose_pods_in_the_cluster_have_claims_is_told_as_from_a_whole_snapshot(
    control_plane: ControlPlane, api: Api, audit_log: Path, tmp_path: Path
) -> None:
    """Of a ReplicaSet the pods that wait keep their spec, whatever its template says by now."""
    labels = {"app": "kept"}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "kept"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": POD_SPEC},
        },
    }
    owner = api.create(f"{APPS}/replicasets", replica_set)["metadata"]["uid"]
    waits = pod("kept", "1", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}])
    of = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "kept", "uid": owner, "controller": True}
    waits["metadata"]["ownerReferences"] = [of]
    api.create(pods_of("default"), waits)
    manifest, snapshot = tmp_path / "kept.json", tmp_path / "all.json"
    manifest.write_text(json.dumps(replica_set))
    command = ("whatif", str(manifest), "-o", "json")
    seen = done_by(audit_log, *command, plane=control_plane)
    assert listed(seen) >= NEEDLESS
    assert program(control_plane, "snapshot", str(snapshot)).returncode == 0
    live, replayed = program(control_plane, *command), program(control_plane, *command, "--from", str(snapshot))
    assert 'persistentvolumeclaim \\"missing\\" not found' in live.stdout
    assert json.loads(live.stdout)["placements"] == json.loads(replayed.stdout)["placements"]


def test_watching_adds_watches_and_prints_each_answer_once(
    control_plane: ControlPlane, api: Api, audit_log: Path
) -> None:
    api.create(pods_of("default"), pod("hopeful", "6"))
    before = len(ours(audit_log))
    command = [sys.executable, "-m", "kubectl_sched", "explain", "hopeful", "-w", "-o", "json"]
    environment = {**os.environ, "KUBECONFIG": str(control_plane.kubeconfig)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        decoder, text = json.JSONDecoder(), ""
        answers: list[Json] = []
        os.set_blocking(process.stdout.fileno(), False)
        deadline = time.monotonic() + 60
        while len(answers) < 2 and time.monotonic() < deadline:
            text += (process.stdout.read() or b"").decode()
            answer, rest = _first(decoder, text)
            if answer is not None:
                answers.append(answer)
                text = rest
                if len(answers) == 1:
                    widen(api)
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert [answer["outcome"] for answer in answers] == ["Unschedulable", "Schedulable"]
    assert (process.returncode, errors) == (130, b"")
    assert verbs(ours(audit_log)[before:]) == {*READING, "watch"}


def widen(api: Api) -> None:
    """First a change that the answer does not show, then one that it does."""
    api.merge("/api/v1/nodes/n6", {"metadata": {"annotations": {"example.com/looked-at": "yes"}}})
    amounts = {"cpu": "64", "memory": "64Gi", "pods": "20"}
    created = {"metadata": {"name": "wide", "labels": {"kubernetes.io/hostname": "wide"}}}
    api.create("/api/v1/nodes", {**created, "status": {"capacity": amounts, "allocatable": amounts}})
    api.merge("/api/v1/nodes/wide", {"spec": {"taints": None}})


def _first(decoder: json.JSONDecoder, text: str) -> tuple[Any, str]:
    """The first whole document and what follows it, None as long as there is none."""
    try:
        answer, end = decoder.raw_decode(text.lstrip())
    except json.JSONDecodeError:
        return None, text
    return answer, text.lstrip()[end:]


def test_a_dump_is_not_watched(control_plane: ControlPlane) -> None:
    done = program(control_plane, "explain", "web-0", "-w", "--from", "fixtures/demo")
    assert done.returncode == 2
    assert done.stderr == "error: --watch follows a running cluster, but --from reads a dump: give one of them\n"
