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
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "new"},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
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
