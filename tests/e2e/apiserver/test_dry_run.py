"""`whatif --dry-run=server`: a live server says what manifests become, refuses in its own words, and stores nothing."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubectl_sched.api.core import Namespace
from kubectl_sched.api.pod import Pod, PodSpec
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.config import Features, KubeVersion
from kubectl_sched.snapshot import Objects
from tests.e2e.api import Api, ApiError
from tests.e2e.control_plane import ADMIN_TOKEN, ControlPlane
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

Json = dict[str, Any]
READS = {"get", "list", "watch"}
PLUGINS = frozenset({"PodNodeSelector", "PodTolerationRestriction", "ExtendedResourceToleration"})


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def plane(audit_log: Path) -> Iterator[ControlPlane]:
    policy = audit_log.with_name("policy.yaml")
    policy.write_text("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n")
    flags = (
        *(f"--audit-policy-file={policy}", f"--audit-log-path={audit_log}", "--audit-log-mode=blocking-strict"),
        f"--enable-admission-plugins={','.join(sorted(PLUGINS))}",
    )
    try:
        with ControlPlane(extra_apiserver_flags=flags) as plane:
            with Api(plane.port, ADMIN_TOKEN) as api:
                fill(api)
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


def fill(api: Api) -> None:
    """Two nodes, a namespace that limits and one that restricts, and a Deployment."""
    for name in ("n0", "n1"):
        resources = {"cpu": "4", "memory": "8Gi", "pods": "20"}
        labels = {"kubernetes.io/hostname": name}
        api.create(
            "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": resources}}
        )
        api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    api.create("/api/v1/namespaces", {"metadata": {"name": "strict", "labels": restricted}})
    api.create("/api/v1/namespaces", {"metadata": {"name": "limited"}})
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "3"}}]}
    api.create("/api/v1/namespaces/limited/limitranges", {"metadata": {"name": "limits"}, "spec": limits})
    api.create("/apis/apps/v1/namespaces/default/deployments", deployment("default", 1))


def deployment(namespace: str, replicas: int, app: str = "web", **container: Any) -> Json:
    labels = {"app": app}
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": labels},
        "template": {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "main", "image": "web:1", **container}]},
        },
    }
    about = {"name": "web", "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": about, "spec": spec}


def whatif(plane: ControlPlane, folder: Path, *manifests: Json, arguments: tuple[str, ...] = ()) -> Any:
    path = folder / "manifests.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests}))
    flags = ["--kubeconfig", str(plane.kubeconfig), "--dry-run=server", "-o", "json", *arguments]
    command = [sys.executable, "-m", "kubectl_sched", "whatif", str(path), *flags]
    return subprocess.run(command, capture_output=True, check=False, text=True)


def test_pods_are_placed_as_the_server_would_store_them(plane: ControlPlane, tmp_path: Path) -> None:
    done = whatif(plane, tmp_path, deployment("limited", 3))
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["placed"], answer["unplaced"]) == (1, 2, 1), done.stderr
    assert "2 Insufficient cpu" in answer["placements"][2]["event"]


def test_pods_of_sets_keep_what_is_their_own(plane: ControlPlane, tmp_path: Path) -> None:
    containers = [{"name": "main", "image": "x"}]
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": containers}}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    selector = {"matchLabels": {"app": "db"}}
    stateful = {
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {"replicas": 2, "selector": selector, "template": template,
                 "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]},
    }  # fmt: skip
    daemons = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent"},
        "spec": {"selector": selector, "template": template},
    }
    done = whatif(plane, tmp_path, stateful, daemons)
    placements = {each["pod"]["name"]: each for each in json.loads(done.stdout)["placements"]}
    assert {name: placements[name]["node"] for name in ("agent-n0", "agent-n1")} == {"agent-n0": "n0", "agent-n1": "n1"}
    assert "unbound immediate PersistentVolumeClaims" in placements["db-0"]["event"]


def test_a_workload_of_the_cluster_is_asked_about_too(plane: ControlPlane) -> None:
    flags = ["--kubeconfig", str(plane.kubeconfig), "--dry-run=server", "-o", "name", "--replicas", "2"]
    command = [sys.executable, "-m", "kubectl_sched", "whatif", "deployment/web", *flags]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2), done.stderr


def test_pods_of_cron_jobs_and_pods_whose_names_are_generated(plane: ControlPlane, tmp_path: Path) -> None:
    containers = [{"name": "main", "image": "x"}]
    job = {"spec": {"parallelism": 2, "template": {"spec": {"restartPolicy": "Never", "containers": containers}}}}
    nightly = {
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 1 * * *", "jobTemplate": job},
    }  # fmt: skip
    about = {"generateName": "some-"}
    alone = {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": {"containers": containers}}
    done = whatif(plane, tmp_path, nightly, alone)
    assert done.returncode == 0, done.stderr
    names = [each["pod"]["name"] for each in json.loads(done.stdout)["placements"]]
    assert names[:2] == ["nightly-0", "nightly-1"]
    assert names[2].startswith("some-")


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (deployment("default", 1, ports=[{"containerPort": 99999}]), "must be between 1 and 65535"),
        (deployment("default", 1, app="other"), "field is immutable"),
        (deployment("nowhere", 1), 'namespaces "nowhere" not found'),
        (deployment("limited", 1, portz=[]), 'unknown field "spec.template.spec.containers[0].portz"'),
        (deployment("default", 1, portz=[]), "portz: field not declared in schema"),
        (deployment("strict", 1), 'violates PodSecurity "restricted:latest"'),
        ({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}}, "does not know Thing"),
    ],
)
def test_the_server_refuses_in_its_own_words(plane: ControlPlane, tmp_path: Path, item: Json, said: str) -> None:
    done = whatif(plane, tmp_path, item, deployment("limited", 1))
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    *waiting, error = done.stderr.splitlines()
    assert said in error
    assert all(line.startswith("waiting for the server ") for line in waiting)


def test_what_is_in_a_namespace_of_the_manifests_is_not_asked_about(plane: ControlPlane, tmp_path: Path) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
    done = whatif(plane, tmp_path, namespace, deployment("new", 1))
    answer = json.loads(done.stdout)
    assert answer["placed"] == 1
    assert any("namespace new is only in the manifests" in each for each in answer["warnings"])


DEDICATED = '[{"key": "dedicated", "operator": "Equal", "value": "team", "effect": "NoSchedule"}]'
EVERYWHERE = '[{"key": "dedicated", "operator": "Exists"}, {"operator": "Exists", "effect": "NoExecute"}]'
PREFIX = "scheduler.alpha.kubernetes.io"
ANNOTATIONS: dict[str, Json] = {
    "plain": {},
    "selected": {f"{PREFIX}/node-selector": "pool=team, disk=ssd"},
    "tolerant": {f"{PREFIX}/defaultTolerations": DEDICATED},
    "narrow": {f"{PREFIX}/defaultTolerations": DEDICATED, f"{PREFIX}/tolerationsWhitelist": EVERYWHERE},
}
SPECS: tuple[Json, ...] = (
    {},
    {"nodeSelector": {"disk": "ssd"}},
    {"nodeSelector": {"disk": "hdd"}},
    {"tolerations": [{"key": "dedicated", "operator": "Exists"}]},
    {"tolerations": [{"key": "other", "operator": "Exists"}]},
    {"containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
    {"containers": [{"name": "main", "image": "x", "resources": {"limits": {"x.com/gpu": "1", "x.com/card": "1"}}}]},
)


@pytest.mark.parametrize("namespace", ANNOTATIONS)
def test_annotations_of_namespaces_do_what_the_server_makes_them_do(plane: ControlPlane, namespace: str) -> None:
    annotations = ANNOTATIONS[namespace]
    objects = [msgspec.convert({"metadata": {"name": namespace, "annotations": annotations}}, Namespace)]
    features = Features.for_version(KubeVersion.parse("1.36"), {})
    admission = Admission(objects=Objects(objects), enabled=features.enabled, present=frozenset(), plugins=PLUGINS)
    with Api(plane.port, ADMIN_TOKEN) as api:
        api.create("/api/v1/namespaces", {"metadata": {"name": namespace, "annotations": annotations}})
        for number, spec in enumerate(SPECS):
            wanted = {
                "metadata": {"name": f"p{number}", "namespace": namespace},
                "spec": {"containers": [{"name": "main", "image": "x"}], **spec},
            }
            pod = msgspec.convert(wanted, Pod)
            answer = dry_run(api, namespace, wanted)
            if isinstance(answer, str):
                with pytest.raises(RefusedError) as ours:
                    admission.admitted(pod)
                assert ours.value.reason.removeprefix("pods is forbidden: ") in answer
                continue
            theirs = msgspec.convert(answer["spec"], PodSpec)
            mine = admission.admitted(pod).spec
            assert (mine.node_selector or {}) == (theirs.node_selector or {})
            assert set(mine.tolerations) == set(theirs.tolerations)


def dry_run(api: Api, namespace: str, pod: Json) -> Json | str:
    """The pod as it would be stored, or why not."""
    try:
        return api.create(f"/api/v1/namespaces/{namespace}/pods?dryRun=All", pod)
    except ApiError as refused:
        return str(refused)


def test_a_dump_cannot_be_asked(plane: ControlPlane, tmp_path: Path) -> None:
    done = whatif(plane, tmp_path, deployment("limited", 1), arguments=("--from", str(tmp_path)))
    assert done.returncode == 2
    assert "--dry-run=server asks a running cluster" in done.stderr


def test_nothing_but_dry_runs_was_sent(plane: ControlPlane, audit_log: Path, tmp_path: Path) -> None:
    whatif(plane, tmp_path, deployment("limited", 2), deployment("default", 2))
    events = [json.loads(line) for line in audit_log.read_text().splitlines()]
    writes = [each for each in events if each.get("userAgent") == "kubectl-sched" and each["verb"] not in READS]
    assert {each["verb"] for each in writes} == {"create", "patch"}
    assert all("dryRun=All" in each["requestURI"] for each in writes)
    with Api(plane.port, ADMIN_TOKEN) as api:
        assert api.get("/api/v1/pods")["items"] == []
        assert [each["spec"]["replicas"] for each in api.get("/apis/apps/v1/deployments")["items"]] == [1]
