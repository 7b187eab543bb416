"""Which pod comes next, and what those wait for that did not fit (pkg/scheduler/backend/queue/scheduling_queue.go).

A pod of ours is in exactly one place: active, in backoff, unschedulable, gated or in flight. Nothing here knows a clock
or a thread: every method is told the time, in seconds of a monotonic clock, and the scheduling loop is its only caller.
"""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from kubectl_sched.binding.second_scheduler.cluster_events import may_help
from kubectl_sched.binding.second_scheduler.queued_pod import Backoff, Place, QueuedPod, is_worth_an_attempt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.binding.second_scheduler.cluster_events import ClusterEvent

LONGEST_UNSCHEDULABLE_SECONDS: Final = 300.0
"""Then a pod is tried again whatever has happened (DefaultPodMaxInUnschedulablePodsDuration)."""

_FLUSH_SECONDS: Final = 30.0
"""How often it is looked who has waited so long (flushUnschedulablePodsLeftover)."""

PREEMPTION_PLUGIN: Final = "DefaultPreemption"
"""Holds back a pod while its preemption is under way."""

_ENTRIES_KEPT: Final = 1_000

_Entry = tuple[Any, int, QueuedPod]
"""What it is ordered by, the number of the entry, and the pod."""


class SchedulingQueue:
    """The pods of our profiles that no node has.

    `order` is the profile's QueueSort, `gated_by` PreEnqueue: the plugin that holds a pod back, None where none does.
    """

    def __init__(
        self,
        order: Callable[[Pod], tuple[int | float | str, ...]],
        gated_by: Callable[[Pod], str | None],
        backoff: Backoff,
    ) -> None:
        self._order = order
        self._gated_by = gated_by
        self._backoff = backoff
        self._pods: dict[str, QueuedPod] = {}
        self._active: list[_Entry] = []
        self._backing_off: list[_Entry] = []
        self._waiting: dict[str, QueuedPod] = {}
        self._in_flight: dict[str, QueuedPod] = {}
        self._nominated: dict[str, QueuedPod] = {}
        self._preempting: set[str] = set()
        """UIDs of the pods whose preemption is under way."""
        self._entries = 0
        self._flushed = 0.0
        self._counts: Counter[Place] = Counter()
        self.incoming: Counter[tuple[Place, str]] = Counter()
        """How many pods came to each place, and on which event: scheduler_queue_incoming_pods_total."""

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, key: str) -> bool:
        return key in self._pods

    def get(self, key: str) -> QueuedPod | None:
        """The pod of that key, wherever it is."""
        return self._pods.get(key)

    def counts(self) -> Mapping[Place, int]:
        """How many pods are in each place."""
        return {place: self._counts[place] for place in Place}

    def nominated(self) -> dict[str, tuple[Pod, ...]]:
        """The pods that earlier cycles nominated, by node."""
        found: dict[str, tuple[Pod, ...]] = {}
        for queued in self._nominated.values():
            found[queued.nominated_node] = (*found.get(queued.nominated_node, ()), queued.pod)
        return found

    def nominate(self, queued: QueuedPod, node: str) -> None:
        """Keep room for the pod on that node; an empty name takes an earlier nomination back."""
        queued.nominated_node = node
        if node and self._pods.get(queued.key) is queued:
            self._nominated[queued.key] = queued
        else:
            self._nominated.pop(queued.key, None)

    # What the watch tells

    def add(self, pod: Pod, now: float) -> None:
        """A pod that is new to us."""
        self.delete(pod.key)
        queued = self._pods[pod.key] = QueuedPod(pod, entered=now)
        self._counts[queued.place] += 1
        self.nominate(queued, pod.status.nominated_node_name)
        self._activate(queued, now, "PodAdd")

    def update(self, pod: Pod, now: float) -> None:
        """A pod that we have has changed; one of another uid is another pod."""
        queued = self._pods.get(pod.key)
        if queued is None or queued.pod.metadata.uid != pod.metadata.uid:
            self.add(pod, now)
            return
        before, queued.pod = queued.pod, pod
        if queued.place is Place.IN_FLIGHT:
            return  # whatever its verdict, it is put somewhere then; the room for it is assumed, not nominated
        if pod.status.nominated_node_name != before.status.nominated_node_name:
            self.nominate(queued, pod.status.nominated_node_name)
        if not is_worth_an_attempt(before, pod):
            return
        if queued.place is Place.GATED:
            self._activate(queued, now, "PodUpdate")
        elif queued.place is Place.UNSCHEDULABLE:
            self._retry(queued, now, "PodUpdate")
        elif queued.place is Place.ACTIVE:
            self._push_active(queued)  # its priority may be another one

    def delete(self, key: str) -> None:
        """A pod that is gone, or that has a node."""
        queued = self._pods.get(key)
        if queued is None:
            return
        self._counts[queued.place] -= 1
        for places in (self._pods, self._waiting, self._in_flight, self._nominated):
            places.pop(key, None)
        self._compact()

    def move(self, event: ClusterEvent, now: float) -> None:
        """Try again whom the event may help; those in flight are asked once their verdict is known."""
        for queued in self._in_flight.values():
            queued.missed.add(event)
        for queued in [each for each in self._waiting.values() if may_help(event, each.rejected_by)]:
            if queued.place is Place.GATED:
                self._activate(queued, now, event.resource)
            else:
                self._retry(queued, now, event.resource)

    # What the scheduling loop asks and tells

    def pop(self, now: float) -> QueuedPod | None:
        """The next pod, which is in flight from now on; None where nobody is due."""
        self._flush(now)
        while self._active:
            _, entry, queued = heapq.heappop(self._active)
            if self._stands(queued, Place.ACTIVE, entry):
                self._move_to(queued, Place.IN_FLIGHT)
                self._in_flight[queued.key] = queued
                queued.attempts += 1
                queued.missed = set()
                return queued
        return None

    def wakes_at(self) -> float | None:
        """When somebody is due next who is not yet; None where only an event can bring that about."""
        self._forget_stale(self._backing_off, Place.BACKOFF)
        times = [self._backing_off[0][0]] if self._backing_off else []
        times += [self._flushed + _FLUSH_SECONDS] if self._waiting else []
        return min(times, default=None)

    def rejected(self, queued: QueuedPod, plugins: Iterable[str], now: float) -> None:
        """The pod in flight does not fit, and these plugins say so: it waits for what may help."""
        if not self._lands(queued):
            return
        queued.rejected_by = frozenset(plugins)
        queued.failures += 1
        queued.backoff_until = now + self._backoff.seconds(queued.failures)
        if any(may_help(event, queued.rejected_by) for event in queued.missed):
            self._retry(queued, now, "ScheduleAttemptFailure")
        else:
            self._put(queued, Place.UNSCHEDULABLE, now, "ScheduleAttemptFailure")

    def failed(self, queued: QueuedPod, now: float) -> None:
        """The attempt came to no verdict, or the binding failed: the pod is tried again after its backoff."""
        if self._lands(queued):
            queued.rejected_by = frozenset()
            queued.failures += 1
            queued.backoff_until = now + self._backoff.seconds(queued.failures)
            self._retry(queued, now, "ScheduleAttemptFailure")

    def again(self, queued: QueuedPod, now: float) -> None:
        """The pod in flight is tried again at once, as nothing was found out about it."""
        if self._lands(queued):
            self._activate(queued, now, "Again")

    def preemption_began(self, pod: Pod) -> None:
        """Hold the pod back until its last victim is about to be deleted (DefaultPreemption's PreEnqueue)."""
        self._preempting.add(pod.metadata.uid)

    def last_victim(self, pod: Pod) -> None:
        """The pod's last victim is about to be deleted: from now on any event may bring the pod back."""
        self._preempting.discard(pod.metadata.uid)

    def preemption_ended(self, pod: Pod, now: float, *, failed: bool) -> None:
        """The pod's victims are going, or (`failed`) one could not be told to: then it is tried again at once."""
        self._preempting.discard(pod.metadata.uid)
        queued = self._pods.get(pod.key)
        if queued is None or queued.pod.metadata.uid != pod.metadata.uid or queued.place is Place.IN_FLIGHT:
            return
        held_back = queued.place is Place.GATED and queued.rejected_by == {PREEMPTION_PLUGIN}
        if held_back or (failed and queued.place is not Place.ACTIVE):
            self._activate(queued, now, "ForceActivate")

    def drop(self, queued: QueuedPod) -> None:
        """The pod in flight is no longer ours to place."""
        if self._lands(queued):
            self.delete(queued.key)

    # Between the places

    def _lands(self, queued: QueuedPod) -> bool:
        """Whether the pod in flight is still ours to put somewhere: not if it was deleted, or deleted and made anew."""
        return self._pods.get(queued.key) is queued and queued.place is Place.IN_FLIGHT

    def _activate(self, queued: QueuedPod, now: float, why: str) -> None:
        """To the active queue, unless a PreEnqueue plugin holds the pod back."""
        preempting = queued.pod.metadata.uid in self._preempting
        plugin = PREEMPTION_PLUGIN if preempting else self._gated_by(queued.pod)
        if plugin is not None:
            queued.rejected_by = frozenset({plugin})
            self._put(queued, Place.GATED, now, why)
            return
        self._put(queued, Place.ACTIVE, now, why)
        self._push_active(queued)

    def _retry(self, queued: QueuedPod, now: float, why: str) -> None:
        """To the active queue, or first to wait for the end of its backoff."""
        if queued.backoff_until <= now:
            self._activate(queued, now, why)
            return
        self._put(queued, Place.BACKOFF, now, why)
        heapq.heappush(self._backing_off, (queued.backoff_until, queued.entry, queued))

    def _put(self, queued: QueuedPod, place: Place, now: float, why: str) -> None:
        self._entries += 1
        queued.entry = self._entries
        self._move_to(queued, place)
        queued.waits_since = now
        self._in_flight.pop(queued.key, None)
        if place in {Place.UNSCHEDULABLE, Place.GATED}:
            self._waiting[queued.key] = queued
        else:
            self._waiting.pop(queued.key, None)
        self.incoming[place, why] += 1

    def _move_to(self, queued: QueuedPod, place: Place) -> None:
        self._counts[queued.place] -= 1
        self._counts[place] += 1
        queued.place = place

    def _push_active(self, queued: QueuedPod) -> None:
        self._entries += 1
        queued.entry = self._entries
        # QueueSort compares when each pod came into the queue; no object holds that, so it stands after the priority.
        priority, *rest = self._order(queued.pod)
        heapq.heappush(self._active, ((priority, queued.waits_since, *rest), queued.entry, queued))

    def _flush(self, now: float) -> None:
        """To the active queue with everybody whose time has come."""
        while self._backing_off and self._backing_off[0][0] <= now:
            _, entry, queued = heapq.heappop(self._backing_off)
            if self._stands(queued, Place.BACKOFF, entry):
                self._activate(queued, now, "BackoffComplete")
        if now - self._flushed < _FLUSH_SECONDS:
            return
        self._flushed = now
        for queued in list(self._waiting.values()):
            if queued.place is Place.UNSCHEDULABLE and now - queued.waits_since >= LONGEST_UNSCHEDULABLE_SECONDS:
                self._retry(queued, now, "UnschedulableTimeout")

    def _compact(self) -> None:
        """Leave out the entries of pods that have gone, which nobody takes out where another replica leads."""
        most = 2 * len(self._pods) + _ENTRIES_KEPT
        for heap, place in ((self._active, Place.ACTIVE), (self._backing_off, Place.BACKOFF)):
            if len(heap) > most:
                heap[:] = [each for each in heap if self._stands(each[2], place, each[1])]
                heapq.heapify(heap)

    def _stands(self, queued: QueuedPod, place: Place, entry: int) -> bool:
        """Whether an entry of a heap still stands for where its pod is."""
        return queued.entry == entry and queued.place is place and self._pods.get(queued.key) is queued

    def _forget_stale(self, heap: list[_Entry], place: Place) -> None:
        while heap and not self._stands(heap[0][2], place, heap[0][1]):
            heapq.heappop(heap)
