"""Gangs of Kubernetes 1.35: which pods wait in Permit, for how long, and what becomes of them."""

from __future__ import annotations

from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.api.scheduling import Workload
from kubectl_sched.binding.preemption_executor import preemption_of
from kubectl_sched.binding.second_scheduler.binding_workers import Binder
from kubectl_sched.binding.second_scheduler.loop_messages import (
    LastVictim,
    Message,
    PreemptionEnded,
    WaitingPodPreempted,
)
from kubectl_sched.binding.second_scheduler.queued_pod import Place
from tests.binding.second_scheduler.test_podgroup_attempts import Cluster, small
from tests.e2e.patience import until
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests
from tests.scheduler.cycles import explain

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.writer import Writer
    from tests.binding.api_server import ApiServer

TIMED_OUT = "0/1 nodes are available: 1 rejected due to timeout after waiting {} at plugin GangScheduling."


def workload(name: str, **minimums: int | None) -> Workload:
    """One with a group for each minimum, of the basic policy without one."""
    groups: list[dict[str, Any]] = [
        {"name": of, "policy": {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}}
        for of, minimum in minimums.items()
    ]
    return msgspec.convert(
        {"metadata": {"name": name, "namespace": "default"}, "spec": {"podGroups": groups}}, Workload
    )


def members(count: int, of: str = "train", group: str = "a", replica: str = "", **spec: Any) -> list[Pod]:
    part = {"name": of, "podGroup": group, "podGroupReplicaKey": replica}
    wanted = {**requests(cpu="3"), **spec}
    return [pod(f"{of}-{group}{replica}-{index}", workloadRef=part, **wanted) for index in range(count)]


def arrive(cluster: Cluster, *pods: Pod) -> None:
    """Tell of pods one after the other, so that the queue has them in this order."""
    for each in pods:
        cluster.now += 0.125
        cluster.tell(each)


def deleted(item: Pod) -> Pod:
    return structs.replace(item, metadata=structs.replace(item.metadata, deletion_timestamp="2026-01-01T00:00:00Z"))


def waiting(cluster: Cluster) -> set[str]:
    return set(cluster.recorder.held)


def test_a_pod_waits_with_its_node_until_the_quorum_is_there_and_then_all_are_bound() -> None:
    cluster = Cluster("1.35")
    pods = members(3)
    cluster.tell(small("n1"), small("n2"), workload("train", a=3))
    arrive(cluster, *pods)
    assert cluster.decide() == {}
    assert waiting(cluster) == {each.metadata.uid for each in pods[:2]}
    assert set(cluster.recorder.held.values()) == {"n1", "n2"}, "each is nominated to its node"
    assert cluster.queue.keys(Place.IN_FLIGHT) == {each.key for each in pods[:2]}
    cluster.tell(pod("other", **requests(cpu="3")))
    assert cluster.decide() == {}, "what waits holds its room"
    cluster.tell(small("n3"), small("n4"))
    assert set(cluster.later(3).values()) == {"n1", "n2", "n3", "n4"}
    assert not waiting(cluster)


def test_pods_without_a_gang_do_not_wait() -> None:
    cluster = Cluster("1.35")
    cluster.tell(small("n1"), small("n2"), workload("train", a=None), *members(1), pod("alone", **requests(cpu="3")))
    assert set(cluster.decide()) == {"train-a-0", "alone"}


def test_a_gang_is_gated_until_its_workload_and_its_pods_are_there() -> None:
    cluster = Cluster("1.35")
    first, second = members(2)
    cluster.tell(small("n1"), small("n2"), first)
    cluster.decide()
    assert cluster.queue.keys(Place.GATED) == {first.key}
    cluster.tell(workload("other", a=1), workload("train", a=2), *members(1, replica="r"), *members(1, "other", "b"))
    assert cluster.decide() == {}
    assert first.key in cluster.queue.keys(Place.GATED), "pods of another replica do not count"
    cluster.tell(second)
    assert set(cluster.decide()) == {first.name, second.name}


def test_pods_that_have_a_node_count_for_the_quorum() -> None:
    cluster = Cluster("1.35")
    first, second, third = members(3)
    on_node = structs.replace(first, spec=structs.replace(first.spec, node_name="n1"))
    cluster.tell(small("n1"), small("n2"), small("n3"), workload("train", a=2))
    arrive(cluster, on_node, second, third)
    assert set(cluster.decide()) == {second.name, third.name}


def test_at_the_deadline_of_the_first_all_that_wait_are_rejected_and_later_tried_anew() -> None:
    cluster = Cluster("1.35")
    pods = members(3)
    cluster.tell(small("n1"), workload("train", a=3))
    arrive(cluster, *pods)
    cluster.now = 1.0
    cluster.decide()
    cluster.now = 60.5
    cluster.tell(small("n2"))
    cluster.decide()
    assert len(waiting(cluster)) == 2
    assert cluster.pods.gangs is not None
    assert cluster.pods.gangs.ends_at() == 301.0
    cluster.recorder.told.clear()
    cluster.now = 300.9
    cluster.decide()
    assert cluster.recorder.told == []
    cluster.now = 301.0
    cluster.loop.decide()
    assert cluster.recorder.told == [
        (pods[0].name, TIMED_OUT.format("5m0s")),
        (pods[1].name, TIMED_OUT.format("4m0.5s")),
    ]
    cluster.later(12)
    assert len(waiting(cluster)) == 2, "what has rejected the one makes room for another"
    ends = cluster.pods.gangs.ends_at()
    assert ends is not None
    assert 601.0 < ends <= 613.0
    cluster.tell(small("n3"))
    assert set(cluster.later(12)) == {each.name for each in pods}


def test_what_waits_in_vain_leaves_its_room_to_others() -> None:
    cluster = Cluster("1.35")
    first, second = members(2)
    cluster.tell(small("n1"), workload("train", a=2))
    arrive(cluster, first, second)
    cluster.decide()
    arrive(cluster, pod("other", **requests(cpu="3"), priority=1))
    assert cluster.decide() == {}
    cluster.tell(second, gone=True)
    cluster.now = 300.25
    cluster.loop.decide()
    assert first.key in cluster.queue.keys(Place.UNSCHEDULABLE), "no event helps it"
    assert cluster.later(12) == {"other": "n1"}


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_pod_that_is_deleted_waits_no_longer(is_gone: bool) -> None:
    cluster = Cluster("1.35")
    first, second = members(2)
    cluster.tell(small("n1"), workload("train", a=2))
    arrive(cluster, first, second)
    cluster.decide()
    assert waiting(cluster) == {first.metadata.uid}
    cluster.recorder.told.clear()
    cluster.tell(first if is_gone else deleted(first), gone=is_gone)
    assert cluster.recorder.told == [(first.name, "0/1 nodes are available: 1 removed.")]
    assert not waiting(cluster)
    assert (first.key in cluster.queue) is not is_gone
    cluster.tell(pod("other", **requests(cpu="3")))
    found = cluster.later(3)
    assert found == {"other": "n1"} or waiting(cluster) == {second.metadata.uid}, "its room is free"


def test_a_gang_that_is_gone_has_no_deadline() -> None:
    cluster = Cluster("1.35")
    pods = members(2)
    cluster.tell(small("n1"), workload("train", a=2))
    arrive(cluster, *pods)
    cluster.decide()
    cluster.tell(*pods, gone=True)
    cluster.now = 200.0
    cluster.tell(*members(2))
    cluster.decide()
    assert cluster.pods.gangs is not None
    assert cluster.pods.gangs.ends_at() == cluster.now + 300.0


def test_a_pod_that_somebody_else_binds_waits_no_longer() -> None:
    cluster = Cluster("1.35")
    first, second = members(2)
    cluster.tell(small("n1"), workload("train", a=2))
    arrive(cluster, first, second)
    cluster.decide()
    (uid,) = waiting(cluster)
    assert uid == first.metadata.uid
    cluster.tell(structs.replace(first, spec=structs.replace(first.spec, node_name="n1")))
    assert not waiting(cluster)
    cluster.tell(small("n2"))
    assert cluster.later(3) == {second.name: "n2"}


def test_gangs_that_hold_one_anothers_room_wait_until_one_gives_way() -> None:
    cluster = Cluster("1.35")
    cluster.tell(small("n1"), small("n2"), workload("x", a=2), workload("y", a=2))
    x, y = members(2, "x"), members(2, "y")
    arrive(cluster, x[0], y[0], x[1], y[1])
    cluster.decide()
    assert waiting(cluster) == {x[0].metadata.uid, y[0].metadata.uid}
    assert cluster.later(20) == {}
    cluster.tell(y[0], gone=True)
    assert set(cluster.later(3)) >= {x[0].name, x[1].name}


def test_two_replicas_of_a_group_have_their_own_quorums() -> None:
    cluster = Cluster("1.35")
    r, s = members(2, replica="r"), members(2, replica="s")
    cluster.tell(small("n1"), small("n2"), small("n3"), workload("train", a=2))
    arrive(cluster, *r, *s)
    assert set(cluster.decide()) == {each.name for each in r}
    assert waiting(cluster) == {s[0].metadata.uid}


def test_the_quorum_of_one_gang_lets_no_other_pass() -> None:
    cluster = Cluster("1.35")
    x, y = [members(2, "x")[0], members(2, "x", **requests(cpu="1"))[1]], members(3, "y")
    cluster.tell(small("n1"), small("n2"), workload("x", a=2), workload("y", a=3))
    arrive(cluster, x[0], *y, x[1])
    assert set(cluster.decide()) == {each.name for each in x}
    assert waiting(cluster) == {y[0].metadata.uid}


def test_a_pod_that_is_preempted_while_it_waits_is_rejected() -> None:
    cluster = Cluster("1.35", preempts=True)
    first, second = members(2)
    cluster.tell(small("n1"), workload("train", a=2))
    arrive(cluster, first, second)
    cluster.decide()
    cluster.recorder.preempted.add(first.metadata.uid)
    cluster.tell(small("n2"))
    assert set(cluster.later(3)) == {second.name}, "the quorum came too late for it"
    cluster.recorder.told.clear()
    cluster.loop.take(WaitingPodPreempted(first.metadata.uid))
    assert cluster.recorder.told == [(first.name, "0/1 nodes are available: 1 preempted.")]
    cluster.loop.take(WaitingPodPreempted(first.metadata.uid))
    assert len(cluster.recorder.told) == 1


def test_a_victim_that_waits_in_permit_is_told_to_the_loop_and_not_deleted(server: ApiServer, writer: Writer) -> None:
    told = SimpleQueue[Message]()
    urgent = pod("urgent", priority=9, schedulerName="default-scheduler", **requests(cpu="2"))
    victim = pod("victim", on="n1", priority=1, schedulerName="default-scheduler", **requests(cpu="2"))
    room = node("n1", allocatable={"cpu": "2", "pods": "9"})
    preemption = preemption_of(explain(urgent, room, victim, version="1.35"))
    assert preemption is not None
    binder = Binder(writer, told.put, may_preempt=True)
    binder.hold(victim, "n1")
    nominated = [("PATCH", "/api/v1/namespaces/default/pods/victim/status")]
    until(lambda: server.writes == nominated)
    binder.preempt(preemption)
    said = [told.get(timeout=30) for _ in range(3)]
    binder.close()
    assert said == [
        LastVictim("uid-urgent"),
        WaitingPodPreempted("uid-victim"),
        PreemptionEnded("uid-urgent", ()),
    ]
    assert not binder.let_go("uid-victim"), "its binding cycle does not begin"
    assert server.writes == nominated
    (event,) = (body for _, path, body in server.sent if "/events" in path)
    assert event["note"] == "Preempted by pod uid-urgent on node n1"


@given(data=st.data())
@settings(max_examples=examples(25), deadline=None)
def test_whatever_comes_no_gang_is_bound_below_its_minimum_and_no_pod_is_lost(data: st.DataObject) -> None:
    cluster = Cluster("1.35")
    minimums = {"a": 1, "b": 2, "c": 3}
    cluster.tell(small("n1"), small("n2", cpu="8"), workload("train", **minimums))
    pods = {each.name: each for of in minimums for each in members(3, group=of)}
    there: set[str] = set()
    placed: dict[str, set[str]] = {of: set() for of in minimums}
    steps = ["come", "come", "go", "going", "end", "fail", "preempt", "later", "late"]
    for step in data.draw(st.lists(st.sampled_from(steps), max_size=30)):
        flying = cluster.recorder.flying.keys()
        if step == "come":
            name = data.draw(st.sampled_from(sorted(pods)))
            if name not in there:
                there.add(name)
                arrive(cluster, pods[name])
        elif step in {"go", "going"} and there - flying - set().union(*placed.values()):
            name = data.draw(st.sampled_from(sorted(there - flying - set().union(*placed.values()))))
            cluster.tell(deleted(pods[name]))
            if step == "go":
                there.discard(name)
                cluster.tell(pods[name], gone=True)
        elif step in {"end", "fail"} and flying:
            name = data.draw(st.sampled_from(sorted(flying)))
            cluster.bound(name, failed=step == "fail")
            if step == "end":
                placed[name.split("-")[1]].add(name)
        elif step == "preempt" and cluster.recorder.held:
            cluster.loop.take(WaitingPodPreempted(data.draw(st.sampled_from(sorted(cluster.recorder.held)))))
        else:
            cluster.now += 300.0 if step == "late" else 0.0
            before = set(cluster.recorder.flying)
            cluster.later(1)
            for of in {name.split("-")[1] for name in cluster.recorder.flying.keys() - before}:
                members_of = placed[of] | {name for name in cluster.recorder.flying if name.split("-")[1] == of}
                assert len(members_of) >= minimums[of]
        counts = cluster.queue.counts()
        assert sum(counts.values()) == len(cluster.queue) == len(there) - sum(map(len, placed.values()))
        held = {pods[name].metadata.uid for name in pods if pods[name].metadata.uid in cluster.recorder.held}
        assert counts[Place.IN_FLIGHT] == len(held) + len(cluster.recorder.flying)
