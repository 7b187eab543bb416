"""The scheduling loop: takes in messages of watches and binding cycles, then decides about one pod at a time.

Before each decision it takes in every message that had come, so that each of our bindings fits beside every binding
that our watch had delivered (pkg/scheduler/schedule_one.go, pkg/scheduler/eventhandlers.go). However many messages
come, and however long the cycles of one namespace's pods take, the pods of others have their turn in between.
"""

from __future__ import annotations

import math
from http import HTTPStatus
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.pod import Pod
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.binding.second_scheduler.cluster_events import ASSUMED_POD_FORGOTTEN, Happened, cluster_event
from kubectl_sched.binding.second_scheduler.events.unwritten_scheduled_events import lately_bound
from kubectl_sched.binding.second_scheduler.followed_kinds import watched_kinds
from kubectl_sched.binding.second_scheduler.loop_messages import (
    Finished,
    LastVictim,
    Led,
    PreemptionEnded,
    Stop,
    WaitingPodPreempted,
    Warned,
)
from kubectl_sched.binding.second_scheduler.queue.fair_shares import OVERUSED, EventBacklog, NamespaceUse
from kubectl_sched.binding.second_scheduler.queue.queue_places import PREEMPTION_PLUGIN
from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod, nominated_pod
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.cycle_budget import STEPS_A_SECOND
from kubectl_sched.sources.live.list_paths import group_of
from kubectl_sched.sources.live.reflector import Changed, Disturbed, Replaced, Resumed

if TYPE_CHECKING:
    from kubectl_sched.binding.second_scheduler.cache import Delta
    from kubectl_sched.binding.second_scheduler.loop_messages import Message
    from kubectl_sched.binding.second_scheduler.pod_attempts import PodAttempts
    from kubectl_sched.binding.second_scheduler.podgroups.podgroup_attempts import PodGroupAttempts

_TICK_SECONDS: Final = 1.0
"""The longest that the loop waits for news, so that it is seen to be alive and metrics are never older."""

_LEAST_EVENT_SECONDS: Final = 0.005
"""The time that waiting pods are asked about events between two decisions, at the least; else as long as a decision."""

_MOST_IN_FLIGHT: Final = 500
"""Binding cycles under way; with more, the next decision waits for one of them."""


class SchedulingLoop:
    """Serves the pods of some profiles. Other threads only fill `inbox` and read `alive_at`, `waits_for` and `down`."""

    def __init__(self, pods: PodAttempts, groups: PodGroupAttempts | None = None) -> None:
        """`groups` is None unless groups have a cycle of their own."""
        self.inbox: SimpleQueue[Message] = SimpleQueue()
        profiles = [each.profile for each in pods.frameworks.values()]
        handle = next(iter(pods.frameworks.values())).handle
        self._cancellation, self._charged = handle.limits.cancellation, handle.limits.charged
        self._unlisted = {kind.name for kind in watched_kinds(profiles, handle)}
        self._down: set[str] = set()
        self._pods = pods
        self._groups = groups
        self._gangs = pods.gangs
        self._cache = pods.cache
        self._queue = pods.queue
        self._metrics = pods.metrics
        self._log = pods.log
        self._clock = pods.clock
        self._leads = False
        self._took_over = False
        self._stop: Stop | None = None
        self._shown_at = 0.0
        self._backlog = EventBacklog(pods.queue)
        self._use = NamespaceUse()
        self._decided_in = 0.0
        """The seconds that the last decision took."""
        self.alive_at = self._clock()
        """The time at which the loop last got on: it took in a message, or came to a decision."""

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The kinds that have not been listed yet. Nothing is decided before all of them are."""
        return tuple(sorted(self._unlisted))

    @property
    def down(self) -> tuple[str, ...]:
        """The resources that cannot be followed at the moment."""
        return tuple(sorted(self._down))

    def run(self) -> Stop:
        """Go on until told to stop."""
        while self._stop is None:
            decided = self.decide()
            self.alive_at = self._clock()
            self._show()
            self._take_in(wait=not decided and not self._backlog)
        return self._stop

    @property
    def asked_to_stop(self) -> Stop | None:
        """The request to end, if there was one."""
        return self._stop

    def ask_to_stop(self, stop: Stop) -> None:
        """End, in the middle of a cycle too, whatever else has come before; for other threads and signals."""
        self._stop = self._stop or stop
        if self._cancellation is not None:
            self._cancellation.ask()
        self.inbox.put(stop)

    def decide(self) -> bool:
        """Decide about the next pod; False where there is none, or none may be taken now."""
        self.ask_waiting_pods()
        if not self._leads or self._unlisted or self._pods.in_flight >= _MOST_IN_FLIGHT:
            return False
        if not self._took_over:
            self._take_over()
        self._queue.flush(self._clock())
        if self._gangs is not None:
            self._pods.rejected_in_permit(self._gangs.expired(self._clock()))
        queued = self._queue.pop()
        if queued is None:
            return False
        began, namespace = self._clock(), queued.pod.namespace
        if self._has_to_wait(namespace, began):
            self._pods.hold_back(queued, queued.pods, OVERUSED)
        elif self._groups is not None and self._groups.is_for(queued):
            self._groups.schedule(queued, self._pods)
        elif isinstance(queued, QueuedPod):
            self._pods.schedule(queued)
        ended = self._clock()
        self._decided_in = ended - began
        self._use.add(namespace, max(self._decided_in - self._share_out(ended), 0.0), ended)
        return True

    def _share_out(self, now: float) -> float:
        """Charge namespaces for work that is no cycle of their own pods, and give the seconds that it took."""
        charged = self._charged.take() if self._charged is not None else {}
        for namespace, steps in charged.items():
            self._use.add(namespace, steps / STEPS_A_SECOND, now)
        return sum(charged.values()) / STEPS_A_SECOND

    def _has_to_wait(self, namespace: str, now: float) -> bool:
        """Report whether the namespace has had its share: if others wait, or would wait long for one of its cycles."""
        if not self._use.is_over_half(namespace, now):
            return False
        return self._queue.are_others_active(namespace) or self._use.is_slow(namespace, now)

    def ask_waiting_pods(self) -> None:
        """Ask the pods that wait whether what has happened helps them, for no longer than the last decision took."""
        self._backlog.work_off(max(self._decided_in, _LEAST_EVENT_SECONDS), self._clock)
        self._share_out(self._clock())

    def _take_over(self) -> None:
        """Before the first decision, write what a killed leader may have left out about pods that it bound."""
        self._took_over = True
        bound = lately_bound(pod for pod in self._cache.pods() if self._is_ours(pod))
        if bound:
            self._pods.binder.tell_of(bound)
        if bound and self._groups is not None:
            self._pods.binder.report_group((), self._groups.untold(bound))

    def drain(self, seconds: float) -> None:
        """Wait until the binding cycles under way are over; no pod is taken any more."""
        until = self._clock() + seconds
        while self._pods.in_flight and (left := until - self._clock()) > 0:
            try:
                self.take(self.inbox.get(timeout=left))
            except Empty:
                break
        if self._pods.in_flight:
            self._log.problem(f"{self._pods.in_flight} binding cycles were not over after {seconds:g} s")

    # News

    def _take_in(self, *, wait: bool) -> None:
        """Take in every message that has come by now; if there is nothing else to do, wait for the next."""
        if wait:
            pause = min(max(self._wakes_at() - self._clock(), 0.0), _TICK_SECONDS)
            try:
                self._take_safely(self.inbox.get(timeout=pause))
            except Empty:
                return
        for _ in range(self.inbox.qsize()):  # others that come meanwhile have their turn after the next decision
            if self._stop is not None:
                return
            self._take_safely(self.inbox.get_nowait())
            self.alive_at = self._clock()

    def _wakes_at(self) -> float:
        """The time at which something is due next by time alone; infinity if nothing is."""
        times = (self._queue.wakes_at(), self._gangs.ends_at() if self._gangs is not None else None)
        return min((each for each in times if each is not None and self._leads), default=math.inf)

    def _take_safely(self, message: Message) -> None:
        """Take in a message; one that nobody has thought of must not end the program, which would meet it again."""
        try:
            self.take(message)
        except Exception as failure:  # noqa: BLE001 - as above
            what = type(message).__name__
            if isinstance(message, Changed):
                what = f"a change of {message.kind.name} {message.object.key}"
            said = f"{type(failure).__name__}: {failure}"
            self._log.problem(f"{what} could not be taken in, by a bug in kubectl-sched ({said})")

    def take(self, message: Message) -> None:
        """Take in one thing that has come."""
        match message:
            case Changed() | Replaced() | Resumed() | Disturbed():
                self._take_news(message)
            case Finished():
                self._pods.finish(message)
            case LastVictim(preemptor):
                self._queue.last_victim(preemptor)
            case PreemptionEnded(preemptor, again):
                self._queue.preemption_ended(preemptor, again)
            case WaitingPodPreempted(uid):
                if self._gangs is not None:
                    self._pods.rejected_in_permit(
                        self._gangs.rejected(uid, "preempted", PREEMPTION_PLUGIN, self._clock())
                    )
            case Warned(sentence):
                self._log.problem(sentence)
            case Led(leads):
                self._leads = leads
                self._metrics.leads(leads=leads)
            case Stop():
                self._stop = self._stop or message

    def _take_news(self, message: Changed | Replaced | Resumed | Disturbed) -> None:
        match message:
            case Changed(_, item, gone):
                delta = self._cache.change(item, gone=gone)
                self._apply([delta] if delta is not None else [])
            case Replaced(kind, objects, path):
                if self._groups is not None and kind.name == "PodGroup":
                    self._groups.served_at(path)
                self._apply(self._cache.replace(kind.type, objects))
                self._unlisted.discard(kind.name)
                self._down.discard(kind.plural)
            case Resumed(kind):
                self._down.discard(kind.plural)
            case Disturbed():
                self._disturbed(message)

    def _disturbed(self, message: Disturbed) -> None:
        self._metrics.disturbed(message.kind.plural)
        if message.is_down:
            self._down.add(message.kind.plural)
        if message.status == HTTPStatus.FORBIDDEN and message.kind.name in self._unlisted:
            group = group_of(message.kind) or '""'
            rule = f"{{apiGroups: [{group}], resources: [{message.kind.plural}], verbs: [list, watch]}}"
            self._stop = Stop(f"{message.sentence}; the missing rule: {rule}", exit_code=3)
        else:
            self._log.problem(f"{message.kind.plural}: {message.sentence}")

    def _apply(self, deltas: list[Delta]) -> None:
        now = self._clock()
        for delta in deltas:
            if isinstance(delta.new or delta.old, Pod):
                self._queue_pod(delta, now)
                if self._gangs is not None and isinstance(delta.old, Pod):
                    new = delta.new if isinstance(delta.new, Pod) else None
                    self._pods.rejected_in_permit(self._gangs.changed(delta.old, new, now))
            elif self._groups is not None:
                self._group_changed(delta, self._groups, now)
            event = cluster_event(delta.old, delta.new)
            if event is not None:
                self._backlog.add(Happened(event, delta.old, delta.new))

    def _queue_pod(self, delta: Delta, now: float) -> None:
        """Into the queue with a pod that waits for us, out of it with one that no longer does."""
        old, new = delta
        if isinstance(new, Pod) and self._is_ours(new) and not new.spec.node_name:
            # A pod that is assumed and no longer in the queue has its node already; the watch is late.
            if new.key in self._queue or not self._cache.is_assumed(new.key):
                self._queue.update(new, now)
            return
        item = new if new is not None else old
        assert item is not None  # noqa: S101 - one of them is there
        queued = self._queue.get(item.key)
        self._queue.delete(item.key)
        if new is None and queued is not None and queued.nominated_node:
            # The room that was kept for it is free for pods that had to leave it.
            freed = nominated_pod(queued.pod, queued.nominated_node)
            self._queue.move(ASSUMED_POD_FORGOTTEN, now, freed, only=lambda pod: pod.priority <= freed.priority)

    def _group_changed(self, delta: Delta, groups: PodGroupAttempts, now: float) -> None:
        concerns = groups.membership.concerned_by(*delta)
        if concerns is not None:
            self._queue.regroup(concerns, now)
        if delta.new is None and isinstance(delta.old, PodGroup):
            groups.gone(delta.old)

    def _is_ours(self, pod: Pod) -> bool:
        return scheduler_name_of(pod) in self._pods.frameworks

    def _show(self) -> None:
        now = self._clock()
        if now - self._shown_at >= _TICK_SECONDS:
            self._shown_at = now
            self._metrics.show(self._queue.counts(), self._queue.take_incoming(), self._cache.sizes)
