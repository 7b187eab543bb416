"""`explain podgroup`: the answer in each format, and questions that cannot be answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.cli.app import app
from kubectl_sched.errors import SchedError

if TYPE_CHECKING:
    from pathlib import Path

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
    assert shown.startswith("train fits: 2 of 3 pending pods get a node in zone=a\n")
    assert "ml/m0  a1" in shown


def test_the_data_tells_each_domain_and_what_the_next_pod_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(_dump(tmp_path, 3), "podgroup/train", "-n", "ml", "-o", "json") == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["kind"], data["outcome"], data["minCount"]) == ("PodGroupExplanation", "Unschedulable", 3)
    assert [(each["domain"]["value"], each["fits"], each["feasible"]) for each in data["placements"]] == [
        ("a", 2, False),
        ("b", 1, False),
    ]
    assert data["placements"][1]["lacks"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert data["condition"]["message"].startswith("0/2 placements are available")


def test_all_pending_groups_make_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(_dump(tmp_path, 2), "podgroups", "--pending", "-A", "-o", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert [each["podGroup"]["name"] for each in data["items"]] == ["train"]


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
        (["podgroup", "train", "-n", "ml", "-o", "html"], GATES, "-o html is for pods"),
    ],
)
def test_a_question_without_an_answer_is_one_sentence(
    tmp_path: Path, arguments: list[str], gates: str, sentence: str
) -> None:
    command = ["explain", *arguments, "--from", _dump(tmp_path, 2), *VERSION, "--feature-gates", gates]
    with pytest.raises(SchedError, match=sentence.replace("?", "\\?")):
        app(command, standalone_mode=False)
