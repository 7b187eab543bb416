"""Cycles of groups that Kubernetes 1.38 changed, on both sides of the change, as of v1.38.0-beta.0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from kubectl_sched.api.scheduling import CompositePodGroup, PodGroup
from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.diagnostics.podgroup_warnings import podgroup_warnings
from kubectl_sched.scheduler.podgroup_members import explain_podgroup
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import node, pod, requests, snapshot
from tests.scheduler.test_schedule_one_podgroup import SMALL, group, leaf, members, nodes_of, tree, zones

if TYPE_CHECKING:
    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult

BOTH = pytest.mark.parametrize(("minor", "is_new"), [("1.37", False), ("1.38", True)])


def run(minor: str, asked: Group, *objects: KubernetesObject, config: dict[str, Any] | None = None) -> PodGroupResult:
    gates = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True, "CompositePodGroup": True}
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    configuration = load_configuration(None if config is None else kind | config, KubeVersion.parse(minor), gates)
    return explain_podgroup(asked, Scheduler(configuration, snapshot(asked, *objects, version=minor)))


def said(result: PodGroupResult) -> str:
    assert result.condition is not None
    return result.condition.message


def nominated(*pods: Pod, to: str) -> list[Pod]:
    status = {"status": msgspec.structs.replace(pods[0].status, nominated_node_name=to)}
    return [msgspec.structs.replace(each, **status) for each in pods]


@pytest.mark.parametrize(
    ("minor", "message"),
    [
        (
            "1.37",
            (
                "pod group is unschedulable, 0/1 placements are available, first placement status: minCount (5) "
                "cannot be satisfied: 3 scheduled, 1 remaining"
            ),
        ),
        (
            "1.38",
            (
                "0/1 placements are available, first placement status: scheduling policy's minimum threshold (5) "
                "cannot be satisfied: 3 scheduled, 1 unschedulable, 1 not-evaluated"
            ),
        ),
    ],
)
def test_the_threshold_counts_what_does_not_fit(minor: str, message: str) -> None:
    assert said(run(minor, group(5), *zones(), *members(5))).startswith(message)


@pytest.mark.parametrize(("minor", "message"), [("1.37", "pod group is unschedulable"), ("1.38", "no pods were")])
def test_a_group_without_any_member_placed_says_so(minor: str, message: str) -> None:
    running = pod("r", on="a1", schedulingGroup={"podGroupName": "train"}, **requests(cpu="4"))
    assert said(run(minor, group(1), *zones(), running, *members(1, "9"))).startswith(message)


@BOTH
def test_an_empty_topology_label_is_no_domain(minor: str, is_new: bool) -> None:
    nodes = [node("w1", labels={"zone": ""}, allocatable=SMALL), node("w2", labels={"zone": "b"}, allocatable=SMALL)]
    result = run(minor, group(1, key="zone"), *nodes, *members(1))
    assert [each.placement.name for each in result.placements] == (["b"] if is_new else ["", "b"])


@BOTH
def test_the_nominated_placement_is_taken_where_the_group_fits_there(minor: str, is_new: bool) -> None:
    nodes = [*zones(), node("b2", labels={"zone": "b"}, allocatable=SMALL)]
    used = pod("used", on="a1", **requests(cpu="1"))
    result = run(minor, group(1, key="zone"), *nodes, used, *nominated(*members(1), to="b2"))
    assert [each.placement.name for each in result.placements] == (["b"] if is_new else ["a", "b"])
    assert nodes_of(result)["m0"] == ("b2" if is_new else "a2")


def test_a_nominated_placement_with_nobody_new_is_passed_over() -> None:
    running = pod("r", on="b1", schedulingGroup={"podGroupName": "train"}, **requests(cpu="3"))
    result = run("1.38", group(1, key="zone"), *zones(), running, *nominated(*members(1), to="b1"))
    assert said(result).startswith(
        "0/1 placements are available, first placement status: nominated placement is feasible but no pending pod was "
        "scheduled"
    )


def test_placements_are_sampled() -> None:
    config = {"percentageOfPlacementsToScore": 50}
    result = run("1.38", group(1, key="zone"), *zones(), *members(1), config=config)
    assert ([each.placement.name for each in result.placements], result.placements_left) == (["a"], 1)
    assert any("1 are not tried" in warning for warning in podgroup_warnings(result))
    whole = run("1.38", group(1, key="zone"), *zones(), *members(1))
    assert whole.placements_left == 0


def test_the_first_placement_that_fits_is_taken_where_nothing_scores_them() -> None:
    plugins = {"plugins": {"placementScore": {"disabled": [{"name": "*"}]}}}
    config = {"profiles": [{"schedulerName": "default-scheduler", **plugins}]}
    results = [run(minor, group(1, key="zone"), *zones(), *members(1), config=config) for minor in ("1.37", "1.38")]
    assert [len(each.placements) for each in results] == [2, 1]


def test_many_nodes_lower_the_percentage_of_placements() -> None:
    racks = [node(f"n{index:03}", labels={"rack": f"r{index % 10}"}, allocatable=SMALL) for index in range(60)]
    result = run("1.38", group(1, key="rack"), *racks, *members(1))
    assert len(result.placements) == 9


@BOTH
def test_a_gang_of_groups_may_not_hold_a_basic_group(minor: str, is_new: bool) -> None:
    one, *pods = leaf("one", 1, 1)
    assert isinstance(one, PodGroup)
    spec = msgspec.structs.replace(one.spec, scheduling_policy=group().spec.scheduling_policy, priority=5)
    result = run(minor, tree(1, priority=5), *zones(), msgspec.structs.replace(one, spec=spec), *pods)
    if not is_new:
        assert result.outcome is Outcome.SCHEDULABLE
        return
    why = 'gang parent "compositepodgroup/default/tree" cannot have basic child "podgroup/default/one"'
    assert (said(result), result.condition and result.condition.reason) == (why, "CompositePodGroupError")
    (child,) = result.children
    assert child.condition is not None
    assert (child.condition.reason, child.members[0].message) == ("PodGroupError", why)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"priority": 7}, "priority as the root pod group's priority, got 7"),
        ({"priority": 5, "preemptionPolicy": "Never"}, "preemption policy, got Never"),
        ({"priority": 5, "workloadRef": {"workloadName": "x"}}, 'does not match root workload, got: "x"'),
        ({"priority": 5, "disruptionMode": {"single": {}}}, "with All disruption mode cannot have child"),
    ],
)
def test_a_group_has_to_go_with_its_tree(fields: dict[str, Any], why: str) -> None:
    above = tree(1, priority=5, disruptionMode={"all": {}})
    assert run("1.37", above, *zones(), *leaf("one", 1, 1, **fields)).outcome is Outcome.SCHEDULABLE
    result = run("1.38", above, *zones(), *leaf("one", 1, 1, **fields))
    assert result.outcome is Outcome.ERROR
    assert why in said(result)


def test_a_tree_is_not_too_deep() -> None:
    below = [
        msgspec.convert(
            {
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"schedulingPolicy": {"basic": {}}, "parentCompositePodGroupName": above, "priority": 5},
            },
            CompositePodGroup,
        )
        for name, above in (("two", "tree"), ("three", "two"), ("four", "three"))
    ]
    above = msgspec.structs.replace(tree(1).spec, scheduling_policy=group().spec.scheduling_policy, priority=5)
    result = run("1.38", msgspec.structs.replace(tree(1), spec=above), *zones(), *below, *leaf("one", 1, 1, priority=5))
    assert said(result) == 'hierarchy depth exceeds maximum allowed depth 4 at "compositepodgroup/default/four"'


@pytest.mark.parametrize(("minor", "kept"), [("1.37", False), ("1.38", True)])
def test_what_fails_with_its_tree_names_it(minor: str, kept: bool) -> None:
    objects = [*leaf("one", 2, 2, priority=5), *leaf("two", 2, 2, priority=5)]
    result = run(minor, tree(2, priority=5), *zones(), *objects)
    one, two = result.children
    assert (one.inherits, two.inherits) == (True, False)
    message = one.members[0].message or ""
    if not kept:
        assert message == two.status.message or "0/1 placements are available" in message
        assert result.condition is None
        return
    assert message.startswith('ancestor composite pod group "tree" is unschedulable')
    assert result.condition is not None
    assert (result.condition.type, result.condition.reason) == ("CompositePodGroupInitiallyScheduled", "Unschedulable")


@BOTH
def test_a_member_of_a_group_that_failed_names_the_group(minor: str, is_new: bool) -> None:
    gone = pod("r", on="gone", schedulingGroup={"podGroupName": "train"})
    result = run(minor, group(1, key="zone"), *zones(), gone, *members(1))
    named = 'parent pod group "train" encountered an error'
    assert (result.members[0].message == named) == is_new
    assert said(result).startswith("cannot determine domain for already scheduled pods")


@pytest.mark.parametrize(("minor", "is_written"), [("1.37", True), ("1.38", False)])
def test_a_condition_is_not_written_again(minor: str, is_written: bool) -> None:
    there = {"conditions": [{"type": "PodGroupInitiallyScheduled", "status": "True"}]}
    result = run(minor, group(1, status=there), *zones(), *members(1))
    assert (result.condition is not None) == is_written


def victims(cheap: str, *dear: str) -> list[Pod]:
    return [
        pod(f"v-{name}", on=name, priority=1 if name == cheap else 3, **requests(cpu="4")) for name in (cheap, *dear)
    ]


@BOTH
def test_a_group_preempts_where_it_costs_least(minor: str, is_new: bool) -> None:
    there = victims("b1", "a1", "a2")
    result = run(minor, group(1, priority=9), *zones(), *there, *members(1, priority=9))
    assert [each.name for each in result.victims] == (["v-b1"] if is_new else ["v-a1"])


def test_without_reserve_preemption_ranks_no_nodes() -> None:
    plugins = {"plugins": {"reserve": {"disabled": [{"name": "DefaultPreemption"}]}}}
    config = {"profiles": [{"schedulerName": "default-scheduler", **plugins}]}
    there = victims("b1", "a1", "a2")
    result = run("1.38", group(1, priority=9), *zones(), *there, *members(1, priority=9), config=config)
    assert [each.name for each in result.victims] == ["v-a1"]


def test_victims_that_are_condemned_cost_nothing_more() -> None:
    """The second member goes beside the first, whose node's victim is to go anyway, though another is cheap, too."""
    there = [
        pod("v-a1", on="a1", priority=1, **requests(cpu="4")),
        pod("v-b1", on="b1", priority=1, **requests(cpu="4")),
    ]
    nodes = [each for each in zones() if each.metadata.name != "a2"]
    result = run("1.38", group(2, priority=9), *nodes, *there, *members(2, "2", priority=9))
    assert [each.name for each in result.victims] == ["v-a1"]


@BOTH
def test_the_policy_of_a_group_needs_no_gate(minor: str, is_new: bool) -> None:
    (member,) = members(1, priority=9)
    never = msgspec.structs.replace(member, spec=msgspec.structs.replace(member.spec, preemption_policy="Never"))
    asked = group(1, priority=9, preemptionPolicy="Never")
    result = run(minor, asked, *zones(), *victims("b1", "a1", "a2"), member)
    assert (result.outcome is Outcome.ERROR) == is_new
    refused = run(minor, asked, *zones(), *victims("b1", "a1", "a2"), never)
    assert "not eligible due to preemptionPolicy=Never." in said(refused)


@BOTH
def test_a_group_waits_for_its_victims_whatever_its_policy(minor: str, is_new: bool) -> None:
    leaving = pod(
        "v-a1",
        on="a1",
        metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"},
        status={"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]},
        **requests(cpu="4"),
    )
    full = [pod(f"f-{name}", on=name, priority=99, **requests(cpu="4")) for name in ("a2", "b1")]
    waiting = nominated(*members(1, priority=9, preemptionPolicy="Never"), to="a1")
    asked = group(1, priority=9, preemptionPolicy="Never")
    result = run(minor, asked, *zones(), leaving, *full, *waiting)
    assert ("ongoing preemption" in said(result)) == is_new
