"""The extension points of DefaultPreemption."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.config.types import DefaultPreemptionArgs
from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.interface import (
    PodGroupPostFilterPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
)
from kubectl_sched.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from kubectl_sched.snapshot import Column

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_state import CycleState
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.interface import PluginsRunner
    from kubectl_sched.framework.podgroup_info import GroupCycle, PodGroupInfo, PodGroupPostFilterResult
    from kubectl_sched.framework.preemption_choice import Candidate
    from kubectl_sched.framework.status import NodeToStatus
    from kubectl_sched.plugins.default_preemption.budgets import Budgets
    from kubectl_sched.plugins.default_preemption.dry_run import DryRun, Outcomes, WithoutVictims
    from kubectl_sched.plugins.default_preemption.victims import GroupVictims, SingleVictims, VictimOrder
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")


class DefaultPreemption(PreEnqueuePlugin, PostFilterPlugin, PodGroupPostFilterPlugin):
    """Dry-runs every candidate node, so that each one's victims can be shown."""

    name: ClassVar[str] = "DefaultPreemption"

    def __init__(self, args: DefaultPreemptionArgs | None, handle: Handle) -> None:
        self._args = args or DefaultPreemptionArgs()
        self._handle = handle

    def pre_enqueue(self, pod: Pod, nodes: Snapshot) -> Status:
        """A pod waits while its own preemption is under way: a state of a running scheduler, which none here has."""
        return SUCCESS

    def post_filter(
        self, state: CycleState, pod: Pod, nodes: Snapshot, statuses: NodeToStatus, framework: PluginsRunner
    ) -> PostFilterResult:
        """Find the node where the least is lost, unless the pod may not preempt or nothing helps."""
        victims = self._victims(nodes)
        why_not = self._group_in_the_way(pod, nodes) or _not_eligible(pod, nodes, statuses, victims)
        if why_not is not None:
            return _said(PostFilterResult(status=unschedulable(why_not)))
        helped = statuses.where(lambda status: status.code is Code.UNSCHEDULABLE)

        from kubectl_sched.plugins.default_preemption.dry_run import DryRun

        dry_run = DryRun(framework, state, pod, nodes, self._budgets(nodes), victims, self._without_victims(pod))
        outcomes = self._tried(dry_run, np.flatnonzero(helped), as_service=state.budget.limits.keeps_time)
        words = _per_node(len(nodes), outcomes.statuses)
        if not outcomes.candidates:
            if outcomes.errors:
                return _said(PostFilterResult(status=error(_aggregate(outcomes.errors)), dry_run=words))

            from kubectl_sched.framework.fit_error import fit_error

            message = fit_error(len(words), SUCCESS, words.counts())
            return _said(PostFilterResult(status=unschedulable(message), nominated_node="", dry_run=words))
        candidates = self._left_by_extenders(pod, nodes, outcomes.candidates)
        if isinstance(candidates, Status):
            return _said(PostFilterResult(status=candidates, dry_run=words))

        from kubectl_sched.framework.preemption_choice import pick_one_node

        choice = pick_one_node(candidates)
        chosen = min(choice.tied, key=lambda candidate: candidate.node_name)
        return PostFilterResult(
            status=self._success(chosen),
            nominated_node=chosen.node_name,
            victims=chosen.victims,
            dry_run=words,
            candidates=tuple(candidates),
            choice=choice,
            notes=tuple(self._notes(int(helped.sum()), len(outcomes.candidates))),
        )

    def _tried(self, dry_run: DryRun, rows: Rows, *, as_service: bool) -> Outcomes:
        """Try all rows; a scheduler that serves others stops once it has enough candidates, from a random start."""
        if not as_service or not len(rows):
            return dry_run.run(rows)
        import random  # answers do without it

        enough = max(self._enough(len(rows)), 1)
        rows = np.roll(rows, random.randrange(len(rows)))  # noqa: S311 - no secret
        outcomes = dry_run.run(rows[:enough])
        while len(rows := rows[enough:]):
            if len(outcomes.candidates) >= enough and not all(each.pdb_violations for each in outcomes.candidates):
                break
            outcomes = dry_run.run(rows[:enough])
        return outcomes

    def _enough(self, potential: int) -> int:
        """Return after how many candidates kube-scheduler stops looking, of so many nodes (calculateNumCandidates)."""
        args = self._args
        least = max(potential * args.min_candidate_nodes_percentage // 100, args.min_candidate_nodes_absolute)
        return min(least, potential)

    def pod_group_post_filter(
        self, info: PodGroupInfo, nodes: Snapshot, framework: PluginsRunner, cycle: GroupCycle
    ) -> PodGroupPostFilterResult:
        """Find the victims for the group, unless it may not preempt or nothing helps."""
        from kubectl_sched.plugins.default_preemption.podgroup_preemption import GroupPreemption
        from kubectl_sched.plugins.default_preemption.victims import GroupVictimsOfPodGroups

        release = self._handle.release
        has_own_policy = release.groups_have_placement_feasible
        victims = (
            self._group_victims(nodes, may_be_lost=release.waiting_group_preempts_first)
            if has_own_policy
            else GroupVictimsOfPodGroups(nodes, self._order)
        )
        search = GroupPreemption(
            info=info,
            nodes=nodes,
            framework=framework,
            budgets=self._budgets(nodes),
            victims=victims,
            trial=cycle.trial,
            ranks_nodes=release.preemption_ranks_nodes and framework.is_enabled(self.name, "reserve"),
        )
        if not has_own_policy:
            never = any(pod.spec.preemption_policy == "Never" for pod in info.pods)
            return search.run(victims.everywhere(), "Never" if never else "")
        never = self._never_preempts(info)

        from kubectl_sched.framework.podgroup_info import PodGroupPostFilterResult, ProposedAssignment

        if (release.waiting_group_preempts_first or not never) and _is_ongoing(info, nodes, victims):
            status = Status(reasons=("pod group preemption: ongoing preemption on nominated nodes",))
            nominations = (ProposedAssignment(pod=pod, node_name=pod.status.nominated_node_name) for pod in info.pods)
            return PodGroupPostFilterResult(status=status, nominations=tuple(nominations))
        try:
            everywhere = victims.everywhere()
        except PluginError as failure:
            return PodGroupPostFilterResult(status=error(f"pod group preemption: failed to create domain: {failure}"))
        result = search.run(everywhere, "Never" if never else "")
        said = Status(result.status.code, (f"pod group preemption: {result.status.message}",))
        return PodGroupPostFilterResult(status=said, victims=result.victims, nominations=result.nominations)

    def _never_preempts(self, info: PodGroupInfo) -> bool:
        """Report whether the policy of the group, or of its pods where theirs counts, forbids preemption."""
        own, needs_gate = info.group.spec.preemption_policy, self._handle.release.group_policy_needs_gate
        if self._handle.features.enabled("PodGroupPreemptionPolicy") if needs_gate else own:
            return own == "Never"
        return any(pod.spec.preemption_policy == "Never" for pod in info.pods)

    def _without_victims(self, pod: Pod) -> WithoutVictims:
        """Return what a node comes to where the pod would fit beside all potential victims."""
        from kubectl_sched.plugins.default_preemption.dry_run import WithoutVictims

        if not self._handle.release.preemption_may_need_no_victim:
            return WithoutVictims.ERROR
        if self._handle.extender_client is not None:
            from kubectl_sched.framework.extenders import is_interested

            if any(each.preempt_verb and is_interested(each, pod) for each in self._handle.extenders):
                return WithoutVictims.CANDIDATE
        return WithoutVictims.REFUSAL

    def _left_by_extenders(self, pod: Pod, nodes: Snapshot, candidates: list[Candidate]) -> list[Candidate] | Status:
        """The candidates after the extenders' say, where they are asked, or why there are none."""
        if self._handle.extender_client is None:
            return candidates
        from kubectl_sched.framework.extender_decoding import ExtenderError
        from kubectl_sched.framework.extenders import process_preemption

        try:
            left = process_preemption(self._handle.extender_client, self._handle.extenders, pod, candidates, nodes)
        except ExtenderError as failure:
            return error(str(failure))
        return left or unschedulable("no candidate node for preemption")

    def _success(self, chosen: Candidate) -> Status:
        if not self._handle.release.preemption_is_announced:
            return SUCCESS
        announcement = (
            f"preemption: found a potential placement for pod on node {chosen.node_name}, "
            f"preempting {len(chosen.victims)} victims"
        )
        return Status(reasons=(announcement,))

    def _victims(self, nodes: Snapshot) -> SingleVictims:
        from kubectl_sched.plugins.default_preemption.victims import SingleVictims

        if self._handle.release.groups_are_victims and self._handle.features.enabled("GenericWorkload"):
            return self._group_victims(nodes)
        return SingleVictims(nodes, self._order)

    def _group_victims(self, nodes: Snapshot, *, may_be_lost: bool = False) -> GroupVictims:
        from kubectl_sched.plugins.default_preemption.victims import GroupVictims

        trees, by_pod = self._handle.features.enabled("CompositePodGroup"), self._handle.release.victims_keep_priority
        return GroupVictims(nodes, self._order, trees=trees, by_pod=by_pod, may_be_lost=may_be_lost)

    @property
    def _order(self) -> VictimOrder:
        from kubectl_sched.plugins.default_preemption.victims import VictimOrder

        release = self._handle.release
        return VictimOrder(
            unstarted_keep_their_order=release.unstarted_victims_keep_their_order, by_uid=release.victims_tie_by_uid
        )

    def _budgets(self, nodes: Snapshot) -> Budgets:
        from kubectl_sched.plugins.default_preemption.budgets import Budgets

        release = self._handle.release
        return Budgets(
            nodes.objects,
            one_violation_is_enough=release.one_violated_budget_is_enough,
            may_select_all=release.budgets_may_select_all,
        )

    def _group_in_the_way(self, pod: Pod, nodes: Snapshot) -> str | None:
        """Return the reason for which a pod of a group may not preempt by itself, None if it may."""
        group = pod.spec.scheduling_group
        group_name = group.pod_group_name if group else None
        if group_name is None or not self._handle.release.groups_do_not_preempt:
            return None
        if self._handle.features.enabled("TopologyAwareWorkloadScheduling"):
            from kubectl_sched.api.scheduling import PodGroup

            pod_group = nodes.objects.get(PodGroup, group_name, pod.metadata.namespace)
            if pod_group is None:
                return "pod group for pod not found"
            if pod_group.spec.scheduling_constraints is not None:
                return "not eligible due to placement-based pod group scheduling limitation"
        if self._handle.features.enabled("WorkloadAwarePreemption"):
            return "not eligible due to workload aware preemption enabled"
        return None

    def _notes(self, potential: int, candidates: int) -> list[str]:
        """Note it if kube-scheduler would have stopped looking for candidates earlier."""
        enough = self._enough(potential)
        if candidates <= enough:
            return []
        note = (
            f"preemption is dry-run on all {potential:,} nodes; kube-scheduler stops after {enough:,} candidates, "
            "from a random start, so it may choose another node"
        )
        return [note]


def _not_eligible(pod: Pod, nodes: Snapshot, statuses: NodeToStatus, victims: SingleVictims) -> str | None:
    """PodEligibleToPreemptOthers: why the pod may not preempt now, None if it may."""
    if pod.spec.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    row = nodes.row_of.get(pod.status.nominated_node_name)
    if row is None or statuses[row].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return None
    leaving = (other for other in nodes.node(row).pods if victims.priority(other) < pod.priority)
    if any(_is_terminating_by_preemption(other) for other in leaving):
        return "not eligible due to a terminating pod on the nominated node."
    return None


def _is_ongoing(info: PodGroupInfo, nodes: Snapshot, victims: GroupVictims) -> bool:
    """Report whether victims of the group's last preemption are still on a node that a member is nominated to."""
    names = {pod.status.nominated_node_name for pod in info.pods}
    rows = [nodes.row_of[name] for name in names if name in nodes.row_of]
    return any(
        victims.priority(pod) < info.priority and _is_terminating_by_preemption(pod)
        for row in rows
        for pod in nodes.node(row).pods
    )


def _is_terminating_by_preemption(pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is None:
        return False
    disruption = pod.condition("DisruptionTarget")
    return disruption is not None and disruption.status == "True" and disruption.reason == "PreemptionByScheduler"


def _said(result: PostFilterResult) -> PostFilterResult:
    """The status's message as PostFilter gives it."""
    status = result.status
    return PostFilterResult(
        status=Status(status.code, (f"preemption: {status.message}",)),
        nominated_node=result.nominated_node,
        dry_run=result.dry_run,
    )


def _per_node(node_count: int, statuses: dict[int, Status]) -> NodeToStatus:
    """Return the status of each node: the dry run's, else that preemption does not help."""
    code_of = {NOT_HELPFUL: 0}
    codes = np.zeros(node_count, dtype=np.int32)
    rows = np.fromiter(statuses, dtype=np.intp, count=len(statuses))
    codes[rows] = [code_of.setdefault(status, len(code_of)) for status in statuses.values()]
    return Column(codes, tuple(code_of))


def _aggregate(errors: list[str]) -> str:
    """utilerrors.NewAggregate: one error as it is, several in brackets, each once."""
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
