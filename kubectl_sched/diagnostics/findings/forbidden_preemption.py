"""Preemption that may not be, and preemption that frees nothing: preemptionPolicy Never, and static pods as victims.

A static pod runs from a file on its node. Deleting it in the API ends its mirror alone, which the kubelet makes again
(pkg/kubelet/kubelet.go: tryReconcileMirrorPods), but the scheduler counts the room as free until then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.diagnostics.findings.finding import Finding
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import schedule_one

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.framework.interface import PostFilterResult
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.sources.pod_surroundings import Surroundings

KIND: Final = "PreemptionPolicyNever"
STATIC_KIND: Final = "StaticVictim"

_NEVER: Final = "Never"


def findings(result: CycleResult, _: Surroundings) -> Iterator[Finding]:
    """Yield that the pod may not preempt, and what it would end if it might, or that a victim would run on."""
    if result.post_filter is not None:
        yield from _static_victims(result.post_filter)
    spec = result.pod.spec
    if result.outcome is not Outcome.UNSCHEDULABLE or spec.preemption_policy != _NEVER:
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


def _static_victims(preemption: PostFilterResult) -> Iterator[Finding]:
    static = [pod for pod in preemption.victims if pod.is_static]
    if not static:
        return
    node = preemption.nominated_node
    first, *more = static
    others = f" (and {len(more):,} more of its victims)" if more else ""
    everywhere = len(preemption.candidates) > 1 and all(
        any(pod.is_static for pod in candidate.victims) for candidate in preemption.candidates
    )
    elsewhere = (
        "; each other node that the scheduler weighs for preemption has a static victim, too" if everywhere else ""
    )
    yield Finding(
        kind=STATIC_KIND,
        sentence=f"Preemption on {node} would not last: victim {first.key}{others} is a static pod, which the kubelet "
        f"of {node} runs from a file and shows again after its deletion, so that the room is never free, and the "
        f"kubelet may refuse this pod (OutOfcpu and the like){elsewhere}; make room elsewhere, or take the static "
        f"pod's file from {node}",
    )
