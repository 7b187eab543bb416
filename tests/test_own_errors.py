"""An error of our own costs what it touches, and nothing else; it is told as a bug, with exit code 4."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kubectl_sched import __main__
from kubectl_sched.diagnostics.pod_lifecycle import stage_of
from kubectl_sched.plugins.default_preemption.plugin import DefaultPreemption
from kubectl_sched.plugins.node_name import NodeName
from kubectl_sched.plugins.node_resources.balanced_allocation import NodeResourcesBalancedAllocation
from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit
from kubectl_sched.plugins.taint_toleration import TaintToleration

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubectl_sched.diagnostics.pod_lifecycle import Stage
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

    Run = Callable[..., tuple[int, str, str]]

NODES = ("w1", "w2", "w3")
PODS = ("web-0", "web-1", "huge")
OUTPUTS = ("table", "wide", "markdown", "html", "yaml", "name")
STAGE_OF = "kubectl_sched.queries.explain.stage_of"
BUG = "this is a bug in kubectl-sched"


def broken(*_: object) -> Any:
    raise KeyError("a bug\x1b")


def broken_on(name: str, judged: Callable[..., Any]) -> Callable[..., Any]:
    """A Filter that fails where one node is among those to be judged."""

    def filter_(plugin: Any, state: Any, pod: Any, nodes: Any) -> Any:
        return broken() if name in nodes.names else judged(plugin, state, pod, nodes)

    return filter_


@pytest.fixture
def dump(tmp_path: Path) -> str:
    """Three nodes of 4 CPUs, two pods that fit on each and one that fits on none."""
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    nodes = [
        {"kind": "Node", "metadata": {"name": name}, "status": {"allocatable": room, "capacity": room}}
        for name in NODES
    ]
    pods = [
        {
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "spec": {
                "schedulerName": "default-scheduler",
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "64" if name == "huge" else "1"}}}],
            },
            "status": {"phase": "Pending"},
        }
        for name in PODS
    ]
    objects = [{"apiVersion": "v1", **each} for each in [*nodes, *pods]]
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return str(file)


@pytest.fixture
def run(dump: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `explain` on the dump: the exit code, and what is on stdout and stderr."""

    def explained(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["kubectl-sched", "explain", *arguments, "--from", dump])
        with pytest.raises(SystemExit) as ended:
            __main__.main()
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err
        assert isinstance(ended.value.code, int)
        return ended.value.code, out, err

    return explained


def answered(run: Run, *arguments: str) -> tuple[int, Any]:
    code, out, err = run(*arguments, "-o", "json")
    assert "Traceback" not in out + err
    return code, json.loads(out)


def test_an_error_outside_the_answers_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubectl_sched.queries.explain.completeness", broken)
    code, out, err = run("web-0")
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert BUG in err
    assert "snapshot report.json.gz --anonymize" in err


@pytest.mark.parametrize(("debug", "shown"), [("1", True), ("", False)])
def test_a_traceback_is_shown_for_debugging_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch, debug: str, shown: bool
) -> None:
    monkeypatch.setenv("KUBECTL_SCHED_DEBUG", debug)
    monkeypatch.setattr(NodeName, "filter", broken)
    code, _, err = run("web-0")
    assert code == 4
    assert ("Traceback" in err) is shown


def test_a_node_that_a_filter_cannot_judge_costs_the_verdict_on_it_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, before = answered(run, "web-0")
    monkeypatch.setattr(NodeResourcesFit, "filter", broken_on("w2", NodeResourcesFit.filter))
    code, after = answered(run, "web-0")
    assert code == 4
    assert [(each["plugin"], each["node"]) for each in after["unknown"]] == [("NodeResourcesFit", "w2")]
    assert after["outcome"] == "Schedulable"
    assert after["feasible"] == after["best"] == ["w1", "w3"]
    assert after["nodes"][1]["filter"]["code"] == "Unknown"
    assert after["nodes"][1]["total"] is None
    assert [after["nodes"][row] for row in (0, 2)] == [before["nodes"][row] for row in (0, 2)]
    assert "1 of 3 nodes could not be judged (NodeResourcesFit failed with KeyError" in after["summary"]


def test_a_rule_of_findings_that_fails_costs_what_it_would_find_alone(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, before = answered(run, "pods", "--pending")
    monkeypatch.setattr("kubectl_sched.diagnostics.findings.namespace_defaults.findings", broken)
    code, after = answered(run, "pods", "--pending")
    assert code == 4
    assert after == before


@pytest.mark.parametrize("point", ["pre_filter", "filter"])
def test_a_plugin_that_judges_no_node_is_unknown_for_all_and_other_plugins_still_answer(
    run: Run, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setattr(NodeResourcesFit, point, broken)
    code, data = answered(run, "web-0")
    assert code == 4
    assert [(each["plugin"], each["node"]) for each in data["unknown"]] == [("NodeResourcesFit", None)]
    assert data["outcome"] == "Error"
    assert data["event"] is None
    assert data["feasible"] == data["best"] == []
    assert {node["filter"]["code"] for node in data["nodes"]} == {"Unknown"}
    assert BUG in data["error"]


def test_a_node_that_another_plugin_rejects_keeps_that_rejection(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NodeName, "filter", broken_on("w1", NodeName.filter))
    code, data = answered(run, "huge")
    assert code == 4
    assert data["feasible"] == []
    first = data["nodes"][0]
    assert (first["filter"]["plugin"], first["filter"]["code"]) == ("NodeName", "Unknown")
    assert [each["plugin"] for each in first["rejections"]] == ["NodeResourcesFit"]


@pytest.mark.parametrize("point", ["pre_score", "score", "normalize_score"])
def test_a_node_that_cannot_be_scored_is_neither_feasible_nor_best(
    run: Run, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setattr(TaintToleration, point, broken)
    code, data = answered(run, "web-0")
    assert code == 4
    assert {each["plugin"] for each in data["unknown"]} == {"TaintToleration"}
    assert data["feasible"] == data["best"] == []


def test_nodes_that_can_be_scored_still_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    score = NodeResourcesBalancedAllocation.score

    def failing(plugin: Any, state: Any, pod: Any, nodes: Any, rows: Any) -> Any:
        return broken() if np.isin(1, rows) else score(plugin, state, pod, nodes, rows)

    monkeypatch.setattr(NodeResourcesBalancedAllocation, "score", failing)
    code, data = answered(run, "web-0")
    assert code == 4
    assert [each["node"] for each in data["unknown"]] == ["w2"]
    assert data["feasible"] == data["best"] == ["w1", "w3"]


def test_preemption_that_fails_leaves_the_verdicts_as_they_are(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, before = answered(run, "huge")
    monkeypatch.setattr(DefaultPreemption, "post_filter", broken)
    code, after = answered(run, "huge")
    assert code == 4
    assert [(each["plugin"], each["node"]) for each in after["unknown"]] == [("DefaultPreemption", None)]
    assert (after["nodes"], after["message"]) == (before["nodes"], before["message"])
    assert after["event"] is None
    assert "preemption could not be tried" in after["summary"]


@pytest.mark.parametrize("output", OUTPUTS)
def test_evidence_that_fails_is_a_sentence(run: Run, monkeypatch: pytest.MonkeyPatch, output: str) -> None:
    monkeypatch.setattr(NodeResourcesFit, "explain_filter", broken)
    code, out, err = run("huge", "--node", "w1", "-o", output)
    assert code == (1 if output == "name" else 4)  # a name needs no evidence
    assert "Traceback" not in out + err
    assert output == "name" or "the evidence of NodeResourcesFit cannot be shown" in out.replace("\n", " ")


def test_an_error_about_one_pod_leaves_the_others_their_answers(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _, before = answered(run, "--pending")

    def failing(result: ScheduleResult, around: Surroundings) -> Stage | None:
        return broken() if result.pod.metadata.name == "web-1" else stage_of(result, around)

    monkeypatch.setattr(STAGE_OF, failing)
    code, after = answered(run, "--pending")
    assert code == 4
    failed = after["items"][1]
    assert (failed["outcome"], failed["nodes"]) == ("Error", [])
    assert [(each["plugin"], each["node"]) for each in failed["unknown"]] == [(None, None)]
    assert BUG in failed["summary"]
    assert "every other answer is unaffected" in failed["summary"]
    assert [after["items"][index] for index in (0, 2)] == [before["items"][index] for index in (0, 2)]


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("about", [("web-0",), ("web-0", "--node", "w2"), ("web-0", "--all"), ("--pending",)])
def test_every_output_says_that_a_node_could_not_be_judged(
    run: Run, monkeypatch: pytest.MonkeyPatch, output: str, about: tuple[str, ...]
) -> None:
    monkeypatch.setattr(NodeResourcesFit, "filter", broken_on("w2", NodeResourcesFit.filter))
    code, out, err = run(*about, "-o", output)
    assert code == 4
    assert "Traceback" not in out + err
    assert "node/w2" not in out
    assert output == "name" or "could not be judged" in out.replace("\n", " ")


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_shows_a_pod_that_could_not_be_explained(
    run: Run, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.setattr(STAGE_OF, broken)
    for about in ("web-0", "--pending"):
        code, out, err = run(about, "-o", output)
        assert code == 4
        assert "Traceback" not in out + err
        assert output == "name" or BUG in out.replace("\n", " ")


def test_a_placement_names_what_could_not_be_judged(
    dump: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(NodeResourcesFit, "filter", broken_on("w2", NodeResourcesFit.filter))
    command = ["whatif", "--cordon", "w3", "--with-pending", "-o", "json", "--from", dump]
    monkeypatch.setattr(sys, "argv", ["kubectl-sched", *command])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    assert ended.value.code == 4
    placements = json.loads(capsys.readouterr().out)["placements"]
    named = [[(each["plugin"], each["node"]) for each in placement["unknown"]] for placement in placements]
    assert named == [[("NodeResourcesFit", "w2")]] * len(PODS)


@pytest.mark.parametrize(
    "command", [("whatif", "--cordon", "w3", "--with-pending"), ("diff", "--to-kube-version", "1.35")]
)
def test_other_commands_say_it_too(
    dump: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(NodeResourcesFit, "filter", broken_on("w2", NodeResourcesFit.filter))
    monkeypatch.setattr(sys, "argv", ["kubectl-sched", *command, "--from", dump])
    with pytest.raises(SystemExit) as ended:
        __main__.main()
    err = capsys.readouterr().err
    assert ended.value.code == 4
    assert BUG in err
    assert "Traceback" not in err
