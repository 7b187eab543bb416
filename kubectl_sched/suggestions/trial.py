"""A cycle tried over again with changes applied: nothing is suggested that was not replayed here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from kubectl_sched.api.apimachinery.strategic_merge import difference, merge
from kubectl_sched.api.decoders import decoder
from kubectl_sched.api.pod import Pod
from kubectl_sched.controllers.claims_after_deletion import recreated
from kubectl_sched.framework.amounts import amount_text
from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.record import Record, plain
from kubectl_sched.scheduler.schedule_one import cycle

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.api.core import Node
    from kubectl_sched.framework.cycle_budget import CycleBudget, GroupBudget
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.cycle_result import CycleResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.simulation.relocation import Step
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.suggestions.change import Change


class Trial(Record, frozen=True, kw_only=True):
    """The input of a cycle: the pod, on no node, and the cluster without it."""

    pod: Pod
    nodes: Snapshot
    framework: Framework
    bound_to: str | None = None
    """The node that the pod runs on in truth."""

    explaining: GroupBudget | None = None
    """The budget of what the trial is a part of; None for a cycle that has one of its own."""

    @classmethod
    def of(cls, result: CycleResult) -> Trial:
        """Return the input of the result's own cycle."""
        return cls(
            pod=result.pod,
            nodes=result.nodes,
            framework=result.framework,
            bound_to=result.current_node,
            explaining=result.explaining,
        )

    def changed(self, changes: Iterable[Change]) -> Trial:
        """With all the changes applied; the pod exactly as the patch of `pod_patch` would leave it."""
        pod, nodes, framework = self.pod, self.nodes, self.framework
        for change in changes:
            if change.pod is not None:
                pod = change.pod(pod)
            if change.node is not None and change.node_name is not None:
                row = nodes.row_of[change.node_name]
                nodes = nodes.with_node(row, change.node(nodes.node_objects[row]))
            for node, daemons in change.adds:
                nodes = _with_node(nodes, node, daemons)
            if change.frees and change.node_name is not None:
                nodes = _with_more(nodes, nodes.row_of[change.node_name], change.frees)
            nodes = _resized(_moved(_without(nodes, change.evicts), change.moves), change.resizes)
            if change.weight is not None:
                framework = framework.weighing(*change.weight)
        return msgspec.structs.replace(self, pod=_patched(self.pod, pod), nodes=nodes, framework=framework)

    def of_another(self, pod: Pod, nodes: Snapshot) -> Trial:
        """Return the trial of another pod of the same profile in a version of the cluster."""
        return Trial(pod=pod, nodes=nodes, framework=self.framework, explaining=self.explaining)

    def run(self, *, preempting: bool = False) -> ScheduleResult:
        """The whole cycle; unless it is asked for, without preemption, which is the longest part where nothing fits."""
        framework = self.framework if preempting else self.framework.without_post_filter()
        return cycle(self.pod, self.nodes, framework, self._budget)

    @property
    def _budget(self) -> CycleBudget | None:
        return None if self.explaining is None else self.explaining.for_member(len(self.nodes), len(self.nodes))

    def fits_on(self, row: int) -> bool:
        """Report whether the row's node passes PreFilter and every filter; the other nodes' filters are not run."""
        state = CycleState(self._budget)
        outcome = self.framework.run_pre_filter(state, self.pod, self.nodes)
        name = self.nodes.names[row]
        if not outcome.status.is_success or (outcome.node_names is not None and name not in outcome.node_names):
            return False
        node = self.nodes.take(np.array([row], dtype=np.intp))
        verdict = self.framework.run_filters(state, self.pod, node)
        return self.framework.run_filters_with_nominated_pods(state, self.pod, node, verdict)[0].is_success


def pod_patch(before: Pod, after: Pod) -> dict[str, Any]:
    """The strategic merge patch that makes the one pod of the other; empty where they are the same."""
    return difference(plain(before), plain(after))


def _patched(before: Pod, after: Pod) -> Pod:
    patch = pod_patch(before, after)
    return decoder(Pod).decode(msgspec.json.encode(merge(plain(before), patch))) if patch else before


def _with_node(nodes: Snapshot, node: Node, daemons: Iterable[Pod]) -> Snapshot:
    nodes = nodes.add_node(node)
    for pod in daemons:
        nodes = nodes.assume(pod, len(nodes) - 1)
    return nodes


def _with_more(nodes: Snapshot, row: int, freed: Iterable[tuple[str, int]]) -> Snapshot:
    """Return the nodes with more allocatable on the row's node, which to Filter is the same as less requested there."""
    node = nodes.node_objects[row]
    more = {
        resource: amount_text(resource, int(nodes.allocatable(resource)[row]) + amount) for resource, amount in freed
    }
    status = msgspec.structs.replace(node.status, allocatable={**node.status.allocatable, **more})
    return nodes.with_node(row, msgspec.structs.replace(node, status=status))


def _without(nodes: Snapshot, victims: Iterable[Pod]) -> Snapshot:
    """Without these existing pods, each looked for on its node: an index of all names would take longer."""
    existing = nodes.existing_pods
    indices = [
        index
        for victim in victims
        for index in existing.on(nodes.row_of[victim.spec.node_name]).tolist()
        if existing.pods[index].key == victim.key
    ]
    return nodes.remove(*indices) if indices else nodes


def _resized(nodes: Snapshot, resizes: Iterable[tuple[Pod, Pod]]) -> Snapshot:
    """With each of these existing pods as it is after its resize."""
    for before, after in resizes:
        nodes = _without(nodes, (before,)).assume(after, nodes.row_of[after.spec.node_name])
    return nodes


def _moved(nodes: Snapshot, steps: Iterable[Step]) -> Snapshot:
    """With each evicted pod's successor where the plan says that it lands."""
    moves = [(step.pod, step.lands) for step in steps if step.pod is not None and step.lands is not None]
    nodes = _without(nodes, [pod for pod, _ in moves])
    for pod, lands in moves:
        nodes = nodes.assume(recreated(pod), nodes.row_of[lands])
    return nodes
