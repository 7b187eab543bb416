"""Preemption for a group as a whole, over the whole cluster (pkg/scheduler/framework/preemption/podgrouppreemption.go).

All victims go; if the group fits then, they are given back one after the other, the most important first, as long as
it still fits. Up to 1.36 the whole algorithm runs again for each; since 1.37 the members keep the nodes that they found
and only the filters run again there. Since 1.38 members take the nodes whose victims cost least.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.podgroup_info import PodGroupPostFilterResult, ProposedAssignment
from kubectl_sched.framework.status import SUCCESS, Status, error, unresolvable, unschedulable
from kubectl_sched.plugins.default_preemption.victim_costs import RankingByVictims, VictimOnNodes
from kubectl_sched.record import CachingRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.interface import PluginsRunner
    from kubectl_sched.framework.podgroup_info import GroupAttempt, GroupTrial, NodeRanking, PodGroupInfo
    from kubectl_sched.plugins.default_preemption.budgets import Budgets
    from kubectl_sched.plugins.default_preemption.victims import GroupVictims, Victim
    from kubectl_sched.snapshot import Snapshot

_NO_VICTIMS = "No preemption victims found for incoming preemptor"
_NEVER = unschedulable("not eligible due to preemptionPolicy=Never.")


class GroupPreemption(CachingRecord, frozen=True, kw_only=True):
    """One search for victims."""

    info: PodGroupInfo
    nodes: Snapshot
    framework: PluginsRunner
    budgets: Budgets
    victims: GroupVictims
    trial: Callable[[Snapshot, NodeRanking | None], GroupTrial]
    ranks_nodes: bool = False

    def run(self, everywhere: Sequence[Victim], policy: str) -> PodGroupPostFilterResult:
        """Find the victims to take, among those that may be taken."""
        if policy == "Never":
            return PodGroupPostFilterResult(status=_NEVER)
        potential = [victim for victim in everywhere if victim.priority < self.info.priority]
        if not potential:
            lets_others_try = self.framework.handle.release.waiting_group_preempts_first
            return PodGroupPostFilterResult(status=(unschedulable if lets_others_try else unresolvable)(_NO_VICTIMS))
        nodes = self.nodes
        for victim in potential:
            if victim.lost_node is not None:
                return PodGroupPostFilterResult(status=error(f'node "{victim.lost_node}" not found in the snapshot'))
            nodes = self._remove(nodes, victim)
        found = self.trial(nodes, self._ranking(potential) if self.ranks_nodes else None)
        if not found.status.is_success:
            return PodGroupPostFilterResult(status=found.status)
        try:
            return self._reprieve(nodes, self._in_order(potential), found)
        except PluginError as failure:
            return PodGroupPostFilterResult(status=error(str(failure)))

    def _reprieve(self, nodes: Snapshot, potential: Sequence[Victim], found: GroupTrial) -> PodGroupPostFilterResult:
        keeps_nodes = self.framework.handle.release.groups_have_placement_feasible
        states = [attempt.state for attempt in found.attempts]
        taken: list[Victim] = []
        for victim in potential:
            given_back = self._add(nodes, victim)
            if keeps_nodes:
                changed = [
                    self._with_victim(state, attempt, victim, given_back)
                    for attempt, state in zip(found.attempts, states, strict=True)
                ]
                fits = self._still_fit(given_back, found.attempts, changed)
                states = changed if fits else states
            else:
                fits = self.trial(given_back, None).status.is_success
            if fits:
                nodes = given_back
            else:
                taken.append(victim)
        pods = self.nodes.existing_pods.pods
        gone = tuple(pods[index] for victim in self.victims.in_order_of_importance(taken) for index in victim.indices)
        nominations = tuple(ProposedAssignment(pod=each.pod, node_name=each.node_name) for each in found.attempts)
        said = Status(reasons=(f"found a placement for podgroup, preempting {len(gone)} victims",))
        return PodGroupPostFilterResult(
            status=said if keeps_nodes else SUCCESS, victims=gone, nominations=nominations if keeps_nodes else ()
        )

    def _with_victim(self, state: CycleState, attempt: GroupAttempt, victim: Victim, nodes: Snapshot) -> CycleState:
        """The member's state with the victim back."""
        state = state.clone()
        existing = self.nodes.existing_pods
        for index in victim.indices:
            self.framework.add_pod(state, attempt.pod, existing.pods[index], int(existing.rows[index]), nodes)
        return state

    def _still_fit(self, nodes: Snapshot, attempts: Sequence[GroupAttempt], states: Sequence[CycleState]) -> bool:
        """Report whether every member passes the filters of its node, those before it being there."""
        for attempt, state in zip(attempts, states, strict=True):
            row = nodes.row_of[attempt.node_name]
            here = nodes.take(np.array([row], dtype=np.intp))
            verdict = self.framework.run_filters(state, attempt.pod, here)
            verdict = self.framework.run_filters_with_nominated_pods(state, attempt.pod, here, verdict)
            if not verdict[0].is_success:
                return False
            nodes = nodes.assume(attempt.pod, row)
        return True

    def _remove(self, nodes: Snapshot, victim: Victim) -> Snapshot:
        for index in victim.indices:
            pod = self.nodes.existing_pods.pods[index]
            at = nodes.existing_pods.find(pod.metadata.namespace, pod.metadata.name)
            assert at is not None  # noqa: S101 - it was there and no other victim has it
            nodes = nodes.evict(at)
        return nodes

    def _add(self, nodes: Snapshot, victim: Victim) -> Snapshot:
        existing = self.nodes.existing_pods
        for index in victim.indices:
            nodes = nodes.assume(existing.pods[index], int(existing.rows[index]))
        return nodes

    def _ranking(self, potential: Sequence[Victim]) -> NodeRanking:
        ordered = self.victims.in_order_of_importance(potential)
        costs = [
            VictimOnNodes(victim=victim, violations=count, rows=frozenset(self._rows(victim)))
            for victim, count in zip(ordered, self._violations(ordered), strict=True)
        ]
        return RankingByVictims(victims=costs, members=self.info.pods)

    def _rows(self, victim: Victim) -> list[int]:
        return [int(self.nodes.existing_pods.rows[index]) for index in victim.indices]

    def _violations(self, ordered: Sequence[Victim]) -> list[int]:
        """Count for each victim its pods that would violate a budget."""
        pods = self.nodes.existing_pods.pods
        return self.budgets.violations_of_units([[pods[index] for index in victim.indices] for victim in ordered])

    def _in_order(self, potential: Sequence[Victim]) -> list[Victim]:
        """The victims that violate a budget first, each part with the most important first."""
        ordered = self.victims.in_order_of_importance(potential)
        pairs = list(zip(ordered, self._violations(ordered), strict=True))
        return [victim for victim, each in pairs if each] + [victim for victim, each in pairs if not each]
