"""Pods that a controller holds back before kube-scheduler sees them, and suspended Jobs, which have no pods at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs
from msgspec.structs import replace

from kubectl_sched.api.apps import Job
from kubectl_sched.api.meta import with_spec
from kubectl_sched.api.pod import Pod
from kubectl_sched.apiserver.pod_admission import Admission
from kubectl_sched.apiserver.refused_manifest import RefusedError
from kubectl_sched.controllers.workload_pods import replicas_of
from kubectl_sched.diagnostics.gates.gates_of import Gates
from kubectl_sched.diagnostics.pod_lifecycle import Stage
from kubectl_sched.queries.explanation import Explanation
from kubectl_sched.queries.ungated import lifted, ungated
from kubectl_sched.scheduler.cycle_result import CycleResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.shell_commands import patch
from kubectl_sched.sources.pod_selection import workloads_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.simulation.equivalence_cache import EquivalenceCache
    from kubectl_sched.sources.discovery.cluster_schedulers import ClusterSchedulers
    from kubectl_sched.sources.pod_selection import Selection
    from kubectl_sched.suggestions.suggestion import Suggestion


class HeldPods:
    """The controllers that hold pods of one cluster back, and replays of these pods as they would be let go."""

    def __init__(self, schedulers: ClusterSchedulers, cycles: EquivalenceCache) -> None:
        self._schedulers = schedulers
        self._cycles = cycles
        self._gates = Gates(schedulers.dump.objects)

    def with_gates(self, found: Explanation, scheduler: Scheduler) -> Explanation:
        """Add the controllers that hold the pod back, and for a gated pod the replay as these would let it go."""
        result = found.result
        is_served = isinstance(result, CycleResult) and (found.stage is None or found.stage.name != "NoScheduler")
        gates = self._gates.of(result.pod, is_served=is_served)
        if result.outcome is not Outcome.GATED or result.unknown:
            return replace(found, gates=gates)
        return replace(found, gates=gates, ungated=ungated(result.pod, gates, self._schedule_one(scheduler)))

    def _schedule_one(self, scheduler: Scheduler) -> Callable[[Pod], ScheduleResult]:
        return lambda pod: self._cycles.schedule_one(pod, scheduler)

    def suggestions(self, found: Explanation, node: str | None) -> tuple[Suggestion, ...]:
        """Return changes after which the pod would fit as its controller would let it go, none of them to the pod."""
        from kubectl_sched.suggestions.search import suggest

        fitting = next((each for each in found.ungated if each.fits), None)
        if fitting is not None and found.needs:
            gates = found.pod.spec.scheduling_gates
            held = with_spec(lifted(found.pod, fitting.injection), scheduling_gates=gates)
            result = self._schedule_one(self._schedulers.scheduler(found.pod))(held)
            return suggest(result, node, needs=found.needs, now=self._schedulers.dump.at)
        results = [each.result for each in found.ungated if each.result is not None]
        if not results or fitting is not None:
            return ()
        suggestions = suggest(results[0], node, now=self._schedulers.dump.at)
        return tuple(each for each in suggestions if all(change.pod is None for change in each.changes))

    def suspended_jobs(self, selection: Selection) -> Iterator[Explanation]:
        """Explain each suspended Job that was named by a pod of its template, held back as the Job is."""
        for job in _suspended(self._schedulers.dump.objects, selection):
            pod = _pod_of(job, self._schedulers)
            schedule_one = self._schedule_one(self._schedulers.scheduler(pod))
            result = replace(schedule_one(pod), outcome=Outcome.GATED)
            gates = self._gates.of(job, is_served=False)
            yield Explanation(
                result=result,
                stage=_stage_of(job, is_queued=bool(gates)),
                gates=gates,
                ungated=ungated(pod, gates, schedule_one),
            )


def _suspended(objects: Sequence[KubernetesObject], selection: Selection) -> Iterator[Job]:
    """Yield the Jobs that were named, are suspended and have no pods that have not ended."""
    names = {name for kind, name in workloads_named(selection) if kind == "Job"}
    if not names:
        return
    owners = (
        (item.namespace, owner.name)
        for item in objects
        if isinstance(item, Pod) and not item.has_ended and (owner := item.metadata.controller) and owner.kind == "Job"
    )
    running = set(owners)
    for item in objects:
        is_meant = isinstance(item, Job) and item.name in names and selection.namespace in {None, item.namespace}
        if is_meant and isinstance(item, Job) and item.spec.suspend and (item.namespace, item.name) not in running:
            yield item


def _pod_of(job: Job, schedulers: ClusterSchedulers) -> Pod:
    """Return a pod as the Job would make it, as the API server would store it; as it is where that would refuse it."""
    pod = replicas_of(job, ()).pod(0)
    pod = structs.replace(pod, metadata=structs.replace(pod.metadata, name=f"{job.name}-?"))
    scheduler = schedulers.scheduler(pod)
    admission = Admission(
        objects=scheduler.nodes.objects,
        enabled=scheduler.configuration.features.enabled,
        present=schedulers.dump.present,
    )
    try:
        return admission.admitted(pod)
    except RefusedError:
        return pod


def _stage_of(job: Job, *, is_queued: bool) -> Stage:
    """Return the stage of a suspended Job's pods; whoever suspended it resumes it, unless a queue does."""
    suspended = next(
        (each for each in job.status.conditions if (each.type, each.status) == ("Suspended", "True")), None
    )
    since = suspended.last_transition_time if suspended is not None else job.metadata.creation_timestamp
    evidence = [f"Job {job.key} is suspended (spec.suspend is true), so it has no pods"]
    resumed = patch("job", job.namespace, job.name, {"spec": {"suspend": False}})
    if not is_queued and resumed is not None:
        evidence.append(f"resume it: `{resumed}`")
    return Stage(name="NotCreated", since=since, evidence=tuple(evidence))
