"""Pods that may end no others, though they have a higher priority: preemptionPolicy Never."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import schedule_one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "PreemptionPolicyNever"

_NEVER: Final = "Never"


def findings(result: ScheduleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield that the pod may not preempt, and what it would end if it might, as a replay shows."""
    spec = result.pod.spec
    if result.outcome is not Outcome.UNSCHEDULABLE or spec.preemption_policy != _NEVER or result.framework is None:
        return
    may = replace(result.pod, spec=replace(spec, preemption_policy="PreemptLowerPriority"))
    preemption = schedule_one(may, result.nodes, result.framework).post_filter
    if preemption is None or not preemption.victims:
        return
    by = f" of PriorityClass {spec.priority_class_name}" if spec.priority_class_name else ""
    first, *more = preemption.victims
    others = f" and {len(more):,} more" if more else ""
    yield Finding(
        kind=KIND,
        sentence=f"It may end no other pod (preemptionPolicy Never{by}), though its priority {spec.priority or 0:,} is "
        f"higher: else it would end {first.key}{others} on {preemption.nominated_node}; it waits for room instead",
    )
