"""Attempts to place the pods of a group in one cycle (scheduleOnePodGroup and submitPodGroupAlgorithmResult).

Where nobody may be preempted, a group that only fits after preemption has the cycle that takes what fits without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.binding.podgroup_condition import condition_patch, conditions_of
from kubectl_sched.binding.preemption_executor import preemptions_of_group
from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPodGroup, nominated_pod
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.podgroup_info import PodGroupInfo
from kubectl_sched.framework.status import SUCCESS
from kubectl_sched.scheduler.podgroup_members import cycle_of_group, info_of
from kubectl_sched.scheduler.podgroup_submission import condition_of, failed_before_scheduling
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.preemption_executor import Preemption
    from kubectl_sched.binding.second_scheduler.cache import Cache
    from kubectl_sched.binding.second_scheduler.podgroups.membership import Membership
    from kubectl_sched.binding.second_scheduler.queued_pod import Queued, QueuedPod
    from kubectl_sched.binding.second_scheduler.scheduling_queue import Rejected, SchedulingQueue
    from kubectl_sched.binding.writer import Request
    from kubectl_sched.scheduler.podgroup_result import Condition, Member, PodGroupResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler


class PodGroupAttempts:
    """Takes a group's pods out of the queue, runs its cycle, and puts back what gets no node."""

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

    def members(self, entity: Queued) -> list[QueuedPod]:
        """Take out all pods of the cycle, in their order; in 1.36 the first that has its turn brings the others."""
        if isinstance(entity, QueuedPodGroup):
            return sorted(entity.pods, key=_order_in_group)
        others = (pod for pod in self._cache.waiting_members(entity.pod) if pod.key != entity.key)
        return sorted([entity, *self._queue.pop_these(others)], key=_order_of_first_attempts)

    def run(self, members: Iterable[QueuedPod]) -> PodGroupResult:
        """Run the cycle of the group over the cluster as it is."""
        nodes = self._cache.snapshot(self._queue.nominated())
        pods = [nominated_pod(each.pod, each.nominated_node) for each in members]
        root = self.membership.root(pods[0])
        if root is None:
            return self._without_group(pods)
        info = info_of(root, nodes, pods)
        result = cycle_of_group(info, self._scheduler, nodes)
        if result.is_waiting_on_preemption and not self._may_preempt:
            result = cycle_of_group(info, self._scheduler, nodes, preempts=False)
        return result

    def _without_group(self, pods: list[Pod]) -> PodGroupResult:
        named, configuration = pods[0].spec.scheduling_group, self._scheduler.configuration
        name = (named.pod_group_name if named is not None else None) or ""
        group = PodGroup(metadata=ObjectMeta(name=name, namespace=pods[0].namespace))
        info = PodGroupInfo(group=group, pods=tuple(pods), scheduled=())
        why = f'podgroup.scheduling.k8s.io "{name}" not found'
        result = failed_before_scheduling(info, str(configuration.version), why, configuration.release)
        return replace(result, condition=None)

    def preemptions(self, result: PodGroupResult) -> tuple[Preemption, ...]:
        """Return who has to go for the group or its members, if anybody may be preempted."""
        framework = self._scheduler.framework(scheduler_name_of(result.info.pods[0])) if result.info.pods else None
        return preemptions_of_group(result, framework) if self._may_preempt and framework is not None else ()

    def conditions(self, result: PodGroupResult) -> Iterator[tuple[PodGroup, Request]]:
        """Yield the patches of the conditions that change."""
        return self._patches(conditions_of(result))

    def _patches(self, conditions: Iterable[tuple[PodGroup, Condition]]) -> Iterator[tuple[PodGroup, Request]]:
        for group, condition in conditions:
            if condition.status == "True":
                self._scheduled.add(group.metadata.uid)
            elif group.metadata.uid in self._scheduled:
                continue
            path = f"{self._served_at}/namespaces/{group.namespace}/podgroups/{group.name}"
            request = condition_patch(group, condition, path)
            if request is not None:
                yield group, request

    def untold(self, bound: Iterable[Pod]) -> Iterator[tuple[PodGroup, Request]]:
        """Yield the conditions of these pods' groups that a replica which was killed has left out."""
        nodes, release = self._cache.snapshot({}), self._scheduler.configuration.release
        names = ((pod.namespace, pod.spec.scheduling_group) for pod in bound)
        for namespace, name in dict.fromkeys((namespace, named.pod_group_name) for namespace, named in names if named):
            group = nodes.objects.get(PodGroup, name or "", namespace)
            if group is None:
                continue
            info = info_of(group, nodes, ())
            if len(info.scheduled) >= (info.min_count or 1):
                yield from self._patches([(group, condition_of(SUCCESS, release))])

    def gone(self, group: PodGroup) -> None:
        """Forget a group that has been deleted."""
        self._scheduled.discard(group.metadata.uid)

    def put_back(self, entity: Queued, rejected: Iterable[Rejected], now: float, outcome: Outcome) -> None:
        """Into the queue with the pods that get no node: as a group, or up to 1.36 each by itself.

        `outcome` is that of the group before its preemption.
        """
        if isinstance(entity, QueuedPodGroup):
            fits, failed = outcome is Outcome.SCHEDULABLE, outcome is Outcome.ERROR
            self._queue.group_attempted(entity, rejected, now, fits=fits, failed=failed)
            return
        for queued, plugins, pending in rejected:
            self._queue.rejected(queued, plugins, now, pending, by_backoff=True)


def outcome_before_preemption(result: PodGroupResult) -> Outcome:
    """Return the outcome that the queue counts: a group was rejected even if preemption for it fails."""
    return result.outcome if result.post_filter is None else Outcome.UNSCHEDULABLE


def own_rejection(member: Member) -> ScheduleResult | None:
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
