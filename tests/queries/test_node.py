"""A node: why it stays, by the rules of the autoscaler that owns it, and which pending pods fit there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.queries.node import NodeAnswer, NodeQuestion, explain_nodes
from kubectl_sched.render.answers.node import nodes_data, nodes_document
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from tests.program import run
from tests.render.worlds import screen
from tests.situations import objects_of, situations

SITUATIONS = situations("nodes")
GOLDEN = Path(__file__).parents[1] / "golden"
DEMO = ("--from", "fixtures/demo")


def asked(situation: dict[str, Any], folder: Path, *nodes: str) -> NodeAnswer:
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects_of(situation)}))
    return explain_nodes(NodeQuestion(nodes=nodes, replay=Replay(kube_version="1.36")), read([str(file)]))


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each["situation"])
def test_a_node_stays_for_the_reasons_of_the_situation(situation: dict[str, Any], tmp_path: Path) -> None:
    stays = nodes_data(asked(situation, tmp_path, "n1"))["stays"]
    assert (stays["by"], stays["verdict"]) == (situation["by"], situation["verdict"])
    assert [each["reason"] for each in stays["reasons"]] == situation["because"]


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("nodes", [("n1",), ()], ids=["one", "all"])
def test_nodes_look_as_recorded(nodes: tuple[str, ...], width: int, tmp_path: Path, *, update_golden: bool) -> None:
    situation = next(each for each in SITUATIONS if "do-not-disrupt" in each["situation"])
    golden = GOLDEN / f"node-{'one' if nodes else 'all'}.{width}.txt"
    text = screen(nodes_document(asked(situation, tmp_path, *nodes)), width)
    if update_golden:
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


def test_pending_pods_have_the_verdict_of_explain() -> None:
    data = json.loads(run("explain", "node", "general-1", *DEMO, "-o", "json").stdout)
    assert data["kind"] == "NodeExplanation"
    for each in data["pending"]:
        pod = each["pod"]
        done = run("explain", "pod", pod["name"], "-n", pod["namespace"], *DEMO, "-o", "json")
        verdict = next(node for node in json.loads(done.stdout)["nodes"] if node["name"] == "general-1")["filter"]
        assert each["fits"] is (verdict is None)
        assert each["reasons"] == ([] if verdict is None else verdict["reasons"])


def test_several_nodes_are_a_list_and_all_are_by_what_is_free() -> None:
    data = json.loads(run("explain", "node", "gpu-*", *DEMO, "-o", "json").stdout)
    assert (data["kind"], [each["node"] for each in data["items"]]) == (
        "NodeExplanationList",
        ["gpu-1", "gpu-2", "gpu-3"],
    )
    done = run("explain", "nodes", *DEMO, "-o", "name")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 7)


def test_named_nodes_are_listed_by_what_is_free() -> None:
    done = run("explain", "node", "general-*", *DEMO)
    rows = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("general-")]
    assert rows == ["general-3", "general-1", "general-2"]


def test_an_empty_node_rests_on_no_budget(tmp_path: Path) -> None:
    objects = objects_of(
        {"nodes": [{"name": "n1"}, {"name": "n2"}], "running": [{"name": "web-1", "on": "n1", "by": "ReplicaSet/web"}]}
    )
    for number, item in enumerate(objects):
        (tmp_path / f"{number}.json").write_text(json.dumps(item))
    for node, code, verdict in (("n1", 3, "Unknown"), ("n2", 0, "Removable")):
        done = run("explain", "node", node, "--from", str(tmp_path), "-o", "json")
        assert (done.returncode, json.loads(done.stdout)["stays"]["verdict"]) == (code, verdict)


def test_a_node_that_is_not_there_is_bad_input() -> None:
    done = run("explain", "node/general-9", *DEMO)
    assert (done.returncode, "near it: general-1" in done.stderr) == (2, True)


def test_devices_that_a_node_has_and_does_not_offer_are_named(tmp_path: Path) -> None:
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "g1"},
            "status": {"capacity": {**amounts, "nvidia.com/gpu": "8", "hugepages-2Mi": "1Gi"},
                       "allocatable": {**amounts, "nvidia.com/gpu": "0", "hugepages-2Mi": "1Gi"}}}  # fmt: skip
    (tmp_path / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node]}))
    shown = run("explain", "node", "g1", "--from", str(tmp_path / "cluster.json")).stdout
    assert "It has 8 nvidia.com/gpu, of which 0 can be requested: look at its device plugin" in " ".join(shown.split())
    assert "It has 1Gi hugepages" not in shown
