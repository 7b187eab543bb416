"""The scheduling loop: takes in what the watches and the binding cycles tell, then decides about one pod at a time.

Before each decision everything is taken in that has come, so that a binding of ours fits given every binding that our
watch had delivered (pkg/scheduler/schedule_one.go, pkg/scheduler/eventhandlers.go).
"""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from http import HTTPStatus
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final

from kubectl_sched.api.pod import Pod
from kubectl_sched.api.scheduling import PodGroup
from kubectl_sched.binding.binding_cycle import Bound, Failed, Gone, Taken
from kubectl_sched.binding.preemption_executor import preemption_of, without_preemption
from kubectl_sched.binding.second_scheduler.cluster_events import ASSUMED_POD_FORGOTTEN, cluster_event
from kubectl_sched.binding.second_scheduler.equal_decisions import EqualDecisions
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
from kubectl_sched.binding.second_scheduler.metrics import ERROR, SCHEDULED, UNSCHEDULABLE
from kubectl_sched.binding.second_scheduler.podgroups.podgroup_attempts import outcome_before_preemption, own_rejection
from kubectl_sched.binding.second_scheduler.podgroups.waiting_gangs import Assumed
from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPod, nominated_pod
from kubectl_sched.binding.second_scheduler.scheduling_queue import PREEMPTION_PLUGIN
from kubectl_sched.binding.second_scheduler.unwritten_scheduled_events import lately_bound
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.status import Code
from kubectl_sched.render.headline import unjudged
from kubectl_sched.scheduler.reserve import reserved, reserved_pod
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import cycle
from kubectl_sched.sources.live.list_paths import group_of
from kubectl_sched.sources.live.reflector import Changed, Disturbed, Replaced, Resumed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_sched.binding.preemption_executor import Preemption
    from kubectl_sched.binding.second_scheduler.binding_workers import Binder
    from kubectl_sched.binding.second_scheduler.cache import Cache, Delta
    from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
    from kubectl_sched.binding.second_scheduler.loop_messages import Message
    from kubectl_sched.binding.second_scheduler.metrics import Metrics
    from kubectl_sched.binding.second_scheduler.podgroups.podgroup_attempts import PodGroupAttempts
    from kubectl_sched.binding.second_scheduler.podgroups.waiting_gangs import Rejected, WaitingGangs
    from kubectl_sched.binding.second_scheduler.queued_pod import Queued
    from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.array_types import Rows

_TICK_SECONDS: Final = 1.0
"""The longest that the loop waits for news, so that it is seen to be alive and metrics are never older."""


_MOST_IN_FLIGHT: Final = 500
"""Binding cycles under way; with more, the next decision waits for one of them."""


class SchedulingLoop:
    """Serves the pods of some profiles. All but `inbox` and what only tells belongs to the thread that calls `run`."""

    def __init__(
        self,
        frameworks: Mapping[str, Framework],
        cache: Cache,
        queue: SchedulingQueue,
        binder: Binder,
        metrics: Metrics,
        log: DecisionLog,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.inbox: SimpleQueue[Message] = SimpleQueue()
        self._frameworks = frameworks
        handle = next(iter(frameworks.values())).handle
        self._unlisted = {kind.name for kind in watched_kinds((each.profile for each in frameworks.values()), handle)}
        self.groups: PodGroupAttempts | None = None
        """Set before the first message where groups have a cycle of their own."""
        self.gangs: WaitingGangs | None = None
        """The same where the pods of a gang wait for one another in Permit."""
        self._down: set[str] = set()
        self._equal = EqualDecisions()
        self._cache = cache
        self._queue = queue
        self._binder = binder
        self._metrics = metrics
        self._log = log
        self._clock = clock
        self._leads = False
        self._took_over = False
        self._stop: Stop | None = None
        self._in_flight = 0
        self._shown_at = 0.0
        self.alive_at = clock()
        """When the loop last went round."""

    @property
    def waits_for(self) -> tuple[str, ...]:
        """The kinds of which nothing is known yet: until there are none, nothing is decided."""
        return tuple(sorted(self._unlisted))

    @property
    def down(self) -> tuple[str, ...]:
        """The resources that cannot be followed at the moment."""
        return tuple(sorted(self._down))

    def run(self) -> Stop:
        """Go on until told to stop."""
        while self._stop is None:
            self.alive_at = self._clock()
            decided = self.decide()
            self._show()
            self._take_in(wait=not decided)
        return self._stop

    def decide(self) -> bool:
        """Decide about the next pod; False where there is none, or none may be taken now."""
        if not self._leads or self._unlisted or self._in_flight >= _MOST_IN_FLIGHT:
            return False
        if not self._took_over:
            self._take_over()
        self._queue.flush(self._clock())
        if self.gangs is not None:
            self._rejected_in_permit(self.gangs.expired(self._clock()))
        queued = self._queue.pop()
        if self.groups is not None and queued is not None and self.groups.is_for(queued):
            self._schedule_group(queued, self.groups)
        elif isinstance(queued, QueuedPod):
            self._schedule(queued)
        return queued is not None

    def _take_over(self) -> None:
        """Before the first decision: a leader that was killed may have bound pods without telling."""
        self._took_over = True
        bound = lately_bound(pod for pod in self._cache.pods() if self._is_ours(pod))
        if bound:
            self._binder.tell_of(bound)
        if bound and self.groups is not None:
            self._binder.report_group((), self.groups.untold(bound))

    def drain(self, seconds: float) -> None:
        """Wait until the binding cycles under way are over; no pod is taken any more."""
        until = self._clock() + seconds
        while self._in_flight and (left := until - self._clock()) > 0:
            try:
                self.take(self.inbox.get(timeout=left))
            except Empty:
                break
        if self._in_flight:
            self._log.problem(f"{self._in_flight} binding cycles were not over after {seconds:g} s")

    # News

    def _take_in(self, *, wait: bool) -> None:
        """Everything that has come; where there is nothing else to do, the next thing that comes."""
        if wait:
            pause = min(max(self._wakes_at() - self._clock(), 0.0), _TICK_SECONDS)
            try:
                self._take_safely(self.inbox.get(timeout=pause))
            except Empty:
                return
        while self._stop is None:
            try:
                self._take_safely(self.inbox.get_nowait())
            except Empty:
                return

    def _wakes_at(self) -> float:
        """When something is due next by time alone; infinity if nothing is."""
        times = (self._queue.wakes_at(), self.gangs.ends_at() if self.gangs is not None else None)
        return min((each for each in times if each is not None and self._leads), default=math.inf)

    def _take_safely(self, message: Message) -> None:
        """A message that nobody has thought of must not end the program, which would meet it again."""
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
                self._finish(message)
            case LastVictim(preemptor):
                self._queue.last_victim(preemptor)
            case PreemptionEnded(preemptor, again):
                self._queue.preemption_ended(preemptor, again)
            case WaitingPodPreempted(uid):
                if self.gangs is not None:
                    self._rejected_in_permit(self.gangs.rejected(uid, "preempted", PREEMPTION_PLUGIN, self._clock()))
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
                if self.groups is not None and kind.name == "PodGroup":
                    self.groups.served_at(path)
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
                if self.gangs is not None and isinstance(delta.old, Pod):
                    new = delta.new if isinstance(delta.new, Pod) else None
                    self._rejected_in_permit(self.gangs.changed(delta.old, new, now))
            elif self.groups is not None:
                self._group_changed(delta, self.groups, now)
            event = cluster_event(delta.old, delta.new)
            if event is not None:
                self._queue.move(event, now, delta.old, delta.new)

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
        return scheduler_name_of(pod) in self._frameworks

    # One pod

    def _schedule(self, queued: QueuedPod) -> None:
        """One scheduling cycle; what comes of it is written in other threads."""
        began = self._clock()
        try:
            self._attempt(queued, began)
        except Exception as failure:  # noqa: BLE001 - one pod that nobody has thought of must not stop all others
            why = f"cannot be judged, by a bug in kubectl-sched ({type(failure).__name__}: {failure})"
            self._fail(queued, f"{why}; other pods are served as before", began)

    def _fail(self, queued: QueuedPod, why: str, began: float) -> None:
        """No verdict: the pod is tried again as after any error."""
        now = self._clock()
        self._log.problem(f"pod {queued.key} {why}")
        self._metrics.attempted(ERROR, scheduler_name_of(queued.pod), now - began)
        self._queue.failed(queued, now)

    def _attempt(self, queued: QueuedPod, began: float) -> None:
        pod = nominated_pod(queued.pod, queued.nominated_node)
        framework = self._frameworks[scheduler_name_of(pod)]
        nodes = self._cache.snapshot(self._queue.nominated())
        for sentence in self._cache.left_out:
            self._log.problem(sentence)
        result, tied = self._judged(pod, nodes, framework)
        self._metrics.decided(self._clock() - began)
        if result.unknown:
            self._fail(queued, f"is not bound: {unjudged(result)}", began)
        elif result.fits:
            node = result.nominated_first or nodes.names[random.choice(tied)]  # noqa: S311 - no secret
            self._place(queued, result, node, began)
        elif result.outcome is Outcome.GATED:
            self._queue.again(queued)  # goes where gated pods are
        else:
            self._reject(queued, result, began)

    def _judged(self, pod: Pod, nodes: Snapshot, framework: Framework) -> tuple[ScheduleResult, Rows]:
        """The result, and the nodes of which chance chooses one, as in kube-scheduler."""
        known = self._equal.decide(pod, nodes, framework, self._cache.drift())
        if known is not None:
            return known
        result = cycle(pod, nodes, framework)
        self._equal.begin(result)
        return result, result.tied

    def _place(self, queued: QueuedPod, result: ScheduleResult, node: str, began: float) -> None:
        """Bind the pod, and those that waited in Permit for it; or let it wait there for the rest of its gang."""
        waits = self.gangs is not None and self.gangs.has_to_wait(result)
        assumed = self._assume(queued, result, node, began)
        if self.gangs is not None and waits:
            self.gangs.wait(assumed, self._clock())
        else:
            self._bind([assumed, *(self.gangs.allowed_with(result.pod) if self.gangs is not None else ())])

    def _assume(self, queued: QueuedPod, result: ScheduleResult, node: str, began: float) -> Assumed:
        reservations = reserved(result, node, time_now())
        others = [each.item for each in reservations if not isinstance(each.item, Pod)]
        self._cache.assume(reserved_pod(result.pod, reservations), node, others)
        self._queue.nominate(queued, "")
        return Assumed(queued, result, node, reservations, began)

    def _bind(self, assumed: Sequence[Assumed]) -> None:
        """Begin the binding cycles of pods that are all assumed."""
        for each in assumed:
            self._in_flight += 1
            self._binder.bind(*each)

    def _rejected_in_permit(self, rejected: Iterable[Rejected]) -> None:
        for member, seconds in rejected:
            self._metrics.attempted(UNSCHEDULABLE, scheduler_name_of(member.pod), seconds)
            self._log.left_out(member)

    def _reject(self, queued: QueuedPod, result: ScheduleResult, began: float) -> None:
        """Say why not, and put the pod where it waits."""
        now = self._clock()
        failed = result.outcome is Outcome.ERROR
        self._metrics.attempted(ERROR if failed else UNSCHEDULABLE, _profile(result), now - began)
        self._log.rejected(result)
        result = result if self._binder.may_preempt else without_preemption(result)
        nominated = "" if failed or result.post_filter is None else result.post_filter.nominated_node
        if nominated is not None:
            self._queue.nominate(queued, nominated)
        preemption = preemption_of(result)
        if preemption is not None:
            self._preemption_began(preemption)
        if failed:
            self._queue.failed(queued, now)
        elif result.outcome is Outcome.DELETING:
            self._queue.drop(queued)
        else:
            rejecting, pending = _rejecting_plugins(result)
            self._queue.rejected(queued, rejecting, now, pending)
        self._binder.report(result)

    def _preemption_began(self, preemption: Preemption) -> None:
        """Hold back the preemptor's pods, unless all victims are going already."""
        self._metrics.preempted()
        if preemption.to_delete:
            self._queue.preemption_began(preemption.uid)

    # One group

    def _schedule_group(self, entity: Queued, groups: PodGroupAttempts) -> None:
        """The cycle of a group; its members bind side by side, as single pods do."""
        began = self._clock()
        members = groups.members(entity)
        try:
            result = groups.run(members)
            self._metrics.decided(self._clock() - began)
            unknown = next((each.result for each in result.members if each.result and each.result.unknown), None)
            left = members if unknown is not None else self._bind_members(members, result, began)
        except Exception as failure:  # noqa: BLE001 - as above
            why = f"cannot be judged, by a bug in kubectl-sched ({type(failure).__name__}: {failure})"
            self._fail_group(entity, members, groups, f"{why}; other pods are served as before", began)
            return
        if unknown is not None:
            self._fail_group(entity, members, groups, f"is not bound: {unjudged(unknown)}", began)
        else:
            self._put_back(entity, left, result, groups, began)

    def _fail_group(
        self, entity: Queued, members: Sequence[QueuedPod], groups: PodGroupAttempts, why: str, began: float
    ) -> None:
        now = self._clock()
        for queued in members:
            self._log.problem(f"pod {queued.key} {why}")
            self._metrics.attempted(ERROR, scheduler_name_of(queued.pod), now - began)
        groups.put_back(entity, [(queued, (), ()) for queued in members], now, Outcome.ERROR)

    def _bind_members(self, members: Sequence[QueuedPod], result: PodGroupResult, began: float) -> list[QueuedPod]:
        """Bind the members that get a node; gives the others."""
        found = {each.pod.key: each for each in result.members}
        placed, left = [], []
        for queued in members:
            member = found.get(queued.key)
            if member is not None and member.result is not None and member.node_name is not None:
                placed.append(self._assume(queued, member.result, member.node_name, began))
            else:
                left.append(queued)
        self._bind(placed)
        return left

    def _put_back(
        self, entity: Queued, left: Sequence[QueuedPod], result: PodGroupResult, groups: PodGroupAttempts, began: float
    ) -> None:
        """Say why the other members have no node, and put them where they wait."""
        now = self._clock()
        without = {each.pod.key: each for each in result.members if each.node_name is None}
        rejected = []
        for queued in left:
            member = without.get(queued.key)
            if member is not None and member.outcome is Outcome.DELETING:
                self._queue.drop(queued)
                continue
            if member is not None and member.nominated_node is not None:
                self._queue.nominate(queued, member.nominated_node)
            own = own_rejection(member) if member is not None else None
            rejected.append((queued, *(_rejecting_plugins(own) if own is not None else ((), ()))))
        for member in without.values():
            failed = member.outcome is Outcome.ERROR
            self._metrics.attempted(ERROR if failed else UNSCHEDULABLE, scheduler_name_of(member.pod), now - began)
            self._log.left_out(member)
        preemptions = groups.preemptions(result)
        for preemption in preemptions:
            self._preemption_began(preemption)
        groups.put_back(entity, rejected, now, outcome_before_preemption(result))
        reports = ((each, self._frameworks[scheduler_name_of(each.pod)]) for each in without.values())
        self._binder.report_group(reports, groups.conditions(result))
        for preemption in preemptions:
            self._binder.preempt(preemption)

    def _finish(self, finished: Finished) -> None:
        """A binding cycle is over: the pod has its node, or all that was assumed of it ends."""
        queued, result, node, outcome, began = finished
        now = self._clock()
        self._in_flight -= 1
        for sentence in (*outcome.warnings, *outcome.left):
            self._log.problem(sentence)
        if isinstance(outcome, Bound):
            self._cache.bound(result.pod)
            self._queue.drop(queued)
            self._metrics.attempted(SCHEDULED, _profile(result), now - began)
            self._metrics.scheduled(queued.attempts, now - queued.entered)
            self._log.assigned(queued.pod, outcome.node)
            return
        self._cache.forget(result.pod)
        self._queue.move(ASSUMED_POD_FORGOTTEN, now, nominated_pod(result.pod, node))
        self._metrics.attempted(ERROR, _profile(result), now - began)
        match outcome:
            case Taken(node=other):
                self._log.problem(f"pod {queued.key} was bound to {other} by another")
                self._queue.drop(queued)
            case Gone(why=why):
                self._log.problem(f"pod {queued.key}: {why}")
                self._queue.drop(queued)
            case Failed(status=status):
                self._log.problem(f"pod {queued.key} could not be bound: {status.message}")
                self._queue.failed(queued, now)
                if not outcome.changed and not outcome.interrupted:
                    self._binder.report(result, outcome)

    def _show(self) -> None:
        now = self._clock()
        if now - self._shown_at >= _TICK_SECONDS:
            self._shown_at = now
            incoming, self._queue.incoming = self._queue.incoming, Counter()
            self._metrics.show(self._queue.counts(), incoming, self._cache.sizes)


def _rejecting_plugins(result: ScheduleResult) -> tuple[frozenset[str], frozenset[str]]:
    """The plugins that rejected the pod, and those that wait for something (Diagnosis).

    Both are empty if there are no nodes.
    """
    counts = result.verdict.counts() if result.verdict is not None else ()
    statuses = (*(status for status, _ in counts), result.pre_filter)
    pending = {status.plugin for status in statuses if status.code is Code.PENDING}
    named = {*(status.plugin for status in statuses), *result.narrowed_by} - pending
    return frozenset(filter(None, named)), frozenset(filter(None, pending))


def _profile(result: ScheduleResult) -> str:
    return result.framework.profile.scheduler_name if result.framework is not None else ""
