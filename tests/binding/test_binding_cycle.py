"""A Binding that the server cannot take now is told as what it is."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.binding.binding_cycle import BindingCycle, Bound, Failed, Lost
from kubectl_sched.binding.cancellable_binding import PodInPreBind
from kubectl_sched.binding.event_recorder import EventRecorder
from kubectl_sched.binding.writer import Writer
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint
from tests.plugins.clusters import node, pod
from tests.scheduler.cycles import explain, with_cycle

if TYPE_CHECKING:
    from tests.binding.api_server import ApiServer

POD = "/api/v1/namespaces/default/pods/web-0"


def test_a_server_that_is_busy_is_asked_as_often_as_the_client_does_and_named(server: ApiServer) -> None:
    server.refused["POST", f"{POD}/binding"] = 503
    server.answers["GET", POD] = {"metadata": {"name": "web-0", "namespace": "default", "uid": "uid-web-0"}}
    address = f"http://127.0.0.1:{server.http.server_address[1]}"
    writer = Writer(Server(Endpoint(address), environment={}, attempts=2))
    waiting = pod(schedulerName="default-scheduler")
    server.answers["GET", POD]["spec"] = {"schedulerName": "default-scheduler"}
    in_pre_bind = PodInPreBind(threading.Event())
    outcome = BindingCycle(writer, EventRecorder(writer)).run(with_cycle(explain(waiting, node())), "w1", in_pre_bind)
    assert isinstance(outcome, Failed)
    assert "503" in outcome.status.message
    assert [sent[:2] for sent in server.sent] == [("POST", f"{POD}/binding")] * 2


WAITING = pod(schedulerName="default-scheduler")
STORED = {
    "metadata": {"name": "web-0", "namespace": "default", "uid": "uid-web-0"},
    "spec": {"schedulerName": "default-scheduler"},
}


def patient(server: ApiServer) -> BindingCycle:
    writer = Writer(Server(Endpoint(f"http://127.0.0.1:{server.http.server_address[1]}"), environment={}, attempts=1))
    return BindingCycle(writer, EventRecorder(writer), is_patient=True)


def test_a_pod_whose_answer_was_lost_is_looked_up_until_the_server_is_there_again(server: ApiServer) -> None:
    server.refused["POST", f"{POD}/binding"] = 503
    server.refused["GET", POD] = 503
    looks = 0

    def come_back(path: str) -> None:
        nonlocal looks
        looks += path == POD
        if looks == 3:
            server.answers["GET", POD] = STORED | {"spec": {**STORED["spec"], "nodeName": "w1"}}
            del server.refused["GET", POD]

    server.on_get = come_back
    stop = threading.Event()
    outcome = patient(server).run(with_cycle(explain(WAITING, node())), "w1", PodInPreBind(stop))
    assert isinstance(outcome, Bound)
    assert looks == 3
    assert [path for method, path, _ in server.sent if path.endswith("/events")], "its Scheduled event is written"


def test_what_is_not_known_when_the_program_ends_is_neither_taken_back_nor_told(server: ApiServer) -> None:
    server.refused["POST", f"{POD}/binding"] = 503
    server.refused["GET", POD] = 503
    stop = threading.Event()
    server.on_get = lambda _: stop.set()
    outcome = patient(server).run(with_cycle(explain(WAITING, node())), "w1", PodInPreBind(stop))
    assert isinstance(outcome, Lost)
    assert outcome.left == ()
    assert [sent[:2] for sent in server.sent] == [("POST", f"{POD}/binding")]


@pytest.mark.parametrize("is_bound", [True, False])
def test_a_success_that_is_no_json_is_looked_up(server: ApiServer, writer: Writer, is_bound: bool) -> None:
    server.raw["POST", f"{POD}/binding"] = b"<html>welcome</html>"
    server.answers["GET", POD] = STORED | {"spec": STORED["spec"] | ({"nodeName": "w1"} if is_bound else {})}
    in_pre_bind = PodInPreBind(threading.Event())
    outcome = BindingCycle(writer, EventRecorder(writer)).run(with_cycle(explain(WAITING, node())), "w1", in_pre_bind)
    assert isinstance(outcome, Bound if is_bound else Failed)
    if isinstance(outcome, Failed):
        assert "is no JSON" in outcome.status.message


def test_a_cycle_whose_pod_is_preempted_fails_and_writes_no_binding(server: ApiServer, writer: Writer) -> None:
    in_pre_bind = PodInPreBind(threading.Event())
    assert in_pre_bind.cancel("preempted by DefaultPreemption")
    outcome = BindingCycle(writer, EventRecorder(writer)).run(with_cycle(explain(pod(), node())), "w1", in_pre_bind)
    assert isinstance(outcome, Failed)
    assert (outcome.status.message, outcome.interrupted) == ("preempted by DefaultPreemption", False)
    assert server.writes == []


def test_a_cycle_that_has_come_to_bind_cannot_be_given_up_any_more() -> None:
    in_pre_bind = PodInPreBind(threading.Event())
    assert in_pre_bind.finish()
    assert not in_pre_bind.cancel("too late")
    assert not in_pre_bind.is_set()
