"""Preemption sends what kube-scheduler sends, in its order, and stops at the first request that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from kubectl_sched.binding.event_recorder import EventRecorder
from kubectl_sched.binding.preemption_executor import Preemption, preempt, preemption_of, preemption_requests
from tests.plugins.clusters import node, pod, requests
from tests.scheduler.cycles import explain

if TYPE_CHECKING:
    from kubectl_sched.binding.writer import Writer
    from tests.binding.api_server import ApiServer

POD = "/api/v1/namespaces/default/pods"


def preemption(*, going: bool = False, asynchronous: bool = True, version: str = "1.36") -> Preemption:
    """Two victims on the only node, and a pod of lower priority that is nominated to it."""
    deletion = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if going else {}
    victims = [pod(name, on="n1", metadata=deletion, priority=1, **requests(cpu="1")) for name in "ab"]
    nominated = pod("low", priority=2, **requests(cpu="1"))
    preemptor = pod("urgent", priority=9, schedulerName="default-scheduler", **requests(cpu="2"))
    result = explain(
        preemptor,
        node("n1", allocatable={"cpu": "2", "pods": "9"}),
        *victims,
        version=version,
        SchedulerAsyncPreemption=asynchronous,
    )
    found = preemption_of(replace(result, nodes=replace(result.nodes, nominated={"n1": (nominated, preemptor)})))
    assert found is not None
    return found


def test_nominations_first_then_each_victim_is_marked_and_deleted_and_told(server: ApiServer, writer: Writer) -> None:
    result = preemption()
    told: list[int] = []
    done = preempt(writer, EventRecorder(writer), result, lambda: told.append(len(server.writes)))
    victims = [victim.name for victim in done.victims]
    assert (sorted(victims), done.failure, done.warnings) == (["a", "b"], "", ())
    pairs = [(("PATCH", f"{POD}/{name}/status"), ("DELETE", f"{POD}/{name}")) for name in victims]
    assert server.writes == [("PATCH", f"{POD}/low/status"), *pairs[0], *pairs[1]]
    assert told == [3], "the scheduling loop hears of the last victim before it is marked and deleted"
    marks = {path: body["status"] for method, path, body in server.sent if method == "PATCH"}
    assert marks.pop(f"{POD}/low/status") == {"nominatedNodeName": None}
    for status in marks.values():
        (condition,) = status["conditions"]
        assert {key: condition[key] for key in ("type", "status", "reason", "message")} == {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": "default-scheduler: preempting to accommodate a higher priority pod",
        }
    deletions = {path: body["preconditions"] for method, path, body in server.sent if method == "DELETE"}
    assert deletions == {f"{POD}/{name}": {"uid": f"uid-{name}"} for name in "ab"}
    events = [body for _, path, body in server.sent if "/events" in path]
    assert {event["note"] for event in events} == {"Preempted by pod uid-urgent on node n1"}


def test_a_victim_whose_binding_is_given_up_is_not_deleted(server: ApiServer, writer: Writer) -> None:
    preempt(writer, EventRecorder(writer), preemption(), cancel=lambda victim: victim.name == "a")
    assert {path for _, path in server.writes} == {f"{POD}/low/status", f"{POD}/b/status", f"{POD}/b"}
    notes = {body["regarding"]["name"]: body["note"] for _, path, body in server.sent if "/events" in path}
    assert notes["a"] == "Preempted by pod uid-urgent on node n1 (in kube-scheduler memory)."


def test_without_asynchronous_preemption_nominations_come_last(server: ApiServer, writer: Writer) -> None:
    preempt(writer, EventRecorder(writer), preemption(asynchronous=False))
    assert server.writes[-1] == ("PATCH", f"{POD}/low/status")
    assert len(server.writes) == 5


@pytest.mark.parametrize("version", ["1.34.0", "1.34.1", "1.35", "1.37"])
def test_victims_that_are_going_already_are_left_alone(server: ApiServer, writer: Writer, version: str) -> None:
    preempt(writer, EventRecorder(writer), preemption(going=True, version=version))
    assert server.writes == [("PATCH", f"{POD}/low/status")]


@pytest.mark.parametrize("version", ["1.33", "1.34.2", "1.34"])
def test_victims_that_are_going_already_are_marked_and_deleted_once_more(
    server: ApiServer, writer: Writer, version: str
) -> None:
    result = preemption(going=True, version=version)
    preempt(writer, EventRecorder(writer), result)
    assert {path for method, path in server.writes if method == "DELETE"} == {f"{POD}/a", f"{POD}/b"}
    assert server.writes == [(request.method, request.path) for request, _ in preemption_requests(result)]


@pytest.mark.parametrize("status", [404, 409])
def test_a_victim_that_is_gone_or_another_pod_by_now_is_no_failure(
    server: ApiServer, writer: Writer, status: int
) -> None:
    server.refused = {("PATCH", f"{POD}/{name}/status"): status for name in "ab"}
    done = preempt(writer, EventRecorder(writer), preemption())
    assert (done.failure, len(done.victims)) == ("", 2)
    assert not [sent for sent in server.sent if sent[0] == "DELETE" or "/events" in sent[1]]


def test_the_first_deletion_that_fails_ends_it(server: ApiServer, writer: Writer) -> None:
    result = preemption()
    first, last = result.victims
    server.refused = {("DELETE", f"{POD}/{first.name}"): 403}
    done = preempt(writer, EventRecorder(writer), result)
    assert f"pod {first.key} could not be preempted" in done.failure
    assert done.victims == ()
    assert ("DELETE", f"{POD}/{last.name}") not in server.writes


def test_the_plan_shows_the_requests_that_are_sent(server: ApiServer, writer: Writer) -> None:
    for gate in (True, False):
        server.sent.clear()
        result = preemption(asynchronous=gate)
        planned = [(request.method, request.path) for request, _ in preemption_requests(result)]
        preempt(writer, EventRecorder(writer), result)
        assert planned == server.writes
