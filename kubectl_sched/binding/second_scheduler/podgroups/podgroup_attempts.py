"""Attempts to place the pods of a group in one cycle (scheduleOnePodGroup and submitPodGroupAlgorithmResult).

Where nobody may be preempted, a group that only fits after preemption has the cycle that takes what fits without.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.binding.podgroup_condition import condition_patch, conditions_of
from kubectl_sched.binding.preemption_executor import preemptions_of_group
from kubectl_sched.binding.second_scheduler.metrics import ERROR, UNSCHEDULABLE
from kubectl_sched.binding.second_scheduler.pod_attempts import rejecting_plugins
from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPodGroup, nominated_pod
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.cycle_budget import GroupBudget
from kubectl_sched.framework.podgroup_info import PodGroupInfo
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.render.sentences.headline import unjudged
from kubectl_sched.scheduler.podgroup_members import cycle_of_group, info_of
from kubectl_sched.scheduler.podgroup_submission import condition_of, failed_before_scheduling
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.preemption_executor import Preemption
    from kubectl_sched.binding.second_scheduler.cache import Cache
    from kubectl_sched.binding.second_scheduler.pod_attempts import PodAttempts
    from kubectl_sched.binding.second_scheduler.podgroups.membership import Membership
    from kubectl_sched.binding.second_scheduler.queued_pod import Queued, QueuedPod
    from kubectl_sched.binding.second_scheduler.scheduling_queue import Rejected, SchedulingQueue
    from kubectl_sched.binding.writer import Request
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.podgroup_result import Condition, Member, PodGroupResult
    from kubectl_sched.scheduler.scheduler import Scheduler


class PodGroupAttempts:
    """Takes a group's pods out of the queue, runs its cycle, has members bound, and puts back those without a node."""

    def __init__(
        self,
        scheduler: Scheduler,
        membership: Membership,
        cache: Cache,
        queue: SchedulingQueue,
        *,
        may_preempt: bool = False,
    ) -> None:
        self.membership = membership
        self._scheduler = scheduler
        self._cache = cache
        self._queue = queue
        self._may_preempt = may_preempt
        self._served_at = ""
        self._scheduled: set[str] = set()
        """UIDs of the groups that we have said to be scheduled, which is never taken back."""

    def served_at(self, path: str) -> None:
        """Take in where the server has all PodGroups: `/apis/GROUP/VERSION/podgroups`."""
        self._served_at = path.removesuffix("/podgroups")

    def is_for(self, entity: Queued) -> bool:
        """Report whether this has the cycle of a group."""
        return isinstance(entity, QueuedPodGroup) or self.membership.is_member(entity.pod)

    def schedule(self, entity: Queued, pods: PodAttempts) -> None:
        """Run the cycle of a group; its members bind side by side, as single pods do."""
        began = pods.clock()
        members = self._members(entity)
        try:
            result = self._run(members, pods)
            pods.metrics.decided(pods.clock() - began)
            if result.budget_ended is not None:
                pods.hold_back(entity, members, result.budget_ended)
                return
            for each in (entity, *members):
                each.overdrafts = 0
            judged = (each.result for each in result.members if each.result is not None)
            unknown = next((each for each in judged if each.unknown), None)
            left = members if unknown is not None else _bind_members(members, result, pods, began)
        except Exception as failure:  # noqa: BLE001 - one group that nobody has thought of must not stop all others
            why = f"cannot be judged, by a bug in kubectl-sched ({type(failure).__name__}: {failure})"
            self._fail(entity, members, pods, f"{why}; other pods are served as before", began)
            return
        if unknown is not None:
            self._fail(entity, members, pods, f"is not bound: {unjudged(unknown)}", began)
        else:
            self._turn_down(entity, left, result, pods, began)

    def _fail(self, entity: Queued, members: Sequence[QueuedPod], pods: PodAttempts, why: str, began: float) -> None:
        now = pods.clock()
        for queued in members:
            pods.log.problem(f"pod {queued.key} {why}")
            pods.metrics.attempted(ERROR, scheduler_name_of(queued.pod), now - began)
        self._put_back(entity, [(queued, (), ()) for queued in members], now, Outcome.ERROR)

    def _turn_down(
        self, entity: Queued, left: Sequence[QueuedPod], result: PodGroupResult, pods: PodAttempts, began: float
    ) -> None:
        """Say why the other members have no node, and put them where they wait."""
        now = pods.clock()
        without = {each.pod.key: each for each in result.members if each.node_name is None}
        rejected = []
        for queued in left:
            member = without.get(queued.key)
            if member is not None and member.outcome is Outcome.DELETING:
                self._queue.drop(queued)
                continue
            if member is not None and member.nominated_node is not None:
                self._queue.nominate(queued, member.nominated_node)
            own = _own_rejection(member) if member is not None else None
            rejected.append((queued, *(rejecting_plugins(own) if own is not None else ((), ()))))
        for member in without.values():
            failed = member.outcome is Outcome.ERROR
            pods.metrics.attempted(ERROR if failed else UNSCHEDULABLE, scheduler_name_of(member.pod), now - began)
            pods.log.left_out(member)
        preemptions = self._preemptions(result)
        for preemption in preemptions:
            pods.preemption_began(preemption)
        self._put_back(entity, rejected, now, _outcome_before_preemption(result))
        reports = ((each, pods.frameworks[scheduler_name_of(each.pod)]) for each in without.values())
        pods.binder.report_group(reports, self._patches(conditions_of(result)))
        for preemption in preemptions:
            pods.binder.preempt(preemption)

    def _members(self, entity: Queued) -> list[QueuedPod]:
        """Take out all pods of the cycle, in their order; in 1.36 the first that has its turn brings the others."""
        if isinstance(entity, QueuedPodGroup):
            return sorted(entity.pods, key=_order_in_group)
        others = (pod for pod in self._cache.waiting_members(entity.pod) if pod.key != entity.key)
        return sorted([entity, *self._queue.pop_these(others)], key=_order_of_first_attempts)

    def _run(self, members: Iterable[QueuedPod], attempts: PodAttempts) -> PodGroupResult:
        """Run the cycle of the group over the cluster as it is."""
        nodes = self._cache.snapshot(self._queue.nominated())
        pods = [nominated_pod(each.pod, each.nominated_node) for each in members]
        root = self.membership.root(pods[0])
        if root is None:
            attempts.batch.begin(1 if self._scheduler.configuration.release.groups_are_queued else len(pods))
            return self._without_group(pods)
        info = info_of(root, nodes, pods)
        budget, before = GroupBudget(self._scheduler.limits), copy(attempts.batch)
        result = cycle_of_group(info, self._scheduler, nodes, budget=budget, batch=attempts.batch)
        if result.is_waiting_on_preemption and not self._may_preempt and budget.ended is None:
            attempts.batch = before
            result = cycle_of_group(info, self._scheduler, nodes, preempts=False, budget=budget, batch=before)
        return result

    def _without_group(self, pods: list[Pod]) -> PodGroupResult:
        named, configuration = pods[0].spec.scheduling_group, self._scheduler.configuration
        name = (named.pod_group_name if named is not None else None) or ""
        group = PodGroup(metadata=ObjectMeta(name=name, namespace=pods[0].namespace))
        info = PodGroupInfo(group=group, pods=tuple(pods), scheduled=())
        why = f'podgroup.scheduling.k8s.io "{name}" not found'
        result = failed_before_scheduling(info, why, configuration.release)
        return replace(result, condition=None)

    def _preemptions(self, result: PodGroupResult) -> tuple[Preemption, ...]:
        """Return who has to go for the group or its members, if anybody may be preempted."""
        framework = self._scheduler.framework(scheduler_name_of(result.info.pods[0])) if result.info.pods else None
        return preemptions_of_group(result, framework) if self._may_preempt and framework is not None else ()

    def _patches(self, conditions: Iterable[tuple[Group, Condition]]) -> Iterator[tuple[Group, Request]]:
        """Yield the patches of the conditions that change."""
        for group, condition in conditions:
            if condition.status == "True":
                self._scheduled.add(group.metadata.uid)
            elif group.metadata.uid in self._scheduled:
                continue
            path = f"{self._served_at}/namespaces/{group.namespace}/{type(group).__name__.lower()}s/{group.name}"
            request = condition_patch(group, condition, path)
            if request is not None:
                yield group, request

    def untold(self, bound: Iterable[Pod]) -> Iterator[tuple[Group, Request]]:
        """Yield the conditions of these pods' groups that a replica which was killed has left out."""
        nodes, release = self._cache.snapshot({}), self._scheduler.configuration.release
        names = ((pod.namespace, pod.spec.scheduling_group) for pod in bound)
        for namespace, name in dict.fromkeys((namespace, named.pod_group_name) for namespace, named in names if named):
            group = nodes.objects.get(PodGroup, name or "", namespace)
            if group is None:
                continue
            info = info_of(group, nodes, ())
            if len(info.scheduled) >= (info.min_count or 1):
                yield from self._patches([(group, condition_of(info, SUCCESS, release))])

    def gone(self, group: PodGroup) -> None:
        """Forget a group that has been deleted."""
        self._scheduled.discard(group.metadata.uid)

    def _put_back(self, entity: Queued, rejected: Iterable[Rejected], now: float, outcome: Outcome) -> None:
        """Into the queue with the pods that get no node: as a group, or up to 1.36 each by itself.

        `outcome` is that of the group before its preemption.
        """
        if isinstance(entity, QueuedPodGroup):
            fits, failed = outcome is Outcome.SCHEDULABLE, outcome is Outcome.ERROR
            self._queue.group_attempted(entity, rejected, now, fits=fits, failed=failed)
            return
        for queued, plugins, pending in rejected:
            self._queue.rejected(queued, plugins, now, pending, by_backoff=True)


def _bind_members(
    members: Sequence[QueuedPod], result: PodGroupResult, pods: PodAttempts, began: float
) -> list[QueuedPod]:
    """Bind the members that get a node; gives the others."""
    found = {each.pod.key: each for each in result.members}
    placed, left = [], []
    for queued in members:
        member = found.get(queued.key)
        if member is not None and member.result is not None and member.node_name is not None:
            placed.append(pods.assume(queued, member.result, member.node_name, began))
        else:
            left.append(queued)
    pods.bind(placed)
    return left


def _outcome_before_preemption(result: PodGroupResult) -> Outcome:
    """Return the outcome that the queue counts: a group was rejected even if preemption for it fails."""
    return result.outcome if result.post_filter is None else Outcome.UNSCHEDULABLE


def _own_rejection(member: Member) -> CycleResult | None:
    """Return the part of the cycle in which plugins rejected the member itself; None if its group is what failed."""
    own = member.result
    if member.outcome is not Outcome.UNSCHEDULABLE or own is None or own.outcome is not Outcome.UNSCHEDULABLE:
        return None
    is_preempting = own.post_filter is not None and bool(own.post_filter.nominated_node)
    return None if is_preempting and not member.nominated_node else own


def _order_of_first_attempts(queued: QueuedPod) -> tuple[int, int]:
    return -queued.pod.priority, queued.first_active


def _order_in_group(queued: QueuedPod) -> tuple[int, int, float, str]:
    """Upstream's PodGroupMemberPodsOrderingFunc."""
    return -queued.pod.priority, -queued.attempts, queued.timestamp, queued.pod.name
