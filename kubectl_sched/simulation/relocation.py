"""Pods that move: evicted, re-created by their controllers, and placed by whole cycles, step by step.

ReplicaSets make the new pod while the old one is still terminating, StatefulSets once it is gone (pkg/controller). A
node is cordoned while room is made on it, so that no pod takes the room before it is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.component_helpers.taints import cordoned, uncordoned
from kubectl_sched.api.meta import with_spec
from kubectl_sched.controllers.claims_after_deletion import recreated
from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.scheduler.end_of_cycle import after, reserved, reserved_pod, without_nomination
from kubectl_sched.simulation.drain import REPLACED_AT_ONCE
from kubectl_sched.simulation.queue_simulation import without_pod

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.cycle_budget import GroupBudget
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.scheduler.scheduler import Scheduler
    from kubectl_sched.snapshot import Snapshot

CORDON: Final = "cordon"
EVICT: Final = "evict"
UNCORDON: Final = "uncordon"
_TERMINATING: Final = "2026-01-01T00:00:00Z"


class Step(Record, frozen=True, kw_only=True):
    """One step of a plan. An evicted pod's successor lands on one of the `tied` nodes; the plan counts on `lands`."""

    action: str
    node: str
    pod: Pod | None = None
    lands: str | None = None
    tied: tuple[str, ...] = ()
    beyond_sampling: bool = False


class Landing(CachingRecord, frozen=True, kw_only=True):
    """A pod that fits: the nodes tied for it, and the cycle that says so."""

    pod: Pod
    result: ScheduleResult
    tied: tuple[str, ...]


class Moved(CachingRecord, frozen=True, kw_only=True):
    """The cluster without an evicted pod, and where its successor would land (None: nowhere)."""

    nodes: Snapshot
    landing: Landing | None


class Relocation:
    """Evictions and placements over versions of one cluster."""

    def __init__(self, scheduler: Scheduler, profile: str | None = None, explaining: GroupBudget | None = None) -> None:
        """The cycles draw on the budget of what they explain, if there is one; else each has its own."""
        self.scheduler = scheduler
        self._profile = profile
        self._explaining = explaining

    def landing(self, pod: Pod, nodes: Snapshot) -> Landing | None:
        """Run the pod's cycle, without preemption; None if it fits nowhere."""
        result = self.cycle(pod, nodes)
        if not result.fits:
            return None
        tied = result.best if result.nominated_first is None else (result.nominated_first,)
        return Landing(pod=pod, result=result, tied=tied)

    def cycle(self, pod: Pod, nodes: Snapshot) -> ScheduleResult:
        """Run the pod's cycle as if it did not preempt."""
        patient = with_spec(pod, preemption_policy="Never")
        budget = None if self._explaining is None else self._explaining.for_member(len(nodes), len(nodes))
        return self.scheduler.cycle(patient, nodes, self._profile, budget)

    @staticmethod
    def placed(nodes: Snapshot, landing: Landing, node: str) -> Snapshot:
        """With the pod on one of the nodes that it may land on."""
        taken = reserved(landing.result, node)
        nodes = after(without_nomination(nodes, landing.pod), taken)
        return nodes.assume(reserved_pod(landing.pod, taken), nodes.row_of[node])

    def evicted(self, nodes: Snapshot, pod: Pod, *, at_once: bool = True) -> Moved:
        """Evict a pod. With `at_once` the new pod of a ReplicaSet is placed while the old one is terminating.

        The old one may also be gone by then: nodes that are best in only one of the cases count as tied.
        """
        again = recreated(pod)
        gone = without_pod(nodes, pod, again)
        landing, controller = self.landing(again, gone), pod.metadata.controller
        if at_once and controller is not None and controller.kind in REPLACED_AT_ONCE:
            terminating = replace(pod, metadata=replace(pod.metadata, deletion_timestamp=_TERMINATING))
            earlier = self.landing(again, gone.assume(terminating, gone.row_of[pod.spec.node_name]))
            landing = _either(earlier, landing)
        return Moved(nodes=gone, landing=landing)


def _either(earlier: Landing | None, later: Landing | None) -> Landing | None:
    if earlier is None or later is None:
        return earlier or later
    return replace(earlier, tied=tuple(dict.fromkeys((*earlier.tied, *later.tied))))


def with_cordon(nodes: Snapshot, name: str) -> Snapshot:
    """With the node cordoned."""
    row = nodes.row_of[name]
    return nodes.with_node(row, cordoned(nodes.node_objects[row]))


def without_cordon(nodes: Snapshot, name: str) -> Snapshot:
    """With the node uncordoned."""
    row = nodes.row_of[name]
    return nodes.with_node(row, uncordoned(nodes.node_objects[row]))


class Outcome(CachingRecord, frozen=True, kw_only=True):
    """A plan that was carried out to its end: the steps as they went, and where the pods landed."""

    steps: tuple[Step, ...]
    landings: tuple[Landing, ...]
    nodes: Snapshot
    """The cluster after all steps, the pods placed."""

    before: tuple[Snapshot, ...]
    """The cluster before each step."""


def carried_out(
    relocation: Relocation, pods: Sequence[Pod], steps: Sequence[Step], nodes: Snapshot, ahead: Sequence[Pod]
) -> Outcome | None:
    """Carry out the steps, then place the pods; None if a successor or one of the pods does not land as planned.

    A step without `lands` takes the first of the tied nodes. Of the pending pods `ahead` of it in the queue, those that
    then fit land first.
    """
    done: list[Step] = []
    before: list[Snapshot] = []
    for step in steps:
        before.append(nodes)
        if step.pod is None:
            nodes = (with_cordon if step.action == CORDON else without_cordon)(nodes, step.node)
            done.append(step)
            continue
        moved = relocation.evicted(nodes, step.pod)
        landing = moved.landing
        if landing is None or (step.lands is not None and step.lands not in landing.tied):
            return None
        lands = step.lands or landing.tied[0]
        nodes = relocation.placed(moved.nodes, landing, lands)
        done.append(replace(step, lands=lands, tied=landing.tied, beyond_sampling=landing.result.is_sampled))
    for waiting in ahead:
        first = relocation.landing(waiting, nodes)
        if first is not None:
            nodes = relocation.placed(nodes, first, first.tied[0])
    landings: list[Landing] = []
    for pod in pods:
        landing = relocation.landing(pod, nodes)
        if landing is None:
            return None
        landings.append(landing)
        nodes = relocation.placed(nodes, landing, landing.tied[0])
    return Outcome(steps=tuple(done), landings=tuple(landings), nodes=nodes, before=tuple(before))
