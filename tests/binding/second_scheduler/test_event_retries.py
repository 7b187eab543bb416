"""Events that a server did not get while it was away are written later, or told."""

from __future__ import annotations

from queue import SimpleQueue
from typing import TYPE_CHECKING

import pytest

from kubectl_sched.binding.event_recorder import EventRecorder, failed_scheduling
from kubectl_sched.binding.second_scheduler.events.event_retries import TRIES, EventRetries
from kubectl_sched.sources.live.live_errors import ClusterError, ResponseError
from tests.plugins.clusters import pod

if TYPE_CHECKING:
    from kubectl_sched.binding.writer import Writer
    from tests.binding.api_server import ApiServer

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


def test_an_event_is_written_once_the_server_is_there_again(
    server: ApiServer, writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = [ClusterError("no connection")] * 5
    written: SimpleQueue[bool] = SimpleQueue()
    send = type(writer).send

    def sometimes(self: Writer, request: object) -> object:
        if away:
            raise away.pop()
        answer = send(self, request)  # type: ignore[arg-type]
        written.put(True)
        return answer

    monkeypatch.setattr(type(writer), "send", sometimes)
    told: SimpleQueue[str] = SimpleQueue()
    recorder = EventRecorder(writer, EventRetries(told.put, pause_seconds=0.01).add)
    assert recorder.record(pod(), "mine", failed_scheduling("no room")) is None
    assert written.get(timeout=60)
    ((method, path, body),) = server.sent
    assert (method, path, body["note"]) == ("POST", EVENTS, "no room")
    assert told.empty()


@pytest.mark.parametrize(
    ("error", "sent"), [(ClusterError("no connection"), TRIES - 1), (ResponseError("no", 403, "Forbidden", "no"), 1)]
)
def test_an_event_is_given_up_after_twelve_tries_or_at_once_if_it_is_refused(error: ClusterError, sent: int) -> None:
    tries = 0

    def write() -> None:
        nonlocal tries
        tries += 1
        raise error

    told: SimpleQueue[str] = SimpleQueue()
    assert EventRetries(told.put, pause_seconds=0.001).add(write, "the event E could not be written")
    assert told.get(timeout=60) == f"the event E could not be written: {error}"
    assert tries == sent


def test_an_event_whose_answer_was_lost_is_there_already() -> None:
    done: SimpleQueue[str] = SimpleQueue()
    told: SimpleQueue[str] = SimpleQueue()

    def write() -> None:
        done.put("asked")
        raise ResponseError("it is there", 409, "AlreadyExists", "it is there")

    retries = EventRetries(told.put, pause_seconds=0.001)
    retries.add(write, "the event E could not be written")
    assert done.get(timeout=60) == "asked"
    retries.close()
    assert told.empty()


def test_only_so_many_events_wait() -> None:
    retries = EventRetries(lambda _: None)
    assert [retries.add(lambda: None, "") for _ in range(1001)] == [True] * 1000 + [False]
    retries.close()
    assert not retries.add(lambda: None, "")
