"""A node's removal: Karpenter's budgets by the clock, replacements by price, and cluster-autoscaler's own numbers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.queries.node import NodeQuestion, explain_nodes
from kubectl_sched.render.answers.node import nodes_data
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.reader import read
from tests.program import run
from tests.situations import objects_of, situations

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]

CONSOLIDATABLE = next(each for each in situations("nodes") if each["situation"] == "Karpenter, consolidatable")
ALONE = next(each for each in situations("nodes") if each["situation"] == "Karpenter, prices are not known")
AUTOSCALED = next(each for each in situations("nodes") if "below a higher threshold" in each["situation"])
ZONE, CAPACITY_TYPE = "topology.kubernetes.io/zone", "karpenter.sh/capacity-type"


def instance_type(name: str, cpu: str, price: float) -> Json:
    requirements = [{"key": key, "operator": "In", "values": [value]}
                    for key, value in ((ZONE, "a"), (CAPACITY_TYPE, "on-demand"))]  # fmt: skip
    offering = {"Requirements": requirements, "Price": price}
    return {"name": name, "architecture": "amd64", "operatingSystems": ["linux"], "offerings": [offering],
            "resources": {"cpu": cpu, "memory": "64Gi"}}  # fmt: skip


def removal(
    folder: Path, situation: Json, *, at: str | None = None, types: list[Json] | None = None, **disruption: Any
) -> Json:
    """What keeps node n1, in a cluster whose NodePool has these rules."""
    objects = objects_of(situation)
    for each in objects:
        if each["kind"] == "NodePool":
            on_demand = {"key": CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]}
            each["spec"] = {"disruption": disruption, "template": {"spec": {"requirements": [on_demand]}}}
        if each["kind"] == "Node":
            heartbeat = {} if at is None else {"lastHeartbeatTime": at}
            each["status"]["conditions"] = [{"type": "Ready", "status": "True", **heartbeat}]
    file = folder / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    named = (json.dumps(types).encode(), "types.json") if types is not None else None
    question = NodeQuestion(nodes=("n1",), replay=Replay(kube_version="1.36"), instance_types=named)
    found: Json = nodes_data(explain_nodes(question, read([str(file)])))["stays"]
    return found


@pytest.mark.parametrize(
    ("at", "verdict"),
    [("2026-11-06T08:59:00Z", "Removable"), ("2026-11-06T12:00:00Z", "Held"), (None, "Unknown")],
)
def test_a_budget_with_a_schedule_holds_while_it_is_active(tmp_path: Path, at: str | None, verdict: str) -> None:
    budgets = [{"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}]
    found = removal(tmp_path, CONSOLIDATABLE, at=at, budgets=budgets, consolidateAfter="0s")
    assert found["verdict"] == verdict


def test_a_budget_for_another_reason_holds_nothing(tmp_path: Path) -> None:
    budgets = [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "100%"}]
    found = removal(tmp_path, CONSOLIDATABLE, budgets=budgets, consolidateAfter="0s")
    assert (found["verdict"], found["how"]) == ("Removable", "other nodes have room for its pods")


@pytest.mark.parametrize(
    ("cheap", "verdict", "text"),
    [
        (0.05, "Removable", "a cheaper node would take its pods: m5.small, saving 0.05 an hour"),
        (0.2, "Held", "can't replace with a cheaper node"),
    ],
)
def test_a_node_is_replaced_by_a_cheaper_one_where_prices_are_known(
    tmp_path: Path, cheap: float, verdict: str, text: str
) -> None:
    types = [instance_type("m5.large", "16", 0.1), instance_type("m5.small", "12", cheap)]
    found = removal(tmp_path, ALONE, types=types)
    assert found["verdict"] == verdict
    assert text in [found["how"], *(each["reason"] for each in found["reasons"])]


def test_without_prices_the_answer_says_so(tmp_path: Path) -> None:
    found = removal(tmp_path, ALONE)
    assert found["verdict"] == "Unknown"
    assert "prices are not known: --instance-types FILE names them" in found["autoscaler"]["unknown"][0]


def status(size: int) -> Json:
    """cluster-autoscaler's ConfigMap about the group of n1."""
    group = {"name": "eks-web-1ac2b3d4-5e6f-4711-8a9b-0c1d2e3f4a5b",
             "health": {"status": "Healthy", "cloudProviderTarget": size, "minSize": 1, "maxSize": 5},
             "scaleDown": {"status": "CandidatesPresent", "candidates": 1}}  # fmt: skip
    text = json.dumps({"autoscalerStatus": "Running", "nodeGroups": [group]})
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": {"status": text},
            "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"}}  # fmt: skip


@pytest.mark.parametrize(("size", "said"), [(1, ["NodeGroupMinSizeReached"]), (2, [])])
def test_a_node_group_keeps_its_minimum(tmp_path: Path, size: int, said: list[str]) -> None:
    labels = {"eks.amazonaws.com/nodegroup": "web"}
    nodes = [{**each, "labels": labels} for each in AUTOSCALED["nodes"]]
    found = removal(tmp_path, {**AUTOSCALED, "nodes": nodes, "objects": [status(size)]})
    assert [each["said"] for each in found["reasons"]] == said
    assert {"name": "scaleDown", "value": "CandidatesPresent, 1 candidates"} in found["autoscaler"]["settings"]


def test_the_taint_of_a_candidate_tells_how_long_the_node_has_been_unneeded(tmp_path: Path) -> None:
    taint = {"key": "DeletionCandidateOfClusterAutoscaler", "value": "1793952000", "effect": "PreferNoSchedule"}
    nodes = [{**AUTOSCALED["nodes"][0], "spec": {"taints": [taint]}}, *AUTOSCALED["nodes"][1:]]
    found = removal(tmp_path, {**AUTOSCALED, "nodes": nodes}, at="2026-11-06T08:07:00Z")
    assert {"name": "unneededFor", "value": "7 min"} in found["autoscaler"]["settings"]
    assert found["autoscaler"]["unknown"] == []


def test_the_last_words_of_the_autoscaler_about_the_node_are_quoted(tmp_path: Path) -> None:
    def event(name: str, reason: str, message: str, at: str) -> Json:
        return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "default"},
                "involvedObject": {"kind": "Node", "name": "n1"}, "reason": reason, "message": message,
                "lastTimestamp": at}  # fmt: skip

    events = [
        event("a", "Unconsolidatable", "Can't replace with a cheaper node", "2026-11-06T08:00:00Z"),
        event("b", "Unconsolidatable", "Not all pods would schedule", "2026-11-06T07:00:00Z"),
        event("c", "Rebooted", "other", "2026-11-06T09:00:00Z"),
    ]
    found = removal(tmp_path, {**CONSOLIDATABLE, "objects": [*CONSOLIDATABLE["objects"], *events]})
    assert found["said"] == [
        {"reason": "Unconsolidatable", "message": "Can't replace with a cheaper node", "at": "2026-11-06T08:00:00Z"}
    ]


PROTECTED = next(each for each in situations("nodes") if each["situation"] == "Karpenter, do-not-disrupt and a budget")


def without(situation: Json, kind: str) -> Json:
    return {**situation, "objects": [each for each in situation["objects"] if each["kind"] != kind]}


def test_without_a_nodeclaim_pods_hold_the_node_as_they_do_with_one(tmp_path: Path) -> None:
    whole = removal(tmp_path, PROTECTED)["reasons"]
    found = removal(tmp_path, without(PROTECTED, "NodeClaim"))
    assert (found["verdict"], found["reasons"]) == ("Held", whole)
    assert "no NodeClaim of n1 was read" in found["autoscaler"]["unknown"][0]


def test_a_node_whose_nodepool_was_not_read_is_not_known_to_stay(tmp_path: Path) -> None:
    found = removal(tmp_path, without(CONSOLIDATABLE, "NodePool"))
    assert (found["verdict"], found["reasons"]) == ("Unknown", [])
    assert found["autoscaler"]["unknown"][0].startswith("no NodePool was read")


def test_a_budget_of_none_holds_whenever_another_is_active(tmp_path: Path) -> None:
    budgets = [{"nodes": "5", "schedule": "@daily", "duration": "1h"}, {"nodes": "0"}]
    assert removal(tmp_path, CONSOLIDATABLE, budgets=budgets, consolidateAfter="0s")["verdict"] == "Held"


def test_a_schedule_for_another_reason_leaves_nothing_open(tmp_path: Path) -> None:
    budgets = [{"nodes": "0", "reasons": ["Drifted"], "schedule": "@daily", "duration": "1h"}]
    assert removal(tmp_path, CONSOLIDATABLE, budgets=budgets, consolidateAfter="0s")["verdict"] == "Removable"


def test_without_a_ready_nodepool_a_node_with_pods_stays(tmp_path: Path) -> None:
    objects = [{**each, "status": {}} if each["kind"] == "NodePool" else each for each in CONSOLIDATABLE["objects"]]
    found = removal(tmp_path, {**CONSOLIDATABLE, "objects": objects}, consolidateAfter="0s")
    assert [each["reason"] for each in found["reasons"]] == [
        "no NodePool is ready, so Karpenter removes empty nodes alone"
    ]


@pytest.mark.parametrize(("priced", "verdict"), [(True, "Held"), (False, "Unknown")])
def test_the_policy_balanced_keeps_what_costs_little_beside_the_rest(
    tmp_path: Path, verdict: str, *, priced: bool
) -> None:
    types = [instance_type("m5.large", "16", 0.1), instance_type("m5.huge", "64", 10)] if priced else None
    labels = {**CONSOLIDATABLE["nodes"][0]["labels"], "node.kubernetes.io/instance-type": "m5.huge"}
    nodes = [*CONSOLIDATABLE["nodes"], {"name": "n3", "spec": {"providerID": "fake://n3"}, "labels": labels}]
    claims = [
        {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": f"of-{name}", "labels": of},
         "status": {"nodeName": name, "providerID": f"fake://{name}",
                    "conditions": [{"type": "Consolidatable", "status": "True"}]}}
        for name, of in (("n1", nodes[0]["labels"]), ("n3", labels))
    ]  # fmt: skip
    situation = {
        **CONSOLIDATABLE,
        "nodes": nodes,
        "objects": [*without(CONSOLIDATABLE, "NodeClaim")["objects"], *claims],
    }
    found = removal(tmp_path, situation, types=types, consolidationPolicy="Balanced", consolidateAfter="0s")
    said = [*(each["reason"] for each in found["reasons"]), *found["autoscaler"]["unknown"]][0]
    assert (found["verdict"], "policy Balanced" in said) == (verdict, True)


@pytest.mark.parametrize("flag", ["--pending", "--evidence", "--new-nodes", "--drifted", "--node=general-1"])
def test_flags_about_pods_are_refused(flag: str) -> None:
    done = run("explain", "nodes", "--from", "fixtures/demo", flag)
    name = flag.partition("=")[0]
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name} is about pods: nodes are explained without it" in done.stderr
