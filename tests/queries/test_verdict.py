"""The verdict names what binds, in at most 100 characters; each situation of fixtures/verdicts.yaml has its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import yaml
from msgspec.structs import replace

from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.queries.verdict.wording import LONGEST, node_name, without_domain
from kubectl_sched.render.sentences.below_verdict import below_verdict
from kubectl_sched.scheduler.result import Outcome
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.plugins.random_clusters import clusters, incoming_pods
from tests.scheduler.cycles import explain

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod

SITUATIONS: list[dict[str, Any]] = yaml.decode(
    (Path(__file__).parent.parent.parent / "fixtures" / "verdicts.yaml").read_bytes()
)
GENEROUS = {"memory": "64Gi", "pods": "110", "ephemeral-storage": "100Gi"}


def nodes_of(short: dict[str, Any]) -> list[Node]:
    """`count` nodes of one kind: its labels, taints and whatever differs from 16 cpu and 64Gi."""
    names = [f"{short['name']}-{number}" for number in range(short["count"])] if "count" in short else [short["name"]]
    zone = {"topology.kubernetes.io/zone": short["zone"]} if "zone" in short else {}
    taints = [{"key": key, "value": value, "effect": "NoSchedule"} for key, value in short.get("taints", {}).items()]
    return [
        node(
            name,
            labels={"kubernetes.io/hostname": name, **zone, **short.get("labels", {})},
            taints=taints,
            unschedulable=short.get("cordoned", False),
            allocatable={"cpu": "16", **GENEROUS, **short.get("has", {})},
            capacity=short.get("capacity", {}),
        )
        for name in names
    ]


def running_of(short: dict[str, Any], nodes: list[Node]) -> list[Pod]:
    """A pod on each node whose name begins with `onto`."""
    return [
        pod(
            f"{short.get('name', 'running')}-{each.name}",
            on=each.name,
            metadata={"labels": short.get("labels", {})},
            **requests(**short["asks"]),
        )
        for each in nodes
        if each.name.startswith(short["onto"])
    ]


def explained(situation: dict[str, Any]) -> Explanation:
    nodes = [each for short in situation["nodes"] for each in nodes_of(short)]
    running = [each for short in situation.get("running", ()) for each in running_of(short, nodes)]
    asks = situation["pod"].get("asks", {})
    spec = situation["pod"].get("spec", {})
    metadata = situation["pod"].get("metadata", {})
    container = {"name": "main", "resources": {"requests": asks}}
    return Explanation(result=explain(pod("new", metadata=metadata, containers=[container], **spec), *nodes, *running))


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: str(each["situation"]))
def test_the_verdict_names_what_binds(situation: dict[str, Any]) -> None:
    found = explained(situation)
    assert found.verdict == situation["verdict"]
    groups = [f"{each.pool}{f' {each.zone}' if each.zone else ''} {each.nodes}: {each.reason}" for each in found.groups]
    assert groups == situation.get("groups", groups)


@given(clusters(), incoming_pods(), st.booleans())
def test_the_verdict_is_short_and_the_groups_have_each_node_once(
    cluster: tuple[list[Node], list[Pod]], incoming: Pod, is_long: bool
) -> None:
    nodes, running = cluster
    if is_long:
        names = {each.name: f"ip-10-0-{'9' * 60}-{each.name}.compute.internal" for each in nodes}
        nodes = [replace(each, metadata=replace(each.metadata, name=names[each.name])) for each in nodes]
        running = [replace(each, spec=replace(each.spec, node_name=names[each.spec.node_name])) for each in running]
    found = Explanation(result=explain(incoming, *nodes, *running))
    assert 0 < len(found.verdict) <= LONGEST
    assert found.verdict.isprintable()
    if found.groups:
        assert sum(each.nodes for each in found.groups) == len(nodes)
        assert all(each.reason for each in found.groups)
        assert all(each.nodes for each in found.groups)
    cordoned = [each.name for each in nodes if each.spec.unschedulable and each.name != found.result.current_node]
    assert found.result.fits or not any(name in found.verdict for name in cordoned)


@given(st.lists(st.from_regex(r"[a-z]{1,40}(-[a-z0-9]{1,20}){0,3}(\.example\.internal)?", fullmatch=True), unique=True))
def test_no_name_of_a_node_is_cut_where_it_differs(names: list[str]) -> None:
    nodes = snapshot(*map(node, names))
    assert len({node_name(name, nodes) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("names", "text", "said"),
    [
        (["w-1.eu.internal", "w-2.eu.internal"], "off w-1.eu.internal: it has 0.5 cpu.", "off w-1: it has 0.5 cpu."),
        (["w-1.eu.internal", "w-2.eu.internal"], "fits on w-1.eu.internal.", "fits on w-1."),
        (["w-1.eu.internal", "w-2.eu.internal"], "label w-1.eu.internal/pool", "label w-1.eu.internal/pool"),
        (["w-1.eu.internal", "w-2.eu.internal"], "w-1.eu.internal.example", "w-1.eu.internal.example"),
        (["10.20.96.9", "10.20.97.9"], "10.20.96.9 has 0.9 cpu", "10.20.96.9 has 0.9 cpu"),
        (["w-1.eu.internal"], "w-1.eu.internal", "w-1.eu.internal"),
    ],
)
def test_a_text_names_nodes_without_the_domain_that_all_share(names: list[str], text: str, said: str) -> None:
    assert without_domain(text, names) == said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("no state", "the scheduling cycle fails: no state"),
        (
            f"{'running ' * 12}: reading PreScore: no state",
            "the scheduling cycle fails: reading PreScore: no state",
        ),
        ("x" * 120, "the scheduling cycle fails"),
    ],
)
def test_the_error_of_a_cycle_is_never_cut_in_its_middle(error: str, said: str) -> None:
    result = explain(pod("new"), node("w1"))
    failing = Explanation(result=replace(result, outcome=Outcome.ERROR, error=error))
    assert failing.verdict == said
    assert f"{below_verdict(failing)} {failing.verdict}".lower().count(error.rpartition(": ")[2].lower()) == 1
    assert (error in failing.verdict) == (not below_verdict(failing))
