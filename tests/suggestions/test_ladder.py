"""The ladder: its rungs and their order, what each risks, and advice that is never given."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.suggestions.advice import Advice, advice_of
from kubectl_sched.suggestions.change import Kind, Rung
from kubectl_sched.suggestions.rungs import as_ladder
from kubectl_sched.suggestions.search import suggest
from kubectl_sched.suggestions.suggestion import Promise, Scope, Suggestion
from tests.plugins.clusters import node, pod, requests
from tests.scheduler.cycles import explain

SMALL: dict[str, Any] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
BIG = requests(cpu="4")
ENDING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}


def advised(*nodes: Any, **spec: Any) -> list[Suggestion]:
    return list(suggest(explain(pod("web-0", **spec), *nodes)))


FULL = [node("w1", **SMALL), pod("big", on="w1", **requests(cpu="3"))]


@pytest.mark.parametrize(
    ("nodes", "spec", "rung", "advice"),
    [
        ([node("w1", **SMALL), pod("low", on="w1", **requests(cpu="3"))], {"priority": 9, **BIG}, "wait", Advice.WAIT),
        ([node("w1", **SMALL), pod("old", on="w1", metadata=ENDING, **requests(cpu="3"))], BIG, "wait", Advice.WAIT),
        ([node("w1")], {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}, "wait", Advice.WAIT),
        ([node("w1")], {"schedulingGates": [{"name": "example.com/hold"}]}, "yours", Advice.FIX),
        ([node("w1", taints=[{"key": "app-blue", "effect": "NoSchedule"}])], {}, "yours", Advice.FIX),
        ([node("w1", unschedulable=True)], {}, "ask", Advice.ADD_CAPACITY),
        (FULL, requests(cpu="4"), "pay", Advice.ADD_CAPACITY),
        ([node("w1", **SMALL)], requests(cpu="5"), "yours", Advice.ASK_LESS),
    ],
)
def test_the_first_rung(nodes: list[Any], spec: dict[str, Any], rung: str, advice: Advice) -> None:
    first, *_ = advised(*nodes, **spec)
    assert (first.rung, advice_of(first)) == (rung, advice)


def test_a_request_that_is_cut_by_more_than_half_is_no_advice() -> None:
    found = advised(*FULL, **requests(cpu="4"))
    assert [each.rung for each in found] == ["pay", "ends"]


def test_a_pod_that_is_too_large_for_every_node_is_told_the_machine_that_it_needs() -> None:
    (only,) = advised(node("w1", **SMALL), **requests(cpu="64", memory="20Gi"))
    assert only.text == (
        "It would fit with one more node like w1, but larger, with at least 64 cpu and 20Gi memory for it "
        "(one more machine to pay for)."
    )


def test_a_unit_that_is_mistyped_is_mended_though_that_cuts_deeply() -> None:
    first, *_ = advised(node("w1", **SMALL), **requests(cpu="500"))
    assert (
        first.text == "It would fit on w1 if container main asked for 500m cpu instead of 500 (the pod is re-created)."
    )
    assert (first.rung, first.caution) == ("yours", None)


def test_nodes_kept_for_a_device_are_opened_after_all_else_that_the_owner_may_do() -> None:
    kept = node("gpu-1", taints=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}])
    found = advised(kept, *FULL, **requests(cpu="1500m"))
    assert [(each.rung, each.text.partition(" (")[0]) for each in found] == [
        ("yours", "It would fit on w1 if container main asked for 1 cpu instead of 1.5"),
        ("yours", "It would fit on gpu-1 with a toleration for nvidia.com/gpu:NoSchedule"),
        ("pay", "It would fit with one more node like w1"),
        ("ask", "It would fit on gpu-1 without the taint nvidia.com/gpu:NoSchedule on gpu-1"),
        ("ends", "It would fit on w1 once default/big is gone, which frees 3 cpu"),
    ]
    assert found[1].caution == "these nodes are kept for pods that ask for nvidia.com/gpu, which this one does not"


def test_a_pod_that_asks_for_the_device_is_to_tolerate_its_taint() -> None:
    offered = {"allocatable": {"cpu": "4", "pods": "10", "example.com/asic": "8"}}
    kept = node("w1", taints=[{"key": "example.com/asic", "effect": "NoSchedule"}], **offered)
    limits = {"example.com/asic": "1"}
    asking = {"containers": [{"name": "main", "resources": {"requests": limits, "limits": limits}}]}
    assert advice_of(advised(kept, **asking)[0]) is Advice.FIX
    assert advice_of(advised(kept)[0]) is Advice.ADD_CAPACITY


CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
NOT_TOLERATED = (
    CONTROL_PLANE["key"],
    "CriticalAddonsOnly",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/disk-pressure",
    "node.cloudprovider.kubernetes.io/uninitialized",
    "ToBeDeletedByClusterAutoscaler",
    "karpenter.sh/disrupted",
    "node.cilium.io/agent-not-ready",
    "ebs.csi.aws.com/agent-not-ready",
    "example.com/network-not-ready",
)


@pytest.mark.parametrize("key", NOT_TOLERATED)
def test_taints_of_controllers_and_of_the_system_are_never_tolerated_nor_taken_off(key: str) -> None:
    kept = [node(f"kept-{number}", taints=[{"key": key, "effect": "NoSchedule"}]) for number in range(3)]
    assert not any(key in str(each.patches) + str(each.commands) for each in advised(*kept, *FULL, **BIG))


def test_the_taint_of_the_control_plane_may_go_where_there_is_no_other_node() -> None:
    (only,) = advised(node("kind", taints=[CONTROL_PLANE]))
    assert (only.rung, *map(str, only.commands)) == (
        "ask",
        "kubectl taint node kind node-role.kubernetes.io/control-plane:NoSchedule-",
    )


def test_what_preemption_ends_is_said() -> None:
    first, *_ = advised(node("w1", **SMALL), pod("low", on="w1", **requests(cpu="3")), priority=9, **BIG)
    assert first.caution == "this ends default/low; lost: default/low (nothing re-creates it)"
    assert first.ends == ("default/low",)


def test_the_reach_of_a_suggestion() -> None:
    tainted = node("w1", taints=[{"key": "a", "effect": "NoSchedule"}])
    (tolerating, *_) = advised(tainted)
    assert (tolerating.scope, tolerating.recreates_pods) == (Scope.POD, False)
    (of_all, *_) = advised(tainted, metadata={"ownerReferences": [OWNER]})
    assert (of_all.scope, of_all.recreates_pods) == (Scope.WORKLOAD, True)
    (uncordoning, *_) = advised(node("w1", unschedulable=True))
    assert (uncordoning.scope, uncordoning.recreates_pods) == (Scope.NODE, False)
    (asking_less, *_) = advised(node("w1", **SMALL), **requests(cpu="5"))
    assert (asking_less.scope, asking_less.recreates_pods) == (Scope.POD, True)


def test_a_gate_that_a_known_controller_owns_is_never_taken_off() -> None:
    gated = {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}], "nodeSelector": {"pool": "gpu"}}
    found = advised(node("w1"), **gated)
    assert found
    assert all("schedulingGates" not in str(each.commands) for each in found)
    assert all("schedulingGates" not in str(each.patches) for each in found)
    assert any("once Kueue lifts the gate" in each.text for each in found)


def test_preemption_that_succeeds_is_led_with() -> None:
    result = explain(pod("web-0", priority=9, **BIG), node("w1", **SMALL), pod("low", on="w1", **requests(cpu="3")))
    first, *_ = suggest(result)
    assert (first.promise, first.victims, first.commands) == (Promise.PREEMPTS, ("default/low",), ())
    assert headline(Explanation(result=result)).startswith(
        "Preemption makes room for default/web-0 on w1; until then it does"
    )


@pytest.mark.parametrize("rung", Rung, ids=lambda rung: rung.value)
def test_each_rung_has_its_row_in_the_documentation(rung: Rung) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", Path("docs/suggestions.md").read_text(), re.MULTILINE)
    order = [name for name, _ in rows if name in {each.value for each in Rung}]
    assert order.index(rung.value) == list(Rung).index(rung)


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.name)
def test_each_kind_of_change_has_its_place_among_the_risks(kind: Kind) -> None:
    first = advised(node("w1", unschedulable=True))[0]
    change = structs.replace(first.changes[0], kind=kind)
    assert len(as_ladder([first, structs.replace(first, changes=(change,))])) == 2
