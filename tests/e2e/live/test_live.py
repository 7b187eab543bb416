"""Reading a running cluster: the same answers as from a dump of it, whatever goes wrong on the way."""

import base64
import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest
import yaml

from kubectl_sched.api.core import Event
from kubectl_sched.sources.dump.dump import Dump
from kubectl_sched.sources.dump.reader import read
from kubectl_sched.sources.live import client, lister
from kubectl_sched.sources.live.cluster_reader import read_live
from kubectl_sched.sources.live.connection_flags import Connection
from kubectl_sched.sources.live.connections.tls import expired_at
from kubectl_sched.sources.live.kubeconfig import resolve
from kubectl_sched.sources.live.live_errors import ClusterError
from kubectl_sched.sources.pod_selection import Selection
from tests.e2e.api import Api
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.e2e.faults import Fault, FaultyServer, break_off, hang_up, status, trickle
from tests.oracle.build import VERSIONS
from tests.render.schema_checks import check_both

pytestmark = pytest.mark.e2e

Json = dict[str, Any]
MANIFESTS = Path(__file__).parents[3] / "manifests"
ONE = Selection(targets=("big",))
CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


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


def fill(api: Api) -> None:
    for number in range(7):
        resources = {"cpu": "4", "memory": "8Gi", "pods": "20"}
        name = f"n{number}"
        node = {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "zone": f"z{number % 2}"}}}
        api.create("/api/v1/nodes", {**node, "status": {"capacity": resources, "allocatable": resources}})
        api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
    api.create("/api/v1/namespaces", {"metadata": {"name": "team"}})
    api.create("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "slow"}, "provisioner": "example.com/p"})
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "slow",
        "resources": {"requests": {"storage": "1Gi"}},
    }
    api.create(pods_of("default", "persistentvolumeclaims"), {"metadata": {"name": "data"}, "spec": claim})
    for number in range(9):
        api.create(pods_of("team"), pod(f"busy-{number}", "1", nodeName=f"n{number % 7}"))
    api.create(pods_of("default"), pod("big", "64"))
    api.create(pods_of("default"), pod("small", "100m"))
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    api.create(pods_of("default"), pod("stored", "1", volumes=volumes))
    api.create(pods_of("default"), pod("done", "1", nodeName="n0"))
    api.merge(f"{pods_of('default')}/done/status", {"status": {"phase": "Succeeded"}})
    text = (
        "0/7 nodes are available: 7 Insufficient cpu. preemption: 0/7 nodes are available: 7 Preemption is not helpful "
    )
    stored = api.get(f"{pods_of('default')}/big")
    event = {
        "metadata": {"name": "big.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "big", "uid": stored["metadata"]["uid"]},
        "reason": "FailedScheduling",
        "message": f"{text}for scheduling.",
        "source": {"component": "default-scheduler"},
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    api.create(pods_of("default", "events"), event)


def pods_of(namespace: str, plural: str = "pods") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}"


def pod(name: str, cpu: str, **spec: Any) -> Json:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": {"containers": [container], **spec}}


@pytest.fixture
def faulty(control_plane: ControlPlane) -> Iterator[FaultyServer]:
    with FaultyServer(control_plane.port, control_plane.folder / "certificates") as server:
        yield server


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Waits are counted, not waited."""
    waits: list[float] = []
    monkeypatch.setattr(client.Server, "_wait", lambda _, seconds: waits.append(seconds))
    return waits


def through(plane: ControlPlane, faulty: FaultyServer | None = None, selection: Selection = ONE, **flags: Any) -> Dump:
    if faulty is not None:
        flags["server"] = faulty.url
    connection = Connection(kubeconfig=str(plane.kubeconfig), **flags)
    return read_live(resolve(connection), selection)


def program(plane: ControlPlane, *arguments: str, kubeconfig: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kubectl_sched", *arguments],
        env={**os.environ, "KUBECONFIG": str(kubeconfig or plane.kubeconfig)},
        capture_output=True,
        text=True,
        check=False,
    )


def objects(dump: Dump) -> set[str]:
    return {f"{type(item).__name__} {item.key}" for item in dump.objects}


@pytest.mark.parametrize("name", ["big", "small", "stored"])
def test_live_answers_as_a_dump_of_the_cluster_does(
    control_plane: ControlPlane, api: Api, tmp_path: Path, name: str
) -> None:
    kinds = ("persistentvolumeclaims", "persistentvolumes", "events")
    items = [*api.everything(), *(item for kind in kinds for item in listed(api, f"/api/v1/{kind}"))]
    items += listed(api, "/apis/storage.k8s.io/v1/storageclasses")
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    live = program(control_plane, "explain", name, "-o", "json")
    version = VERSIONS["1.36"]
    dumped = program(control_plane, "--from", str(path), "explain", name, "-o", "json", "--kube-version", version)
    assert live.stderr == ""
    assert live.returncode == dumped.returncode
    answers = [json.loads(done.stdout) for done in (live, dumped)]
    for answer in answers:
        # What is said of the dump as such (its age, its namespaces) differs, and a List without any CSIDriver
        # does not tell that there is none, nor whether the provisioner runs.
        del answer["warnings"], answer["findings"]
        answer["verdict"] = answer["verdict"].removesuffix(", which does not run")
    assert answers[0] == answers[1]


def listed(api: Api, path: str) -> list[Json]:
    answer = api.get(path)
    return [
        {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List"), **i} for i in answer["items"]
    ]


def test_only_what_the_pod_needs_is_asked_for(control_plane: ControlPlane, faulty: FaultyServer) -> None:
    through(control_plane, faulty)
    assert {path.rpartition("/")[2] for path, _ in faulty.requests} == {
        *("nodes", "pods", "namespaces", "services", "poddisruptionbudgets", "events", "version"),
        *("schedulers", "schedulerconfigurations", "leases"),
    }
    faulty.requests.clear()
    through(control_plane, faulty, Selection(targets=("stored",)))
    assert {"persistentvolumeclaims", "csinodes", "storageclasses"} <= {
        p.rpartition("/")[2] for p, _ in faulty.requests
    }


def test_everything_is_read_in_the_same_state_page_by_page(
    control_plane: ControlPlane, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lister, "PAGE", 2)
    dump = through(control_plane, faulty)
    assert sum("continue" in query for _, query in faulty.requests) >= 3 + 4
    assert len({version for kind, version in dump.resource_versions.items() if kind != "Event"}) == 1
    assert objects(dump) == objects(through(control_plane))


def test_a_pod_that_has_ended_is_found_but_others_like_it_are_not_read(control_plane: ControlPlane) -> None:
    assert "Pod default/done" in objects(through(control_plane, selection=Selection(targets=("done",))))
    assert "Pod default/done" not in objects(through(control_plane))


def test_the_servers_version_decides_without_a_scheduler_to_be_seen(control_plane: ControlPlane) -> None:
    assert through(control_plane).server_version == "v1.36.2"


def test_a_list_that_expires_is_begun_again(
    control_plane: ControlPlane, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lister, "PAGE", 2)
    faulty.inject("continue=", status(410, "Expired", "The provided continue parameter is too old"))
    assert objects(through(control_plane, faulty)) == objects(through(control_plane))


def test_a_list_that_expires_again_and_again_is_read_in_one_page(
    control_plane: ControlPlane, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lister, "PAGE", 2)
    gone = status(410, "Expired", "too old")
    faulty.inject("nodes?limit=2&continue=", *[gone] * 20)
    faulty.inject("nodes?limit=2&", *[gone] * 20)
    assert objects(through(control_plane, faulty)) == objects(through(control_plane))


def test_a_server_that_is_busy_is_asked_again_when_it_says_so(
    control_plane: ControlPlane, faulty: FaultyServer, no_waiting: list[float]
) -> None:
    faulty.inject("/pods", status(429, "TooManyRequests", "slow down", Retry_After="7"))
    assert objects(through(control_plane, faulty)) == objects(through(control_plane))
    assert no_waiting == [7.0]


@pytest.mark.parametrize(
    "faults",
    [
        [break_off],
        [hang_up],
        [break_off, hang_up, status(503), break_off],
        [status(500), status(502), status(504)],
    ],
)
def test_what_passes_by_is_tried_again(control_plane: ControlPlane, faulty: FaultyServer, faults: list[Fault]) -> None:
    faulty.inject("/api/v1/pods", *faults)
    assert objects(through(control_plane, faulty)) == objects(through(control_plane))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (break_off, "the connection broke 5 times in a row"),
        (status(500, "InternalError", "etcd is gone"), r"fails with 500 after 5 tries \(etcd is gone\); try again"),
        (status(429, "TooManyRequests", "no"), "fails with 429 after 5 tries"),
        (status(302), "redirects to another address"),
    ],
)
def test_what_does_not_pass_is_one_sentence(
    control_plane: ControlPlane, faulty: FaultyServer, fault: Fault, said: str
) -> None:
    faulty.inject("/namespaces?", *[fault] * 5)
    with pytest.raises(ClusterError, match=said) as raised:
        through(control_plane, faulty)
    assert raised.value.exit_code == 3


def test_a_slow_server_is_given_up_after_the_request_timeout(control_plane: ControlPlane, faulty: FaultyServer) -> None:
    released = threading.Event()
    faulty.inject("/nodes", trickle(released))
    try:
        with pytest.raises(ClusterError, match=r"no complete answer within 0.5 s \(--request-timeout"):
            through(control_plane, faulty, request_timeout="500ms")
    finally:
        released.set()


def test_a_group_that_is_not_served_is_empty(control_plane: ControlPlane, faulty: FaultyServer) -> None:
    faulty.inject("/poddisruptionbudgets", *[status(404, "NotFound")] * 2)
    dump = through(control_plane, faulty)
    assert not any(key.startswith("PodDisruptionBudget") for key in objects(dump))
    assert dump.forbidden == ()


def test_a_forbidden_kind_is_named_with_its_meaning_and_its_rule(
    control_plane: ControlPlane, faulty: FaultyServer
) -> None:
    faulty.inject("/poddisruptionbudgets", *[status(403, "Forbidden", "no")] * 2)
    assert through(control_plane, faulty).warnings == (
        (
            "not allowed to list poddisruptionbudgets.policy, so preemption may choose another node; the missing rule: "
            "{apiGroups: [policy], resources: [poddisruptionbudgets], verbs: [list]}"
        ),
    )


def test_wrong_credentials_are_said_to_be_so_and_never_shown(control_plane: ControlPlane) -> None:
    secret = "not-the-token"  # noqa: S105 - of nobody
    done = program(control_plane, "explain", "big", "--token", secret)
    assert done.returncode == 3
    server = f"127.0.0.1:{control_plane.port}"
    said = f"error: the server {server} does not accept the credentials of user 'test'; log in again\n"
    assert done.stderr == said


def test_without_credentials_it_is_these_that_are_missing(control_plane: ControlPlane, tmp_path: Path) -> None:
    done = program(control_plane, "explain", "big", kubeconfig=kubeconfig_with(control_plane, tmp_path, {}))
    assert done.returncode == 3
    assert done.stderr.startswith(f"error: the server 127.0.0.1:{control_plane.port} does not know who asks")
    assert "rule" not in done.stderr


@pytest.mark.parametrize(("flag", "header"), [("--token", "Authorization"), ("--as", "Impersonate-User")])
def test_what_no_header_can_hold_is_refused_and_not_shown(control_plane: ControlPlane, flag: str, header: str) -> None:
    done = program(control_plane, "explain", "big", flag, "first-line\nsecond-line")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f"the header {header} cannot be sent" in done.stderr
    assert "first-line" not in done.stderr
    beyond = program(control_plane, "explain", "big", "--token", "\u4e2d\u00e9")
    assert "does not accept the credentials of user 'test'; log in again" in beyond.stderr


def test_servers_that_cannot_be_trusted_or_reached_are_one_sentence(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    own = tmp_path / "other.crt"
    key = ["-newkey", "rsa:2048", "-nodes", "-keyout", str(tmp_path / "other.key"), "-subj", "/CN=other"]
    subprocess.run(["openssl", "req", "-x509", *key, "-out", str(own)], check=True, capture_output=True)  # noqa: S607
    cases: tuple[tuple[Json, str], ...] = (
        ({"server": f"https://127.0.0.1:{port}"}, "no connection (connection refused)"),
        ({"certificate_authority": str(own)}, "signed by an unknown authority"),
        ({"tls_server_name": "elsewhere"}, "not for elsewhere"),
        ({"server": f"http://127.0.0.1:{control_plane.port}"}, "answers with 400"),
    )
    for flags, said in cases:
        with pytest.raises(ClusterError) as raised:
            through(control_plane, None, ONE, **flags)
        assert said in str(raised.value)


def test_a_client_certificate_says_when_it_expired(control_plane: ControlPlane) -> None:
    """The times are written over in a certificate that is good; nobody checks its signature here."""
    pem = (control_plane.folder / "certificates" / "apiserver.crt").read_text()
    body = pem.partition("-----BEGIN CERTIFICATE-----")[2].partition("-----END")[0]
    past = re.sub(rb"(\x17\x0d\d{12}Z\x17\x0d)\d{12}Z", rb"\g<1>200131235959Z", base64.b64decode(body))
    expired = b"-----BEGIN CERTIFICATE-----" + base64.b64encode(past) + b"-----END CERTIFICATE-----"
    assert str(expired_at(expired)) == "2020-01-31 23:59:59+00:00"
    assert expired_at(pem.encode()) is None
    assert expired_at(b"no certificate") is None


def test_not_verifying_reads_all_the_same(control_plane: ControlPlane) -> None:
    assert objects(through(control_plane, insecure_skip_tls_verify=True)) == objects(through(control_plane))


def test_a_proxy_that_the_kubeconfig_names_is_used(control_plane: ControlPlane, tmp_path: Path) -> None:
    document = json.loads(control_plane.kubeconfig.read_text())
    with Tunnel() as tunnel:
        document["clusters"][0]["cluster"]["proxy-url"] = tunnel.url
        path = tmp_path / "config"
        path.write_text(json.dumps(document))
        dump = read_live(resolve(Connection(kubeconfig=str(path))), ONE)
    assert objects(dump) == objects(through(control_plane))
    assert tunnel.targets == {f"127.0.0.1:{control_plane.port}"}


class Tunnel:
    """A proxy that knows CONNECT."""

    def __init__(self) -> None:
        self.targets: set[str] = set()

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            head = client.recv(65536)
            target = head.split()[1].decode()
            self.targets.add(target)
            host, _, port = target.rpartition(":")
            server = socket.create_connection((host, int(port)))
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(one, other), daemon=True).start()

    @staticmethod
    def _copy(one: socket.socket, other: socket.socket) -> None:
        with one, other:
            try:
                while data := one.recv(65536):
                    other.sendall(data)
                other.shutdown(socket.SHUT_WR)
            except OSError:
                pass


def test_a_credential_plugin_is_asked_and_asked_again_once_refused(control_plane: ControlPlane, tmp_path: Path) -> None:
    """The first token is refused; the cluster's address reaches the plugin."""
    plugin = tmp_path / "plugin"
    plugin.write_text(
        f"#!{sys.executable}\n"
        "import json, os, pathlib\n"
        f"asked = pathlib.Path({str(tmp_path / 'asked')!r})\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        f"token = {ADMIN_TOKEN!r} if asked.exists() else 'too-old'\n"
        "asked.write_text(info['spec']['cluster']['server'] + os.environ['EXTRA'])\n"
        "print(json.dumps({'apiVersion': info['apiVersion'], 'kind': 'ExecCredential', 'status': {'token': token}}))\n"
    )
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    execution = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "./plugin",
        "provideClusterInfo": True,
        "interactiveMode": "Never",
        "env": [{"name": "EXTRA", "value": "!"}],
    }
    path = kubeconfig_with(control_plane, tmp_path, {"exec": execution})
    assert objects(read_live(resolve(Connection(kubeconfig=str(path))), ONE)) == objects(through(control_plane))
    assert (tmp_path / "asked").read_text() == f"https://127.0.0.1:{control_plane.port}!"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-plugin", "the credential plugin no-such-plugin of user 'test' is not there: get it from example.com"),
        ("false", "the credential plugin false failed with exit code 1"),
        ("true", "the credential plugin true printed no ExecCredential"),
    ],
)
def test_a_credential_plugin_that_fails_is_one_sentence(
    control_plane: ControlPlane, tmp_path: Path, command: str, said: str
) -> None:
    execution = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": command,
        "installHint": "get it from example.com",
    }
    path = kubeconfig_with(control_plane, tmp_path, {"exec": execution})
    with pytest.raises(ClusterError, match=said):
        read_live(resolve(Connection(kubeconfig=str(path))), ONE)


def test_a_credential_plugin_that_fails_is_run_once(control_plane: ControlPlane, tmp_path: Path) -> None:
    """It may have asked somebody to log in."""
    plugin = tmp_path / "plugin"
    plugin.write_text(f"#!/bin/sh\necho asked >> {tmp_path / 'asked'}\nexit 1\n")
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    execution = {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin", "interactiveMode": "Never"}
    path = kubeconfig_with(control_plane, tmp_path, {"exec": execution})
    with pytest.raises(ClusterError, match="failed with exit code 1"):
        read_live(resolve(Connection(kubeconfig=str(path))), ONE)
    assert (tmp_path / "asked").read_text() == "asked\n"


def kubeconfig_with(plane: ControlPlane, folder: Path, user: Json) -> Path:
    document = json.loads(plane.kubeconfig.read_text())
    document["users"][0]["user"] = user
    path = folder / "config"
    path.write_text(json.dumps(document))
    return path


def test_the_kubeconfigs_as_is_obeyed(control_plane: ControlPlane, tmp_path: Path) -> None:
    acting = {"token": ADMIN_TOKEN, "as": "nobody-special", "as-groups": ["system:authenticated"]}
    path = kubeconfig_with(control_plane, tmp_path, acting)
    done = program(control_plane, "explain", "big", kubeconfig=path)
    assert done.returncode == 3
    assert 'User "nobody-special" cannot list resource "pods"' in done.stderr


def test_flags_stand_before_the_command_as_well(control_plane: ControlPlane, tmp_path: Path) -> None:
    done = program(
        control_plane,
        *("--kubeconfig", str(control_plane.kubeconfig), "--context=test", "-ndefault", "explain", "small", "-oname"),
        kubeconfig=tmp_path / "none",
    )
    assert (done.returncode, done.stdout.splitlines()[0].startswith("node/n")) == (0, True)


def grant(api: Api, name: str, role: str, namespace: str | None = None) -> None:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}
    binding = {"metadata": {"name": f"{name}-{role}"}, "roleRef": reference, "subjects": [subject]}
    within = f"namespaces/{namespace}/rolebindings" if namespace else "clusterrolebindings"
    api.create(f"/apis/rbac.authorization.k8s.io/v1/{within}", binding)


def test_the_readers_role_is_enough_for_everything(control_plane: ControlPlane, api: Api) -> None:
    for item in yaml.safe_load_all((MANIFESTS / "reader.yaml").read_text()):
        namespace = item["metadata"].get("namespace")
        within = f"namespaces/{namespace}/" if namespace else ""
        api.create(f"/apis/rbac.authorization.k8s.io/v1/{within}{item['kind'].lower()}s", item)
    scheduler = pod(
        "kube-scheduler-n0", "100m", nodeName="n0", volumes=[{"name": "c", "configMap": {"name": "config"}}]
    )
    scheduler["spec"]["containers"][0] |= {
        "image": "registry.k8s.io/kube-scheduler:v1.36.2",
        "command": ["kube-scheduler"],
    }
    api.create(pods_of("kube-system"), scheduler)
    api.create(pods_of("kube-system", "configmaps"), {"metadata": {"name": "config"}, "data": {"s": CONFIGURATION}})
    reader: Json = {"as_user": "ann", "as_groups": ("kubectl-sched-readers",)}
    for selection in (ONE, Selection(targets=("stored",)), Selection(namespace=None), Selection(pending=True)):
        dump = through(control_plane, selection=selection, **reader)
        assert (dump.warnings, dump.forbidden) == ((), ())
        assert objects(dump) == objects(through(control_plane, selection=selection))
        assert "ConfigMap kube-system/config" in objects(dump)
    api.delete(f"{pods_of('kube-system')}/kube-scheduler-n0", grace_seconds=0)


def test_a_developer_of_one_namespace_is_told_what_was_said(control_plane: ControlPlane, api: Api) -> None:
    rules = [{"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list"]}]
    api.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "dev"}, "rules": rules})
    grant(api, "dev", "dev", "default")
    dump = through(control_plane, as_user="dev")
    assert not dump.can_replay
    assert {forbidden.kind for forbidden in dump.forbidden} == {"Pod", "Node"}
    assert [item.reason for item in dump.objects if isinstance(item, Event)] == ["FailedScheduling"]
    done = program(control_plane, "explain", "big", "--as", "dev")
    assert done.returncode == 3
    assert "not enough cpu is left" in done.stdout
    assert "ending other pods would not change what keeps this one out" in done.stdout
    assert '{apiGroups: [""], resources: [nodes], verbs: [list]}' in done.stdout
    everywhere = program(control_plane, "--as", "dev")
    assert (everywhere.returncode, everywhere.stdout) == (3, "")
    assert "not allowed to list pods in all namespaces, but in namespace default: add -n default (" in everywhere.stderr
    assert "not enough cpu is left" in program(control_plane, "-n", "default", "--as", "dev").stdout
    decoded = json.loads(program(control_plane, "explain", "big", "--as", "dev", "-o", "json").stdout)
    assert check_both(decoded) == "Decoded"
    assert [event["message"]["clauses"][0]["text"] for event in decoded["events"]] == ["Insufficient cpu"]


def test_a_developer_is_told_how_far_pods_have_come(control_plane: ControlPlane, api: Api) -> None:
    rules = [{"apiGroups": ["", "apps"], "resources": ["pods", "events", "replicasets"], "verbs": ["list"]}]
    api.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": "sees"}, "rules": rules})
    api.create("/api/v1/namespaces", {"metadata": {"name": "theirs"}})
    grant(api, "eve", "sees", "theirs")
    api.create(pods_of("theirs"), pod("refused", "8", nodeName="n0"))
    why = {"phase": "Failed", "reason": "OutOfcpu", "message": "no room"}
    api.merge(f"{pods_of('theirs')}/refused/status", {"status": why})
    gates = [{"name": "kueue.x-k8s.io/admission"}]
    api.create(pods_of("theirs"), pod("gated", "1", schedulingGates=gates))
    refused = program(control_plane, "explain", "refused", "-n", "theirs", "--as", "eve")
    assert refused.returncode == 3
    assert "Its kubelet refused it" in refused.stdout
    assert "OutOfcpu: no room" in refused.stdout
    gated = json.loads(program(control_plane, "explain", "gated", "-n", "theirs", "--as", "eve", "-o", "json").stdout)
    assert (check_both(gated), gated["stage"]["name"]) == ("Decoded", "Gated")
    both = program(control_plane, "explain", "pods", "gated", "refused", "-n", "theirs", "--as", "eve", "-o", "json")
    assert check_both(json.loads(both.stdout)) == "DecodedList"
    assert gated["stage"]["evidence"] == ["Kueue holds it back by the gate kueue.x-k8s.io/admission"]


@pytest.mark.parametrize(
    "command", [["diff", "-A", "--to-kube-version", "1.33"], ["snapshot", "-"], ["whatif", "--cordon", "n0"]]
)
def test_what_needs_the_nodes_says_that_they_may_not_be_read(
    control_plane: ControlPlane, api: Api, command: list[str]
) -> None:
    name = f"{command[0]}-only"
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    api.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", {"metadata": {"name": name}, "rules": rules})
    grant(api, name, name)
    done = program(control_plane, *command, "--as", name)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("error: not allowed to list nodes, so without the nodes nothing can be replayed")


def test_a_pod_that_is_not_there_brings_those_near_it(control_plane: ControlPlane) -> None:
    done = program(control_plane, "explain", "smll")
    assert done.returncode == 2
    assert "there is no pod smll in namespace default; near it: small" in done.stderr
    elsewhere = program(control_plane, "explain", "busy-3")
    assert elsewhere.stdout.startswith("team/busy-3: ")
    named = program(control_plane, "explain", "-n", "default", "busy-3")
    assert (named.returncode, "there is one in team (-n team)" in named.stderr) == (2, True)
    nowhere = program(control_plane, "explain", "-n", "kube-public", "smll")
    assert "there is no pod smll in namespace kube-public, which has none; another namespace" in nowhere.stderr


@pytest.mark.parametrize("name", ["a=b", "a\\b", "a/../b", "a b"])
def test_what_cannot_be_a_pods_name_is_not_there(control_plane: ControlPlane, name: str) -> None:
    done = program(control_plane, "explain", f"pod/{name}")
    assert (done.returncode, f"there is no pod {name} in namespace default" in done.stderr) == (2, True)
    done = program(control_plane, "explain", "-n", name, "small")
    assert (done.returncode, f"there is no pod small in namespace {name}; there is one in default" in done.stderr) == (
        2,
        True,
    )


def test_where_nothing_is_pending_it_is_said_what_is(control_plane: ControlPlane) -> None:
    """Of the cluster only what may be pending was read, so the rest is not taken for missing."""
    nothing = program(control_plane, "explain", "-n", "team")
    assert nothing.returncode == 0
    assert nothing.stdout.startswith("nothing is pending\n")
    assert "such pods are in other namespaces (-A), such as default/big\n" in nothing.stdout
    small = program(control_plane, "explain", "-n", "team", "-l", "app=small", "-o", "json")
    assert json.loads(small.stdout)["items"] == []
    small = program(control_plane, "explain", "-n", "team", "-l", "app=small")
    assert "1 such pod is in other namespaces (-A), such as default/small" in small.stdout
    bound = program(control_plane, "explain", "-n", "team", "-l", "app=busy-1", "--pending")
    assert "there is 1 pod, but it is not pending" in bound.stdout
    none = program(control_plane, "explain", "-n", "kube-public", "--as=ann", "--as-group=system:masters", "-l", "a=b")
    assert "there are no pods in namespace kube-public" in none.stdout


def test_pods_that_never_came_to_be_are_told_of_beside_those_that_wait(control_plane: ControlPlane, api: Api) -> None:
    api.create("/api/v1/namespaces", {"metadata": {"name": "full"}})
    template = pod("web", "1")
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    owner = api.create("/apis/apps/v1/namespaces/full/replicasets", {"metadata": {"name": "web-abc"}, "spec": spec})
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-abc", "uid": owner["metadata"]["uid"]}
    made = pod("web-abc-1", "1", nodeName="n0")
    made["metadata"]["ownerReferences"] = [reference | {"controller": True}]
    api.create(pods_of("full"), made)
    refused = "exceeded quota: small, requested: requests.cpu=1, used: requests.cpu=1, limited: requests.cpu=1"
    event = {
        "metadata": {"name": "web-abc.1", "namespace": "full"},
        "involvedObject": reference | {"namespace": "full"},
        "reason": "FailedCreate",
        "message": f'Error creating: pods "web-abc-2" is forbidden: {refused}',
        "lastTimestamp": "2026-01-01T00:00:00Z",
    }
    api.create(pods_of("full", "events"), event)
    for flags in (["-n", "full"], ["-A"]):
        done = program(control_plane, "explain", *flags)
        assert "ReplicaSet full/web-abc: 2 of 3 pods are missing: quota small has no room for more" in done.stdout
        assert "a pod asks for 1 requests.cpu, 1 of 1 are used" in done.stdout


def test_events_tell_the_same_in_either_of_their_apis(api: Api) -> None:
    """Kubelets and autoscalers write events in the fields of the older API."""
    written = {
        "metadata": {"name": "small.1", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "small"},
        "reason": "NotTriggerScaleUp",
        "message": "pod didn't trigger scale-up",
        "source": {"component": "cluster-autoscaler"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:05:00Z",
        "count": 3,
    }
    api.create(pods_of("default", "events"), written)
    paths = (pods_of("default", "events"), "/apis/events.k8s.io/v1/namespaces/default/events")
    core, newer = (msgspec.convert({"kind": "Event", **api.get(f"{path}/small.1")}, Event) for path in paths)
    for event in (core, newer):
        assert (event.component, event.text) == ("cluster-autoscaler", "pod didn't trigger scale-up")
        assert (event.first_seen, event.last_seen) == ("2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z")
        assert (event.about.kind, event.about.name) == ("Pod", "small")


def test_explain_only_ever_reads(control_plane: ControlPlane, audit_log: Path) -> None:
    """Whatever the tests above had it do, the server has seen nothing but reading from it."""
    program(control_plane, "explain", "-A")
    seen = [msgspec.json.decode(line) for line in audit_log.read_bytes().splitlines()]
    ours = [event for event in seen if event.get("userAgent") == "kubectl-sched"]
    assert len(ours) > 20
    assert {event["verb"] for event in ours} == {"get", "list"}


def test_a_dump_and_the_live_cluster_are_not_mixed(control_plane: ControlPlane, tmp_path: Path) -> None:
    path = tmp_path / "dump.json"
    path.write_text(json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": []}))
    assert read([str(path)]).is_live is False
    done = program(control_plane, "--from", str(path), "--context", "test", "explain", "big")
    assert (done.returncode, "--context is about a running cluster" in done.stderr) == (2, True)


def test_names_of_the_cluster_are_completed(control_plane: ControlPlane) -> None:
    def completed(*words: str) -> list[str]:
        lines = program(control_plane, "__complete", *words).stdout.splitlines()
        return [line.partition("\t")[0] for line in lines if not line.startswith(":")]

    assert completed("explain", "pod", "") == ["big", "small", "stored"]
    assert completed("explain", "-n", "team", "pod", "busy-8") == ["busy-8"]
    assert completed("explain", "-n", "te") == ["team"]
    assert completed("explain", "--node", "") == [f"n{number}" for number in range(7)]
    assert completed("bind", "pod", "b") == ["big"]
    assert completed("explain", "--profile", "") == ["default-scheduler"]
