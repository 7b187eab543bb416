"""Which changes wake which pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_sched.binding.second_scheduler.cluster_events import (
    REGISTERED,
    Action,
    ClusterEvent,
    cluster_event,
    may_help,
)
from kubectl_sched.config import load_configuration
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject

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


@pytest.mark.parametrize(
    ("event", "plugins", "expected"),
    [
        (ClusterEvent("Node", Action.NODE_LABEL), {"NodeAffinity"}, True),
        (ClusterEvent("Node", Action.NODE_TAINT), {"NodeAffinity"}, False),
        (ClusterEvent("Node", Action.NODE_TAINT | Action.NODE_LABEL), {"NodeAffinity"}, True),
        (ClusterEvent("Pod", Action.DELETE), {"NodeAffinity", "NodeResourcesFit"}, True),
        (ClusterEvent("Pod", Action.ADD), {"NodeResourcesFit"}, False),
        (ClusterEvent("Pod", Action.ADD), {"InterPodAffinity"}, True),
        (ClusterEvent("Service", Action.ADD), set(), True),
        (ClusterEvent("Service", Action.ADD), {"OfSomebodyElse"}, True),
    ],
)
def test_an_event_helps_those_whose_plugins_care(event: ClusterEvent, plugins: set[str], expected: bool) -> None:
    assert may_help(event, plugins) is expected


def test_every_plugin_that_can_reject_a_pod_says_what_may_help() -> None:
    profile = load_configuration().profiles["default-scheduler"]
    points = ("preEnqueue", "preFilter", "filter")
    rejecting = {ref.name for point in points for ref in profile.plugins[point]} - {"DefaultPreemption"}
    assert rejecting <= REGISTERED.keys()
