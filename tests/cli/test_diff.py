"""`diff`: two configurations, two versions, two dumps; which pods differ, and through which plugin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.cli.app import app
from kubectl_sched.errors import SchedError

Json = dict[str, Any]

SCHEDULERS = Path(__file__).parent.parent.parent / "fixtures" / "schedulers"

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
PACK = "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]}]"
NO_TAINTS = "profiles: [{plugins: {filter: {disabled: [{name: TaintToleration}]}}}]"
NO_PRE_SCORE = "profiles: [{plugins: {preScore: {disabled: [{name: '*'}]}}}]"
OTHER_NAME = "profiles: [{schedulerName: mine}]"


def node(name: str, cpu: str, *, taint: str = "") -> Json:
    taints = [{"key": taint, "effect": "NoSchedule"}] if taint else []
    status = {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "10"}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "spec": {"taints": taints},
        "status": status,
    }


def pod(name: str, cpu: str, *, on: str = "", memory: str = "0") -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": {"app": name}}
    spec = {"containers": [container], "nodeName": on}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


CLUSTER = [
    node("small", "4"),
    node("large", "16"),
    node("tainted", "32", taint="own"),
    pod("web", "1"),
    pod("db", "20"),
]


def write(path: Path, *objects: Json) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return str(path)


@pytest.fixture
def dump(tmp_path: Path) -> str:
    return write(tmp_path / "dump.json", *CLUSTER)


@pytest.fixture
def config(tmp_path: Path) -> Any:
    def written(body: str) -> str:
        path = tmp_path / "config.yaml"
        path.write_text(HEAD + body)
        return str(path)

    return written


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        app(["diff", "--kube-version", "1.36", *arguments], standalone_mode=False)
    assert isinstance(ended.value.code, int)
    return ended.value.code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "pod_name", "change", "before", "after", "plugin", "text"),
    [
        (PACK, "web", "Moves", ["large"], ["small"], "NodeResourcesFit", "small gains "),
        (NO_TAINTS, "db", "BecomesSchedulable", [], ["tainted"], "TaintToleration", "no longer tainted is rejected: "),
        (NO_PRE_SCORE, "web", "StopsBeingSchedulable", ["large"], [], "TaintToleration", "running Score plugins"),
        (OTHER_NAME, "web", "StopsBeingSchedulable", ["large"], [], None, "no profile serves"),
    ],
)
def test_a_configuration_changes_where_a_pod_lands(
    *,
    body: str,
    pod_name: str,
    change: str,
    before: list[str],
    after: list[str],
    plugin: str | None,
    text: str,
    dump: str,
    config: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, said = run(capsys, pod_name, "--from", dump, "--to-config", config(body), "-o", "json")
    data = json.loads(said)
    assert code == 1
    assert (data["kind"], data["compared"]) == ("Diff", 1)
    (item,) = data["items"]
    assert item["pod"] == {"namespace": "default", "name": pod_name}
    assert (item["change"], item["before"]["best"], item["after"]["best"]) == (change, before, after)
    assert item["causes"][0]["plugin"] == plugin
    assert text in item["causes"][0]["text"]


def test_all_pods_are_compared_and_only_those_that_differ_are_listed(
    dump: str, config: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = run(capsys, "--from", dump, "--to-config", config(PACK))
    assert code == 1
    assert "1  NodeResourcesFit  default/Pod/web  large   small" in said
    assert "default/Pod/db" not in said
    assert "2 pods compared, kube-scheduler 1.36.6: 1 would land elsewhere." in said


def test_the_same_is_no_difference(dump: str, config: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = run(capsys, "--pending", "--from", dump, "--to-config", config(""))
    assert code == 0
    assert said.startswith("2 pods compared, kube-scheduler 1.36.6: no differences.\n")


def test_another_version_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running = [pod("on-b", "6", on="b", memory="1Gi"), pod("on-c", "3500m", on="c", memory="8Gi")]
    web = pod("web", "500m", memory="3Gi")
    dump = write(tmp_path / "dump.json", node("b", "8"), node("c", "16"), *running, web)
    code, said = run(capsys, "web", "--from", dump, "--to-kube-version", "1.35", "-o", "json")
    data = json.loads(said)
    (item,) = data["items"]
    assert (data["before"]["kubernetesVersion"], data["after"]["kubernetesVersion"]) == ("1.36", "1.35")
    assert (code, item["before"]["best"], item["after"]["best"]) == (1, ["b", "c"], ["c"])
    assert item["causes"][0]["plugin"] == "NodeResourcesBalancedAllocation"


def test_a_pod_is_asked_of_the_scheduler_that_serves_it(config: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = str(SCHEDULERS / "deployment.yaml")
    code, said = run(capsys, "-A", "--from", cluster, "--to-config", config(OTHER_NAME), "-o", "json")
    changed = {item["before"]["outcome"]: item["after"]["outcome"] for item in json.loads(said)["items"]}
    assert (code, changed) == (1, {"Schedulable": "NoProfile"})
    same, said = run(capsys, "-A", "--from", cluster, "--to-kube-version", "1.36", "-o", "json")
    assert (same, json.loads(said)["compared"]) == (0, 6)


def test_another_dump_is_compared(dump: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write(tmp_path / "other.json", node("small", "4"), pod("web", "1"))
    code, said = run(capsys, "--from", dump, "--to-dump", other, "-o", "json")
    data = json.loads(said)
    assert code == 1
    assert data["compared"] == 1
    assert data["items"][0]["causes"] == [{"plugin": None, "text": "now there is no node large"}]
    assert "1 pod is in the first dump only, and not compared" in data["warnings"]
    _, said = run(capsys, "--from", other, "--to-dump", dump, "-o", "json")
    assert "1 pod is in the second dump only, and not compared" in json.loads(said)["warnings"]


@pytest.mark.parametrize("targets", [("deployment/web",), ("-A",)])
def test_two_dumps_without_a_pod_in_common_are_not_said_to_be_the_same(
    targets: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def of_rollout(name: str) -> str:
        labels = {"pod-template-hash": name}
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"web-{name}", "uid": name, "controller": True}
        made = pod(f"web-{name}-a", "1")
        made["metadata"] |= {"labels": labels, "ownerReferences": [owner]}
        return write(tmp_path / f"{name}.json", node("small", "4"), made)

    with pytest.raises(SchedError, match="no pod of the first dump is in the second"):
        run(capsys, *targets, "--from", of_rollout("1"), "--to-dump", of_rollout("2"))


def test_the_former_name_of_to_dump_is_accepted(dump: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = write(tmp_path / "other.json", node("small", "4"), pod("web", "1"))
    by_name = run(capsys, "--from", dump, "--to-dump", other)
    assert run(capsys, "--from", dump, "--to-from", other) == by_name
    assert run(capsys, "--from", dump, f"--to-from={other}") == by_name


def test_a_pod_that_is_named_must_be_in_both_dumps(dump: str, tmp_path: Path) -> None:
    other = write(tmp_path / "other.json", node("small", "4"), pod("else", "1"))
    with pytest.raises(SchedError, match=r"^--to-dump: there is no pod default/web$") as refused:
        app(["diff", "pod", "web", "--from", dump, "--to-dump", other], standalone_mode=False)
    assert refused.value.exit_code == 2


def test_gates_that_are_given_one_by_one_all_count(dump: str) -> None:
    gates = ["--to-feature-gates", "AllAlpha=true", "--to-feature-gates", "AllBeta=false"]
    with pytest.raises(SchedError, match=r"^--to-feature-gates AllAlpha=true,AllBeta=false: kube-scheduler refuses"):
        app(["diff", "--from", dump, "--kube-version", "1.36", *gates], standalone_mode=False)


def test_names_are_for_scripts(dump: str, config: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--from", dump, "--to-config", config(PACK), "-o", "name") == (1, "pod/web\n")


def test_something_to_compare_with_is_needed(dump: str) -> None:
    with pytest.raises(SchedError, match="nothing to compare with: give --to-config"):
        app(["diff", "--from", dump], standalone_mode=False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to-config", "nowhere"], "--to-config nowhere: No such file"),
        (["--to-kube-version", "next"], "--to-kube-version next: 'next' is not a Kubernetes version"),
        (["--to-feature-gates", "Nope=true"], "--to-feature-gates Nope=true: kube-scheduler refuses these"),
        (["--to-dump", ""], "--to-dump is given an empty path"),
        (["--config", "nowhere", "--to-kube-version", "1.36"], "--config nowhere: No such file"),
    ],
)
def test_what_cannot_be_compared_with_is_named_by_its_flag(dump: str, arguments: list[str], said: str) -> None:
    with pytest.raises(SchedError) as refused:
        app(["diff", "--from", dump, *arguments], standalone_mode=False)
    assert str(refused.value).startswith(said)


def test_a_refused_configuration_to_compare_with_is_named(dump: str, config: Any) -> None:
    bad = config("parallelism: -1")
    with pytest.raises(SchedError) as refused:
        app(["diff", "--from", dump, "--to-config", bad], standalone_mode=False)
    assert str(refused.value).startswith(f"--to-config {bad}: kube-scheduler refuses this configuration")


GATED = {
    **pod("gated", "1"),
    "spec": {"schedulingGates": [{"name": "example.com/later"}], "containers": [{"name": "c"}]},
}


@pytest.mark.parametrize(
    ("objects", "arguments", "code", "said"),
    [
        ([*CLUSTER, GATED], ["gated"], 0, "1 pod compared"),
        ([*CLUSTER, pod("bound", "1", on="large")], ["bound"], 1, "running pods do not move by themselves"),
        ([*CLUSTER], [], 1, "2 pods compared"),
        ([node("small", "4")], [], 0, "0 pods compared"),
        (
            [*({**each, "metadata": {**each["metadata"], "namespace": "far"}} for each in CLUSTER)],
            [],
            1,
            "2 pods compared",
        ),
    ],
)
def test_what_differs_is_what_moves(
    objects: list[Json],
    arguments: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    config: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write(tmp_path / "cluster.json", *objects)
    answer = run(capsys, *arguments, "--from", path, "--to-config", config(PACK))
    assert (answer[0], said in " ".join(answer[1].split())) == (code, True)


def test_comparing_nothing_is_refused(dump: str, config: Any) -> None:
    with pytest.raises(SchedError, match="no pods to compare in namespace far"):
        app(["diff", "-n", "far", "--from", dump, "--to-config", config(PACK)], standalone_mode=False)
