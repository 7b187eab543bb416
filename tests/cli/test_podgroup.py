"""`explain podgroup`: the answer in each format, and questions that cannot be answered."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.cli.app import app
from kubectl_sched.errors import SchedError
from tests.render.schema_checks import check_both

GATES = "GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true"
VERSION = ("--kube-version", "1.36")


def _node(name: str, zone: str) -> dict[str, Any]:
    status = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"zone": zone}}, "status": status}


def _pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "resources": {"requests": {"cpu": "3"}}}
    spec = {"containers": [container], "schedulingGroup": {"podGroupName": "train"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "ml", "uid": name}, "spec": spec}


def _dump(folder: Path, minimum: int) -> str:
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {
            "schedulingPolicy": {"gang": {"minCount": minimum}},
            "schedulingConstraints": {"topology": [{"key": "zone"}]},
        },
    }
    items = [_node("a1", "a"), _node("a2", "a"), _node("b1", "b"), group, *(_pod(f"m{index}") for index in range(3))]
    path = folder / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


def run(dump: str, *arguments: str, gates: str = GATES) -> int:
    with pytest.raises(SystemExit) as ended:
        app(["explain", *arguments, "--from", dump, *VERSION, "--feature-gates", gates], standalone_mode=False)
    return int(ended.value.code or 0)


def test_a_group_that_fits_is_shown_with_its_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(_dump(tmp_path, 2), "podgroup", "train", "-n", "ml") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("train fits: 2 of 3 pending pods get a node in zone=a.\n")
    assert "ml/m0  a1" in shown


def _preempting(folder: Path, minimum: int) -> str:
    """Two nodes that pods of low priority fill, and a gang of three that preempts, each member by itself."""
    nodes = [_node("n1", "a"), _node("n2", "b")]
    low = [_pod(f"low-{node}") for node in ("n1", "n2")]
    for pod, node in zip(low, ("n1", "n2"), strict=True):
        pod["spec"] = {"containers": pod["spec"]["containers"], "nodeName": node, "priority": 1}
    members = [_pod(f"m{index}") for index in range(3)]
    for pod in members:
        pod["spec"]["priority"] = 100
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": minimum}}},
    }
    path = folder / "dump.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, group, *low, *members]}))
    return str(path)


@pytest.mark.parametrize(("minimum", "nominated"), [(2, ["n1", "n2"]), (3, [])])
def test_the_data_has_what_members_preempt_by_themselves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], minimum: int, nominated: list[str]
) -> None:
    gates = "GenericWorkload=true,GangScheduling=true"
    code = run(_preempting(tmp_path, minimum), "podgroup", "train", "-n", "ml", "-o", "json", gates=gates)
    told = json.loads(capsys.readouterr().out)
    assert (check_both(told), code) == ("PodGroupExplanation", 1)
    assert told["postFilter"]["victims"] == ["ml/low-n1", "ml/low-n2"]
    own = [member["postFilter"] for member in told["members"]]
    assert [each["nominatedNode"] for each in own] == ["n1", "n2", None]
    assert [each["victims"] for each in own] == [["ml/low-n1"], ["ml/low-n2"], []]
    assert [each["nominatedNode"] for each in told["members"] if each["nominatedNode"]] == nominated
    assert [each["tied"] for each in told["members"]] == [*([name] for name in nominated), *[[]] * (3 - len(nominated))]


def test_the_data_tells_each_domain_and_what_the_next_pod_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(_dump(tmp_path, 3), "podgroup/train", "-n", "ml", "-o", "json") == 1
    data = json.loads(capsys.readouterr().out)
    assert (check_both(data), data["outcome"], data["minCount"]) == ("PodGroupExplanation", "Unschedulable", 3)
    assert [(each["domain"]["value"], each["fits"], each["feasible"]) for each in data["placements"]] == [
        ("a", 2, False),
        ("b", 1, False),
    ]
    assert data["placements"][1]["lacks"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert data["condition"]["message"].startswith("0/2 placements are available")


def test_all_pending_groups_make_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(_dump(tmp_path, 2), "podgroups", "--pending", "-A", "-o", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert check_both(data) == "PodGroupExplanationList"
    assert [each["podGroup"]["name"] for each in data["items"]] == ["train"]


def test_a_name_that_two_namespaces_have_is_answered_for_both(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(_dump(tmp_path, 2))
    other = [json.loads(path.read_text().replace('"ml"', '"shop"'))["items"][index] for index in range(3, 7)]
    dump = json.loads(path.read_text())
    path.write_text(json.dumps({**dump, "items": [*dump["items"], *other]}))
    assert run(str(path), "podgroup", "train", "-A", "-o", "json") == 0
    groups = [each["podGroup"] for each in json.loads(capsys.readouterr().out)["items"]]
    assert groups == [{"namespace": "ml", "name": "train"}, {"namespace": "shop", "name": "train"}]


def test_markdown_and_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = _dump(tmp_path, 2)
    run(dump, "podgroup", "train", "-n", "ml", "-o", "name")
    assert capsys.readouterr().out == "pod/m0 node/a1\npod/m1 node/a2\n"
    run(dump, "podgroup", "train", "-n", "ml", "-o", "markdown")
    assert "| `ml/m0` | a1 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "gates", "sentence"),
    [
        (["podgroup", "trian", "-n", "ml"], GATES, "there is no PodGroup trian in namespace ml; near it: train"),
        (["podgroup"], GATES, "which group?"),
        (["podgroup", "train", "-n", "ml"], "GangScheduling=false", "the feature gate GenericWorkload is off"),
        (["podgroup", "train", "-n", "ml", "--node", "a1"], GATES, "--node is about pods: a group is explained"),
        (["podgroup", "train", "--start-index", "0"], GATES, "--start-index is about pods: a group is explained"),
        (["podgroups", "--pending", "--drifted"], GATES, "--drifted is about pods: a group is explained without it"),
        (["podgroup", "train", "--new-nodes"], GATES, "--new-nodes is about pods: a group is explained without it"),
        (["workload", "trian", "-n", "ml"], GATES, "there is no Workload trian in namespace ml"),
    ],
)
def test_a_question_without_an_answer_is_one_sentence(
    tmp_path: Path, arguments: list[str], gates: str, sentence: str
) -> None:
    command = ["explain", *arguments, "--from", _dump(tmp_path, 2), *VERSION, "--feature-gates", gates]
    with pytest.raises(SchedError, match=sentence.replace("?", "\\?")):
        app(command, standalone_mode=False)


def test_a_gated_group_waits_for_its_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(_dump(tmp_path, 2))
    dump = json.loads(path.read_text())
    for each in dump["items"]:
        if each["kind"] == "Pod":
            each["spec"]["schedulingGates"] = [{"name": "example.com/hold"}]
    path.write_text(json.dumps(dump))
    assert run(str(path), "podgroup", "train", "-n", "ml") == 1
    assert capsys.readouterr().out.startswith("train waits for scheduling gates: [example.com/hold].\n")


def test_a_pod_is_told_with_its_part_of_the_cycle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = _dump(tmp_path, 3)
    assert run(dump, "pod", "m0", "-n", "ml", "-o", "json") == 1
    data = json.loads(capsys.readouterr().out)
    assert data["summary"] == (
        "ml/m0 finds a node, but goes back to the queue; its group train does not fit: it needs 3 pods at once, 2 of 3 "
        "tried fit in zone=a"
    )
    assert (data["podGroup"]["name"], data["outcome"], data["best"]) == ("train", "Unschedulable", [])
    assert data["event"].startswith("pod group is unschedulable")
    run(dump, "pod", "m2", "-n", "ml", "-o", "json")
    data = json.loads(capsys.readouterr().out)
    assert data["preFilterNodes"] == ["a1", "a2"]
    assert data["message"] == "0/2 nodes are available: 2 Insufficient cpu."
    assert not any("not replayed" in warning for warning in data["warnings"])


def test_a_pod_from_one_start_of_the_search_keeps_the_outcome_of_its_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = _dump(tmp_path, 3)
    assert run(dump, "pod", "m0", "-n", "ml", "--start-index", "0", "-o", "json") == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["outcome"], data["best"], data["sampling"]["failureShare"]) == ("Unschedulable", [], 0)
    assert data["event"].startswith("pod group is unschedulable")


def test_a_named_profile_is_that_of_the_cycle_of_the_group(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: "
        "[{schedulerName: default-scheduler}, {schedulerName: roomy, plugins: {filter: {disabled: "
        "[{name: NodeResourcesFit}]}}}]\n"
    )
    command = ["--from", _dump(tmp_path, 3), *VERSION, "--feature-gates", GATES, "--config", str(config)]
    for question in (("explain", "pod", "m0", "-n", "ml"), ("whatif", "--with-pending")):
        for profile, code in (((), 1), (("--profile", "roomy"), 0)):
            with pytest.raises(SystemExit) as ended:
                app([*question, *command, *profile, "-o", "json"], standalone_mode=False)
            assert ended.value.code == code


def test_a_pod_whose_group_fits_has_the_node_of_the_cycle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(_dump(tmp_path, 2), "pod", "m1", "-n", "ml", "-o", "name") == 0
    assert capsys.readouterr().out == "node/a2\n"


def test_the_page_and_the_wide_table_have_members_and_domains(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dump = _dump(tmp_path, 1)
    run(dump, "podgroup", "train", "-n", "ml", "-o", "html")
    page = capsys.readouterr().out
    assert "<bdi>ml/m0</bdi>" in page
    assert "Domain of zone" in page
    run(dump, "podgroup", "train", "-n", "ml", "-o", "wide")
    assert "PodGroupPodsCount" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("minimum", "members"),
    [
        (
            2,
            [
                ("Moves", ["a1", "a2"], "TopologyPlacementGenerator", "now b1 is left out"),
                ("Moves", ["a2"], "NodeResourcesFit", "now a1 is rejected: Insufficient cpu"),
                ("StopsBeingSchedulable", [], "NodeResourcesFit", "now a1 is rejected: Insufficient cpu"),
            ],
        ),
        (
            3,
            [
                ("StopsBeingSchedulable", [], None, "now: pod group is unschedulable, "),
                ("StopsBeingSchedulable", [], None, "now: pod group is unschedulable, "),
                ("StopsBeingSchedulable", [], "NodeResourcesFit", "now a1 is rejected: Insufficient cpu"),
            ],
        ),
    ],
)
def test_a_diff_compares_what_explain_tells_of_the_pods_of_a_group(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    minimum: int,
    members: list[tuple[str, list[str], str | None, str]],
) -> None:
    command = ["diff", "-A", "--from", _dump(tmp_path, minimum), *VERSION, "--to-feature-gates", GATES, "-o", "json"]
    with pytest.raises(SystemExit) as ended:
        app(command, standalone_mode=False)
    assert ended.value.code == 1
    for each, (change, best, plugin, text) in zip(json.loads(capsys.readouterr().out)["items"], members, strict=True):
        assert (each["change"], each["after"]["best"], each["causes"][0]["plugin"]) == (change, best, plugin)
        assert each["causes"][0]["text"].startswith(text)


def test_triage_takes_a_group_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--from", _dump(tmp_path, 3), *VERSION, "--feature-gates", GATES, "-o", "json"]
    with pytest.raises(SystemExit):
        app(arguments, standalone_mode=False)
    (group,) = json.loads(capsys.readouterr().out)["groups"]
    assert len(group["pods"]) == 3
    assert "group train does not fit: it needs 3 pods at once" in group["summary"]


@pytest.mark.parametrize(("minimum", "code"), [(2, 0), (3, 1)])
def test_a_workload_of_1_35_is_scheduled_pod_by_pod(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], minimum: int, code: int
) -> None:
    pods = [_pod(f"m{index}") for index in range(3)]
    for pod in pods:
        pod["spec"] = {"containers": pod["spec"]["containers"], "workloadRef": {"name": "train", "podGroup": "w"}}
    workload = {
        "apiVersion": "scheduling.k8s.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"podGroups": [{"name": "w", "policy": {"gang": {"minCount": minimum}}}]},
    }
    path = tmp_path / "workload.json"
    items = [_node("a1", "a"), _node("a2", "a"), workload, *pods]
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    command = ["explain", "workload/train", "-n", "ml", "--from", str(path), "--kube-version", "1.35"]
    with pytest.raises(SchedError, match="the feature gate GangScheduling is off, so the pods of a group are schedul"):
        app(command, standalone_mode=False)
    gates = ("--feature-gates", "GenericWorkload=true,GangScheduling=true")
    with pytest.raises(SystemExit) as ended:
        app([*command, *gates, "-o", "json"], standalone_mode=False)
    data = json.loads(capsys.readouterr().out)
    assert (ended.value.code, data["minCount"]) == (code, minimum)
    assert [each["node"] for each in data["members"]] == (["a1", "a2", None] if code == 0 else [None] * 3)
    assert data["members"][2]["event"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    if code:
        why = "rejected due to timeout after waiting 5m0s at plugin GangScheduling"
        assert data["members"][0]["event"] == f"0/1 nodes are available: 1 {why}."


def test_a_workload_is_placed_by_the_scheduler_of_its_pods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    member = _pod("m0")
    member["spec"] = {
        "containers": member["spec"]["containers"],
        "schedulerName": "batch",
        "workloadRef": {"name": "train", "podGroup": "w"},
    }
    config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    container = {
        "name": "kube-scheduler",
        "image": "registry.k8s.io/kube-scheduler:v1.35.0",
        "command": ["kube-scheduler", "--config=/c/c", "--feature-gates=GenericWorkload=true,GangScheduling=true"],
        "volumeMounts": [{"name": "c", "mountPath": "/c"}],
    }
    scheduler = _pod("batch")
    scheduler["spec"] = {
        "nodeName": "a1",
        "containers": [container],
        "volumes": [{"name": "c", "configMap": {"name": "c"}}],
    }
    scheduler["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    settings = {"c": f"{config}profiles: [{{schedulerName: batch}}]\n"}
    workload = {
        "apiVersion": "scheduling.k8s.io/v1alpha1",
        "kind": "Workload",
        "metadata": {"name": "train", "namespace": "ml"},
        "spec": {"podGroups": [{"name": "w", "policy": {"gang": {"minCount": 1}}}]},
    }
    source = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ml"}, "data": settings}
    items = [_node("a1", "a"), workload, member, scheduler, source]
    items[0]["status"]["nodeInfo"] = {"kubeletVersion": "v1.35.0"}
    path = tmp_path / "workload.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    with pytest.raises(SystemExit) as ended:
        app(["explain", "workload/train", "-n", "ml", "--from", str(path), "-o", "name"], standalone_mode=False)
    assert (ended.value.code, capsys.readouterr().out) == (0, "pod/m0 node/a1\n")


@pytest.mark.parametrize(
    "reference",
    [{"podGroupTemplateRef": {"workload": {"workloadName": "job"}}}, {"workloadRef": {"workloadName": "job"}}],
)
def test_the_groups_of_a_workload_are_those_made_from_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], reference: dict[str, Any]
) -> None:
    path = Path(_dump(tmp_path, 2))
    dump = json.loads(path.read_text())
    next(each for each in dump["items"] if each["kind"] == "PodGroup")["spec"] |= reference
    metadata = {"name": "job", "namespace": "ml"}
    dump["items"].append({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "Workload", "metadata": metadata})
    path.write_text(json.dumps(dump))
    assert run(str(path), "workload", "job", "-n", "ml", "-o", "json") == 0
    assert json.loads(capsys.readouterr().out)["podGroup"]["name"] == "train"


def test_what_helps_the_group_is_replayed_as_a_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(_dump(tmp_path, 3))
    dump = json.loads(path.read_text())
    batch = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "batch", "namespace": "ml"},
        "spec": {"schedulingPolicy": {"basic": {}}},
    }
    running = _pod("batch-0")
    running["spec"] |= {"schedulingGroup": {"podGroupName": "batch"}, "nodeName": "c1"}
    dump["items"] += [_node("c1", "c"), _node("c2", "c"), _node("c3", "c"), batch, running]
    path.write_text(json.dumps(dump))
    run(str(path), "podgroup", "train", "-n", "ml", "-o", "json")
    suggestions = json.loads(capsys.readouterr().out)["suggestions"]
    assert [each["text"] for each in suggestions] == [
        "with one more node like a1 (one more machine to pay for)",
        "in zone=c once group ml/batch is evicted (this ends its pod)",
        "with minCount 2 instead of 3 (it then starts with fewer pods)",
    ]
    assert [each["node"] for each in suggestions[1]["members"]] == ["c1", "c2", "c3"]
    assert sorted(each["node"] for each in suggestions[0]["members"]) == ["a1", "a1-add-1", "a2"]
    run(str(path), "podgroup", "train", "-n", "ml")
    assert "train would fit with minCount 2 instead of 3 (it then starts with fewer pods)." in capsys.readouterr().out


def _tree_dump(folder: Path) -> str:
    def of(kind: str, name: str, version: str, **spec: Any) -> dict[str, Any]:
        about = {"name": name, "namespace": "ml"}
        return {"apiVersion": f"scheduling.k8s.io/{version}", "kind": kind, "metadata": about, "spec": spec}

    job = of("CompositePodGroup", "job", "v1alpha3", schedulingPolicy={"gang": {"minGroupCount": 2}})
    groups = [
        of(
            "PodGroup",
            name,
            "v1beta1",
            schedulingPolicy={"gang": {"minCount": count}},
            parentCompositePodGroupName="job",
            schedulingConstraints={"topology": [{"key": "zone"}]},
        )
        for name, count in (("train", 2), ("serve", 2))
    ]
    serving = _pod("s0"), _pod("s1")
    for pod in serving:
        pod["spec"]["schedulingGroup"] = {"podGroupName": "serve"}
    items = [_node("a1", "a"), _node("a2", "a"), _node("b1", "b"), job, *groups, _pod("m0"), _pod("m1"), *serving]
    path = folder / "tree.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return str(path)


@pytest.mark.parametrize("name", ["job", "train"])
def test_a_tree_is_told_as_a_whole(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gates = "GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true"
    asked = ["explain", "podgroup", name, "-n", "ml", "--from", _tree_dump(tmp_path), "--kube-version", "1.37"]
    with pytest.raises(SystemExit) as ended:
        app([*asked, "--feature-gates", gates], standalone_mode=False)
    assert ended.value.code == 1
    shown = capsys.readouterr().out
    assert shown.startswith("job does not fit: it needs 2 of 2 groups at once, 1 of 2 tried fits.\n")
    assert re.search(r"^train +2 pods +\S+ +zone=a +Unschedulable ", shown, re.MULTILINE)
    with pytest.raises(SystemExit):
        app([*asked, "--feature-gates", gates, "-o", "json"], standalone_mode=False)
    data = json.loads(capsys.readouterr().out)
    assert [(each["podGroup"]["name"], each["outcome"]) for each in data["children"]] == [
        ("serve", "Unschedulable"),
        ("train", "Unschedulable"),
    ]
    assert {"with minGroupCount 1 instead of 2 (it then starts with fewer groups)"} <= {
        each["text"] for each in data["suggestions"]
    }


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("train", "--preempt"), "--preempt is for one pod"),
        (("train", "--node", "n1"), "--node is for one pod"),
        (("train", "eval"), "bind takes one group"),
    ],
)
def test_bind_refuses_of_a_group_what_only_makes_sense_for_a_pod(flags: tuple[str, ...], said: str) -> None:
    with pytest.raises(SchedError, match=said):
        app(["bind", "podgroup", *flags], standalone_mode=False)
