"""The cause that keeps a pod pending, which pods of different workloads may share: those of one cause have one cure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubectl_sched.diagnostics.awaited_changes import adding_a_node
from kubectl_sched.framework.fit_error import NO_NODES_AVAILABLE
from kubectl_sched.framework.status import error
from kubectl_sched.queries.verdict.binding_constraint import Binding, binding_constraint
from kubectl_sched.record import Record
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubectl_sched.diagnostics.gates.gate import Gate
    from kubectl_sched.framework.status import Status
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.queries.never_created.missing_pods import NeverCreated
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.scheduler.result import ScheduleResult

_WITHOUT_NODES = frozenset({Outcome.UNSCHEDULABLE, Outcome.UNKNOWN, Outcome.ERROR})
"""The outcomes of pods in a dump that has no nodes."""

_NODE_NAME = re.compile(r'(node(?: name)?) "[^"]*"')


class Cause(Record, frozen=True, kw_only=True):
    """The outcome, and the plugins and reasons that bind; without names of nodes or of the pod."""

    outcome: str
    plugins: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    comes_by: str | None = None
    """The part of the cluster that makes room by itself: `preemption` or the name of an autoscaler."""

    binding: Binding | None = None
    """The constraint that binds; None if no node was judged."""


class Causes:
    """The causes of the pods of one cluster; equal pods share the search for what binds."""

    def __init__(self) -> None:
        self._bindings: dict[ScheduleResult, tuple[Binding, tuple[str, ...]]] = {}

    def of(self, explanation: Explanation) -> Cause:
        """Return the cause of one pod."""
        result, outcome = explanation.result, explanation.result.outcome.value
        stage = explanation.stage.name if explanation.stage is not None else ""
        if stage in {"RefusedByKubelet", "NoScheduler"} or result.outcome is Outcome.NO_PROFILE:
            return Cause(outcome=outcome, reasons=tuple(_of_stage(explanation, stage)))
        holders = tuple(dict.fromkeys(_holder(gate) for gate in explanation.gates if gate.gate or gate.queue))
        if result.outcome is Outcome.GATED and all(holders) and holders:
            told = (*map(str, holders), *(need.fact for need in explanation.needs))
            return Cause(outcome=outcome, plugins=("SchedulingGates",), reasons=told)
        if not len(result.nodes) and result.outcome in _WITHOUT_NODES:  # whatever the pods ask for
            return Cause(outcome=outcome, reasons=(NO_NODES_AVAILABLE,))
        if isinstance(result, MemberResult) and result.pre_enqueue.is_success:
            return _of_group(result.podgroup)
        if result.outcome is Outcome.UNSCHEDULABLE and result.pre_filter.is_success:
            return self._of_rejections(explanation)
        statuses = list(_of_cycle(result))
        plugins = {status.plugin for status in statuses if status.plugin}
        reasons = {_nameless(reason, result) for status in statuses for reason in status.reasons}
        return Cause(outcome=outcome, plugins=tuple(sorted(plugins)), reasons=tuple(sorted(reasons)))

    def _of_rejections(self, explanation: Explanation) -> Cause:
        result = explanation.result
        if result.cycle not in self._bindings:
            self._bindings[result.cycle] = binding_constraint(result)
        binding, reasons = self._bindings[result.cycle]
        preempts = result.post_filter is not None and result.post_filter.nominated_node
        return Cause(
            outcome=result.outcome.value,
            plugins=tuple(sorted({each.plugin for each in binding.rejections if each.plugin})),
            reasons=tuple(sorted({_nameless(reason, result) for reason in reasons})),
            comes_by="preemption" if preempts else adding_a_node(explanation.observed),
            binding=binding,
        )


def _of_stage(explanation: Explanation, stage: str) -> Iterator[str]:
    """Yield the reasons of a pod about which its kubelet decided, or that no scheduler looks at."""
    result = explanation.result
    if stage == "RefusedByKubelet":
        yield f"the kubelet of {result.current_node}: {result.pod.status.reason}"
    elif stage == "NoScheduler" and explanation.stage is not None:
        yield from explanation.stage.evidence[:1]
        yield from dict.fromkeys(filter(None, map(_holder, explanation.gates)))
    else:
        yield f"no profile has the schedulerName {result.pod.spec.scheduler_name}"


def cause_of_missing(missing: NeverCreated, explanation: Explanation) -> Cause:
    """Return the cause of pods that were never created: a quota or webhook may refuse those of several workloads."""
    held = tuple(dict.fromkeys(filter(None, map(_holder, explanation.gates))))
    told = tuple(f"{each.type}: {each.message}" for gate in explanation.gates for each in gate.says if each.message)
    obstacle = missing.obstacle
    what = f"{obstacle.cause} {obstacle.name}" if obstacle.name else f"{obstacle.cause}: {obstacle.clause}"
    reasons = (*held, *told) if held else (what, f"namespace {missing.workload.namespace}")
    return Cause(outcome=explanation.result.outcome.value, reasons=reasons)


def _holder(gate: Gate) -> str | None:
    """`Kueue holds it back in ClusterQueue team-a`; None if nobody is known to."""
    if gate.owner is None or not (gate.owner.kind or gate.queue):
        return None
    queue = gate.queue
    if queue is None:
        return f"{gate.owner.controller} holds it back"
    name = f"ClusterQueue {queue.cluster_queue}" if queue.cluster_queue else f"LocalQueue {queue.local_queue}"
    return f"{gate.owner.controller} holds it back in {name}"


def _of_group(cycle: PodGroupResult) -> Cause:
    """The cause that keeps a whole group pending: all of its members share it."""
    outcome = cycle.outcome.value
    if cycle.outcome is Outcome.SCHEDULABLE:
        return Cause(outcome=outcome)
    return Cause(outcome=outcome, reasons=(f"{cycle.info.kind} {cycle.info.group.key}: {cycle.status.message}",))


def _of_cycle(result: ScheduleResult) -> Iterable[Status]:
    """The statuses that decide the outcome where no node's verdict does."""
    match result.outcome:
        case Outcome.GATED:
            return [result.pre_enqueue]
        case Outcome.ERROR:
            return [error(result.error or "")]
        case Outcome.UNSCHEDULABLE:
            return [result.pre_filter]
        case _:
            return []


def _nameless(reason: str, result: ScheduleResult) -> str:
    """The reason without what differs between pods of one workload, or between nodes.

    The pod's name is replaced only within quotes and behind its namespace: elsewhere it may be a word of the sentence.
    """
    name, namespace = result.pod.metadata.name, result.pod.namespace
    if name and name in reason:
        own = rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])"
        names = rf'"[^"]*"|(?<![a-z0-9.-]){re.escape(namespace)}/\S+'
        reason = re.sub(names, lambda found: re.sub(own, "<pod>", found[0]), reason)
    return _NODE_NAME.sub(r'\1 "..."', reason)
