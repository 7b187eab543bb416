"""A Binding that the server cannot take now is told as what it is."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from kubectl_sched.binding.binding_cycle import BindingCycle, Failed
from kubectl_sched.binding.event_recorder import EventRecorder
from kubectl_sched.binding.writer import Writer
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint
from tests.plugins.clusters import node, pod
from tests.scheduler.cycles import explain

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
    outcome = BindingCycle(writer, EventRecorder(writer)).run(explain(waiting, node()), "w1", threading.Event())
    assert isinstance(outcome, Failed)
    assert "503" in outcome.status.message
    assert [sent[:2] for sent in server.sent] == [("POST", f"{POD}/binding")] * 2
