"""Places pods one after the other, each seeing those before it: the queue and the cycles of a what-if.

Answers to the loop around pkg/scheduler/schedule_one.go, with the queue of pkg/scheduler/backend/queue but without
time: no pod is ever tried a second time.
"""

from __future__ import annotations

import random
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.controllers.claims_after_deletion import changed, left_behind, recreated
from kubectl_sched.record import Record
from kubectl_sched.scheduler.end_of_cycle import after, reserved, reserved_pod, without_nomination
from kubectl_sched.scheduler.group_membership import group_with_cycle
from kubectl_sched.scheduler.opportunistic_batch import HintedNode, OpportunisticBatch, is_popped, is_taken
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.simulation.likeness import likeness
from kubectl_sched.simulation.placements import Placement, QueuedPod, Simulated, Ties
from kubectl_sched.simulation.replicas.replica_placement import EqualPods
from kubectl_sched.simulation.simulated_queue import SimulatedQueue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.interface import QueueSortPlugin
    from kubectl_sched.framework.podgroup_info import Group
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.simulation.simulated_queue import QueueKey
    from kubectl_sched.snapshot import Snapshot


class Choices(Record, frozen=True, kw_only=True):
    """Decisions that kube-scheduler leaves to chance, and the treatment of victims."""

    profile: str | None = None
    seed: int | None = None
    """None takes the first of tied nodes in name order."""

    requeue_victims: bool = False
    """Preemption happens: its pod is placed, and the victims are pending again. Else it is only nominated."""


_BY_DEFAULT: Final = Choices()


class Simulation:
    """One scheduler with its queue, over a cluster that changes with each placement."""

    def __init__(self, scheduler: Scheduler, choices: Choices = _BY_DEFAULT) -> None:
        self._nodes = scheduler.nodes
        self.placements: list[Placement] = []
        self.first_unplaced: ScheduleResult | None = None
        self.stopped: Placement | None = None
        self._before = scheduler.nodes
        self._scheduler = scheduler
        self._choices = choices
        self._random = None if choices.seed is None else random.Random(choices.seed)  # noqa: S311 - to be repeatable
        self._queue = SimulatedQueue()
        self._equal: EqualPods | None = None
        self._batch = OpportunisticBatch()
        self._unplaced: tuple[Pod, Snapshot, Placement] | None = None
        self._without_node: set[str] = set()

    @property
    def nodes(self) -> Snapshot:
        """The cluster with all placements, and with what was reserved for them."""
        return self._nodes if self._equal is None else self._equal.cluster.nodes_after

    @nodes.setter
    def nodes(self, nodes: Snapshot) -> None:
        self._nodes, self._equal = nodes, None

    @property
    def result(self) -> Simulated:
        """The placements decided so far."""
        return Simulated(
            placements=tuple(self.placements),
            before=self._before,
            after=self.nodes,
            first_unplaced=self.first_unplaced,
            stopped=self.stopped,
        )

    def enqueue(self, pods: Iterable[QueuedPod]) -> None:
        """Put the pods into the queue; one that names its node is put there at once, as it never is in any queue."""
        for queued in pods:
            if queued.pod.spec.node_name:
                self.placements.append(self._put(queued))
            else:
                self._queue.push(self._queue_key(queued.pod), queued)

    def run(self, report: Callable[[int, int], None] | None = None) -> None:
        """Empty the queue. `report` is told how many pods are done and how many are known of."""
        while (queued := self._queue.pop()) is not None:
            group = group_with_cycle(queued.pod, self._scheduler)
            if group is None:
                self.placements.append(self._in_its_turn(queued))
            else:
                self.placements += self._in_group(group, queued)
            if report is not None:
                report(len(self.placements), len(self.placements) + len(self._queue))

    def fill(self, pods: Iterator[QueuedPod], report: Callable[[int, int], None] | None = None) -> None:
        """Place pods until one does not fit, or there are no more."""
        for queued in pods:
            placement = self.place(queued)
            if not placement.is_placed:
                self.stopped = placement
                return
            self.placements.append(placement)
            if report is not None:
                report(len(self.placements), len(self.placements))

    def _in_its_turn(self, queued: QueuedPod) -> Placement:
        """Schedule a pod, unless it is not even made before another one runs."""
        before = queued.waits_for
        if before is not None and before.metadata.uid in self._without_node:
            reason = f"it is not made before {before.key} runs"
            placement = Placement(pod=queued.pod, owner=queued.owner, outcome=Outcome.ERROR, reason=reason)
        else:
            placement = self._schedule(queued)
        if placement.node is None:
            self._without_node.add(queued.pod.metadata.uid)
        return placement

    def _in_group(self, group: Group, first: QueuedPod) -> tuple[Placement, ...]:
        """Run the cycle of a group for all of its pods in the queue; once more if victims are to make room at once."""
        from kubectl_sched.simulation.group_cycles import run_group_cycle  # most pods are in no group

        queued = [first, *self._queue.take(lambda each: group_with_cycle(each.pod, self._scheduler) is group)]
        done = run_group_cycle(group, queued, self.nodes, self._scheduler, self._choices.profile, self._batch)
        if done.result.victims and done.result.is_waiting_on_preemption and self._choices.requeue_victims:
            self._requeue(done.result.victims)
            done = run_group_cycle(group, queued, self.nodes, self._scheduler, self._choices.profile, self._batch)
        self.nodes, self._unplaced = done.nodes, None
        self.first_unplaced = self.first_unplaced or done.first_unplaced
        for each in done.placements:
            if each.nominated_node is not None:
                self.nodes = _nominated(self.nodes, each.pod, each.nominated_node)
            if not each.is_placed:
                self._without_node.add(each.pod.metadata.uid)
        return done.placements

    def place(self, queued: QueuedPod) -> Placement:
        """Schedule one pod now, past the queue; the placement is not recorded."""
        return self._put(queued) if queued.pod.spec.node_name else self._schedule(queued)

    def remove(self, pod: Pod) -> None:
        """Take a pod off its node, or off the list of the nominated, with what it had for itself alone."""
        nodes = without_nomination(self.nodes, pod)
        self.nodes = without_pod(nodes, pod, None)

    def _queue_key(self, pod: Pod) -> QueueKey:
        plugin = self._queue_sort
        if plugin is None:
            return ()
        return plugin.queue_key(pod if pod.spec.scheduling_group is None else self._scheduler.as_queued(pod))

    @cached_property
    def _queue_sort(self) -> QueueSortPlugin | None:
        """All profiles have the same, as kube-scheduler sees to."""
        for name in self._scheduler.configuration.profiles:
            framework = self._scheduler.framework(name)
            if framework is not None and framework.queue_sort_plugins:
                return framework.queue_sort_plugins[0]
        return None

    def _put(self, queued: QueuedPod) -> Placement:
        """A pod that names its node: nobody asks whether it fits, and where there is no such node it runs nowhere."""
        name = queued.pod.spec.node_name
        row = self.nodes.row_of.get(name)
        if row is None:
            return Placement(
                pod=queued.pod, owner=queued.owner, outcome=Outcome.ERROR, reason=f"node {name} does not exist"
            )
        self.nodes = self.nodes.assume(queued.pod, row)
        return Placement(
            pod=queued.pod, owner=queued.owner, outcome=Outcome.SCHEDULABLE, node=name, ties=Ties.of((name,))
        )

    def _schedule(self, queued: QueuedPod) -> Placement:
        pod = queued.pod
        equal = self._equal
        if equal is not None and equal.turn_to(pod) and equal.has_feasible:
            self._batch.begin()
            return self._placed_equally(queued, equal)
        if self._unplaced is not None:
            other, nodes, placement = self._unplaced
            if nodes is self.nodes and likeness(other) == likeness(pod):
                return replace(placement, pod=pod, owner=queued.owner)
        result = self._scheduler.cycle(pod, self.nodes, self._choices.profile)
        if not is_popped(result):
            return self._not_placed(queued, result)
        self._batch.begin()
        hint = self._batch.hint(result)
        hinted = None if hint is None else HintedNode(hint, hint.names[self._chosen(Ties.of(hint.names))])
        if hinted is not None and is_taken(hinted, result):
            return self._placed_by_hint(queued, result, hinted)
        if result.fits:
            return self._placed(queued, result, hinted)
        return self._not_placed(queued, result)

    def _placed_by_hint(self, queued: QueuedPod, result: CycleResult, hinted: HintedNode) -> Placement:
        """Put the pod on the next node of the order that was found for the equal pod before it."""
        hint, name = hinted
        self._batch.placed(result, name, hinted)
        self._put_on(queued.pod, result, name)
        return Placement(
            pod=queued.pod,
            owner=queued.owner,
            outcome=Outcome.SCHEDULABLE,
            node=name,
            ties=Ties.of(hint.names),
            total=hint.total,
            beyond_sampling=result.is_sampled,
            instead_of=result.best[0] if result.best and name not in result.best else None,
        )

    def _placed_equally(self, queued: QueuedPod, equal: EqualPods) -> Placement:
        row, ties, total, is_sampled = equal.place(queued.pod, self._chosen)
        self._batch.placed_equally(queued.pod, self._without(queued.pod), equal.framework, equal.names[row])
        return Placement(
            pod=queued.pod,
            owner=queued.owner,
            outcome=Outcome.SCHEDULABLE,
            node=equal.names[row],
            ties=ties,
            total=total,
            beyond_sampling=is_sampled,
        )

    def _placed(self, queued: QueuedPod, result: CycleResult, hinted: HintedNode | None) -> Placement:
        tied = (result.nominated_first,) if result.nominated_first is not None else result.best
        name = tied[self._chosen(Ties.of(tied))]
        row = self.nodes.row_of[name]
        judged_anew = self._scheduler.configuration.extenders or result.unknown or not self._may_be_followed(queued)
        following = self._queue.first
        equal = None if judged_anew else EqualPods.after(result, following.pod if following is not None else None)
        self._batch.placed(result, name, hinted)
        if equal is not None and (equal.is_settled or not self._batch.signs(result)):
            equal.assume(result.pod, row)
            self._equal = equal
        else:
            self._put_on(queued.pod, result, name)
        return Placement(
            pod=queued.pod,
            owner=queued.owner,
            outcome=Outcome.SCHEDULABLE,
            node=name,
            ties=Ties.of(tied),
            total=result.total_of.get(row),
            beyond_sampling=result.is_sampled,
            unknown=result.unknown,
        )

    def _put_on(self, pod: Pod, result: ScheduleResult, name: str) -> None:
        """Let the pod run on the node, with what the end of its cycle reserves."""
        taken = reserved(result, name)
        nodes = after(without_nomination(self.nodes, pod), taken)
        self.nodes = nodes.assume(reserved_pod(pod, taken), nodes.row_of[name])

    def _without(self, pod: Pod) -> Callable[[], Snapshot]:
        """Return a function that gives the present cluster without the pod."""
        return lambda: self.nodes.remove_pod(pod.metadata.namespace, pod.metadata.name)

    def _may_be_followed(self, queued: QueuedPod) -> bool:
        """Report whether the next pod may be equal: the next one in the queue, or any if that is empty."""
        following = self._queue.first
        return following is None or (
            following.owner == queued.owner and following.pod.spec.containers == queued.pod.spec.containers
        )

    def _chosen(self, ties: Ties) -> int:
        """Return the index of the chosen node among the tied ones in name order."""
        return 0 if self._random is None else self._random.randrange(ties.number)

    def _not_placed(self, queued: QueuedPod, result: ScheduleResult) -> Placement:
        preemption = result.post_filter
        node = preemption.nominated_node if preemption is not None else None
        placement = Placement(
            pod=queued.pod,
            owner=queued.owner,
            outcome=result.outcome,
            nominated_node=node or None,
            victims=preemption.victims if preemption is not None else (),
            event=result.event,
            unknown=result.unknown,
        )
        if node and self._choices.requeue_victims:
            return self._preempted(queued, placement)
        if self.first_unplaced is None:
            self.first_unplaced = result
        if node:
            self.nodes = _nominated(self.nodes, queued.pod, node)
        elif node == "" and self.nodes.nominated:
            self.nodes = without_nomination(self.nodes, queued.pod)
        if not self.nodes.nominated and not result.nodes.nominated:
            self._unplaced = (queued.pod, self.nodes, placement)
        return placement

    def _preempted(self, queued: QueuedPod, placement: Placement) -> Placement:
        """Remove the victims, queue them again, and let the pod take the node that it is nominated to."""
        node = placement.nominated_node or ""
        self._requeue(placement.victims)
        status = replace(queued.pod.status, nominated_node_name=node)
        placed = self._schedule(QueuedPod(pod=replace(queued.pod, status=status), owner=queued.owner))
        return replace(placed, pod=queued.pod, nominated_node=node, victims=placement.victims)

    def _requeue(self, victims: Sequence[Pod]) -> None:
        """Take the victims off their nodes, and queue what their owners make in their place."""
        again = [recreated(victim) for victim in victims]
        for victim, successor in zip(victims, again, strict=True):
            self.nodes = without_pod(self.nodes, victim, successor)
        self.enqueue(QueuedPod(pod=pod, owner=owner_of(pod)) for pod in again)


def _nominated(nodes: Snapshot, pod: Pod, node: str) -> Snapshot:
    """With the pod nominated to the node; pods of lower priority lose their nomination to it (prepareCandidate)."""
    nodes = without_nomination(nodes, pod)
    pod = replace(pod, status=replace(pod.status, nominated_node_name=node))
    kept = tuple(other for other in nodes.nominated.get(node, ()) if other.priority >= pod.priority)
    return replace(nodes, nominated={**nodes.nominated, node: (*kept, pod)})


def without_pod(nodes: Snapshot, pod: Pod, again: Pod | None) -> Snapshot:
    """Return the cluster without the pod on its node, and with what its successor finds of claims."""
    nodes = nodes.remove_pod(pod.metadata.namespace, pod.metadata.name)
    changes = left_behind(pod, nodes.objects, again)
    return replace(nodes, objects=changed(nodes.objects, changes)) if changes else nodes


def owner_of(pod: Pod) -> str | None:
    """Return the owner of a pod: `Deployment/web` for the pods of its ReplicaSets, None for a bare pod."""
    controller = pod.metadata.controller
    if controller is None:
        return None
    template_hash = pod.metadata.labels.get("pod-template-hash")
    if controller.kind == "ReplicaSet" and template_hash and controller.name.endswith(f"-{template_hash}"):
        return f"Deployment/{controller.name.removesuffix(f'-{template_hash}')}"
    return f"{controller.kind}/{controller.name}"
