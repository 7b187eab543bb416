"""The changes that wake waiting pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from kubectl_sched.api.component_helpers.pod_requests import scheduler_options
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.storage import PersistentVolumeClaim
from kubectl_sched.binding.second_scheduler.cache import Cache
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
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import node, pod, requests

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod

WAITING = pod("a")
RUNNING = pod("a", on="w1", **requests(cpu="2"))
SMALLER = pod("a", on="w1", **requests(cpu="1"))
CONFIG = "kubescheduler.config.k8s.io/v1"
NEEDED = ("NodeAffinity", "PrioritySort", "DefaultBinder")
TERM = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}}
WEB = pod("web", on="w1", metadata={"labels": {"app": "web"}})
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


def claim(name: str) -> PersistentVolumeClaim:
    return PersistentVolumeClaim(metadata=ObjectMeta(name=name, namespace="default"))


def hints_of(document: object = None) -> PluginHints:
    configuration = load_configuration(document)
    cache = Cache(scheduler_options(configuration.features.enabled))
    framework = Scheduler(configuration, cache.snapshot({})).framework("default-scheduler")
    assert framework is not None
    return PluginHints({"default-scheduler": framework}, cache.objects)


HINTS = hints_of()


@pytest.mark.parametrize(
    ("event", "plugin", "expected"),
    [
        (ClusterEvent("Node", Action.NODE_LABEL), "NodeAffinity", True),
        (ClusterEvent("Node", Action.NODE_TAINT | Action.NODE_LABEL), "NodeAffinity", True),
        (ClusterEvent("Node", Action.NODE_ALLOCATABLE), "NodeAffinity", False),
        (ClusterEvent("Pod", Action.DELETE), "NodeResourcesFit", True),
        (ClusterEvent("Pod", Action.ADD), "NodeResourcesFit", False),
        (ClusterEvent("Pod", Action.ADD), "InterPodAffinity", True),
        (ClusterEvent("Pod", Action.ADD), "ImageLocality", False),
    ],
)
def test_plugins_hear_of_the_events_that_they_have_registered(event: ClusterEvent, plugin: str, expected: bool) -> None:
    assert HINTS.is_registered(plugin, event) is expected


def test_only_events_that_a_plugin_of_the_profile_has_registered_are_of_interest() -> None:
    points = {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": each} for each in NEEDED]}}
    hints = hints_of({"apiVersion": CONFIG, "kind": "KubeSchedulerConfiguration", "profiles": [{"plugins": points}]})
    assert hints.is_of_interest(ClusterEvent("Node", Action.NODE_LABEL))
    assert not hints.is_of_interest(ClusterEvent("Pod", Action.DELETE))
    events = [ClusterEvent(each, action) for each in ("Node", "Pod", "PendingPod") for action in Action]
    for _ in range(2):
        assert [hints.is_of_interest(event) for event in events] == [
            any(hints.is_registered(plugin, event) for plugin in NEEDED) for event in events
        ]


CORDONED = node(unschedulable=True)
TAINTED = node(taints=[{"key": "a", "effect": "NoSchedule"}])
IN_ZONE_A = node(labels={"zone": "a"})
NEAR_WEB = pod("a", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}})
ALONE = pod("a", affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [TERM]}})
SPREAD = pod("a", topologySpreadConstraints=[{**TERM, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}])
WITH_PORT = pod("a", containers=[{"name": "c", "ports": [{"hostPort": 80, "containerPort": 80}]}])
WITH_CLAIM = pod("a", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])


@pytest.mark.parametrize(
    ("plugin", "waiting", "old", "new", "expected"),
    [
        ("NodeUnschedulable", WAITING, CORDONED, node(), True),
        ("NodeUnschedulable", WAITING, None, CORDONED, False),
        ("TaintToleration", WAITING, TAINTED, node(), True),
        ("TaintToleration", WAITING, None, TAINTED, False),
        ("NodeAffinity", pod("a", nodeSelector={"zone": "a"}), node(), IN_ZONE_A, True),
        ("NodeAffinity", pod("a", nodeSelector={"zone": "b"}), node(), IN_ZONE_A, False),
        ("NodeResourcesFit", pod("a", **requests(cpu="9")), node(), node(allocatable={"cpu": "9", "pods": "1"}), True),
        ("NodeResourcesFit", pod("a", **requests(cpu="9")), None, node(), False),
        ("NodeResourcesFit", pod("a", **requests(cpu="2")), RUNNING, SMALLER, True),
        ("NodeResourcesFit", pod("a", **requests(memory="1")), RUNNING, SMALLER, False),
        ("InterPodAffinity", NEAR_WEB, None, WEB, True),
        ("InterPodAffinity", NEAR_WEB, None, RUNNING, False),
        ("InterPodAffinity", ALONE, WEB, None, True),
        ("InterPodAffinity", ALONE, RUNNING, None, False),
        ("InterPodAffinity", NEAR_WEB, node(), IN_ZONE_A, True),
        ("InterPodAffinity", WAITING, node(), IN_ZONE_A, False),
        ("PodTopologySpread", SPREAD, WEB, None, True),
        ("PodTopologySpread", SPREAD, RUNNING, None, False),
        ("PodTopologySpread", SPREAD, IN_ZONE_A, None, True),
        ("PodTopologySpread", SPREAD, node(), None, False),
        ("NodePorts", WITH_PORT, structs.replace(WITH_PORT, spec=structs.replace(WITH_PORT.spec, node_name="n")), None,
         True),
        ("NodePorts", WITH_PORT, RUNNING, None, False),
        ("VolumeBinding", WITH_CLAIM, None, claim("data"), True),
        ("VolumeBinding", WITH_CLAIM, None, claim("other"), False),
        ("VolumeRestrictions", WITH_CLAIM, None, claim("other"), False),
    ],
    ids=str,
)  # fmt: skip
def test_an_object_that_cannot_help_wakes_nobody(
    plugin: str, waiting: Pod, old: KubernetesObject | None, new: KubernetesObject | None, expected: bool
) -> None:
    event = cluster_event(old, new)
    assert event is not None
    assert HINTS.is_registered(plugin, event)
    assert HINTS.helps(plugin, waiting, Happened(event, old, new)) is expected


@pytest.mark.parametrize(
    ("before", "after", "plugin"),
    [
        (WAITING, pod("a", tolerations=[{"operator": "Exists"}]), "TaintToleration"),
        (WAITING, pod("a", metadata={"labels": {"app": "x"}}), "InterPodAffinity"),
        (pod("a", **requests(cpu="2")), pod("a", **requests(cpu="1")), "NodeResourcesFit"),
    ],
)
def test_a_change_of_the_pod_itself_helps_it_and_nobody_else(before: Pod, after: Pod, plugin: str) -> None:
    (event,) = pending_pod_events(before, after)
    happened = Happened(event, before, after)
    assert HINTS.helps(plugin, after, happened)
    assert not HINTS.helps(plugin, pod("b"), happened)
    assert not HINTS.helps("NodeAffinity", after, happened)


def test_a_pod_that_asks_for_more_is_not_tried_again() -> None:
    after = pod("a", **requests(cpu="2"))
    (event,) = pending_pod_events(WAITING, after)
    assert not HINTS.helps("NodeResourcesFit", after, Happened(event, WAITING, after))


def test_a_change_that_no_plugin_reads_is_a_plain_update() -> None:
    assert pending_pod_events(WAITING, WAITING) == [ClusterEvent("PendingPod", Action.UPDATE)]


def test_every_plugin_that_can_reject_a_pod_says_what_may_help() -> None:
    profile = load_configuration().profiles["default-scheduler"]
    points = ("preEnqueue", "preFilter", "filter")
    rejecting = {ref.name for point in points for ref in profile.plugins[point]}
    assert rejecting <= REGISTERED.keys()
