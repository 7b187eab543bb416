"""Explanations of pods that were never made: a result without a cycle, and the stage NotCreated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.meta import ObjectMeta
from kubectl_sched.api.pod import Pod
from kubectl_sched.diagnostics.pod_lifecycle import Stage
from kubectl_sched.scheduler.result import Outcome, ScheduleResult

if TYPE_CHECKING:
    from kubectl_sched.queries.never_created.missing_pods import NeverCreated
    from kubectl_sched.snapshot import Snapshot


def result_of(missing: NeverCreated, nodes: Snapshot, version: str) -> ScheduleResult:
    """Return a result for a pod of the workload, which is named `NAME-?`, as it has no name yet."""
    owner = missing.owner
    pod = Pod(api_version="v1", metadata=ObjectMeta(name=f"{owner.name}-?", namespace=owner.namespace))
    error = missing.obstacle.says or missing.sentence
    return ScheduleResult(pod=pod, nodes=nodes, outcome=Outcome.ERROR, error=error, kubernetes_version=version)


def stage_of_missing(missing: NeverCreated) -> Stage:
    """Return the stage: how many pods are missing and why, of which workload, and what helps."""
    owner = "" if missing.owner == missing.workload else f", made by {missing.owner.kind} {missing.owner.name}"
    obstacle = missing.obstacle
    evidence = (missing.sentence, obstacle.detail, f"they are of {missing.workload}{owner}", obstacle.helps)
    return Stage(name="NotCreated", since=obstacle.since, evidence=tuple(filter(None, evidence)))
