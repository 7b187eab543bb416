"""The writes of a binding, as values: statuses, events, the active scheduler, earlier attempts, and the plan."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.api.schedulers import Lease, LeaseSpec
from kubectl_sched.binding.active_scheduler import RUNNING, STOPPED, UNKNOWN, active_scheduler
from kubectl_sched.binding.binding_cycle import Failed
from kubectl_sched.binding.event_recorder import EventDetails, EventRecorder, event_of, scheduled
from kubectl_sched.binding.pod_status import not_scheduled, status_change
from kubectl_sched.binding.resumed_pre_bind import leftovers
from kubectl_sched.binding.scheduling_failure import report_of
from kubectl_sched.binding.timestamps import micro_time, time_now
from kubectl_sched.binding.writer import Request, Writer
from kubectl_sched.framework.status import Code, Status
from kubectl_sched.render.answers.binding_plan import BindingPlan, PlannedWrite, plan_lines, question
from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
from kubectl_sched.sources.discovery.replay_setup import Replay
from kubectl_sched.sources.dump.dump import Dump
from kubectl_sched.sources.live.client import Server
from kubectl_sched.sources.live.endpoint import Endpoint
from tests.plugins.clusters import node, pod, requests
from tests.plugins.random_volumes import decoded
from tests.plugins.storage_objects import claim, volume
from tests.scheduler.cycles import explain

NOW = "2026-01-02T03:04:05Z"
NO_ROOM = not_scheduled("Unschedulable", "0/1 nodes are available")


def with_condition(status: str, reason: str = "", message: str = "", since: str = "2026-01-01T00:00:00Z") -> Pod:
    condition = {
        "type": "PodScheduled",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }
    found: Any = decoded({"kind": "Pod", "metadata": {"name": "p"}, "status": {"conditions": [condition]}})
    return found  # type: ignore[no-any-return]


class TestStatus:
    def test_a_first_failure_is_a_condition_with_the_present_time(self) -> None:
        assert status_change(Pod(), NO_ROOM, "", now=NOW, generation=3) == {
            "conditions": [
                {
                    "type": "PodScheduled",
                    "status": "False",
                    "lastProbeTime": None,
                    "lastTransitionTime": NOW,
                    "reason": "Unschedulable",
                    "message": "0/1 nodes are available",
                    "observedGeneration": 3,
                }
            ]
        }

    def test_the_same_failure_again_changes_nothing(self) -> None:
        again = with_condition("False", NO_ROOM.reason, NO_ROOM.message)
        assert status_change(again, NO_ROOM, "", now=NOW) == {}

    def test_another_failure_keeps_the_time_since_when_it_fails(self) -> None:
        change = status_change(with_condition("False", "Unschedulable", "else"), NO_ROOM, None, now=NOW)
        assert change["conditions"][0]["lastTransitionTime"] == "2026-01-01T00:00:00Z"

    @pytest.mark.parametrize(
        ("before", "wanted", "change"),
        [
            ("", "n1", {"nominatedNodeName": "n1"}),
            ("n1", "", {"nominatedNodeName": None}),
            ("n1", "n1", {}),
            ("n1", None, {}),
        ],
    )
    def test_a_nomination_is_set_taken_back_or_left(self, before: str, wanted: str | None, change: Any) -> None:
        nominated = replace(Pod(), status=replace(Pod().status, nominated_node_name=before))
        assert status_change(nominated, None, wanted, now=NOW) == change


class TestReport:
    def test_a_pod_that_does_not_fit_is_unschedulable_and_no_longer_nominated(self) -> None:
        report = report_of(explain(pod("p", **requests(cpu="8")), node("n1", allocatable={"cpu": "1", "pods": "9"})))
        assert report is not None
        assert report.condition is not None
        assert (report.condition.reason, report.nominated) == ("Unschedulable", "")
        assert report.event.note == report.condition.message

    def test_a_binding_cycle_that_failed_is_a_schedulers_error_with_the_plugins_text(self) -> None:
        failed = Failed(status=Status(Code.ERROR, ('running PreBind plugin "VolumeBinding": late',)))
        report = report_of(explain(pod("p"), node("n1")), failed)
        assert report is not None
        assert report.condition == not_scheduled("SchedulerError", 'running PreBind plugin "VolumeBinding": late')

    def test_nothing_is_said_of_a_gated_pod(self) -> None:
        gated: Any = decoded({"kind": "Pod", "metadata": {"name": "p"}, "spec": {"schedulingGates": [{"name": "g"}]}})
        assert report_of(explain(gated, node("n1"))) is None


class Kept(Writer):
    """Keeps what is sent instead of sending it."""

    def __init__(self) -> None:
        super().__init__(Server(Endpoint("http://127.0.0.1:1"), environment={}))
        self.sent: list[Request] = []

    def send(self, request: Request) -> dict[str, Any]:
        self.sent.append(request)
        return {}


class TestEvents:
    def test_times_have_six_decimals(self) -> None:
        assert micro_time(1_767_323_045_000_006_999) == "2026-01-02T03:04:05.000006Z"
        assert micro_time(1_767_323_045_900_000_000) == "2026-01-02T03:04:05.900000Z"
        assert micro_time(1_767_323_046_000_000_000) == "2026-01-02T03:04:06.000000Z"

    def test_the_present_time_is_in_whole_seconds(self) -> None:
        before = int(time.time())
        present = datetime.strptime(time_now(), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
        assert before <= present <= time.time()

    def test_an_event_is_in_the_name_of_the_profile_and_names_the_pod_as_it_is(self) -> None:
        metadata = ObjectMeta(name="p", namespace="ns", uid="u", resource_version="7")
        about = replace(Pod(), metadata=metadata)
        event = event_of(about, scheduled(about, "n1"), "mine", "mine-host", 1_767_323_045_000_006_999)
        assert event["metadata"] == {"name": f"p.{1_767_323_045_000_006_999:x}", "namespace": "ns"}
        assert (event["note"], event["action"]) == ("Successfully assigned ns/p to n1", "Binding")
        assert (event["regarding"]["resourceVersion"], event["regarding"]["uid"]) == ("7", "u")

    def test_the_event_of_a_pod_with_a_long_name_has_a_name_that_the_server_takes(self) -> None:
        for length in (236, 237, 253):
            about = replace(Pod(), metadata=ObjectMeta(name="p" * length, namespace="ns"))
            event = event_of(about, scheduled(about, "n1"), "mine", "mine-host", 1_767_323_045_000_006_999)
            assert len(event["metadata"]["name"]) == (
                253 if length == 236 else len("ec2b4c3e-9d5f-4a52-8c0f-0e4d3a0f8f6a")
            )
            assert event["regarding"]["name"] == about.name

    def test_what_happens_again_is_counted_in_one_event(self) -> None:
        writer = Kept()
        recorder = EventRecorder(writer)
        for _ in range(5):
            assert (
                recorder.record(Pod(), "mine", EventDetails("Warning", "FailedScheduling", "Scheduling", "no")) is None
            )
        assert [request.method for request in writer.sent] == ["POST", "PATCH"]
        assert writer.sent[1].body["series"]["count"] == 2


def lease(name: str, renewed: str, holder: str = "host_1") -> Lease:
    metadata = ObjectMeta(name=name, namespace="kube-system")
    return Lease(metadata=metadata, spec=LeaseSpec(holder, 15, renewed, renewed))


LATER = datetime(2026, 1, 2, 3, 4, 15, tzinfo=UTC)


class TestServing:
    @pytest.mark.parametrize(
        ("leases", "state"),
        [
            ((), UNKNOWN),
            ((lease("kube-scheduler", NOW),), RUNNING),
            ((lease("kube-scheduler", "2026-01-02T03:03:00Z"),), STOPPED),
            ((lease("kube-scheduler", NOW, holder=""),), STOPPED),
            ((lease("somebody-else", NOW),), UNKNOWN),
            ((lease("kubectl-sched-default-scheduler", NOW),), RUNNING),
        ],
    )
    def test_a_lease_tells_whether_the_default_scheduler_runs(self, leases: tuple[Lease, ...], state: str) -> None:
        dump = Dump(objects=leases)
        assert active_scheduler(Pod(), dump, ClusterSchedulers(dump, Replay(kube_version="1.36")), LATER).state == state


def test_what_an_earlier_attempt_left_is_named() -> None:
    waits: Any = decoded(
        {
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "default", "uid": "u"},
            "spec": {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
            "status": {"nominatedNodeName": "n1"},
        }
    )
    annotations = {"volume.kubernetes.io/selected-node": "n1"}
    unbound = claim("c", metadata={"uid": "c-uid", "annotations": annotations})
    aside = volume(
        "v1", claimRef={"kind": "PersistentVolumeClaim", "name": "c", "namespace": "default", "uid": "c-uid"}
    )
    assert leftovers(waits, [unbound, aside, volume("v2")]) == (
        "it is nominated to node n1",
        "claim default/c has node n1 selected",
        "volume v1 is set aside for claim default/c",
    )


PLAN = BindingPlan(
    pod="default/p",
    node="n1",
    summary="default/p lands on n1",
    serving=(UNKNOWN, "neither a Lease nor a pod of a scheduler tells"),
    writes=(
        PlannedWrite(method="POST", path="/a/long/path", what="bind it"),
        PlannedWrite(method="PATCH", path="/b", what="say so"),
    ),
    leftovers=("claim c has node n1 selected",),
)


def test_the_plan_names_every_request() -> None:
    assert list(plan_lines(PLAN)) == [
        "default/p lands on n1",
        "",
        "scheduler    unknown: neither a Lease nor a pod of a scheduler tells",
        "left before  claim c has node n1 selected",
        "writes       bind it  POST /a/long/path",
        "             say so   PATCH /b",
    ]


def test_in_a_narrow_terminal_a_request_stands_below_what_it_does() -> None:
    assert list(plan_lines(PLAN, 36))[2:] == [
        "scheduler    unknown: neither a",
        "             Lease nor a pod of a",
        "             scheduler tells",
        "left before  claim c has node n1",
        "             selected",
        "writes       bind it",
        "               POST /a/long/path",
        "             say so",
        "               PATCH /b",
    ]


def test_the_question_warns_where_nobody_knows_who_serves_the_pod() -> None:
    assert question(PLAN) == (
        "Whether a scheduler serves it is not known (neither a Lease nor a pod of a scheduler tells).\n"
        "Bind default/p to n1? [y/N] "
    )


def test_names_out_of_the_cluster_cannot_move_the_cursor() -> None:
    plan = BindingPlan(
        pod="default/p",
        node="n\x1b[2J",
        summary="it lands",
        serving=("stopped", "\x1b[31m"),
        writes=(),
        leftovers=("\x07",),
    )
    assert not any("\x1b" in line or "\x07" in line for line in (*plan_lines(plan), question(plan)))
