"""Attempts to place single pods: the scheduling cycle, and what its binding cycle comes to (schedule_one.go)."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

from kubectl_sched.api.pod import Pod
from kubectl_sched.binding.binding_cycle import Bound, Failed, Gone, Lost, Taken
from kubectl_sched.binding.preemption_executor import preemption_of, without_preemption
from kubectl_sched.binding.second_scheduler.cluster_events import ASSUMED_POD_FORGOTTEN
from kubectl_sched.binding.second_scheduler.equal_decisions import EqualDecisions
from kubectl_sched.binding.second_scheduler.metrics import ERROR, SCHEDULED, UNSCHEDULABLE
from kubectl_sched.binding.second_scheduler.podgroups.waiting_gangs import Assumed
from kubectl_sched.binding.second_scheduler.queued_pod import QueuedPodGroup, nominated_pod
from kubectl_sched.binding.timestamps import time_now
from kubectl_sched.config.scheduler_name import scheduler_name_of
from kubectl_sched.framework.status import Code
from kubectl_sched.render.sentences.headline import unjudged
from kubectl_sched.scheduler.end_of_cycle import reserved, reserved_pod
from kubectl_sched.scheduler.opportunistic_batch import HintedNode, OpportunisticBatch, is_taken
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import cycle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kubectl_sched.binding.preemption_executor import Preemption
    from kubectl_sched.binding.second_scheduler.binding_workers import Binder
    from kubectl_sched.binding.second_scheduler.cache import Cache
    from kubectl_sched.binding.second_scheduler.decision_log import DecisionLog
    from kubectl_sched.binding.second_scheduler.loop_messages import Finished
    from kubectl_sched.binding.second_scheduler.metrics import Metrics
    from kubectl_sched.binding.second_scheduler.podgroups.waiting_gangs import Rejected, WaitingGangs
    from kubectl_sched.binding.second_scheduler.queued_pod import Queued, QueuedPod
    from kubectl_sched.binding.second_scheduler.scheduling_queue import SchedulingQueue
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.snapshot import Snapshot


class PodAttempts:
    """Runs the cycle of a pod out of the queue, has it bound, and puts it back if it gets no node."""

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
        self.frameworks = frameworks
        self.cache = cache
        self.queue = queue
        self.binder = binder
        self.metrics = metrics
        self.log = log
        self.clock = clock
        self.gangs: WaitingGangs | None = None
        """Set before the loop is made where the pods of a gang wait for one another in Permit."""
        self.in_flight = 0
        """The number of binding cycles under way."""
        self.batch = OpportunisticBatch(clock)
        self._equal = EqualDecisions()

    def schedule(self, queued: QueuedPod) -> None:
        """Run one scheduling cycle; its outcome is written by other threads."""
        began = self.clock()
        self.batch.begin()
        try:
            self._attempt(queued, began)
        except Exception as failure:  # noqa: BLE001 - one pod that nobody has thought of must not stop all others
            why = f"cannot be judged, by a bug in kubectl-sched ({type(failure).__name__}: {failure})"
            self._fail(queued, f"{why}; other pods are served as before", began)

    def _fail(self, queued: QueuedPod, why: str, began: float) -> None:
        """Have the pod tried again, as after any error: there is no verdict on it."""
        now = self.clock()
        self.log.problem(f"pod {queued.key} {why}")
        self.metrics.attempted(ERROR, scheduler_name_of(queued.pod), now - began)
        self.queue.failed(queued, now)

    def hold_back(self, queued: Queued, pods: Sequence[QueuedPod], why: str) -> None:
        """Have the pods wait in a back-off of their own because of what their cycle costs others, and say so.

        Nothing is said of a cycle that was cancelled: the program ends, and its successor decides about the pods.
        """
        if all(each.handle.limits.are_cancelled for each in self.frameworks.values()):
            return
        now, said = self.clock(), f"{why}; the pod is tried again after a back-off that doubles from 1 s to 5 min"
        for each in pods:
            each.overdrafts += 1
            self.log.problem(f"pod {each.key}: {said}")
            self.binder.report_overdraft(each.pod, said, self.frameworks[scheduler_name_of(each.pod)])
        if isinstance(queued, QueuedPodGroup):
            queued.overdrafts += 1
            self.queue.group_attempted(queued, [(each, (), ()) for each in pods], now, fits=False, failed=True)
            return
        for each in pods:
            self.queue.failed(each, now)

    def _attempt(self, queued: QueuedPod, began: float) -> None:
        pod = nominated_pod(queued.pod, queued.nominated_node)
        framework = self.frameworks[scheduler_name_of(pod)]
        nodes = self.cache.snapshot(self.queue.nominated())
        for sentence in self.cache.left_out:
            self.log.problem(sentence)
        result, tied = self._judged(pod, nodes, framework)
        self.metrics.decided(self.clock() - began)
        if result.budget_ended is not None:
            self.metrics.attempted(ERROR, _profile(result), self.clock() - began)
            self.hold_back(queued, (queued,), result.budget_ended)
            return
        queued.overdrafts = 0
        if result.unknown:
            self._fail(queued, f"is not bound: {unjudged(result)}", began)
        elif (node := self._chosen(result, tied)) is not None:
            self._place(queued, result, node, began)
        elif result.outcome is Outcome.GATED:
            self.queue.again(queued)  # goes where gated pods are
        else:
            self._reject(queued, result, began)

    def _judged(self, pod: Pod, nodes: Snapshot, framework: Framework) -> tuple[CycleResult, Sequence[int]]:
        """Return the result, and the nodes tied at the highest total."""
        known = self._equal.decide(pod, nodes, framework, self.cache.drift())
        if known is not None:
            return known
        result = cycle(pod, nodes, framework)
        self._equal.begin(result, is_batched=self.batch.signs(result))
        return result, result.tied.tolist()

    def _chosen(self, result: CycleResult, tied: Sequence[int]) -> str | None:
        """Return the node for the pod, at random among tied ones as in kube-scheduler; None if it gets none."""
        names = result.nodes.names
        node: str
        if self._equal.has_decided:
            node = names[random.choice(tied)]  # noqa: S311 - no secret
            self.batch.placed_equally(result.pod, lambda: result.nodes, result.framework, node)
            return node
        hint = self.batch.hint(result)
        hinted = None if hint is None else HintedNode(hint, random.choice(hint.names))  # noqa: S311 - no secret
        if hinted is not None and is_taken(hinted, result):
            node = hinted.name
        elif result.fits:
            node = result.nominated_first or names[random.choice(tied)]  # noqa: S311 - no secret
        else:
            return None
        self.batch.placed(result, node, hinted)
        return node

    def _place(self, queued: QueuedPod, result: CycleResult, node: str, began: float) -> None:
        """Bind the pod, and those that waited in Permit for it; or let it wait there for the rest of its gang."""
        waits = self.gangs is not None and self.gangs.has_to_wait(result)
        assumed = self.assume(queued, result, node, began)
        if self.gangs is not None and waits:
            self.gangs.wait(assumed, self.clock())
        else:
            self.bind([assumed, *(self.gangs.allowed_with(result.pod) if self.gangs is not None else ())])

    def assume(self, queued: QueuedPod, result: CycleResult, node: str, began: float) -> Assumed:
        """Take the pod for one that runs on the node, with what the end of its cycle reserves."""
        reservations = reserved(result, node, time_now())
        # A claim that the volume controller has yet to bind is found as the watch shows it.
        ours = (each.item for each in reservations if each.writes or each.assumed is None)
        others = [item for item in ours if not isinstance(item, Pod)]
        self.cache.assume(reserved_pod(result.pod, reservations), node, others)
        self.queue.nominate(queued, "")
        return Assumed(queued, result, node, reservations, began)

    def bind(self, assumed: Sequence[Assumed]) -> None:
        """Begin the binding cycles of pods that are all assumed."""
        for each in assumed:
            self.in_flight += 1
            self.binder.bind(*each)

    def rejected_in_permit(self, rejected: Iterable[Rejected]) -> None:
        """Count and log pods that wait in Permit no longer."""
        for member, seconds in rejected:
            self.metrics.attempted(UNSCHEDULABLE, scheduler_name_of(member.pod), seconds)
            self.log.left_out(member)

    def _reject(self, queued: QueuedPod, result: CycleResult, began: float) -> None:
        """Say why not, and put the pod where it waits."""
        now = self.clock()
        failed = result.outcome is Outcome.ERROR
        self.metrics.attempted(ERROR if failed else UNSCHEDULABLE, _profile(result), now - began)
        self.log.rejected(result)
        result = result if self.binder.may_preempt else without_preemption(result)
        nominated = "" if failed or result.post_filter is None else result.post_filter.nominated_node
        if nominated is not None:
            self.queue.nominate(queued, nominated)
        preemption = preemption_of(result)
        if preemption is not None:
            self.preemption_began(preemption)
        if failed:
            self.queue.failed(queued, now)
        elif result.outcome is Outcome.DELETING:
            self.queue.drop(queued)
        else:
            rejecting, pending = rejecting_plugins(result)
            self.queue.rejected(queued, rejecting, now, pending)
        self.binder.report(result)

    def preemption_began(self, preemption: Preemption) -> None:
        """Hold back the preemptor's pods, unless all victims are going already."""
        self.metrics.preempted()
        if preemption.to_delete:
            self.queue.preemption_began(preemption.uid)

    def finish(self, finished: Finished) -> None:
        """A binding cycle is over: the pod has its node, or all that was assumed of it ends."""
        queued, result, node, outcome, began = finished
        now = self.clock()
        self.in_flight -= 1
        for sentence in (*outcome.warnings, *outcome.left):
            self.log.problem(sentence)
        if isinstance(outcome, Bound):
            self.cache.bound(result.pod, outcome.versions)
            self.queue.drop(queued)
            self.metrics.attempted(SCHEDULED, _profile(result), now - began)
            self.metrics.scheduled(queued.attempts, now - queued.entered)
            self.log.assigned(queued.pod, outcome.node)
            return
        if isinstance(outcome, Lost):
            # It counts on its node until the watch says otherwise, whoever decides next.
            self.log.problem(f"pod {queued.key}: {outcome.status.message}")
            self.metrics.attempted(ERROR, _profile(result), now - began)
            return
        self.cache.forget(result.pod)
        self.queue.move(ASSUMED_POD_FORGOTTEN, now, nominated_pod(result.pod, node))
        self.metrics.attempted(ERROR, _profile(result), now - began)
        match outcome:
            case Taken(node=other):
                self.log.problem(f"pod {queued.key} was bound to {other} by another")
                self.queue.drop(queued)
            case Gone(why=why):
                self.log.problem(f"pod {queued.key}: {why}")
                self.queue.drop(queued)
            case Failed(status=status):
                self.log.problem(f"pod {queued.key} could not be bound: {status.message}")
                self.queue.failed(queued, now)
                if not outcome.changed and not outcome.interrupted:
                    self.binder.report(result, outcome)


def rejecting_plugins(result: CycleResult) -> tuple[frozenset[str], frozenset[str]]:
    """The plugins that rejected the pod, and those that wait for something (Diagnosis).

    Both are empty if there are no nodes.
    """
    counts = result.verdict.counts() if result.verdict is not None else ()
    statuses = (*(status for status, _ in counts), result.pre_filter)
    pending = {status.plugin for status in statuses if status.code is Code.PENDING}
    named = {*(status.plugin for status in statuses), *result.narrowed_by} - pending
    return frozenset(filter(None, named)), frozenset(filter(None, pending))


def _profile(result: CycleResult) -> str:
    return result.framework.profile.scheduler_name
