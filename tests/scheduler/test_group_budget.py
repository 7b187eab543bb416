"""The cycle of a group has one budget: where it ends nobody gets a node, and kube-scheduler is not quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kubectl_sched.config import KubeVersion, load_configuration
from kubectl_sched.framework.cycle_budget import BudgetEnded, CycleLimits, GroupBudget
from kubectl_sched.queries.podgroups import PodGroupAnswer
from kubectl_sched.render.answers.podgroup_data import podgroup_data
from kubectl_sched.render.answers.podgroups import podgroups_exit_code, sentences
from kubectl_sched.scheduler.podgroup_members import cycle_of_group, info_of
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.scheduler import Scheduler
from tests.plugins.clusters import pod, requests, snapshot
from tests.scheduler.test_schedule_one_podgroup import MINORS, group, members, nodes_of, zones

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.api.scheduling import PodGroup
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult

LIMITS = CycleLimits(steps=10**9, memory=1 << 30)
LOW = [pod(f"low-{on}", on=on, priority=0, **requests(cpu="3")) for on in ("a1", "a2", "b1")]
CASES: dict[str, tuple[PodGroup, list[Pod]]] = {
    "fits": (group(3), members(3)),
    "fits in a zone": (group(2, key="zone"), members(2)),
    "fits nowhere": (group(4), members(4)),
    "preempts": (group(2, priority=9), [*members(2, priority=9), *LOW]),
}


def cycle(minor: str, case: str, budget: GroupBudget) -> PodGroupResult:
    gates = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
    if minor == "1.36":
        gates |= {"GangScheduling": True, "WorkloadAwarePreemption": True}
    configuration = load_configuration(None, KubeVersion.parse(minor), gates)
    asked, others = CASES[case]
    scheduler = Scheduler(configuration, snapshot(asked, *zones(), *others, version=minor))
    return cycle_of_group(info_of(asked, scheduler.nodes), scheduler, scheduler.nodes, budget=budget)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("minor", MINORS)
def test_wherever_it_ends_nobody_has_a_node_and_nothing_is_written(minor: str, case: str) -> None:
    enough = GroupBudget(LIMITS)
    whole = cycle(minor, case, enough)
    assert whole.budget_ended is None
    assert (whole.outcome is Outcome.SCHEDULABLE) is (case in {"fits", "fits in a zone"})
    assert bool(whole.victims) is (case == "preempts")
    for steps in range(0, enough.steps, 1 + enough.steps // 40):
        budget = GroupBudget(LIMITS, CycleLimits(steps=steps, memory=1 << 30))
        result = cycle(minor, case, budget)
        assert result.outcome is Outcome.UNKNOWN
        assert result.budget_ended == budget.ended
        assert f"the cycle of the whole group needs more than {steps:,} steps" in result.unknown[-1].error
        assert set(nodes_of(result).values()) == {None}
        assert {member.outcome for member in result.members} == {Outcome.UNKNOWN}
        assert {member.event for member in result.members} == {None}
        assert (result.condition, result.victims, result.post_filter) == (None, (), None)
    needed = max(enough.steps, enough.for_dry_run(0).steps)
    again = cycle(minor, case, GroupBudget(LIMITS, CycleLimits(steps=needed, memory=1 << 30)))
    assert (again.outcome, nodes_of(again), again.victims) == (whole.outcome, nodes_of(whole), whole.victims)


def test_preemption_of_a_group_has_more_for_each_existing_pod_and_ends_the_whole_cycle() -> None:
    enough = GroupBudget(LIMITS)
    cycle("1.37", "preempts", enough)
    rehearsed = enough.for_dry_run(0).steps
    assert 0 < rehearsed < enough.limits.of_dry_run(len(LOW)).steps
    few = GroupBudget(LIMITS, CycleLimits(steps=enough.steps, memory=1 << 30))
    assert few.for_dry_run(0).limits.steps < rehearsed, "made before the cycle, so for no existing pod"
    assert cycle("1.37", "preempts", few).outcome is Outcome.UNKNOWN


def test_what_members_take_is_the_groups_too() -> None:
    budget = GroupBudget(CycleLimits(steps=1_000_000, memory=1 << 20))
    for _ in range(9):
        budget.for_member(0, 0).spend(1_000_000)
    last = budget.for_member(0, 0)
    assert 0 < last.left < 1_000_000
    with pytest.raises(BudgetEnded, match="the cycle of the whole group needs more than 10,000,000 steps"):
        last.spend(1_000_000)
    assert last.ended == budget.ended


def test_a_member_that_exceeds_its_own_limits_ends_the_cycle_of_its_group() -> None:
    budget = GroupBudget(CycleLimits(steps=10, memory=1 << 20))
    member = budget.for_member(0, 0)
    with pytest.raises(BudgetEnded, match="the cycle of one member needs more than 10 steps"):
        member.spend(11)
    assert (
        member.ended
        == budget.ended
        == "the cycle of one member needs more than 10 steps of work, the most that one cycle may take"
    )
    with pytest.raises(BudgetEnded, match="the dry run of its preemption needs more than 10 steps"):
        GroupBudget(CycleLimits(steps=10, memory=1 << 20)).for_member(0, 0).for_dry_run(0).spend(11)


def test_memory_that_a_member_gives_back_is_the_groups_again() -> None:
    budget = GroupBudget(CycleLimits(steps=10_000, memory=1 << 20))
    for _ in range(9):
        member = budget.for_member(0, 0)
        member.hold(1 << 20)
        member.release(1 << 20)
    for _ in range(4):
        budget.for_member(0, 0).hold(1 << 20)
    with pytest.raises(BudgetEnded, match="the cycle of the whole group needs more than 4 MiB of memory"):
        budget.for_member(0, 0).hold(1)


@pytest.mark.parametrize("minor", MINORS)
def test_the_answer_about_it_says_what_ended_it_and_what_was_not_judged(minor: str) -> None:
    result = cycle(minor, "fits", GroupBudget(LIMITS, CycleLimits(steps=1_000, memory=1 << 30)))
    answer = PodGroupAnswer(results=(result,), is_about_one=True)
    assert podgroups_exit_code(answer) == 3
    said = "train may or may not fit: the cycle of the whole group needs more than 1,000 steps of work"
    assert next(sentences(answer)).startswith(said)
    assert podgroup_data(result)["unknown"][-1]["plugin"] is None
