"""Ctrl-C during `bind pod`, whatever is under way: exit code 130, and what was written is taken back or named."""

from __future__ import annotations

import json
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.binding.active_scheduler import UNKNOWN, ActiveScheduler
from kubectl_sched.binding.bind_context import Order, Situation
from kubectl_sched.binding.bind_once import Tools, bind_once
from kubectl_sched.binding.binding_cycle import BindingCycle
from kubectl_sched.binding.event_recorder import EventRecorder
from kubectl_sched.binding.writer import Writer
from kubectl_sched.queries.explain import ExplainQuestion, explain
from kubectl_sched.sources import Dump
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint
from kubectl_sched.sources.pod_selection import Selection
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.binding.binding_outcome import BindAnswer
    from kubectl_sched.binding.writer import JSON, Request
    from tests.binding.api_server import ApiServer

PODS = "/api/v1/namespaces/default/pods"
POD = f"{PODS}/web-0"
SMALL = node("w1", allocatable={"cpu": "1", "pods": "9"})


def situation(*objects: KubernetesObject) -> Situation:
    dump = Dump(objects=objects, present=frozenset({"Node", "Pod"}))
    answer, schedulers = explain(ExplainQuestion(selection=Selection(targets=("web-0",))), dump)
    return Situation(
        dump=dump,
        schedulers=schedulers,
        explanation=answer.explanations[0],
        serving=ActiveScheduler(state=UNKNOWN, evidence="nobody is seen"),
        leftovers=(),
        notes=(),
    )


class Impatient(Writer):
    """Somebody presses Ctrl-C while the first request to a path is under way."""

    def __init__(self, server: ApiServer, path: str) -> None:
        address = f"http://127.0.0.1:{server.http.server_address[1]}"
        super().__init__(Server(Endpoint(address), environment={}, attempts=1))
        self.stop = threading.Event()
        self._path = path

    def send(self, request: Request) -> JSON:
        if request.path == self._path:
            self.stop.set()
        return super().send(request)


def bind(
    writer: Impatient,
    order: Order,
    *situations: Situation,
    ask: Callable[[Any], bool] = lambda _: True,
    cycle: type[BindingCycle] = BindingCycle,
) -> BindAnswer:
    recorder = EventRecorder(writer)
    found = iter(situations)
    tools = Tools(
        show=lambda _: None,
        ask=ask,
        uninterrupted=nullcontext,
        writer=writer,
        recorder=recorder,
        cycle=cycle(writer, recorder),
        stop=writer.stop,
        can_ask=True,
    )
    return bind_once(order, tools, lambda: next(found))


def conditions(server: ApiServer) -> list[Any]:
    """What was written of the pod's PodScheduled, in order: its status, or that it was removed."""
    written = [body["status"] for method, path, body in server.sent if (method, path) == ("PATCH", f"{POD}/status")]
    found = [status["conditions"][0] for status in written if "conditions" in status]
    return [each.get("status") or each["$patch"] for each in found]


def has(server: ApiServer, *objects: KubernetesObject) -> None:
    """Let the server have these."""
    for item in objects:
        folder = "/api/v1/nodes" if type(item).__name__ == "Node" else PODS
        server.answers["GET", f"{folder}/{item.name}"] = json.loads(msgspec.json.encode(item))


def test_the_condition_of_a_pod_that_fits_nowhere_is_taken_back(server: ApiServer) -> None:
    waiting = pod(**requests(cpu="8"))
    answer = bind(Impatient(server, f"{POD}/status"), Order(yes=True), situation(SMALL, waiting))
    assert (answer.outcome, answer.exit_code, answer.left) == ("Interrupted", 130, ())
    assert conditions(server) == ["False", "delete"]


def test_the_condition_after_a_binding_that_failed_is_taken_back(server: ApiServer) -> None:
    waiting = pod(schedulerName="default-scheduler", **requests(cpu="1"))
    has(server, SMALL, waiting)
    server.refused["POST", f"{POD}/binding"] = 503
    answer = bind(Impatient(server, f"{POD}/binding"), Order(yes=True), situation(SMALL, waiting))
    assert (answer.outcome, answer.exit_code, answer.left) == ("Interrupted", 130, ())
    assert conditions(server) == ["False", "delete"]


def test_a_condition_that_cannot_be_taken_back_is_named(server: ApiServer) -> None:
    server.refused["PATCH", f"{POD}/status"] = 403
    waiting = pod(**requests(cpu="8"))
    answer = bind(Impatient(server, f"{POD}/status"), Order(yes=True), situation(SMALL, waiting))
    assert (answer.outcome, answer.exit_code) == ("Interrupted", 130)
    (left,) = answer.left
    assert "the condition PodScheduled=False" in left


def test_a_binding_that_was_too_far_on_stands_and_is_told(server: ApiServer) -> None:
    waiting = pod(schedulerName="default-scheduler", **requests(cpu="1"))
    has(server, SMALL, waiting)
    answer = bind(Impatient(server, f"{POD}/binding"), Order(yes=True), situation(SMALL, waiting))
    assert (answer.outcome, answer.exit_code, answer.bound_to) == ("Bound", 130, "w1")
    assert answer.message == "interrupted too late: pod default/web-0 bound to node w1"


def test_a_pod_that_another_has_bound_meanwhile_is_interrupted_as_well(server: ApiServer) -> None:
    waiting = pod(schedulerName="default-scheduler", **requests(cpu="1"))
    has(server, SMALL, waiting)
    server.refused["POST", f"{POD}/binding"] = 409

    class Outrun(BindingCycle):
        def run(self, *arguments: Any, **more: Any) -> Any:
            has(server, pod(on="w2", schedulerName="default-scheduler", **requests(cpu="1")))
            return super().run(*arguments, **more)

    answer = bind(Impatient(server, f"{POD}/binding"), Order(yes=True), situation(SMALL, waiting), cycle=Outrun)
    assert (answer.outcome, answer.exit_code, answer.bound_to) == ("Taken", 130, "w2")


@pytest.mark.parametrize("says_no", [True, False], ids=["no", "ctrl-c"])
def test_after_preemption_a_question_that_is_not_answered_yes_names_the_victims(
    server: ApiServer, *, says_no: bool
) -> None:
    """The pod fits on another node by then, which is asked about anew."""
    urgent = pod(priority=9, **requests(cpu="1"))
    victim = pod("low", on="w1", priority=1, **requests(cpu="1"))
    server.refused["GET", f"{PODS}/low"] = 404
    questions: list[Any] = []

    def ask(plan: Any) -> bool:
        questions.append(plan)
        if len(questions) == 2 and not says_no:
            raise KeyboardInterrupt
        return len(questions) == 1

    order = Order(preempt=True)
    answer = bind(
        Impatient(server, "nothing"), order, situation(SMALL, victim, urgent), situation(node("w2"), urgent), ask=ask
    )
    assert [(plan.node, plan.victims) for plan in questions] == [(None, ("default/low",)), ("w2", ())]
    outcome = ("Declined", 1, ["False"]) if says_no else ("Interrupted", 130, ["False", "delete"])
    assert (answer.outcome, answer.exit_code, conditions(server)) == outcome
    assert answer.left == ("pod default/low was deleted to make room",)
    assert "nothing was written" not in answer.message
