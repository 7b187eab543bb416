"""Events that a killed replica left out are written, once, and only of pods that were bound lately."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from kubectl_sched.binding.event_recorder import EventRecorder
from kubectl_sched.binding.second_scheduler.events.unwritten_scheduled_events import lately_bound, write_missing_events
from tests.plugins.clusters import pod

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.writer import Writer
    from tests.binding.api_server import ApiServer

EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


def bound(name: str, seconds_ago: float, status: str = "True") -> Pod:
    moment = f"{datetime.fromtimestamp(time.time() - seconds_ago, UTC):%Y-%m-%dT%H:%M:%SZ}"
    condition: dict[str, Any] = {"type": "PodScheduled", "status": status, "lastTransitionTime": moment}
    return pod(name, on="n1", schedulerName="mine", status={"conditions": [condition]})


def test_only_pods_that_got_their_node_lately_are_looked_at() -> None:
    pods = [bound("new", 5), bound("old", 3_600), bound("failed", 5, "False"), pod("static", on="n1"), pod("waiting")]
    assert [each.name for each in lately_bound(pods)] == ["new"]


def test_the_event_of_each_pod_that_has_none_is_written(server: ApiServer, writer: Writer) -> None:
    server.answers["GET", EVENTS] = {"items": [{"regarding": {"uid": "uid-told"}, "reason": "Scheduled"}]}
    warnings = list(write_missing_events(writer, EventRecorder(writer), [bound("told", 1), bound("untold", 1)]))
    assert warnings == []
    ((method, path, body),) = server.sent
    assert (method, path) == ("POST", EVENTS)
    assert body["note"] == "Successfully assigned default/untold to n1"
    assert body["reportingController"] == "mine"


def test_without_the_right_to_list_events_none_is_written_and_it_is_said(server: ApiServer, writer: Writer) -> None:
    server.refused["GET", EVENTS] = 403
    (warning,) = write_missing_events(writer, EventRecorder(writer), [bound("untold", 1)])
    assert "could not be read" in warning
    assert server.sent == []
