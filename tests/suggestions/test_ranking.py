"""The order of advice: what costs the owner least comes first, and a deep cut never does."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.render.sentences.headline import headline
from kubectl_sched.suggestions.change import Promise, Scope, Suggestion
from kubectl_sched.suggestions.ranking import Advice, advice_of
from kubectl_sched.suggestions.search import suggest
from tests.plugins.clusters import node, pod, requests
from tests.scheduler.cycles import explain

SMALL: dict[str, Any] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
BIG = requests(cpu="4")
ENDING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}


def advised(*nodes: Any, **spec: Any) -> list[Suggestion]:
    return list(suggest(explain(pod("web-0", **spec), *nodes)))


@pytest.mark.parametrize(
    ("nodes", "spec", "advice"),
    [
        ([node("w1", **SMALL), pod("low", on="w1", **requests(cpu="3"))], {"priority": 9, **BIG}, Advice.WAIT),
        ([node("w1", **SMALL), pod("old", on="w1", metadata=ENDING, **requests(cpu="3"))], BIG, Advice.WAIT),
        ([node("w1")], {"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}, Advice.WAIT),
        ([node("w1")], {"schedulingGates": [{"name": "example.com/hold"}]}, Advice.FIX),
        ([node("w1", taints=[{"key": "app-blue", "effect": "NoSchedule"}])], {}, Advice.FIX),
        ([node("w1", unschedulable=True)], {}, Advice.ADD_CAPACITY),
        ([node("w1", **SMALL), pod("big", on="w1", **requests(cpu="3"))], requests(cpu="4"), Advice.ADD_CAPACITY),
        ([node("w1", **SMALL)], requests(cpu="5"), Advice.ASK_LESS),
    ],
)
def test_the_first_advice(nodes: list[Any], spec: dict[str, Any], advice: Advice) -> None:
    found = advised(*nodes, **spec)
    assert advice_of(found[0]) is advice


def test_a_request_that_is_cut_by_more_than_a_third_is_not_first() -> None:
    found = advised(node("w1", **SMALL), pod("big", on="w1", priority=9, **requests(cpu="3")), **requests(cpu="4"))
    assert [advice_of(each) for each in found] == [Advice.ADD_CAPACITY, Advice.FREE_CAPACITY, Advice.ASK_LESS]


def test_what_is_done_in_place_comes_before_what_replaces_the_pod() -> None:
    tolerations = [{"key": "app", "operator": "Equal", "value": "blue", "effect": "NoSchedule"}]
    found = advised(node("w1", taints=[{"key": "app-blue", "effect": "NoSchedule"}]), tolerations=tolerations)
    fixes = [each for each in found if advice_of(each) is Advice.FIX]
    assert ["--force" in str(each.commands) for each in fixes] == [False, True]


def test_nodes_kept_for_a_device_are_opened_last_of_all_capacity() -> None:
    kept = node("gpu-1", taints=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}])
    full = [node("w1", **SMALL), pod("big", on="w1", priority=9, **requests(cpu="3"))]
    found = advised(kept, *full, **BIG)
    assert [each.text.partition(" (")[0] for each in found if advice_of(each) is Advice.ADD_CAPACITY] == [
        "It would fit with one more node like w1",
        "It would fit on gpu-1 with a toleration for nvidia.com/gpu:NoSchedule",
        "It would fit on gpu-1 without the taint nvidia.com/gpu:NoSchedule on gpu-1",
    ]
    assert found[1].caution == "these nodes are kept for pods that ask for nvidia.com/gpu, which this one does not"


def test_a_pod_that_asks_for_the_device_is_to_tolerate_its_taint() -> None:
    offered = {"allocatable": {"cpu": "4", "pods": "10", "example.com/asic": "8"}}
    kept = node("w1", taints=[{"key": "example.com/asic", "effect": "NoSchedule"}], **offered)
    limits = {"example.com/asic": "1"}
    asking = {"containers": [{"name": "main", "resources": {"requests": limits, "limits": limits}}]}
    assert advice_of(advised(kept, **asking)[0]) is Advice.FIX
    assert advice_of(advised(kept)[0]) is Advice.ADD_CAPACITY
    (first, *_) = advised(node("w1", taints=[{"key": "example.com/team", "effect": "NoSchedule"}]))
    assert advice_of(first) is Advice.FIX


def test_another_taint_is_tolerated_before_that_of_the_control_plane() -> None:
    of_master = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
    masters = [node(f"cp-{number}", taints=[of_master]) for number in range(3)]
    (first, *_) = advised(*masters, node("w1", taints=[{"key": "team", "effect": "NoSchedule"}]))
    assert "with a toleration for team:NoSchedule" in first.text


def test_what_preemption_ends_is_said() -> None:
    first, *_ = advised(node("w1", **SMALL), pod("low", on="w1", **requests(cpu="3")), priority=9, **BIG)
    assert first.caution == "this ends default/low"


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


def test_an_autoscaler_that_adds_a_node_is_waited_for() -> None:
    full = [node("w1", **SMALL), pod("big", on="w1", **requests(cpu="3"))]
    first, *_ = suggest(explain(pod("web-0", **BIG), *full), autoscaler="cluster-autoscaler")
    assert (advice_of(first), first.commands) == (Advice.WAIT, ())
    assert first.text == (
        "Nothing to do: it would fit once the node is there that cluster-autoscaler adds, if it is like w1."
    )


def test_preemption_that_succeeds_is_led_with() -> None:
    result = explain(pod("web-0", priority=9, **BIG), node("w1", **SMALL), pod("low", on="w1", **requests(cpu="3")))
    first, *_ = suggest(result)
    assert (first.promise, first.victims, first.commands) == (Promise.PREEMPTS, ("default/low",), ())
    assert headline(Explanation(result=result)).startswith(
        "Preemption makes room for default/web-0 on w1; until then it does"
    )


@pytest.mark.parametrize("advice", Advice, ids=lambda advice: advice.value)
def test_each_class_of_advice_has_its_row_in_the_documentation(advice: Advice) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", Path("docs/suggestions.md").read_text(), re.MULTILINE)
    order = [name for name, _ in rows if name in {each.value for each in Advice}]
    assert order.index(advice.value) == list(Advice).index(advice)
