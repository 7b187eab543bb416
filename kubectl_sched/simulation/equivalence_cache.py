"""One cycle for all pending pods that no plugin can tell apart: they differ in name, age and conditions at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from kubectl_sched.api.resource import ResourceClaim
from kubectl_sched.simulation.likeness import is_by_itself, is_plain, likeness

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler


class EquivalenceCache:
    """The results of cycles under one profile (None: each pod's own), by scheduler and equivalence class of pods."""

    def __init__(self, profile: str | None = None) -> None:
        self._profile = profile
        self._results: dict[tuple[Scheduler, bytes], ScheduleResult] = {}
        self._claimants: dict[Scheduler, frozenset[str]] = {}

    def schedule_one(self, pod: Pod, scheduler: Scheduler) -> ScheduleResult:
        """Return what the scheduler's own cycle for the pod returns."""
        if not self._has_class(pod, scheduler):
            return scheduler.schedule_one(pod, self._profile)

        key = scheduler, msgspec.json.encode(likeness(pod))
        known = self._results.get(key)
        if known is not None:
            return known.of_equal_pod(pod)
        result = self._results[key] = scheduler.schedule_one(pod, self._profile)
        return result

    def _has_class(self, pod: Pod, scheduler: Scheduler) -> bool:
        """Report whether the pod has nothing of its own: no node, nomination, volume, device, group or extender."""
        return (
            not pod.spec.node_name
            and is_plain(pod)
            and is_by_itself(pod)
            and not scheduler.asks_extenders
            and pod.metadata.uid not in self._claimants_of(scheduler)
        )

    def _claimants_of(self, scheduler: Scheduler) -> frozenset[str]:
        """The UIDs of the owners of claims: an earlier cycle may have made one for an extended resource."""
        if scheduler not in self._claimants:
            claims = scheduler.nodes.objects.all(ResourceClaim)
            owners = (owner.uid for claim in claims for owner in claim.metadata.owner_references)
            self._claimants[scheduler] = frozenset(owners)
        return self._claimants[scheduler]
