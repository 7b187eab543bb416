"""Nobody is bound by an answer that a bug of ours left open."""

from __future__ import annotations

from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.binding.active_scheduler import UNKNOWN, ActiveScheduler
from kubectl_sched.binding.bind_context import Order, Situation
from kubectl_sched.binding.bind_once import bind_once
from kubectl_sched.plugins.node_resources.fit import NodeResourcesFit
from kubectl_sched.plugins.taint_toleration import TaintToleration
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.sources import Dump
from kubectl_sched.sources.pod_selection import Selection
from tests.plugins.clusters import node, pod

if TYPE_CHECKING:
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.snapshot import Snapshot


def broken(*_: object) -> Any:
    raise KeyError("a bug")


def situation() -> Situation:
    dump = Dump(objects=(node("w1"), node("w2"), pod()), present=frozenset({"Node", "Pod"}))
    answer, schedulers = explain(ExplainQuestion(selection=Selection(targets=("web-0",))), dump)
    return Situation(
        dump=dump,
        schedulers=schedulers,
        explanation=answer.explanations[0],
        serving=ActiveScheduler(state=UNKNOWN, evidence="nobody is seen"),
        leftovers=(),
        notes=(),
    )


@pytest.mark.parametrize("order", [Order(yes=True), Order(node="w1", ignore_filters=True, yes=True)])
@pytest.mark.parametrize(
    ("plugin", "point"), [(NodeResourcesFit, "pre_filter"), (NodeResourcesFit, "filter"), (TaintToleration, "score")]
)
def test_bind_refuses_a_pod_that_could_not_be_judged(
    monkeypatch: pytest.MonkeyPatch, order: Order, plugin: type, point: str
) -> None:
    monkeypatch.setattr(plugin, point, broken)
    found = situation()
    tools: Any = SimpleNamespace(stop=Event())
    answer = bind_once(order, tools, lambda: found)
    assert (answer.outcome, answer.exit_code) == ("Refused", 4)
    assert "this is a bug in kubectl-sched" in answer.message


def test_bind_refuses_a_pod_whose_best_node_may_be_one_that_could_not_be_judged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = NodeResourcesFit.filter

    def failing(plugin: Any, state: Any, incoming: Any, nodes: Snapshot) -> NodeToStatus:
        return broken() if "w2" in nodes.names else judged(plugin, state, incoming, nodes)

    monkeypatch.setattr(NodeResourcesFit, "filter", failing)
    found = situation()
    assert found.result.fits
    tools: Any = SimpleNamespace(stop=Event())
    assert bind_once(Order(yes=True), tools, lambda: found).exit_code == 4
