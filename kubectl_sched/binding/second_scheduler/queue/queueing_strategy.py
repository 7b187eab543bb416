"""The queueing strategy: how soon an event brings back what waits (isPodWorthRequeuing, backend/queue)."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from kubectl_sched.binding.second_scheduler.cluster_events import EVERYTHING
from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPodGroup

if TYPE_CHECKING:
    from kubectl_sched.binding.second_scheduler.cluster_events import Happened
    from kubectl_sched.binding.second_scheduler.queued_pod import Queued, QueuedPod
    from kubectl_sched.binding.second_scheduler.queueing_hints import QueueingHints


class Strategy(IntEnum):
    """Upstream's queueingStrategy."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


def queueing_strategy(queued: Queued, happened: Happened, hints: QueueingHints) -> Strategy:
    """Return how soon to try the pod again after what happened; a group as soon as any of its pods is worth it."""
    if isinstance(queued, QueuedPodGroup):
        # While some of its pods hold it back, what helps the others helps nobody.
        pods = [each for each in queued.pods if each.gating_plugin] if queued.gating_plugin else queued.pods
        return max((_of_pod(each, happened, hints) for each in pods), default=Strategy.AFTER_BACKOFF)
    return _of_pod(queued, happened, hints)


def _of_pod(queued: QueuedPod, happened: Happened, hints: QueueingHints) -> Strategy:
    rejected_by = queued.rejected_by
    if not rejected_by:
        return Strategy.AFTER_BACKOFF
    if happened.event == EVERYTHING:
        other = happened.new is not None and happened.new.metadata.uid != queued.pod.metadata.uid
        return Strategy.SKIP if other else Strategy.AFTER_BACKOFF
    helped = {plugin for plugin in rejected_by if hints.helps(plugin, queued.pod, happened)}
    if helped & queued.pending_plugins:
        return Strategy.IMMEDIATELY
    return Strategy.AFTER_BACKOFF if helped else Strategy.SKIP
