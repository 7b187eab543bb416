"""Preemption: who may preempt, who would go, and on which node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from kubectl_sched.api.policy import PodDisruptionBudget
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.framework.cycle_budget import ANSWER, SERVICE
from kubectl_sched.plugins.default_preemption import dry_run
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.scheduler.cycles import explain

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_budget import CycleLimits
    from kubectl_sched.scheduler.result import ScheduleResult

FOUR_CPUS = {"cpu": "4", "memory": "16Gi", "pods": "110"}


def running(name: str, on: str, cpu: str = "1", priority: int = 0, **more: Any) -> Pod:
    status = {"phase": "Running", "startTime": more.pop("started", "2026-01-01T00:00:00Z"), **more.pop("status", {})}
    metadata = {"labels": {"app": name.partition("-")[0]}, **more.pop("metadata", {})}
    return pod(name, on=on, priority=priority, metadata=metadata, status=status, **requests(cpu=cpu), **more)


def budget(app: str, allowed: int, **status: Any) -> PodDisruptionBudget:
    return msgspec.convert(
        {
            "metadata": {"name": f"{app}-pdb", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"disruptionsAllowed": allowed, **status},
        },
        PodDisruptionBudget,
    )


def preempt(incoming: Pod, *objects: KubernetesObject, version: str = "1.36") -> tuple[str | None, set[str], str]:
    result = explain(incoming, *objects, version=version)
    assert result.post_filter is not None
    victims = {victim.name for victim in result.post_filter.victims}
    return result.post_filter.nominated_node, victims, result.post_filter.status.message


def test_as_many_as_possible_are_spared_the_most_important_first() -> None:
    pods = [running("low", "w1", priority=1), running("mid", "w1", "2", priority=2), running("high", "w1", priority=3)]
    chosen = preempt(pod(priority=9, **requests(cpu="1")), node("w1", allocatable=FOUR_CPUS), *pods)
    assert chosen[:2] == ("w1", {"low"})


def test_equal_priority_is_no_victim() -> None:
    full = running("full", "w1", "4", priority=9)
    node_name, victims, message = preempt(pod(priority=9, **requests(cpu="1")), node("w1", allocatable=FOUR_CPUS), full)
    assert (node_name, victims) == ("", set())
    assert message == (
        "no new claims to deallocate, preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod."
    )


def test_a_request_above_the_whole_node_cannot_be_helped() -> None:
    full = running("full", "w1", "4")
    _, _, message = preempt(pod(priority=9, **requests(cpu="5")), node("w1", allocatable=FOUR_CPUS), full)
    assert message.endswith("0/1 nodes are available: 1 Preemption is not helpful for scheduling.")


def test_a_budget_that_would_be_violated_is_spared_first() -> None:
    pods = [running("kept-0", "w1", "2", priority=1), running("free-0", "w1", "2", priority=5)]
    chosen = preempt(
        pod(priority=9, **requests(cpu="2")), node("w1", allocatable=FOUR_CPUS), *pods, budget("kept", allowed=0)
    )
    assert chosen[1] == {"free-0"}


def test_a_pod_whose_disruption_is_counted_already_violates_nothing() -> None:
    pods = [running("kept-0", "w1", "2", priority=1), running("free-0", "w1", "2", priority=5)]
    processed = budget("kept", allowed=0, disruptedPods={"kept-0": "2026-01-01T00:00:00Z"})
    chosen = preempt(pod(priority=9, **requests(cpu="2")), node("w1", allocatable=FOUR_CPUS), *pods, processed)
    assert chosen[1] == {"kept-0"}


@pytest.mark.parametrize(
    ("on_w1", "on_w2", "winner"),
    [
        pytest.param([("kept-0", "4", 1)], [("free-0", "4", 5)], "w2", id="fewest budget violations"),
        pytest.param([("a-0", "4", 5)], [("b-0", "4", 1)], "w2", id="lowest priority of the most important victim"),
        pytest.param(
            [("a-0", "2", 5), ("a-1", "2", 4)], [("b-0", "2", 5), ("b-1", "2", 1)], "w2", id="lowest sum of priorities"
        ),
        pytest.param([("a-0", "4", -1)], [("b-0", "2", -1), ("b-1", "2", -1)], "w1", id="fewest victims"),
    ],
)
def test_the_node_where_the_least_is_lost(
    on_w1: list[tuple[str, str, int]], on_w2: list[tuple[str, str, int]], winner: str
) -> None:
    pods = [
        running(name, on, cpu, priority) for on, each in (("w1", on_w1), ("w2", on_w2)) for name, cpu, priority in each
    ]
    nodes = [node("w1", allocatable=FOUR_CPUS), node("w2", allocatable=FOUR_CPUS)]
    chosen = preempt(pod(priority=9, **requests(cpu="4")), *nodes, *pods, budget("kept", allowed=0))
    assert chosen[0] == winner


def test_the_last_criterion_is_the_latest_start() -> None:
    pods = [
        running("old", "w1", "4", started="2026-01-01T00:00:00Z"),
        running("new", "w2", "4", started="2026-01-02T00:00:00Z"),
    ]
    nodes = [node("w1", allocatable=FOUR_CPUS), node("w2", allocatable=FOUR_CPUS)]
    assert preempt(pod(priority=9, **requests(cpu="4")), *nodes, *pods)[0] == "w2"


def test_a_pod_that_never_preempts() -> None:
    full = running("full", "w1", "4")
    incoming = pod(priority=9, preemptionPolicy="Never", **requests(cpu="1"))
    node_name, _, message = preempt(incoming, node("w1", allocatable=FOUR_CPUS), full)
    assert node_name is None
    assert message == "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never."


def test_a_pod_waits_while_its_victims_are_on_their_way_out() -> None:
    leaving = running(
        "leaving",
        "w1",
        "4",
        metadata={"deletionTimestamp": "2026-01-01T00:00:30Z"},
        status={"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]},
    )
    incoming = pod(priority=9, status={"nominatedNodeName": "w1"}, **requests(cpu="1"))
    _, _, message = preempt(incoming, node("w1", allocatable=FOUR_CPUS), leaving)
    assert message == (
        "no new claims to deallocate, preemption: not eligible due to a terminating pod on the nominated node."
    )


def test_one_of_two_pods_on_a_host_port_frees_it_for_all() -> None:
    """NodeInfo keeps each port once, so that the victim takes it along although the other pod stays."""
    port: dict[str, Any] = {"containers": [{"name": "main", "ports": [{"hostPort": 80}]}]}
    stays = pod("stays", on="w1", priority=9, **port)
    goes = pod("goes", on="w1", priority=0, **port)
    chosen = preempt(pod(priority=5, **port), node("w1"), stays, goes)
    assert chosen[:2] == ("w1", {"goes"})


cpu = st.sampled_from(["500m", "1", "2", "3"])
pods_of_a_node = st.lists(st.tuples(cpu, st.integers(0, 3), st.sampled_from(["a", "b", "c"])), max_size=6)


@settings(deadline=None)
@given(st.lists(pods_of_a_node, min_size=1, max_size=5), cpu, st.integers(-1, 2))
def test_all_nodes_together_come_to_the_same_as_one_after_the_other(
    cluster: list[list[tuple[str, int, str]]], wanted: str, allowed: int
) -> None:
    nodes = [node(f"w{index}", allocatable=FOUR_CPUS) for index in range(len(cluster))]
    pods = [
        running(f"{app}-{row}-{index}", f"w{row}", asked, priority)
        for row, each in enumerate(cluster)
        for index, (asked, priority, app) in enumerate(each)
    ]
    result = explain(pod(priority=2, **requests(cpu=wanted)), *nodes, *pods, budget("a", allowed=allowed))
    if result.fits:
        return
    together = result.post_filter
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dry_run.DryRun, "_frees_shared_ports", lambda _self, _trial: True)
        alone = explain(
            pod(priority=2, **requests(cpu=wanted)), *nodes, *pods, budget("a", allowed=allowed)
        ).post_filter
    assert together is not None
    assert alone is not None
    key = lambda candidate: candidate.node_name  # noqa: E731 - short, and used twice
    assert sorted(together.candidates, key=key) == sorted(alone.candidates, key=key)
    assert together.status == alone.status


@pytest.mark.parametrize(("gate", "victims"), [(True, {"alone"}), (False, {"member"})])
def test_pods_of_a_group_have_its_priority(gate: bool, victims: set[str]) -> None:
    group = msgspec.convert({"metadata": {"name": "g", "namespace": "default"}, "spec": {"priority": 500}}, PodGroup)
    member = running("member", "w1", "2", started="2026-01-02T00:00:00Z", schedulingGroup={"podGroupName": "g"})
    full = node("w1", allocatable=FOUR_CPUS), group, member, running("alone", "w1", "2")
    result = explain(pod(priority=9, **requests(cpu="1")), *full, version="1.37", GenericWorkload=gate)
    assert result.post_filter is not None
    assert {victim.name for victim in result.post_filter.victims} == victims


AWAY = {
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "low"}}, "topologyKey": "name"}
            ]
        }
    }
}


def preempting(limits: CycleLimits, count: int, **spec: Any) -> ScheduleResult:
    """A pod that has to preempt on one of so many nodes, each with a pod that has a say elsewhere."""
    nodes = [node(f"w{number}", allocatable=FOUR_CPUS, labels={"name": f"w{number}"}) for number in range(count)]
    pods = [running(f"low-{number}", f"w{number}", "4") for number in range(count)]
    configuration = load_configuration(None, KubeVersion.parse("1.36"))
    return Scheduler(configuration, snapshot(*nodes, *pods), limits=limits).schedule_one(pod(priority=9, **spec))


@pytest.mark.parametrize("spec", [requests(cpu="1"), {**requests(cpu="1"), **AWAY}], ids=["together", "alone"])
def test_a_scheduler_stops_after_enough_candidates_and_an_answer_does_not(spec: dict[str, Any]) -> None:
    for limits, candidates in ((SERVICE, 100), (ANSWER, 250)):
        result = preempting(limits, 250, **spec)
        assert result.post_filter is not None
        assert result.post_filter.nominated_node
        assert len(result.post_filter.candidates) == candidates


def test_where_others_wait_a_dry_run_may_take_no_more_than_a_cycle_and_its_end_is_named() -> None:
    assert SERVICE.of_dry_run(150_000) == SERVICE
    assert ANSWER.of_dry_run(150_000).steps > 2 * ANSWER.steps
    narrow = structs.replace(SERVICE, steps=3_000)
    result = preempting(narrow, 90, **requests(cpu="1"), **AWAY)
    assert result.outcome is Outcome.UNKNOWN
    assert result.budget_ended == (
        "the dry run of its preemption needs more than 3,000 steps of work, the most that one cycle may take"
    )
    assert (result.event, result.best) == (None, ())
    answer = preempting(structs.replace(narrow, keeps_time=False), 90, **requests(cpu="1"), **AWAY)
    assert answer.outcome is Outcome.UNSCHEDULABLE
