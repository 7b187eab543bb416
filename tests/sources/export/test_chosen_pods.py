"""A snapshot of one namespace or label holds its pods and what the cluster needs, and answers from it say so."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.sources.dump.reader import read
from tests import program

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from kubectl_sched.sources.dump.dump import Dump

Json = dict[str, Any]


def made(kind: str, name: str, namespace: str = "", group: str = "v1", **fields: Any) -> Json:
    metadata: Json = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": group, "kind": kind, "metadata": {**metadata, **fields.pop("metadata", {})}, **fields}


def pod(name: str, namespace: str, image: str = "web:1", *command: str, node: str = "", **labels: str) -> Json:
    container = {"name": "c", "image": image, "command": list(command), "resources": {"requests": {"cpu": "1"}}}
    spec = {"containers": [container], **({"nodeName": node} if node else {})}
    return made("Pod", name, namespace, metadata={"labels": labels}, spec=spec)


def deployment(name: str, namespace: str) -> Json:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "web:1"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    return made("Deployment", name, namespace, "apps/v1", spec=spec)


def event(name: str, namespace: str) -> Json:
    about = {"kind": "Pod", "name": name, "namespace": namespace}
    message = "0/1 nodes are available: 1 Insufficient cpu."
    return made("Event", f"{name}.1", namespace, involvedObject=about, reason="FailedScheduling", message=message)


SCHEDULER = pod(
    "kube-scheduler-n1", "kube-system", "registry.k8s.io/kube-scheduler:v1.36.2", "kube-scheduler", node="n1"
)
CLUSTER = [
    made("Node", "n1", status={"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "10"}}),
    made("Namespace", "team"),
    made("Namespace", "shop"),
    SCHEDULER,
    pod("dns", "kube-system", node="n1"),
    pod("web-0", "team", app="web"),
    pod("db-0", "team", app="db"),
    pod("web-0", "shop", node="n1", app="web"),
    deployment("web", "team"),
    deployment("db", "team"),
    deployment("web", "shop"),
    event("web-0", "team"),
    event("db-0", "team"),
    event("web-0", "shop"),
    made("Service", "front", "team"),
    made("Service", "till", "shop"),
    made("CSIStorageCapacity", "room", "kube-system", "storage.k8s.io/v1", storageClassName="fast"),
]

OF_THE_CLUSTER = {
    *("Node n1", "Namespace team", "Namespace shop"),
    *("Pod kube-system/kube-scheduler-n1", "CSIStorageCapacity kube-system/room"),
}
OF_TEAM = {
    *("Pod team/web-0", "Pod team/db-0", "Deployment team/web", "Deployment team/db"),
    *("Event team/web-0.1", "Event team/db-0.1", "Service team/front"),
}
OF_WEB = {
    *("Pod team/web-0", "Pod shop/web-0", "Deployment team/web", "Deployment shop/web"),
    *("Event team/web-0.1", "Event shop/web-0.1", "Service team/front", "Service shop/till"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}))
    return tmp_path


def saved(folder: Path, *flags: str, source: str = "cluster.json", target: str = "snapshot.json") -> Dump:
    done = run(folder, "snapshot", target, "--from", source, *flags)
    assert done.returncode == 0, done.stderr
    return read([str(folder / target)])


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return program.run(*arguments, folder=folder)


def names(dump: Dump) -> set[str]:
    return {f"{type(item).__name__} {item.key}" for item in dump.objects}


@pytest.mark.parametrize(
    ("flags", "kept", "said"),
    [
        ("-n team", OF_TEAM, ("namespace team",)),
        ("-l app=web", OF_WEB, ("all namespaces with labels app=web",)),
        ("-A -l app=web", OF_WEB, ("all namespaces with labels app=web",)),
        ("-n team -l app=web", (OF_TEAM & OF_WEB), ("namespace team with labels app=web",)),
    ],
)
def test_it_holds_what_is_chosen_and_what_the_cluster_needs(
    folder: Path, flags: str, kept: set[str], said: tuple[str, ...]
) -> None:
    dump = saved(folder, *flags.split())
    assert names(dump) == OF_THE_CLUSTER | kept
    assert dump.pods_of == said


@pytest.mark.parametrize("flags", ["", "-A"])
def test_it_holds_everything_by_default(folder: Path, flags: str) -> None:
    dump = saved(folder, *flags.split())
    assert len(dump.objects) == len(CLUSTER)
    assert dump.pods_of == ()


@pytest.mark.parametrize(
    "question",
    [
        *("explain web-0 -n team", "triage", "whatif --with-pending", "whatif --make-room pod/web-0 -n team"),
        *("capacity", "drain n1", "explain node n1", "schedulers"),
    ],
)
def test_answers_say_that_it_does_not_hold_all_pods(folder: Path, question: str) -> None:
    saved(folder, "-n", "team")
    said = json.loads(run(folder, *question.split(), "--from", "snapshot.json", "-o", "json").stdout)["warnings"]
    sentence = (
        "the snapshot has pods of namespace team only, so nodes may be fuller than they seem (all: `kubectl sched "
        "snapshot` without -n and -l)"
    )
    assert said.count(sentence) == 1
    assert "fuller" not in "".join(each for each in said if each != sentence)
    shown = run(folder, *question.split(), "--from", "snapshot.json")
    assert "".join(sentence.split()) in "".join((shown.stdout + shown.stderr).split())
    whole = run(folder, *question.split(), "--from", "cluster.json", "-o", "json")
    assert "fuller" not in whole.stdout


def test_if_no_pod_is_left_out_it_holds_all_pods(folder: Path) -> None:
    assert saved(folder, "-l", "app!=none").pods_of == ()


def test_if_a_claim_is_left_out_devices_may_seem_free(folder: Path) -> None:
    claim = made("ResourceClaim", "held", "shop", "resource.k8s.io/v1", spec={"devices": {}})
    items = [CLUSTER[0], pod("web-0", "team"), claim]
    (folder / "devices.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    assert saved(folder, "-n", "team", source="devices.json").pods_of == ("namespace team",)


def test_its_limits_stay_when_it_is_saved_again(folder: Path) -> None:
    saved(folder, "-n", "team")
    again = saved(folder, "-l", "app=web", source="snapshot.json", target="again.json")
    assert again.pods_of == ("namespace team", "all namespaces with labels app=web")
    assert "Pod team/db-0" not in names(again)


def test_under_pseudonyms_the_limit_has_no_name(folder: Path) -> None:
    assert saved(folder, "-n", "team", "--anonymize").pods_of == ("some namespaces or labels",)
    assert "team" not in (folder / "snapshot.json").read_text()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("-n nowhere", "error: no pods to save: there are none of namespace nowhere\n"),
        ("-n shop -l app=db", "error: no pods to save: there are none of namespace shop with labels app=db\n"),
    ],
)
def test_without_a_chosen_pod_nothing_is_written(folder: Path, flags: str, said: str) -> None:
    done = run(folder, "snapshot", "snapshot.json", "--from", "cluster.json", *flags.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    assert not (folder / "snapshot.json").exists()
