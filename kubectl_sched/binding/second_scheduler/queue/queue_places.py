"""The places of the scheduling queue, and the ways of pods and groups between them.

Answers to active_queue.go and unschedulable_pods.go in pkg/scheduler/backend/queue.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from kubectl_sched.binding.second_scheduler.queue.queue_heaps import QueueHeaps
from kubectl_sched.binding.second_scheduler.queue.queueing_strategy import Strategy
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff, Place, Queued, QueuedPod, QueuedPodGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubectl_sched.api.pod import Pod

PREEMPTION_PLUGIN: Final = "DefaultPreemption"
"""Holds back a pod while its preemption is under way."""


class QueuePlaces:
    """Pods and groups, each in exactly one place.

    `order` is the profile's QueueSort. `gated_by` gives the PreEnqueue plugin that holds a pod back, or None.
    `group_of` gives the group with which a pod stands in the queue as one (since 1.37), or None.
    """

    def __init__(
        self,
        order: Callable[[Pod], tuple[int | float | str, ...]],
        gated_by: Callable[[Pod], str | None],
        backoff: Backoff,
        group_of: Callable[[Pod], str | None],
    ) -> None:
        self._gated_by = gated_by
        self._backoff = backoff
        self.group_of = group_of
        self.pods: dict[str, QueuedPod] = {}
        self.groups: dict[str, QueuedPodGroup] = {}
        self.heaps = QueueHeaps(order, backoff, self._is_there)
        self.waiting: dict[str, Queued] = {}
        """Pods and groups that are unschedulable or gated, by key."""
        self.counts: Counter[Place] = Counter()
        """The number of pods in each place."""
        self.active: Counter[str] = Counter()
        """The number of active pods, by namespace."""
        self.incoming: Counter[tuple[Place, str]] = Counter()
        """The number of pods that came to each place, by event: scheduler_queue_incoming_pods_total."""

    def add(self, queued: QueuedPod) -> None:
        """Take in a pod that is new."""
        self.pods[queued.key] = queued
        self._count(queued, 1)

    def remove(self, queued: QueuedPod) -> None:
        """Forget the pod, wherever it is."""
        del self.pods[queued.key]
        self._count(queued, -1)
        self.waiting.pop(queued.key, None)
        self._leave(queued)
        self.heaps.compact(len(self.pods))

    def regroup(self, concerns: Callable[[Pod], bool], now: float) -> None:
        """Put each pod of these groups where it belongs now, by itself or with a group."""
        for group in [each for each in self.groups.values() if concerns(each.pod)]:
            for queued in group.pods:
                if self.group_of(queued.pod) != group.key:
                    self._leave(queued)
                    self.enter(queued, now, "PodUpdate")
            self._stay(group, group.pods)

    def enter(self, queued: QueuedPod, now: float, why: str) -> None:
        """Into the queue with the pod: by itself, or beside the other pods of its group."""
        key = self.group_of(queued.pod)
        if key is None:
            self.to_active(queued, why)
            return
        group = self.groups.get(key)
        if group is None:
            group = self.groups[key] = QueuedPodGroup(key, timestamp=now)
            self.add_member(group, queued)
            self.to_active(group, why)
        else:
            self.add_member(group, queued)
            self.move_to(group, group.place)
            self._stay(group, (queued,))

    def add_member(self, group: QueuedPodGroup, queued: QueuedPod) -> None:
        """Have the pod stand in the queue with the group."""
        group.members[queued.key] = queued
        queued.group = group

    def _leave(self, queued: QueuedPod) -> None:
        """Take the pod out of its group."""
        group, queued.group = queued.group, None
        if group is None:
            return
        del group.members[queued.key]
        if group.members and group.place is Place.GATED and queued.gating_plugin:
            self.to_active(group, "PodUpdate")  # it may have been what held the others back
        elif group.members:
            self._stay(group, group.pods)
        else:
            del self.groups[group.key]
            self.waiting.pop(group.key, None)

    def _stay(self, group: QueuedPodGroup, asked: Iterable[QueuedPod]) -> None:
        """Leave the group in its place unless PreEnqueue, which is asked about these pods, holds it back there."""
        if not group.members or group.place not in {Place.ACTIVE, Place.BACKOFF}:
            return
        is_asked = group.place is Place.ACTIVE or self._backoff.is_popped_early
        if is_asked and self._is_gated(group, "PodAdd", asked):
            return
        if group.place is Place.ACTIVE:
            self.heaps.push_active(group)
        else:
            self.heaps.push_backoff(group)

    def activate(self, entity: Queued) -> None:
        """To the active queue at once, with what is not there yet (Activate)."""
        if entity.place is not Place.ACTIVE:
            is_admitted = entity.place is Place.BACKOFF and self._backoff.is_popped_early
            self.to_active(entity, "ForceActivate", is_admitted=is_admitted)

    def requeue(self, queued: Queued, strategy: Strategy, now: float, why: str) -> None:
        """To the place that the strategy says."""
        if strategy is Strategy.SKIP:
            if queued.key not in self.waiting:
                self._put(queued, Place.UNSCHEDULABLE, why)
        elif strategy is Strategy.AFTER_BACKOFF and self._backoff.is_backing_off(queued, now):
            self.to_backoff(queued, why)
        else:
            self.to_active(queued, why)

    def to_active(self, queued: Queued, why: str, *, is_admitted: bool = False) -> None:
        """To the active queue, unless a PreEnqueue plugin holds the pod back."""
        if is_admitted or not self._is_gated(queued, why):
            self._put(queued, Place.ACTIVE, why)
            self.heaps.push_active(queued)
            if isinstance(queued, QueuedPod):
                queued.first_active = queued.first_active or self.heaps.entries

    def to_backoff(self, queued: Queued, why: str) -> None:
        """To backoffQ. What may be taken out of it at any time must have passed PreEnqueue."""
        if not (self._backoff.is_popped_early and self._is_gated(queued, why)):
            self._put(queued, Place.BACKOFF, why)
            self.heaps.push_backoff(queued)

    def _is_gated(self, entity: Queued, why: str, asked: Iterable[QueuedPod] | None = None) -> bool:
        """Run PreEnqueue; a pod that is held back is put where it waits, with its whole group."""
        entity.gating_plugin = ""
        for queued in entity.pods if asked is None else asked:
            plugin = self._gated_by(queued.pod)
            queued.gating_plugin = plugin or ""
            if plugin is not None:
                entity.gating_plugin = plugin
                queued.unschedulable_plugins |= {plugin}
            if plugin not in {None, PREEMPTION_PLUGIN}:
                break  # what helps one of several that wait for victims may help them all
        if entity.gating_plugin:
            self._put(entity, Place.GATED, why)
        return bool(entity.gating_plugin)

    def _put(self, queued: Queued, place: Place, why: str) -> None:
        self.heaps.outdate(queued)
        self.move_to(queued, place)
        if place in {Place.UNSCHEDULABLE, Place.GATED}:
            self.waiting[queued.key] = queued
        else:
            self.waiting.pop(queued.key, None)
        self.incoming[place, why] += queued.size

    def move_to(self, queued: Queued, place: Place) -> None:
        """Note the place, of a group that of all its pods."""
        if isinstance(queued, QueuedPodGroup):
            for each in queued.pods:
                self.move_to(each, place)
            queued.place = place
        else:
            self._count(queued, -1)
            queued.place = place
            self._count(queued, 1)

    def _count(self, queued: QueuedPod, by: int) -> None:
        self.counts[queued.place] += by
        if queued.place is Place.ACTIVE:
            namespace = queued.pod.namespace
            self.active[namespace] += by
            if not self.active[namespace]:
                del self.active[namespace]

    def are_others_active(self, namespace: str) -> bool:
        """Report whether pods of other namespaces are active."""
        return len(self.active) > (namespace in self.active)

    def _is_there(self, queued: Queued) -> bool:
        known = self.groups if isinstance(queued, QueuedPodGroup) else self.pods
        return known.get(queued.key) is queued
