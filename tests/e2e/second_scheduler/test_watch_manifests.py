"""manifests/ run a second scheduler with the rights that it uses and no others, and every write is documented."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.api import Api, Json
from tests.e2e.binding_cluster import (
    PODS,
    VOLUMES,
    claim,
    events,
    fill,
    node_of,
    pod,
    provisioner,
    resource_claim,
    uses,
    volume,
)
from tests.e2e.control_plane import ControlPlane
from tests.e2e.patience import until
from tests.e2e.priority_classes import priority_class
from tests.e2e.watchers import WatcherProcess, audited_plane, noted
from tests.oracle.build import GoMissingError

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[3]
MANIFESTS = ROOT / "manifests"
NAME = "my-scheduler"
USER = f"system:serviceaccount:kube-system:{NAME}"
PATHS = {
    "ServiceAccount": "/api/v1/namespaces/kube-system/serviceaccounts",
    "ConfigMap": "/api/v1/namespaces/kube-system/configmaps",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/rolebindings",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/kube-system/poddisruptionbudgets",
    "Deployment": "/apis/apps/v1/namespaces/kube-system/deployments",
}
SELDOM_USED = {
    ("resource.k8s.io", "resourceclaims", "delete"),
    ("events.k8s.io", "events", "patch"),
    ("events.k8s.io", "events", "list"),
    ("", "persistentvolumeclaims", "get"),
    ("", "persistentvolumes", "get"),
    ("", "pods", "get"),
    ("resource.k8s.io", "resourceclaims/binding", "patch"),
    ("resource.k8s.io", "devicetaintrules", "watch"),
}
"""Rights that only something unusual needs: a failure to take back, a conflict, an event that repeats.

Of the last two, one is asked for within the patch of a claim's status, which is all that the audit log has, and the
other is about a kind that this server does not serve.
"""

GROUPS_ROLE = "kubectl-sched-groups"
"""Bound and used with the feature gates of groups alone (test_watch_podgroups.py)."""

Right = tuple[str, str, str]
"""(API group, resource with its subresource, verb)."""


def manifest(name: str = "second-scheduler.yaml") -> list[Json]:
    return list(yaml.safe_load_all((MANIFESTS / name).read_text()))


@pytest.fixture(scope="module")
def audit_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def control_plane(audit_log: Path) -> Iterator[ControlPlane]:
    try:
        with audited_plane(audit_log, controller_manager=True) as plane:
            yield plane
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="module")
def kubeconfig(control_plane: ControlPlane, api: Api) -> Path:
    """Of the ServiceAccount, once everything is applied."""
    fill(api)
    for each in manifest():
        api.create(PATHS[each["kind"]], each)
    for bound in ("preempts",):
        subjects = [{"kind": "ServiceAccount", "name": NAME, "namespace": "kube-system"}]
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"kubectl-sched-{bound}"}
        about = {"name": f"{NAME}-{bound}"}
        api.create(PATHS["ClusterRoleBinding"], {"metadata": about, "roleRef": role, "subjects": subjects})
    path = f"{PATHS['ServiceAccount']}/{NAME}/token"
    token = api.create(path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    given = control_plane.kubeconfig_for("service-account")
    given.write_text(given.read_text().replace('"service-account"', json.dumps(token["status"]["token"])))
    return given


def arguments(folder: Path) -> list[str]:
    """The Deployment's own, with the ConfigMap's files where a kubelet would mount them."""
    by_kind = {each["kind"]: each for each in manifest()}
    container = by_kind["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    (mount,) = container["volumeMounts"]
    for name, text in by_kind["ConfigMap"]["data"].items():
        (folder / name).write_text(text)
    given = [each.replace(mount["mountPath"], str(folder)) for each in container["args"]]
    assert given[:3] == ["bind", "--watch", "--yes"]
    return [each for each in given[3:] if not each.startswith("--listen")]


@pytest.fixture(scope="module")
def requests(
    control_plane: ControlPlane,
    api: Api,
    kubeconfig: Path,
    audit_log: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> list[Json]:
    """What the audit log says of all requests, once pods of each sort were placed by the manifests' scheduler."""
    given = arguments(tmp_path_factory.mktemp("config"))
    with (
        provisioner(control_plane),
        WatcherProcess(kubeconfig, *given, "--preempt") as leader,
        WatcherProcess(kubeconfig, *given, "--preempt") as standing_by,
    ):
        leader.until_ready()
        standing_by.until_ready()
        place_everything(api)
        assert {leader.stop(), standing_by.stop()} == {0}
    return noted(audit_log)


def test_every_request_is_within_the_rights_and_every_right_is_used(requests: list[Json]) -> None:
    used = {right for event in requests if (right := right_of(event)) is not None}
    refused = {right_of(event) for event in requests if event["responseStatus"]["code"] == 403}
    assert refused <= {None}
    assert used <= given_rights()
    assert given_rights() - used <= SELDOM_USED


def place_everything(api: Api) -> None:
    """A pod of each sort, so that everything is written that may have to be."""
    mine: Json = {"schedulerName": NAME}
    pod(api, "po37", **mine)
    (event,) = until(lambda: events(api, "po37", "Scheduled"))
    assert event["reportingController"] == NAME
    api.create(VOLUMES, volume("disk", "n2"))
    claim(api, "data", "local")
    claim(api, "cache", "made")
    pod(api, "stored", claims=("data", "cache"), **mine)
    until(lambda: node_of(api, "stored") == "n2")
    resource_claim(api, "gpu")
    pod(api, "computing", **mine, **uses("gpu"))
    until(lambda: node_of(api, "computing"))
    pod(api, "extended", **mine, containers=[asking("x.io/gpu", "1")])
    until(lambda: node_of(api, "extended"))
    for number in range(4):
        pod(api, f"low-{number}", "3", **mine)
    until(lambda: all(node_of(api, f"low-{number}") for number in range(4)))
    priority_class(api, "high", 1000)
    pod(api, "high", "3", **mine, priorityClassName="high")
    until(lambda: node_of(api, "high"))
    assert sum(each["metadata"]["name"].startswith("low-") for each in api.get(PODS)["items"]) == 3


def asking(resource: str, amount: str) -> Json:
    return {"name": "c", "image": "nginx", "resources": {"requests": {resource: amount}, "limits": {resource: amount}}}


def right_of(event: Json) -> Right | None:
    """The right that a request of the ServiceAccount needs; None where it is another's, or asks for no object."""
    reference = event.get("objectRef")
    if event["user"]["username"] != USER or reference is None:
        return None
    resource = "/".join(filter(None, (reference["resource"], reference.get("subresource"))))
    return reference.get("apiGroup", ""), resource, event["verb"]


def given_rights() -> set[Right]:
    """All that the manifests allow."""
    return {
        (group, resource, verb)
        for each in manifest()
        if each["kind"] in {"ClusterRole", "Role"} and each["metadata"]["name"] != GROUPS_ROLE
        for rule in each["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def test_every_write_is_documented(requests: list[Json]) -> None:
    text = (ROOT / "docs" / "second-scheduler.md").read_text()
    table = re.findall(r"\| (\w+) \| `(/[^`]+)`", text)
    documented = {(method, re.sub(r"\{\w+\}", "[^/]+", path)) for method, path in table}
    methods = {"create": "POST", "patch": "PATCH", "update": "PUT", "delete": "DELETE"}
    writes = {
        (methods[event["verb"]], event["requestURI"].partition("?")[0])
        for event in requests
        if event["user"]["username"] == USER and event["verb"] in methods
    }
    assert writes
    for method, path in writes:
        assert any(method == known and re.fullmatch(pattern, path) for known, pattern in documented), f"{method} {path}"


def test_the_commands_of_the_containerfile_run_in_an_empty_folder(tmp_path: Path) -> None:
    """Without an image, each stage is a virtual environment and a folder."""
    text = (MANIFESTS / "Containerfile").read_text().replace("/wheels", str(tmp_path / "wheels"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    variables, source = {"HOME": str(tmp_path)}, tmp_path / "src"
    stages = 0
    for instruction, rest in (line.split(maxsplit=1) for line in lines):
        match instruction:
            case "FROM":
                stages += 1
                environment = tmp_path / f"stage-{stages}"
                subprocess.run([sys.executable, "-m", "venv", environment], check=True)
                variables["PATH"] = f"{environment / 'bin'}:/usr/bin:/bin"
                shutil.rmtree(source, ignore_errors=True)
                source.mkdir()
            case "COPY" if not rest.startswith("--from=build"):
                *files, target = rest.split()
                for name in files:
                    copy(ROOT / name, source / target / ("" if target.endswith("/") else "."))
            case "RUN":
                subprocess.run(["/bin/sh", "-c", rest], cwd=source, env={**os.environ, **variables}, check=True)
            case "ENV":
                name, _, value = rest.partition("=")
                variables[name] = value
            case "ENTRYPOINT":
                entry = [*json.loads(rest), "bind", "--help"]
                shown = subprocess.run(
                    entry, cwd=source, env={**os.environ, **variables}, check=True, capture_output=True, text=True
                )
                assert "--watch" in shown.stdout
                assert not list((tmp_path / f"stage-{stages}").rglob("*.whl"))
            case _:
                assert instruction in {"COPY", "WORKDIR", "USER"}, f"{instruction} {rest}"
    assert stages == 2


def test_the_deployment_may_be_drained_and_runs_confined() -> None:
    by_kind = {each["kind"]: each for each in manifest()}
    pods = by_kind["Deployment"]["spec"]["template"]
    assert by_kind["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == pods["metadata"]["labels"]
    (container,) = pods["spec"]["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert pods["spec"]["securityContext"]["runAsNonRoot"] is True
    assert "memory" in container["resources"]["limits"]


def copy(what: Path, to: Path) -> None:
    if what.is_dir():
        shutil.copytree(what, to, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(what, to)
