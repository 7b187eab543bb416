"""`explain message` on a terminal and as data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kubectl_sched.diagnostics.messages.reason_catalogue import families, reason_named
from tests.terminal import on_terminal

ROOT = Path(__file__).parents[2]
TEXT = (
    "0/7 nodes are available: 1 node(s) had untolerated taint(s), 6 Insufficient cpu. preemption: "
    "0/7 nodes are available: 1 Preemption is not helpful for scheduling, 6 No preemption victims found for incoming "
    "pod.."
)


def test_each_clause_is_said_plainly_and_where_to_read_more() -> None:
    shown, code = on_terminal(["explain", "message", TEXT])
    assert code == 0
    assert "not enough cpu is left" in " ".join(shown.split())
    assert "kubectl sched message --reason UntoleratedTaints" in shown
    assert "kubectl sched message --reason InsufficientResource" in shown
    assert "docs/" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_as_data_each_clause_has_its_anchor_which_the_page_has() -> None:
    shown, _ = on_terminal(["explain", "message", TEXT, "-o", "json"])
    clauses = json.loads(shown)["clauses"]
    assert [clause["anchor"] for clause in clauses] == [
        "docs/reasons.md#untolerated-taints",
        "docs/reasons.md#insufficient-resource",
        "docs/reasons.md#preemption-is-not-helpful",
        "docs/reasons.md#no-preemption-victims",
    ]
    page = (ROOT / "docs" / "reasons.md").read_text()
    assert all(f"(#{clause['anchor'].partition('#')[2]})" in page for clause in clauses)


def test_a_foreign_reason_has_no_anchor() -> None:
    shown, _ = on_terminal(["explain", "message", "0/1 nodes are available: 1 the moon is full.", "-o", "json"])
    (clause,) = json.loads(shown)["clauses"]
    assert (clause["anchor"], clause["meaning"]) == (None, None)


def test_what_was_cut_off_is_shown_as_far_as_it_goes() -> None:
    shown, _ = on_terminal(["explain", "message", "0/1 nodes are available: 1 node(s) didn't match Pod's no"])
    assert "node(s) didn't match Pod's no... (the text was cut off here)" in " ".join(shown.split())


@pytest.mark.parametrize("name", ["TooManyPods", "toomanypods", "too-many-pods", "Too many pods"])
def test_one_reason_is_explained_by_its_name(name: str) -> None:
    shown, code = on_terminal(["message", "--reason", name])
    assert code == 0
    assert shown.splitlines()[0] == "Too many pods (NodeResourcesFit)"
    assert "as many pods as its kubelet allows" in " ".join(shown.split())


def test_every_reason_has_a_name_of_its_own_which_brings_its_entry() -> None:
    reasons = [reason for family in families().values() for reason in family]
    assert len({reason.name.casefold() for reason in reasons}) == len(reasons)
    assert [reason_named(reason.name) for reason in reasons] == reasons
    assert [reason_named(reason.anchor) for reason in reasons] == reasons


def test_a_reason_as_data_has_its_texts() -> None:
    shown, _ = on_terminal(["message", "--reason", "SidecarsAreOff", "-o", "json"])
    data = json.loads(shown)
    assert (data["kind"], data["name"], data["plugin"]) == ("Reason", "SidecarsAreOff", "NodeResourcesFit")
    assert data["texts"][0]["versions"] == "1.28 to 1.36"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["--reason", "TooManyPod"], "near it: TooManyPods"), ([], "--reason"), (["x", "--reason", "TooManyPods"], "or")],
)
def test_an_unknown_reason_is_bad_input(arguments: list[str], told: str) -> None:
    shown, code = on_terminal(["message", *arguments])
    assert code == 2
    assert told in " ".join(shown.split())


def test_a_text_of_another_component_is_said_with_its_component_first() -> None:
    shown, code = on_terminal(["message", "Pod was rejected: Resources cannot be allocated with Topology locality"])
    assert code == 0
    assert shown.startswith("kubelet: the kubelet's topology manager refused the pod after it was bound")
    assert "kubectl sched message --reason NUMANodesDoNotFit" in shown


def test_texts_of_two_components_are_told_apart_as_data() -> None:
    text = f"{TEXT}\nNormal NotTriggerScaleUp 1m cluster-autoscaler pod didn't trigger scale-up: 1 Insufficient cpu"
    shown, _ = on_terminal(["message", text, "-o", "json"])
    clauses = json.loads(shown)["clauses"]
    assert [clause["component"] for clause in clauses] == ["kube-scheduler"] * 4 + ["cluster-autoscaler"]
    assert (clauses[-1]["about"], clauses[-1]["nodeGroups"]) == ("nodeGroups", 1)


def test_an_entry_of_another_component_is_named_by_the_reason_of_its_events() -> None:
    shown, _ = on_terminal(["message", "--reason", "OutOfmemory", "-o", "json"])
    data = json.loads(shown)
    assert (data["name"], data["component"], data["plugin"]) == ("KubeletIsOutOfAResource", "kubelet", None)
