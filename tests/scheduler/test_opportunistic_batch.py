"""The order of nodes that one cycle leaves goes to the next one alone, and to members of groups as the minor has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.scheduler.opportunistic_batch import HintedNode, OpportunisticBatch
from kubectl_sched.scheduler.scheduler import Scheduler
from kubectl_sched.simulation.placements import QueuedPod
from kubectl_sched.simulation.queue_simulation import Choices, Simulation
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.scheduler.cycles import profile, with_cycle

if TYPE_CHECKING:
    from kubectl_sched.scheduler.cycle_result import CycleResult

SIGNED = [
    {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}},
    {"name": "InterPodAffinity", "args": {"ignorePreferredTermsOfExistingPods": True}},
]
PORT = {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80}]}]}


class Course:
    """Equal pods with a host port, placed one after the other on four nodes; each node is full after one of them."""

    def __init__(self, minor: str, **gates: bool) -> None:
        on = {"GenericWorkload": True, **({"GangScheduling": True} if minor == "1.36" else {}), **gates}
        configuration = load_configuration(profile(pluginConfig=SIGNED), KubeVersion.parse(minor), on)
        self.nodes = snapshot(*(node(f"w{number}") for number in range(4)), version=minor)
        self.scheduler = Scheduler(configuration, self.nodes)
        self.batch = OpportunisticBatch()
        self.placed = 0

    def cycle(self, **spec: Any) -> CycleResult:
        self.placed += 1
        return with_cycle(self.scheduler.cycle(pod(f"web-{self.placed}", **{**PORT, **spec}), self.nodes))

    def place(self, **spec: Any) -> bool:
        """Place a pod; report whether it took the order of the one before."""
        result = self.cycle(**spec)
        hint = self.batch.hint(result)
        hinted = None if hint is None else HintedNode(hint, hint.names[0])
        name = result.best[0] if hinted is None else hinted.name
        self.batch.placed(result, name, hinted)
        self.nodes = self.nodes.assume(result.pod, self.nodes.row_of[name])
        return hinted is not None


@pytest.mark.parametrize("minor", ["1.35", "1.36", "1.37"])
def test_the_very_next_pod_takes_it_and_no_later_one(minor: str) -> None:
    course = Course(minor, **({"GangScheduling": False, "GenericWorkload": False} if minor == "1.35" else {}))
    course.batch.begin()
    assert not course.place()
    course.batch.begin()
    assert course.place()
    course.batch.begin(2)
    assert not course.place(), "another pod was popped in between"


@pytest.mark.parametrize(("minor", "takes"), [("1.36", False), ("1.37", True)])
def test_members_of_one_cycle(minor: str, takes: bool) -> None:
    course = Course(minor)
    course.batch.begin(2 if minor == "1.36" else 1)
    assert [course.place(), course.place()] == [False, takes]


def test_without_groups_no_two_pods_have_one_cycle() -> None:
    course = Course("1.37", GenericWorkload=False)
    course.batch.begin()
    assert [course.place(), course.place()] == [False, False]


@pytest.mark.parametrize("minor", ["1.36", "1.37"])
def test_the_pod_after_a_group_takes_the_order_of_its_last_member(minor: str) -> None:
    course = Course(minor)
    course.batch.begin(2 if minor == "1.36" else 1)
    course.place()
    course.place()
    course.batch.begin()
    assert course.place()


@pytest.mark.parametrize(("members", "takes"), [(1, True), (2, False)])
def test_up_to_1_36_only_a_single_member_takes_the_order_of_the_pod_before(members: int, takes: bool) -> None:
    course = Course("1.36")
    course.batch.begin()
    course.place()
    course.batch.begin(members)
    assert course.place() is takes


def test_the_first_member_takes_the_order_of_the_pod_before_since_1_37() -> None:
    course = Course("1.37")
    course.batch.begin()
    course.place()
    course.batch.begin()
    assert course.place()


def test_a_member_that_fits_nowhere_uses_up_one_node_of_the_order() -> None:
    course = Course("1.37")
    course.batch.begin()
    course.place()
    hint = course.batch.hint(course.cycle())
    assert hint is not None
    course.batch.passed_over(HintedNode(hint, hint.names[0]))
    again = course.batch.hint(course.cycle())
    assert again is not None
    assert again.names == hint.names[1:]


def preferred(**weights: int) -> dict[str, Any]:
    terms = [
        {
            "weight": weight,
            "preference": {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]},
        }
        for name, weight in weights.items()
    ]
    return {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}}


@pytest.mark.parametrize("minor", ["1.36", "1.37"])
def test_a_pod_that_never_comes_to_the_queue_leaves_the_order_to_the_next(minor: str) -> None:
    """Without w0, the weights of w1 and w2 lie further apart, and a whole cycle would choose w1."""
    nodes = snapshot(*(node(f"w{number}") for number in range(3)), pod("old", on="w1", **requests(cpu="2")))
    scheduler = Scheduler(load_configuration(profile(pluginConfig=SIGNED), KubeVersion.parse(minor)), nodes)
    simulation = Simulation(scheduler, Choices())
    equal: dict[str, Any] = {**PORT, **preferred(w0=100, w1=10, w2=9)}
    held = pod("held", schedulingGates=[{"name": "example.com/wait"}])
    for each in (
        pod("web-0", **equal),
        held,
        pod("other", schedulerName="other"),
        pod("web-1", **equal),
    ):
        simulation.placements.append(simulation.place(QueuedPod(pod=each)))
    assert [each.node for each in simulation.placements] == ["w0", None, None, "w2"]
    assert simulation.placements[-1].instead_of == "w1"
