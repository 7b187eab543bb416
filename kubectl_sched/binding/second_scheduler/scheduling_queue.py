"""The scheduling queue: activeQ, backoffQ and the unschedulable pods (pkg/scheduler/backend/queue/scheduling_queue.go).

A pod is in exactly one place: active, in backoff, unschedulable, gated or in flight. Nothing here knows a clock or a
thread: every method is given the time, in seconds of a monotonic clock, and the scheduling loop is its only caller.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

from kubectl_sched.binding.second_scheduler.cluster_events import EVERYTHING, Happened, pending_pod_events
from kubectl_sched.binding.second_scheduler.queue.in_flight_events import InFlightEvents
from kubectl_sched.binding.second_scheduler.queue.queue_places import PREEMPTION_PLUGIN, QueuePlaces
from kubectl_sched.binding.second_scheduler.queue.queueing_strategy import Strategy, queueing_strategy
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff, Place, Queued, QueuedPod, QueuedPodGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_sched.api.meta import KubernetesObject
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.cluster_events import ClusterEvent
    from kubectl_sched.binding.second_scheduler.queueing_hints import QueueingHints

LONGEST_UNSCHEDULABLE_SECONDS: Final = 300.0
"""After so long a pod is tried again without any event (DefaultPodMaxInUnschedulablePodsDuration)."""

_FLUSH_SECONDS: Final = 30.0
"""The interval of flushUnschedulablePodsLeftover."""

Rejected: TypeAlias = "tuple[QueuedPod, Iterable[str], Iterable[str]]"
"""A member that goes back to the queue, the plugins that rejected it, and those that wait for something."""


class SchedulingQueue:
    """The pods of our profiles that no node has.

    `order`, `gated_by` and `group_of` are as in QueuePlaces; `preemptor_of` gives the UID of who preempts for the pod:
    itself or its group.
    """

    def __init__(
        self,
        order: Callable[[Pod], tuple[int | float | str, ...]],
        gated_by: Callable[[Pod], str | None],
        hints: QueueingHints,
        backoff: Backoff,
        group_of: Callable[[Pod], str | None] = lambda _: None,
        preemptor_of: Callable[[Pod], str | None] = lambda pod: pod.metadata.uid,
    ) -> None:
        self._gated_by = gated_by
        self._hints = hints
        self._backoff = backoff
        self._preemptor_of = preemptor_of
        self._places = QueuePlaces(order, self._gating_plugin, backoff, group_of)
        self._in_flight = InFlightEvents()
        self._nominated: dict[str, QueuedPod] = {}
        self._preempting: set[str] = set()
        """UIDs of the pods and groups whose preemption is under way."""
        self._flushed = 0.0

    def __len__(self) -> int:
        return len(self._places.pods)

    def __contains__(self, key: str) -> bool:
        return key in self._places.pods

    def get(self, key: str) -> QueuedPod | None:
        """The pod of that key, wherever it is."""
        return self._places.pods.get(key)

    def keys(self, place: Place) -> set[str]:
        """The keys of the pods in a place."""
        return {queued.key for queued in self._places.pods.values() if queued.place is place}

    def counts(self) -> Mapping[Place, int]:
        """Count the pods in each place."""
        return {place: self._places.counts[place] for place in Place}

    def are_others_active(self, namespace: str) -> bool:
        """Report whether pods of other namespaces are active."""
        return self._places.are_others_active(namespace)

    def take_incoming(self) -> Mapping[tuple[Place, str], int]:
        """Return how many pods came to each place since the last call, by event."""
        incoming, self._places.incoming = self._places.incoming, Counter()
        return incoming

    def nominated(self) -> dict[str, tuple[Pod, ...]]:
        """The pods that earlier cycles nominated, by node."""
        found: dict[str, tuple[Pod, ...]] = {}
        for queued in self._nominated.values():
            found[queued.nominated_node] = (*found.get(queued.nominated_node, ()), queued.pod)
        return found

    def nominate(self, queued: QueuedPod, node: str) -> None:
        """Keep room for the pod on that node; an empty name takes an earlier nomination back."""
        queued.nominated_node = node
        if node and self.get(queued.key) is queued:
            self._nominated[queued.key] = queued
        else:
            self._nominated.pop(queued.key, None)

    def add(self, pod: Pod, now: float) -> None:
        """Take in a pod that is new."""
        self.delete(pod.key)
        queued = QueuedPod(pod, entered=now, timestamp=now)
        self._places.add(queued)
        self.nominate(queued, pod.status.nominated_node_name)
        self._places.enter(queued, now, "PodAdd")

    def update(self, pod: Pod, now: float) -> None:
        """Take in a change of a pod; one of another UID is another pod."""
        queued = self.get(pod.key)
        if queued is None or queued.pod.metadata.uid != pod.metadata.uid:
            self.add(pod, now)
            return
        before, queued.pod = queued.pod, pod
        events = [Happened(event, before, pod) for event in pending_pod_events(before, pod)]
        if queued.place is Place.IN_FLIGHT:
            for happened in events:
                self._in_flight.record(happened)
            return  # the room for it is assumed, not nominated
        if pod.status.nominated_node_name != before.status.nominated_node_name:
            self.nominate(queued, pod.status.nominated_node_name)
        entity = queued.group or queued
        if entity.place is Place.ACTIVE:
            self._places.heaps.push_active(entity)  # its priority may be another one
        elif entity.place is Place.BACKOFF:
            self._places.heaps.push_backoff(entity)
        for happened in events:
            if entity.place in {Place.UNSCHEDULABLE, Place.GATED}:
                self._places.requeue(entity, queueing_strategy(entity, happened, self._hints), now, "PodUpdate")

    def delete(self, key: str) -> None:
        """Forget a pod that is gone, or that has a node."""
        queued = self.get(key)
        if queued is None:
            return
        self._nominated.pop(key, None)
        self._preempting.discard(queued.pod.metadata.uid)
        self._in_flight.end(key)
        self._places.remove(queued)

    def regroup(self, concerns: Callable[[Pod], bool], now: float) -> None:
        """Take in that a group has come, has changed or is gone: the pods that it concerns may stand elsewhere now."""
        self._places.regroup(concerns, now)

    def move(
        self,
        event: ClusterEvent,
        now: float,
        old: KubernetesObject | None = None,
        new: KubernetesObject | None = None,
        only: Callable[[Pod], bool] = lambda _: True,
    ) -> None:
        """Try again the pods that the event may help, among those that `only` lets through."""
        self._places.heaps.wake_resting()
        if self._hints.is_of_interest(event):
            waiting = self._places.waiting.values()
            concerned = [queued for queued in waiting if any(only(each.pod) for each in queued.pods)]
            self._move(concerned, Happened(event, old, new), now)

    def _move(self, waiting: Iterable[Queued], happened: Happened, now: float) -> None:
        for queued in waiting:
            if self._is_deaf_to(queued, happened.event):
                continue
            strategy = queueing_strategy(queued, happened, self._hints)
            if strategy is not Strategy.SKIP:
                self._places.requeue(queued, strategy, now, happened.event.resource)
        self._in_flight.record(happened)

    def _is_deaf_to(self, queued: Queued, event: ClusterEvent) -> bool:
        """Report whether the event can be nothing to the plugin that holds the pod back."""
        if not queued.gating_plugin or (event == EVERYTHING and self._backoff.flushes_gated):
            return False
        return not self._hints.is_registered(queued.gating_plugin, event)

    def pop(self) -> Queued | None:
        """Take out the next pod or group, which is in flight from now on; None if nothing is due."""
        queued = self._places.heaps.pop_active()
        if queued is None and self._backoff.is_popped_early:
            queued = self._places.heaps.pop_backoff()
        if queued is not None:
            self._take_out(queued)
        return queued

    def pop_these(self, pods: Iterable[Pod]) -> list[QueuedPod]:
        """Take out these pods, too, but for those that a PreEnqueue plugin holds back (PopSpecificPod, 1.36)."""
        found = []
        for pod in pods:
            queued = self.get(pod.key)
            if queued is None or queued.place is Place.IN_FLIGHT:
                continue
            self._places.activate(queued)
            if queued.place is Place.ACTIVE:
                self._take_out(queued)
                found.append(queued)
        return found

    def _take_out(self, entity: Queued) -> None:
        self._places.move_to(entity, Place.IN_FLIGHT)
        if isinstance(entity, QueuedPodGroup):
            del self._places.groups[entity.key]
            entity.attempts += 1
        for queued in entity.pods:
            queued.group = None
            self._in_flight.begin(queued)
            queued.attempts += 1

    def wakes_at(self) -> float | None:
        """The time at which the next pod is due by time alone; None if only an event can bring that about."""
        heads = self._places.heaps.backoff_ends()
        heads += [self._flushed + _FLUSH_SECONDS] if self._places.waiting else []
        return min(heads, default=None)

    def flush(self, now: float) -> None:
        """Move the pods whose time has come; the loop calls it before it takes one."""
        self.flush_backoff(now)
        if now - self._flushed >= _FLUSH_SECONDS:
            self._flushed = now
            self.flush_unschedulable(now)

    def flush_backoff(self, now: float) -> None:
        """To the active queue with the pods whose backoff is over."""
        for queued in self._places.heaps.backoff_over(now):
            self._places.to_active(queued, "BackoffComplete", is_admitted=self._backoff.is_popped_early)

    def flush_unschedulable(self, now: float) -> None:
        """Try again the pods that nothing has helped for long."""
        since = now - LONGEST_UNSCHEDULABLE_SECONDS
        late = [each for each in self._places.waiting.values() if each.timestamp < since]
        if self._backoff.flushes_gated:
            late = [each for each in late if each.flushed < since]
            for queued in late:
                queued.flushed = now
        if late:
            self._move(late, Happened(EVERYTHING), now)

    def rejected(
        self,
        queued: QueuedPod,
        plugins: Iterable[str],
        now: float,
        pending: Iterable[str] = (),
        *,
        by_backoff: bool = False,
    ) -> None:
        """Take back the pod in flight, which these plugins rejected; without any plugin the attempt failed.

        `by_backoff`, for a member of a group, tries it again after its backoff, whatever has happened since. If nothing
        else waits, it is tried once anything has changed. (kube-scheduler 1.36 takes it at once, again and again.)
        """
        if not self._comes_back(queued, plugins, now, pending):
            return
        if self._places.group_of(queued.pod) is not None:
            self._in_flight.end(queued.key)
            self._places.enter(queued, now, "ScheduleAttemptFailure")
            return
        queued.rests = by_backoff
        strategy = Strategy.AFTER_BACKOFF
        if queued.rejected_by and not by_backoff:
            happened = self._in_flight.since(queued)
            strategy = max((queueing_strategy(queued, each, self._hints) for each in happened), default=Strategy.SKIP)
        self._in_flight.end(queued.key)
        self._places.requeue(queued, strategy, now, "ScheduleAttemptFailure")

    def _comes_back(self, queued: QueuedPod, plugins: Iterable[str], now: float, pending: Iterable[str]) -> bool:
        """Note how the attempt of the pod in flight ended; False if it is no longer ours."""
        if not self._lands(queued):
            return False
        queued.unschedulable_plugins, queued.pending_plugins = frozenset(plugins), frozenset(pending)
        queued.rejections += bool(queued.rejected_by)
        queued.errors = 0 if queued.rejected_by else queued.errors + 1
        queued.timestamp, queued.backoff_until = now, None
        return True

    def _lands(self, queued: QueuedPod) -> bool:
        """Report whether the pod in flight is still ours: not if it was deleted, or deleted and made anew."""
        return self.get(queued.key) is queued and queued.place is Place.IN_FLIGHT

    def group_attempted(
        self, group: QueuedPodGroup, rejected: Iterable[Rejected], now: float, *, fits: bool, failed: bool
    ) -> None:
        """Take back what is left of the group in flight: its members that were rejected (AddAttemptedPodGroupIfNeeded).

        If the group fits, its members without a node are tried again at once, in its old turn.
        """
        group.members = {}
        for queued, plugins, pending in rejected:
            if self._comes_back(queued, plugins, now, pending):
                self._in_flight.end(queued.key)
                self._places.add_member(group, queued)
        if not group.members:
            return
        group.errors = group.errors + 1 if failed else 0
        group.rejections = 0 if fits else group.rejections + (not failed)
        if not fits:
            group.timestamp, group.backoff_until = now, None
        self._places.groups[group.key] = group
        if not fits and self._backoff.is_backing_off(group, now):
            self._places.to_backoff(group, "ScheduleAttemptFailure")
        else:
            self._places.to_active(group, "ScheduleAttemptFailure")

    def failed(self, queued: QueuedPod, now: float) -> None:
        """Take back the pod in flight, whose attempt came to no verdict, or whose binding failed."""
        self.rejected(queued, (), now)

    def again(self, queued: QueuedPod) -> None:
        """Take back the pod in flight, about which nothing was found out."""
        if self._lands(queued):
            self._in_flight.end(queued.key)
            self._places.to_active(queued, "Again")

    def drop(self, queued: QueuedPod) -> None:
        """Forget the pod in flight, which is no longer ours to place."""
        if self._lands(queued):
            self.delete(queued.key)

    def activate(self, pod: Pod) -> None:
        """Try the pod again at once, or after its present attempt (Activate)."""
        queued = self.get(pod.key)
        if queued is None or queued.pod.metadata.uid != pod.metadata.uid:
            return
        if queued.place is Place.IN_FLIGHT:
            self._in_flight.record(Happened(EVERYTHING, None, pod))
        else:
            self._places.activate(queued.group or queued)

    def _gating_plugin(self, pod: Pod) -> str | None:
        if self._preempting and self._preemptor_of(pod) in self._preempting:
            return PREEMPTION_PLUGIN
        return self._gated_by(pod)

    def preemption_began(self, preemptor: str) -> None:
        """Hold back the pods of the preemptor until its last victim goes (DefaultPreemption's PreEnqueue)."""
        self._preempting.add(preemptor)

    def last_victim(self, preemptor: str) -> None:
        """The last victim is about to be deleted: from now on any event may bring the preemptor's pods back."""
        self._preempting.discard(preemptor)

    def preemption_ended(self, preemptor: str, again: Iterable[Pod]) -> None:
        """All victims are going; pods that no deletion will bring back are tried `again` at once."""
        self._preempting.discard(preemptor)
        for pod in again:
            self.activate(pod)
