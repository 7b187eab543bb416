"""The order of advice: what costs the owner least comes first, and a deep cut never does."""

from __future__ import annotations

from typing import Any

import pytest

from kubectl_sched.suggestions.change import Scope, Suggestion
from kubectl_sched.suggestions.ranking import Advice, advice_of
from kubectl_sched.suggestions.search import suggest
from tests.plugins.clusters import node, pod, requests
from tests.scheduler.cycles import explain

SMALL: dict[str, Any] = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}


def advised(*nodes: Any, **spec: Any) -> list[Suggestion]:
    return list(suggest(explain(pod("web-0", **spec), *nodes)))


@pytest.mark.parametrize(
    ("nodes", "spec", "advice"),
    [
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
