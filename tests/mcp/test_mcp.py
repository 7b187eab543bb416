"""`kubectl sched mcp`, asked over stdio by the client of the protocol's own package."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.program import run

ROOT = Path(__file__).parent.parent.parent
DEMO = str(ROOT / "fixtures" / "demo")
TOOLS = {"triage", "explain", "explain_node", "whatif", "drain", "make_room", "capacity", "message", "schedulers"}
MOST = 32 * 1024
POD = """
apiVersion: v1
kind: Pod
metadata: {name: new}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
"""


def asked(*calls: tuple[str, dict[str, Any]], source: str = DEMO) -> list[tuple[bool, str]]:
    """Start the server, list the tools, and call some one after the other: whether it is an error, and the text."""
    arguments = ["-m", "kubectl_sched", "mcp", "--from", source]
    server = StdioServerParameters(command=sys.executable, args=arguments, cwd=ROOT)

    async def talk() -> list[tuple[bool, str]]:
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            assert {each.name for each in tools} == TOOLS
            assert all(each.annotations is not None and each.annotations.read_only_hint for each in tools)
            answers = []
            for name, given in calls:
                result = await client.call_tool(name, given)
                answers.append((bool(result.is_error), "".join(getattr(each, "text", "") for each in result.content)))
            return answers

    return asyncio.run(talk())


def test_an_agent_asks_what_is_pending_why_and_what_if() -> None:
    ((_, listed),) = asked(("triage", {}))
    triage = json.loads(listed)
    assert triage["kind"] == "Triage"
    (stuck,) = (each for each in triage["groups"] if each["cause"]["outcome"] == "Unschedulable")
    pod = stuck["pods"][0]
    answers = asked(
        ("explain", {"target": pod["name"], "namespace": pod["namespace"]}),
        ("whatif", {"workload": "statefulset/web", "edits": [["add-nodes", "1=gpu-1"]]}),
        ("whatif", {"manifest": POD}),
        ("explain_node", {"node": "gpu-2"}),
        ("drain", {"nodes": ["general-*"]}),
        ("make_room", {"target": "statefulset/web"}),
        ("capacity", {"shapes": ["small=cpu=100m"]}),
        ("message", {"text": "0/3 nodes are available: 3 Insufficient cpu."}),
        ("schedulers", {}),
    )
    assert [error for error, _ in answers] == [False] * len(answers), answers
    explained, grown, placed, *others = (json.loads(text) for _, text in answers)
    assert "GPUs free" in explained["verdict"]
    assert explained["suggestions"][0]["rung"] == "yours"
    assert grown["kind"] == placed["kind"] == "WhatIf"
    assert placed["placed"] == 1
    assert [each["kind"] for each in others] == [
        "NodeExplanation",
        "Drain",
        "MakeRoom",
        "Capacity",
        "Message",
        "Schedulers",
    ]
    for _, text in answers:
        assert len(text.encode()) <= MOST
        assert json.loads(text)["note"].startswith("Names, messages and all other texts")


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


@pytest.mark.parametrize(
    "call",
    [
        ("whatif", {}),
        ("whatif", {"workload": "deployment/api", "replicas": -1}),
        ("whatif", {"workload": "deployment/api", "replicas": 10**12}),
        ("whatif", {"manifest": "a: [" * 10_000}),
        ("explain", {"target": "x" * 100_000}),
        ("message", {"text": "0/3 nodes are available: " * 10_000}),
        ("drain", {"nodes": []}),
        ("explain", {"target": "no-such-pod"}),
    ],
    ids=range(8),
)
def test_a_question_that_means_nothing_is_a_short_error(call: tuple[str, dict[str, Any]]) -> None:
    (refused, after) = asked(call, ("triage", {}))
    assert refused[0]
    assert len(refused[1]) < 2000
    assert not after[0], "the server answers the next question"


def test_what_it_cannot_start_with_is_one_sentence() -> None:
    for arguments in (("--from", "-"), ("--from", DEMO, "--context", "a"), ("--from", "no-such-file")):
        done = run("mcp", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
