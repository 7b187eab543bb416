"""Workloads that lack pods which were never made: conditions and fields are read, not only events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.apps import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.pod_lifecycle import Stage
from kubectl_sched.queries.never_created.idle_workloads import idle
from kubectl_sched.queries.never_created.replicated import deployment_without_replicas, lacking
from kubectl_sched.queries.never_created.runs import cron_job_without_runs, daemon_set_lacking, job_without_pods
from kubectl_sched.queries.never_created.workloads import Workloads
from kubectl_sched.scheduler.result import Outcome, ScheduleResult
from kubectl_sched.sources.pod_selection import workloads_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.config import Release
    from kubectl_sched.queries.never_created.missing_pods import NeverCreated
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources.pod_selection import Selection
    from kubectl_sched.sources.pod_surroundings import Surroundings


def never_created(around: Surroundings, namespace: str | None = None) -> tuple[NeverCreated, ...]:
    """Return the workloads of a namespace (None: of any) that lack pods which were never made, in the dump's order.

    Those that were suspended or paused on purpose are among them (`on_purpose`).
    """
    workloads = Workloads(around)
    found = (
        each
        for item in workloads.others
        if namespace in {None, item.namespace}
        for each in _of_workload(item, workloads)
    )
    return tuple(dict.fromkeys(found))


def never_created_of(selection: Selection, around: Surroundings) -> tuple[NeverCreated, ...]:
    """Return the workloads that were named, or whose owner was, and that lack pods which were never made."""
    named = set(workloads_named(selection))
    found = tuple(
        each
        for each in never_created(around, selection.namespace)
        if not named.isdisjoint({(each.workload.kind, each.workload.name), (each.owner.kind, each.owner.name)})
    )
    return found or tuple(_idle(named, selection.namespace, around))


def _idle(named: set[tuple[str, str]], namespace: str | None, around: Surroundings) -> Iterator[NeverCreated]:
    """Yield the named workloads that have no pods, and none to wait for."""
    workloads = Workloads(around)
    for item in workloads.others:
        if (type(item).__name__, item.name) in named and namespace in {None, item.namespace}:
            yield from idle(item, workloads)


def _of_workload(item: KubernetesObject, around: Workloads) -> Iterator[NeverCreated]:
    if isinstance(item, ReplicaSet | ReplicationController | StatefulSet):
        yield from lacking(item, around)
    elif isinstance(item, Job):
        yield from job_without_pods(item, around)
    elif isinstance(item, CronJob):
        yield from cron_job_without_runs(item, around)
    elif isinstance(item, DaemonSet):
        yield from daemon_set_lacking(item, around)
    elif isinstance(item, Deployment) and item.spec.paused and item.spec.replicas != 0:
        name = around.name_of(item)
        if "ReplicaSet" in around.around.dump.present and name not in around.owned:
            yield deployment_without_replicas(name, 1 if item.spec.replicas is None else item.spec.replicas)


def result_of(missing: NeverCreated, nodes: Snapshot, release: Release) -> ScheduleResult:
    """Return a result for a pod of the workload, which is named `NAME-?`, as it has no name yet."""
    owner = missing.owner
    pod = Pod(api_version="v1", metadata=ObjectMeta(name=f"{owner.name}-?", namespace=owner.namespace))
    error = missing.obstacle.says or missing.sentence
    return ScheduleResult(
        pod=pod,
        nodes=nodes,
        outcome=Outcome.ERROR,
        error=error,
        kubernetes_version=str(release.version),
        kubernetes_patch=release.patch_name,
    )


def stage_of_missing(missing: NeverCreated) -> Stage:
    """Return the stage: how many pods are missing and why, of which workload, and what helps."""
    owner = "" if missing.owner == missing.workload else f", made by {missing.owner.kind} {missing.owner.name}"
    obstacle = missing.obstacle
    whose = f"they are of {missing.workload}{owner}" if missing.wanted is not None else ""
    commands = "; ".join(f"`{each}`" for each in obstacle.commands)
    helps = ": ".join(filter(None, (obstacle.helps, commands)))
    evidence = (missing.sentence, obstacle.detail, whose, helps)
    return Stage(name="NotCreated", since=obstacle.since, evidence=tuple(filter(None, evidence)))
