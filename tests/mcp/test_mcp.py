"""`kubectl sched mcp`, asked over stdio by the client of the protocol's own package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.mcp.agent import ROOT, answer_in, loop, with_server
from tests.program import run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mcp.agent import Ask

DEMO = str(ROOT / "fixtures" / "demo")
POD = """
apiVersion: v1
kind: Pod
metadata: {name: new}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
"""


def asked(*calls: tuple[str, dict[str, Any]], source: str = DEMO) -> list[tuple[bool, str]]:
    """Call some tools one after the other: whether it is an error, and the text."""

    async def talk(ask: Ask) -> list[tuple[bool, str]]:
        return [await ask(name, given) for name, given in calls]

    answers: list[tuple[bool, str]] = with_server(("--from", source), talk)
    return answers


def test_an_agent_goes_from_what_is_pending_to_what_would_help() -> None:
    found = with_server(("--from", DEMO), loop)
    assert found["explain"]["verdict"] == "no node with pool=gpu has 4 GPUs free; the best has 2 of 8"
    assert found["explain"]["suggestions"][0]["rung"] == "yours"
    assert found["node"]["node"] == found["explain"]["closest"][0]["node"]
    assert found["message"]["nodes"] == 7
    assert found["whatif"]["drain"]["nodes"] == [found["node"]["node"]]


def test_every_tool_answers() -> None:
    answers = asked(
        ("explain", {"target": "deployment/api", "namespace": "default"}),
        ("whatif", {"workload": "statefulset/web", "edits": [["add-nodes", "1=gpu-1"]]}),
        ("whatif", {"manifest": POD}),
        ("explain_node", {"node": "gpu-2"}),
        ("drain", {"nodes": ["general-*"]}),
        ("make_room", {"target": "statefulset/web"}),
        ("capacity", {"shapes": ["small=cpu=100m"]}),
        ("message", {"text": "Pod was rejected: Resources cannot be allocated with Topology locality"}),
        ("schedulers", {}),
    )
    explained, grown, placed, *others = map(answer_in, answers)
    assert explained["kind"] == "ExplanationList"
    assert grown["kind"] == placed["kind"] == "WhatIf"
    assert placed["placed"] == 1
    kinds = ["NodeExplanation", "Drain", "MakeRoom", "Capacity", "Message", "Schedulers"]
    assert [each["kind"] for each in others] == kinds


def test_no_argument_reaches_a_file(tmp_path: Path) -> None:
    node = tmp_path / "node.yaml"
    node.write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: secret-node}\nstatus: {allocatable: {cpu: 4, pods: 9}}\n"
    )
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD)
    answers = asked(
        ("whatif", {"manifest": str(manifest)}),
        ("whatif", {"workload": str(manifest)}),
        ("whatif", {"manifest": "-"}),
        ("whatif", {"manifest": POD, "edits": [["add-nodes", f"2={node}"]]}),
        ("whatif", {"manifest": POD, "edits": [["from", str(node)]]}),
        ("explain", {"target": "../../etc/passwd"}),
        ("explain", {"target": "--from"}),
        ("explain_node", {"node": str(node)}),
        ("explain_node", {"node": "(zone=a)"}),
        ("explain", {"target": "web-0", "namespace": "../kube-system"}),
        ("make_room", {"target": f"pod/{manifest}"}),
        ("message", {"text": "-"}),
        ("capacity", {"shapes": [str(node)]}),
        ("drain", {"nodes": [str(node)]}),
        ("triage", {"namespace": "\x1b[2J"}),
    )
    for error, text in answers:
        assert error, text
        assert "secret-node" not in text
        assert "\x1b" not in text
        assert "Traceback" not in text


def test_a_question_that_means_nothing_is_a_short_error_and_the_next_is_answered() -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("whatif", {}),
        ("whatif", {"workload": "deployment/api", "replicas": -1}),
        ("whatif", {"workload": "deployment/api", "replicas": 10**12}),
        ("whatif", {"manifest": "a: [" * 10_000}),
        ("explain", {"target": "x" * 100_000}),
        ("message", {"text": "0/3 nodes are available: " * 10_000}),
        ("drain", {"nodes": []}),
        ("explain", {"target": "no-such-pod"}),
    ]
    answers = asked(*(each for call in calls for each in (call, ("schedulers", {}))))
    for call, refused, after in zip(calls, answers[::2], answers[1::2], strict=True):
        assert refused[0], call
        assert len(refused[1]) < 2000, call
        assert not after[0], call


def test_what_it_cannot_start_with_is_one_sentence() -> None:
    for arguments in (("--from", "-"), ("--from", DEMO, "--context", "a"), ("--from", "no-such-file")):
        done = run("mcp", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
