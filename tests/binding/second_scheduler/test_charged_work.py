"""Work beside the cycles of a namespace's pods is charged to it: hints about them, and terms of those that run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from kubectl_sched.binding.second_scheduler.cluster_events import Action, ClusterEvent, Happened
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints, requeue_decision
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.framework.cycle_budget import SERVICE, UNLIMITED, ChargedWork, CycleLimits
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.binding.second_scheduler.test_podgroup_attempts import NAME, Cluster, small
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.scheduler.cycles import with_cycle

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.queueing_hints.hint_question import HintQuestion

TERMS = 200
CAME = ClusterEvent("Node", Action.ADD)


def with_charges(limits: CycleLimits = SERVICE) -> tuple[CycleLimits, ChargedWork]:
    charged = ChargedWork()
    return structs.replace(limits, charged=charged), charged


def repelling(terms: int, **selected: Any) -> dict[str, Any]:
    """Anti-affinity to pods of all namespaces."""
    required = [
        {
            "topologyKey": "zone",
            "namespaceSelector": {},
            "labelSelector": {"matchExpressions": [{"key": f"k{number}", "operator": "Exists"}]},
        }
        for number in range(terms)
    ]
    return {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
        **selected,
    }


def of(namespace: str, name: str = "web", on: str = "", **spec: Any) -> Pod:
    return pod(name, on=on, metadata={"namespace": namespace}, **spec)


@pytest.mark.parametrize("version", ["1.35", "1.36", "1.37"])
def test_terms_of_running_pods_are_charged_to_their_namespace_and_not_to_the_pod_that_meets_them(version: str) -> None:
    def work(terms: int) -> tuple[int, dict[str, int]]:
        limits, charged = with_charges(UNLIMITED)
        nodes = snapshot(node("w1"), of("hostile", "old", on="w1", **repelling(terms)), version=version)
        scheduler = Scheduler(load_configuration(None, KubeVersion.parse(version)), nodes, limits=limits)
        result = with_cycle(scheduler.schedule_one(of("team")))
        assert result.fits
        return result.state.budget.steps, charged.take()

    none, once, twice = work(0), work(TERMS), work(2 * TERMS)
    assert none[0] == once[0] == twice[0]
    assert [list(each[1]) for each in (none, once, twice)] == [[], ["hostile"], ["hostile"]]
    assert TERMS <= once[1]["hostile"] < twice[1]["hostile"] <= 2.5 * once[1]["hostile"]


def hints_with(limits: CycleLimits) -> PluginHints:
    nodes = snapshot(node("w1"))
    framework = Scheduler(load_configuration(None, KubeVersion.parse("1.36")), nodes, limits=limits).framework(NAME)
    assert framework is not None
    return PluginHints({NAME: framework}, lambda: nodes)


def test_hints_are_charged_to_the_namespace_of_the_pod_that_waits() -> None:
    limits, charged = with_charges()
    hints = hints_with(limits)
    for namespace, names in (("a", 2), ("b", 1)):
        waiting = of(namespace, nodeSelector={f"l{number}": "v" for number in range(TERMS)})
        for _ in range(names):
            assert not hints.helps("NodeAffinity", waiting, Happened(CAME, None, node("w2")))
    work = charged.take()
    assert work["a"] == 2 * work["b"] > 2 * TERMS
    assert charged.take() == {}


def test_pods_of_a_namespace_whose_hints_take_too_long_about_one_event_are_tried_again_unasked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def slow(question: HintQuestion) -> bool:
        asked.append(question.pod.namespace)
        question.budget.spend(40)
        return False

    monkeypatch.setitem(requeue_decision.HINTS, ("NodeAffinity", "Node"), slow)
    hints = hints_with(structs.replace(SERVICE, steps=100))
    came = Happened(CAME, None, node("w2"))
    assert [hints.helps("NodeAffinity", of("hostile"), came) for _ in range(5)] == [False, False, False, True, True]
    assert not hints.helps("NodeAffinity", of("team"), came)
    assert asked == ["hostile"] * 3 + ["team"]
    assert not hints.helps("NodeAffinity", of("hostile"), Happened(CAME, None, node("w3"))), "another event"


class SharedCluster(Cluster):
    """A loop that shares its time out."""

    def __init__(self) -> None:
        self.limits, _ = with_charges()
        super().__init__("1.36")


def test_a_namespace_that_was_charged_with_over_half_of_a_minute_lets_others_go_first() -> None:
    cluster = SharedCluster()
    assert cluster.limits.charged is not None
    cluster.tell(small("n1"))
    cluster.limits.charged.add("hostile", 31_000_000)
    cluster.tell(of("hostile", "hog", **requests(cpu="1")), of("team", **requests(cpu="1")))
    assert cluster.decide().keys() == {"web"}
    assert [name for name, _ in cluster.recorder.overdrafts] == ["hog"]
    cluster.now += 61.0
    assert cluster.decide().keys() == {"web", "hog"}
