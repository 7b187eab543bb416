"""A scheduler that is asked to end does so in the middle of a cycle, however long that would take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from kubectl_sched.api.resource import DeviceClass
from kubectl_sched.binding.second_scheduler.cluster_events import Action, ClusterEvent, Happened
from kubectl_sched.binding.second_scheduler.loop_messages import Stop
from kubectl_sched.binding.second_scheduler.queued_pod import Place
from kubectl_sched.binding.second_scheduler.queueing_hints import PluginHints
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.framework.cycle_budget import SERVICE, UNLIMITED, BudgetEnded, Cancellation, CycleBudget, CycleLimits
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.binding.second_scheduler.test_podgroup_attempts import NAME, Cluster, group, members, small
from tests.plugins.clusters import node, pod, snapshot
from tests.scheduler.test_cycle_budget import devices_of, picky_claim

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod

LOOKS = 5_000
"""A search for devices that nobody has looks at the request to end many millions of times."""


class ComesInTheMiddle(Cancellation):
    """SIGTERM, after the cycle under way has looked for it so many times."""

    __slots__ = ("cluster", "looks")
    cluster: EndlessCluster

    def __init__(self) -> None:
        super().__init__()
        self.looks = 0

    @property
    def is_asked(self) -> bool:
        """Count how often the cycle looks."""
        self.looks += 1
        if self.looks == LOOKS:
            self.cluster.loop.ask_to_stop(Stop("SIGTERM"))
        return super().is_asked


class EndlessCluster(Cluster):
    """A loop over nodes on which the search for devices never ends, and whose cycles have no other limit."""

    def __init__(self, minor: str) -> None:
        cancellation = ComesInTheMiddle()
        cancellation.cluster = self
        self.limits = CycleLimits(steps=UNLIMITED.steps, memory=UNLIMITED.memory, cancellation=cancellation)
        super().__init__(minor)
        any_device = msgspec.convert({"metadata": {"name": "any"}, "spec": {}}, DeviceClass)
        self.tell(small("w1"), devices_of("w1"), any_device, picky_claim())


CLAIMS = [{"name": "c", "resourceClaimName": "picky"}]


@pytest.mark.parametrize("minor", ["1.35", "1.36", "1.37"])
def test_the_cycle_of_a_pod_ends_and_nothing_is_said_of_it(minor: str) -> None:
    ends_in_the_middle(EndlessCluster(minor), [pod("alone", resourceClaims=CLAIMS)])


@pytest.mark.parametrize("minor", ["1.36", "1.37"])
def test_the_cycle_of_a_group_ends_and_nothing_is_said_of_it(minor: str) -> None:
    cluster = EndlessCluster(minor)
    cluster.tell(group(minimum=2))
    ends_in_the_middle(cluster, members(2, cpu="1", resourceClaims=CLAIMS))


def ends_in_the_middle(cluster: Cluster, waiting: list[Pod]) -> None:
    cluster.tell(*waiting)
    assert cluster.loop.run() == Stop("SIGTERM")
    assert cluster.queue.keys(Place.IN_FLIGHT) == {each.key for each in waiting}, "nobody else decides about them"
    recorder = cluster.recorder
    assert (recorder.taken(), recorder.told, recorder.conditions, recorder.overdrafts) == ({}, [], [], [])


def test_no_limits_that_follow_from_others_outlive_them() -> None:
    limits = CycleLimits(steps=SERVICE.steps, memory=SERVICE.memory, cancellation=Cancellation())
    assert limits.cancellation is not None
    following = [limits, limits.of_group, limits.of_dry_run(9)]
    for each in following:
        CycleBudget(each).spend(1)
    limits.cancellation.ask()
    for each in following:
        with pytest.raises(BudgetEnded, match="cancelled"):
            CycleBudget(each).spend(0)


def test_pods_that_wait_are_asked_nothing_more() -> None:
    limits = CycleLimits(steps=SERVICE.steps, memory=SERVICE.memory, cancellation=Cancellation())
    assert limits.cancellation is not None
    nodes = snapshot(node("w1"))
    framework = Scheduler(load_configuration(None, KubeVersion.parse("1.36")), nodes, limits=limits).framework(NAME)
    assert framework is not None
    hints = PluginHints({NAME: framework}, lambda: nodes)
    selects = pod(nodeSelector={"zone": "a"})
    came = Happened(ClusterEvent("Node", Action.ADD), None, node("w2"))
    assert not hints.helps("NodeAffinity", selects, came)
    limits.cancellation.ask()
    assert hints.helps("NodeAffinity", selects, came), "as if the hint had failed"
