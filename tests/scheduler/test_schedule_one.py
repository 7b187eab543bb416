"""The result of a cycle by its plugins' answers; the texts are those of kube-scheduler 1.36."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from kubectl_sched.framework.fit_error import event_note
from kubectl_sched.framework.status import Code
from kubectl_sched.scheduler.result import Outcome
from tests.examples import examples
from tests.plugins.clusters import node, pod, requests
from tests.plugins.random_clusters import clusters, incoming_pods
from tests.scheduler.cycles import explain, explained, only, profile

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.pod import Pod

TAINTED: dict[str, Any] = {"taints": [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]}
ON_W1: dict[str, Any] = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["w1"]}]},
                ]
            }
        }
    }
}


def test_without_nodes_there_is_nothing_to_say_of_nodes() -> None:
    result = explain(pod())
    assert result.outcome is Outcome.UNSCHEDULABLE
    assert result.event == "no nodes available to schedule pods"


def test_each_reason_is_counted_and_the_counts_are_sorted_as_text() -> None:
    nodes = [node(f"w{index}", allocatable={"cpu": "1", "memory": "1Gi", "pods": "110"}) for index in range(10)]
    result = explain(pod(**requests(cpu="2", memory="2Gi")), *nodes, node("t1", **TAINTED), node("t2", **TAINTED))
    assert result.message == (
        "0/12 nodes are available: 10 Insufficient cpu, 10 Insufficient memory, 2 node(s) had untolerated taint(s)."
    )


def test_nodes_that_pre_filter_leaves_out_are_not_looked_at() -> None:
    result = explain(pod(**ON_W1, **requests(cpu="100")), node("w1"), node("w2"))
    assert result.pre_filter_nodes == frozenset({"w1"})
    assert result.verdict is not None
    assert result.verdict[1].reasons == ("node(s) didn't satisfy plugin(s) [NodeAffinity]",)
    assert result.verdict[1].plugin is None
    assert result.message == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    )


def test_a_rejection_of_the_pod_as_a_whole_stands_on_every_node() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "missing"}}]
    result = explain(pod(volumes=volumes), node("w1"), node("w2"))
    assert result.pre_filter.plugin == "VolumeRestrictions"
    assert result.verdict is not None
    assert {status.plugin for status in result.verdict} == {"VolumeRestrictions"}
    assert result.message == '0/2 nodes are available: persistentvolumeclaim "missing" not found.'


def test_post_filter_of_devices_finds_no_state_where_pre_filter_ended_before_it() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "missing"}}]
    result = explain(pod(volumes=volumes), node())
    assert result.event == '0/1 nodes are available: persistentvolumeclaim "missing" not found. not found'
    assert result.post_filter is not None
    assert result.post_filter.status.code is Code.ERROR


def test_the_node_that_a_pod_is_nominated_to_wins_unseen() -> None:
    full = pod("full", on="w1", **requests(cpu="7"))
    result = explain(pod(status={"nominatedNodeName": "w1"}, **requests(cpu="1")), node("w1"), node("w2"), full)
    assert result.nominated_first == "w1"
    assert result.best == ("w2",)


def test_the_nominated_node_is_looked_at_even_outside_what_pre_filter_leaves() -> None:
    small = node("w2", allocatable={"cpu": "1", "memory": "1Gi", "pods": "110"})
    result = explain(pod(status={"nominatedNodeName": "w2"}, **ON_W1, **requests(cpu="100")), node("w1"), small)
    assert result.verdict is not None
    assert result.verdict[1].plugin == "NodeAffinity"
    assert (
        result.message
        == "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector."
    )


@pytest.mark.parametrize(("priority", "fits"), [(10, True), (5, False), (1, False)])
def test_pods_of_equal_or_higher_priority_hold_the_node_that_they_are_nominated_to(priority: int, fits: bool) -> None:
    promised = pod("promised", status={"nominatedNodeName": "w1"}, priority=5, **requests(cpu="6"))
    result = explain(pod(priority=priority, **requests(cpu="6")), node("w1"), promised)
    assert result.fits is fits
    assert result.rejections(0) == ()


def test_gated_pods_are_not_nominated() -> None:
    gated = pod(
        "gated",
        status={"nominatedNodeName": "w1"},
        schedulingGates=[{"name": "wait"}],
        **requests(cpu="6"),
    )
    assert explain(pod(**requests(cpu="6")), node("w1"), gated).fits


def test_a_gated_pod_is_filtered_and_scored_all_the_same() -> None:
    result = explain(pod(schedulingGates=[{"name": "wait"}]), node("w1"))
    assert result.outcome is Outcome.GATED
    assert result.best == ("w1",)


def test_a_pod_that_is_being_deleted_is_left_alone() -> None:
    result = explain(pod(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}), node("w1"))
    assert result.outcome is Outcome.DELETING
    assert result.best == ("w1",)


def test_a_bound_pod_is_explained_without_itself() -> None:
    result = explain(pod(on="w1", **requests(cpu="8")), node("w1"))
    assert result.best == ("w1",)
    assert result.current_node == "w1"


def test_without_score_plugins_every_total_is_one() -> None:
    result = explained(pod(), node("w1"), node("w2"), config=profile(score=only()))
    assert result.result.totals.tolist() == [1, 1]
    assert any("first feasible node" in warning for warning in result.warnings)


def test_a_score_without_its_pre_score_fails_the_cycle() -> None:
    config = profile(preScore={"disabled": [{"name": "*"}]})
    result = explain(pod(), node("w1"), node("w2"), config=config)
    assert result.outcome is Outcome.ERROR
    assert result.error == (
        'running Score plugins: plugin "TaintToleration" failed with: '
        'failed to read "PreScoreTaintToleration" from cycleState: not found'
    )


@pytest.mark.parametrize("plugin", ["PodTopologySpread", "InterPodAffinity", "NodeResourcesFit", "NodePorts"])
def test_a_filter_without_its_pre_filter_fails_the_cycle_and_has_no_evidence(plugin: str) -> None:
    config = profile(preFilter={"disabled": [{"name": plugin}]})
    result = explain(pod(), node("w1"), config=config)
    assert result.outcome is Outcome.ERROR
    assert (result.error or "").startswith(f'running "{plugin}" filter plugin: ')
    assert [(status.plugin, status.code) for status in result.rejections(0)] == [(plugin, Code.ERROR)]
    assert result.filter_evidence(plugin, 0) == ()
    assert not result.has_met_a_bug


def test_with_one_feasible_node_kube_scheduler_never_gets_to_a_failing_score() -> None:
    config = profile(preScore={"disabled": [{"name": "*"}]})
    result = explained(pod(), node("w1"), config=config)
    assert result.result.outcome is Outcome.SCHEDULABLE
    assert any("PreScoreTaintToleration" in warning for warning in result.warnings)


def test_without_post_filter_plugins_nothing_is_added() -> None:
    result = explain(pod(**requests(cpu="100")), node("w1"), config=profile(postFilter=only()))
    assert result.post_filter is None
    assert result.event == "0/1 nodes are available: 1 Insufficient cpu."


def test_an_event_is_cut_at_1024_bytes_and_the_message_is_not() -> None:
    message = "ä" * 600
    assert len(event_note(message).encode()) <= 1024
    assert event_note(message).endswith(" ...")
    assert event_note("short") == "short"


def test_a_schedulername_that_no_profile_has() -> None:
    result = explain(pod(schedulerName="other"), node("w1"))
    assert result.outcome is Outcome.NO_PROFILE
    assert not len(result.feasible)


def test_the_queue_is_by_priority_and_then_by_age() -> None:
    def waiting(name: str, priority: int, minute: int) -> object:
        created = {"creationTimestamp": f"2026-01-01T00:{minute:02d}:00Z"}
        return pod(name, priority=priority, metadata=created, **requests(cpu="1"))

    others = [waiting("high", 10, 5), waiting("older", 0, 1), waiting("younger", 0, 9)]
    result = explained(pod(metadata={"creationTimestamp": "2026-01-01T00:03:00Z"}), node("w1"), *others)  # type: ignore[arg-type]
    assert result.queue_place is not None
    assert (result.queue_place.position, result.queue_place.length) == (3, 4)
    assert result.queue_place.higher_priority_ahead == 1


@given(clusters(), incoming_pods())
@settings(max_examples=examples(50))
def test_the_rejections_of_a_node_are_the_plugins_own_verdicts(cluster: tuple[list[Node], list[Pod]], it: Pod) -> None:
    nodes, existing = cluster
    result = explain(it, *nodes, *existing)
    for row in range(len(result.nodes)):
        verdicts = [(plugin, column[row]) for plugin, column in result.verdicts.items()]
        own = tuple(status.by(plugin) for plugin, status in verdicts if not status.is_success)
        assert result.rejections(row) == own
