"""Which changes wake which pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_sched.binding.second_scheduler.cluster_events import (
    REGISTERED,
    Action,
    ClusterEvent,
    Happened,
    cluster_event,
    pending_pod_events,
)
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints
from kubectl_sched.config import load_configuration
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from kubectl_sched.api.core import Node
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod

WAITING = pod("a")
RUNNING = pod("a", on="w1", **requests(cpu="2"))
SMALLER = pod("a", on="w1", **requests(cpu="1"))
LABELLED = pod("a", on="w1", metadata={"labels": {"app": "x"}}, **requests(cpu="2"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, node(), ClusterEvent("Node", Action.ADD)),
        (node(), None, ClusterEvent("Node", Action.DELETE)),
        (node(), node(labels={"zone": "a"}), ClusterEvent("Node", Action.NODE_LABEL)),
        (node(), node(allocatable={"cpu": "9"}), ClusterEvent("Node", Action.NODE_ALLOCATABLE)),
        (node(unschedulable=True), node(), ClusterEvent("Node", Action.NODE_TAINT)),
        (node(), node(conditions=[{"type": "Ready", "status": "True"}]), None),
        (None, WAITING, ClusterEvent("PendingPod", Action.ADD)),
        (WAITING, RUNNING, ClusterEvent("Pod", Action.ADD)),
        (RUNNING, None, ClusterEvent("Pod", Action.DELETE)),
        (RUNNING, SMALLER, ClusterEvent("Pod", Action.POD_REQUESTS)),
        (RUNNING, LABELLED, ClusterEvent("Pod", Action.POD_LABEL)),
        (WAITING, WAITING, None),
        (RUNNING, RUNNING, None),
    ],
    ids=str,
)
def test_a_change_is_one_event_or_none(
    old: KubernetesObject | None, new: KubernetesObject | None, expected: ClusterEvent | None
) -> None:
    assert cluster_event(old, new) == expected


HINTS = PluginHints(REGISTERED)


@pytest.mark.parametrize(
    ("event", "plugin", "expected"),
    [
        (ClusterEvent("Node", Action.NODE_LABEL), "NodeAffinity", True),
        (ClusterEvent("Node", Action.NODE_TAINT), "NodeAffinity", False),
        (ClusterEvent("Node", Action.NODE_TAINT | Action.NODE_LABEL), "NodeAffinity", True),
        (ClusterEvent("Pod", Action.DELETE), "NodeResourcesFit", True),
        (ClusterEvent("Pod", Action.DELETE), "DefaultPreemption", False),
        (ClusterEvent("Pod", Action.ADD), "NodeResourcesFit", False),
        (ClusterEvent("Pod", Action.ADD), "InterPodAffinity", True),
        (ClusterEvent("Service", Action.ADD), "OfSomebodyElse", True),
    ],
)
def test_an_event_helps_those_whose_plugins_care(event: ClusterEvent, plugin: str, expected: bool) -> None:
    assert HINTS.helps(plugin, WAITING, Happened(event)) is expected


def test_only_events_that_a_plugin_of_the_profile_has_registered_are_of_interest() -> None:
    hints = PluginHints({"NodeAffinity"})
    assert hints.is_of_interest(ClusterEvent("Node", Action.NODE_LABEL))
    assert not hints.is_of_interest(ClusterEvent("Pod", Action.DELETE))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (node(unschedulable=True), node(), True),
        (node(taints=[{"key": "a", "effect": "NoSchedule"}]), node(), False),
        (None, node(), True),
        (None, node(unschedulable=True), False),
    ],
    ids=str,
)
def test_a_cordoned_nodes_pods_wait_for_it_to_be_uncordoned(old: Node | None, new: Node, expected: bool) -> None:
    event = ClusterEvent("Node", Action.ADD | Action.NODE_TAINT)
    assert HINTS.helps("NodeUnschedulable", WAITING, Happened(event, old, new)) is expected


@pytest.mark.parametrize(
    ("after", "plugin"),
    [
        (pod("a", tolerations=[{"operator": "Exists"}]), "TaintToleration"),
        (pod("a", metadata={"labels": {"app": "x"}}), "InterPodAffinity"),
        (pod("a", **requests(cpu="1")), "NodeResourcesFit"),
    ],
)
def test_a_change_of_the_pod_itself_helps_it_and_nobody_else(after: Pod, plugin: str) -> None:
    (event,) = pending_pod_events(WAITING, after)
    assert HINTS.helps(plugin, after, Happened(event, WAITING, after))
    assert not HINTS.helps(plugin, pod("b"), Happened(event, WAITING, after))
    assert not HINTS.helps("NodeAffinity", after, Happened(event, WAITING, after))


def test_a_change_that_no_plugin_reads_is_a_plain_update() -> None:
    assert pending_pod_events(WAITING, WAITING) == [ClusterEvent("PendingPod", Action.UPDATE)]


def test_every_plugin_that_can_reject_a_pod_says_what_may_help() -> None:
    profile = load_configuration().profiles["default-scheduler"]
    points = ("preEnqueue", "preFilter", "filter")
    rejecting = {ref.name for point in points for ref in profile.plugins[point]}
    assert rejecting <= REGISTERED.keys()
