"""Names without a command are looked up in a running cluster, and a triage that follows it shows pods that appear."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e.api import Api, Json
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.live.test_live import pod, pods_of, program
from tests.e2e.patience import until

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e

AMOUNTS = {"cpu": "4", "memory": "8Gi", "pods": "20"}


@pytest.fixture(scope="module")
def control_plane() -> Iterator[ControlPlane]:
    with ControlPlane() as plane:
        with Api(plane.port, ADMIN_TOKEN) as api:
            api.create(
                "/api/v1/nodes", {"metadata": {"name": "n1"}, "status": {"capacity": AMOUNTS, "allocatable": AMOUNTS}}
            )
            api.merge("/api/v1/nodes/n1", {"spec": {"taints": None}})
            for name in ("shop", "team"):
                api.create("/api/v1/namespaces", {"metadata": {"name": name}})
            api.create(pods_of("default"), pod("db-0", "1"))
            api.create(pods_of("shop"), pod("till-0", "1"))
            for namespace in ("shop", "team"):
                api.create(pods_of(namespace), pod("twin-0", "1"))
            deploy(api, "web", "team")
        yield plane


def deploy(api: Api, name: str, namespace: str) -> None:
    """Create a Deployment, its ReplicaSet and two pods, as their controllers would."""
    group, labels = f"/apis/apps/v1/namespaces/{namespace}", {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod(name, "1")["spec"]}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    deployment = api.create(f"{group}/deployments", {"metadata": {"name": name}, "spec": spec})
    owned = {"name": f"{name}-7d9f", "ownerReferences": [owner("Deployment", deployment)]}
    replica_set = api.create(f"{group}/replicasets", {"metadata": owned, "spec": spec})
    labels = {**labels, "pod-template-hash": "7d9f"}
    for end in "ab":
        metadata = {
            "name": f"{name}-7d9f-{end}",
            "labels": labels,
            "ownerReferences": [owner("ReplicaSet", replica_set)],
        }
        api.create(pods_of(namespace), {**pod(name, "1"), "metadata": metadata})


def owner(kind: str, stored: Json) -> Json:
    metadata = stored["metadata"]
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("db-0", "default/db-0: "),
        ("pod db-0", "default/db-0: "),
        ("pod/db-0", "default/db-0: "),
        ("db", "default/db-0: "),
        ("till-0", "shop/till-0: "),
        ("pod till-0", "shop/till-0: "),
        ("-n team twin-0", "team/twin-0: "),
    ],
)
def test_a_name_alone_is_explained_with_its_namespace_on_the_first_line(
    control_plane: ControlPlane, line: str, first: str
) -> None:
    done = program(control_plane, *line.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(first)


@pytest.mark.parametrize("line", ["deploy/web", "web", "we", "web -A", "deploy/web -A", "deploy/web -n team"])
def test_a_workload_of_another_namespace_is_all_of_its_pods(control_plane: ControlPlane, line: str) -> None:
    done = program(control_plane, *line.split(), "-o", "json")
    assert [each["pod"] for each in json.loads(done.stdout)["items"]] == [
        {"namespace": "team", "name": "web-7d9f-a"},
        {"namespace": "team", "name": "web-7d9f-b"},
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("twin-0", "twin-0 may be one of 2: pod/twin-0 -n shop, pod/twin-0 -n team"),
        ("db-0 -n team", "there is no pod db-0 in namespace team"),
        ("nobody", "there is no pod nobody"),
    ],
)
def test_names_of_several_pods_or_none_are_refused(control_plane: ControlPlane, line: str, said: str) -> None:
    done = program(control_plane, *line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_near_miss_of_a_command_is_refused_before_any_connection(control_plane: ControlPlane) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        done = program(control_plane, "capcity", "--server", f"https://127.0.0.1:{listener.getsockname()[1]}")
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean capacity?" in done.stderr


def test_a_triage_that_follows_a_cluster_shows_a_pod_that_appears(control_plane: ControlPlane, api: Api) -> None:
    command = [sys.executable, "-m", "kubectl_sched", "triage", "-w", "-o", "json"]
    environment = {**os.environ, "KUBECONFIG": str(control_plane.kubeconfig)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        answers = Answers(process)
        try:
            before = until(answers.next)
            api.create(pods_of("team"), pod("newcomer", "64"))
            after = until(answers.next)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate()
        finally:
            process.kill()
    assert pending(after) - pending(before) == {"team/newcomer"}
    assert pending(before) <= pending(after)
    assert after["pending"] == before["pending"] + 1
    assert (process.returncode, errors) == (130, b"")


class Answers:
    """Reads the JSON documents that a process prints one after the other."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._printed = b""

    def next(self) -> Json | None:
        """Return the next document, None as long as it is not whole."""
        assert self._process.stdout is not None
        assert self._process.poll() is None
        self._printed += self._process.stdout.read() or b""
        try:
            text = self._printed.decode().lstrip()
            answer, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return None
        self._printed = text[end:].encode()
        return dict(answer)


def pending(triage: Json) -> set[str]:
    return {f"{each['namespace']}/{each['name']}" for group in triage["groups"] for each in group["pods"]}
