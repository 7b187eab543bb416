"""All profiles of one configuration, and which of them a pod meets (pkg/scheduler/scheduler.go)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.config.types import DEFAULT_SCHEDULER_NAME
from kubectl_sched.framework.cycle_budget import ANSWER
from kubectl_sched.framework.handle import Handle
from kubectl_sched.framework.runtime import Framework
from kubectl_sched.plugins import make_plugins
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.schedule_one import cycle, no_profile, schedule_one

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.config import Configuration
    from kubectl_sched.framework.cycle_budget import CycleBudget, CycleLimits
    from kubectl_sched.framework.handle import ExtenderClient
    from kubectl_sched.framework.interface import QueueSortPlugin
    from kubectl_sched.scheduler.queue_position import QueueOrder, QueuePlace
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot


class Scheduler:
    """Schedules pods over one snapshot, each on its own."""

    def __init__(
        self,
        configuration: Configuration,
        nodes: Snapshot,
        extender_client: ExtenderClient | None = None,
        limits: CycleLimits = ANSWER,
    ) -> None:
        self.configuration = configuration
        self._frameworks: dict[str, Framework] = {}
        self._extender_client = extender_client
        self.limits = limits
        self._orders: dict[QueueSortPlugin, QueueOrder] = {}
        self.nodes = self._with_nominated(nodes)

    @property
    def asks_extenders(self) -> bool:
        """Report whether cycles ask extenders, which see all of a pod."""
        return self._extender_client is not None

    def framework(self, scheduler_name: str) -> Framework | None:
        """The profile of that name, made ready; None if the configuration has none."""
        profile = self.configuration.profiles.get(scheduler_name)
        if profile is None:
            return None
        framework = self._frameworks.get(scheduler_name)
        if framework is None:
            of = self.configuration
            handle = Handle(
                version=of.version,
                release=of.release,
                features=of.features,
                extenders=of.extenders,
                parallelism=of.parallelism,
                extender_client=self._extender_client,
                scheduler_names=frozenset(of.profiles),
                limits=self.limits,
            )
            framework = Framework(profile, make_plugins(profile, handle), handle)
            self._frameworks[scheduler_name] = framework
        return framework

    def queue_place(self, result: ScheduleResult) -> QueuePlace | None:
        """Return the place of the pod among those that wait; None if it is bound, gated or served by nobody."""
        if not isinstance(result, CycleResult) or result.current_node or not result.pre_enqueue.is_success:
            return None
        for plugin in result.framework.queue_sort_plugins[:1]:
            if plugin not in self._orders:
                from kubectl_sched.scheduler.queue_position import QueueOrder  # few answers tell of the queue

                self._orders[plugin] = QueueOrder([self.as_queued(pod) for pod in self.waiting], plugin)
            return self._orders[plugin].place(self.as_queued(result.pod))
        return None

    def as_queued(self, pod: Pod) -> Pod:
        """Return the pod with the priority by which it is queued: since 1.37 that of its group."""
        if pod.spec.scheduling_group is None:
            return pod
        from kubectl_sched.scheduler.queue_position import as_queued

        return as_queued(pod, self.nodes.objects, self.configuration)

    def _with_nominated(self, nodes: Snapshot) -> Snapshot:
        """The snapshot with the pods that earlier cycles nominated (pkg/scheduler/backend/queue/nominator.go).

        Only pods that this scheduler has in its queue count: served by one of its profiles and, up to 1.36, not gated.
        """
        gated_too = self.configuration.release.gated_pods_are_nominated
        nominated: dict[str, tuple[Pod, ...]] = {}
        for pod in nodes.pending:
            name = pod.status.nominated_node_name
            framework = self.framework(scheduler_name_of(pod)) if name in nodes.row_of else None
            if framework and (gated_too or framework.run_pre_enqueue(pod, nodes).is_success):
                nominated[name] = (*nominated.get(name, ()), pod)
        return replace(nodes, nominated=nominated)

    @cached_property
    def waiting(self) -> list[Pod]:
        """The pending pods that this scheduler serves and that no PreEnqueue plugin holds back."""
        served = ((pod, self.framework(scheduler_name_of(pod))) for pod in self.nodes.pending)
        return [pod for pod, framework in served if framework and framework.run_pre_enqueue(pod, self.nodes).is_success]

    def schedule_one(self, pod: Pod, profile: str | None = None) -> ScheduleResult:
        """Run the cycle for the pod under its own profile, or under the named one."""
        framework = self.framework(profile or scheduler_name_of(pod))
        if framework is None:
            return no_profile(pod, self.nodes, self.configuration.release)
        return schedule_one(pod, self.nodes, framework)

    def cycle(
        self, pod: Pod, nodes: Snapshot, profile: str | None = None, budget: CycleBudget | None = None
    ) -> ScheduleResult:
        """Run the cycle for a pod that runs nowhere yet over another state of the cluster."""
        framework = self.framework(profile or scheduler_name_of(pod))
        if framework is None:
            return no_profile(pod, nodes, self.configuration.release)
        return cycle(pod, nodes, framework, budget)


class SeveralSchedulers(Scheduler):
    """Several schedulers over one cluster as one; `configuration` is that of default-scheduler.

    `configuration_of` gives the configuration in force for a schedulerName, the same object for the same scheduler.
    """

    def __init__(self, configuration_of: Callable[[str], Configuration], nodes: Snapshot) -> None:
        self._configuration_of = configuration_of
        self._given = nodes
        self._others: list[Scheduler] = []
        super().__init__(configuration_of(DEFAULT_SCHEDULER_NAME), nodes)

    def framework(self, scheduler_name: str) -> Framework | None:
        """Return the profile of that name in its scheduler's configuration."""
        configuration = self._configuration_of(scheduler_name)
        if configuration is self.configuration:
            return super().framework(scheduler_name)
        other = next((each for each in self._others if each.configuration is configuration), None)
        if other is None:
            other = Scheduler(configuration, self._given)
            self._others.append(other)
        return other.framework(scheduler_name)
