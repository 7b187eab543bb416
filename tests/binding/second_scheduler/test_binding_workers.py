"""However many pods wait for a server, the threads that write about them are few."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from typing import TYPE_CHECKING

from kubectl_sched.binding.second_scheduler.binding_workers import Binder
from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod
from kubectl_sched.binding.writer import Writer
from kubectl_sched.framework.reserved_object import Reservation
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint
from tests.plugins.clusters import node, pod, requests
from tests.scheduler.cycles import explain, with_cycle

if TYPE_CHECKING:
    from kubectl_sched.binding.second_scheduler.loop_messages import Message


def test_three_hundred_pods_of_each_kind_take_276_threads() -> None:
    told: list[Message] = []
    waiting = pod(schedulerName="default-scheduler", **requests(cpu="1"))
    fits, fits_nowhere = with_cycle(explain(waiting, node())), explain(waiting)
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Server(Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}"), environment={}, attempts=1)
        binder = Binder(Writer(server), told.append)
        for _ in range(300):
            binder.bind(QueuedPod(waiting, 0.0), fits, "w1", (), 0.0)
            binder.bind(QueuedPod(waiting, 0.0), fits, "w1", (Reservation(item=node()),), 0.0)
            binder.report(fits_nowhere)
        kinds = Counter(thread.name.rpartition("_")[0] for thread in set(threading.enumerate()) - before)
        server.stop()
        binder.close()
    assert {kind: kinds[kind] for kind in ("bind", "bind-waiting", "report")} == {
        "bind": 16,
        "bind-waiting": 256,
        "report": 4,
    }
