"""What `explain` answers with: the replay of each pod, and how it relates to what is true of the pod besides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kubectl_sched.api.apimachinery.quantity import InvalidQuantity
from kubectl_sched.diagnostics.history import history_of, observed_of, placed_by_another
from kubectl_sched.diagnostics.pod_lifecycle import stage_of
from kubectl_sched.errors import SchedError
from kubectl_sched.record import Record
from kubectl_sched.sources.pod_selection import select, workloads_named
from kubectl_sched.sources.surroundings import Surroundings

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.pending_together import Together
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.dump.dump import Dump
    from kubectl_sched.sources.pod_selection import Selection

_DRIFTED = frozenset({"Different", "WouldReject"})


class Question(Record, frozen=True):
    """The flags of the same names."""

    at_decision: bool = False
    drifted: bool = False


class Explaining:
    """Answers questions about the pods of one dump."""

    def __init__(self, dump: Dump, schedulers: ClusterSchedulers, question: Question = Question()) -> None:  # noqa: B008 - frozen
        self.dump = dump
        self.schedulers = schedulers
        self.around = Surroundings(dump.objects, schedulers.missing_scheduler)
        self._question = question

    def answers(self, selection: Selection) -> list[ScheduleResult]:
        """A result for each pod that was asked for, then for each workload whose pods were never created."""
        missing = self._never_created(selection)
        try:
            pods = select(self.dump.objects, selection, self.dump.warnings)
        except SchedError:
            if not missing:
                raise
            pods = []
        if self._question.drifted:
            pods = [pod for pod in pods if pod.spec.node_name and not pod.has_ended]
        results = list(map(self._answer, pods)) if selection.named else self._readable(pods)
        if self._question.drifted:
            results = [result for result in results if result.history and result.history.verdict in _DRIFTED]
        return [*results, *missing]

    def _readable(self, pods: list[Pod]) -> list[ScheduleResult]:
        """The answers about pods that nobody named; one that cannot be read is left out while others can."""
        results: list[ScheduleResult] = []
        unreadable: dict[str, InvalidQuantity] = {}
        for pod in pods:
            try:
                results.append(self._answer(pod))
            except InvalidQuantity as error:
                unreadable[pod.key] = error
        if unreadable and not results:
            raise next(iter(unreadable.values()))
        said = (f"pod {key} is left out: {error}" for key, error in unreadable.items())
        self.schedulers.left_out.update(dict.fromkeys(said))
        return results

    def _answer(self, pod: Pod) -> ScheduleResult:
        result = (
            self.schedulers.explain_at_decision(pod, self.around)
            if self._question.at_decision
            else self.schedulers.explain(pod)
        )
        told = placed_by_another(result, self.around)
        return replace(
            result,
            warnings=(*result.warnings, told) if told is not None else result.warnings,
            stage=stage_of(result, self.around),
            history=history_of(result, self.around),
            observed=observed_of(result, self.around),
        )

    def _never_created(self, selection: Selection) -> list[ScheduleResult]:
        if not workloads_named(selection):
            return []
        from kubectl_sched.diagnostics.pods_not_created import not_created  # most questions name no workload

        scheduler = self.schedulers.default_scheduler
        found = not_created(self.dump.objects, selection, self.around, scheduler.nodes)
        return [replace(each, kubernetes_version=str(scheduler.configuration.version)) for each in found]

    def about_never_created(self, selection: Selection) -> list[str]:
        """Which workloads lack pods that could not be created, where all that is pending was asked for."""
        if not selection.means_all_pending:
            return []
        from kubectl_sched.diagnostics.pods_not_created import never_created

        return list(never_created(self.dump.objects, selection.namespace, self.around))

    def about_daemon_sets(self, selection: Selection) -> list[str]:
        """Which nodes have the pods of the DaemonSets that were asked for, a sentence each."""
        names = [name for kind, name in workloads_named(selection) if kind == "DaemonSet"]
        if not names:
            return []
        from kubectl_sched.controllers.daemon_set_coverage import coverage

        found = (each for name in names for each in coverage(self.dump.objects, name, selection.namespace))
        return [each.told for each in found]

    def together(self, results: list[ScheduleResult]) -> Together | None:
        """What becomes of several pending pods together; None where it is not one scheduler that serves them."""
        pending = [result for result in results if not result.current_node and not result.pod.has_ended]
        pending = [result for result in pending if result.stage is None or result.stage.name != "NotCreated"]
        schedulers = {id(self.schedulers.scheduler(result.pod)) for result in pending}
        if len(pending) < 2 or len(schedulers) != 1:
            return None
        from kubectl_sched.simulation.pending_together import together  # the queue is needed for lists only

        return together(pending, self.schedulers.scheduler(pending[0].pod))
