"""The cause that keeps a pod pending, which pods of different workloads may share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.status import error
from kubectl_sched.record import Record
from kubectl_sched.scheduler.member_result import MemberResult
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.suggestions.nearest_nodes import last_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubectl_sched.diagnostics.gates.gate import Gate
    from kubectl_sched.framework.status import Status
    from kubectl_sched.queries.explanation import Explanation
    from kubectl_sched.scheduler.podgroup_result import PodGroupResult
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot.array_types import Rows

_NODE_NAME = re.compile(r'(node(?: name)?) "[^"]*"')


class Cause(Record, frozen=True, kw_only=True):
    """The outcome, and the plugins and reasons that keep out the last nodes; without names of nodes or of the pod."""

    outcome: str
    plugins: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


def cause_of(explanation: Explanation) -> Cause:
    """Return the cause of one pending pod."""
    result, stage = explanation.result, explanation.stage
    holders = tuple(dict.fromkeys(_holder(gate) for gate in explanation.gates if gate.gate or gate.queue))
    if stage is not None and stage.name in {"NoScheduler", "NotCreated"}:
        return Cause(outcome=result.outcome.value, plugins=(), reasons=(*stage.evidence[:1], *filter(None, holders)))
    if result.outcome is Outcome.GATED and all(holders) and holders:
        told = (*map(str, holders), *(need.fact for need in explanation.needs))
        return Cause(outcome=result.outcome.value, plugins=("SchedulingGates",), reasons=told)
    if result.outcome is Outcome.NO_PROFILE:
        return Cause(
            outcome=result.outcome.value,
            plugins=(),
            reasons=(f"no profile has the schedulerName {result.pod.spec.scheduler_name}",),
        )
    if isinstance(result, MemberResult) and result.pre_enqueue.is_success:
        return _of_group(result.podgroup)
    found = list(_keeping_out(result))
    plugins = sorted({status.plugin for status in found if status.plugin})
    reasons = sorted({_nameless(reason, result) for status in found for reason in status.reasons})
    return Cause(outcome=result.outcome.value, plugins=tuple(plugins), reasons=tuple(reasons))


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


def _keeping_out(result: ScheduleResult) -> Iterable[Status]:
    """The statuses that decide the outcome."""
    match result.outcome:
        case Outcome.GATED:
            return [result.pre_enqueue]
        case Outcome.ERROR:
            return [error(result.error or "")]
        case Outcome.UNSCHEDULABLE if not result.pre_filter.is_success:
            return [result.pre_filter]
        case Outcome.UNSCHEDULABLE:
            return _rejections(result, last_rows(result))
        case _:
            return []


def _rejections(result: ScheduleResult, rows: Rows) -> Iterable[Status]:
    """The rejections of these rows, each once; of a row that no plugin rejects on its own, the reported one."""
    alone = np.zeros(len(result.nodes), dtype=np.bool_)
    for plugin, mask in result.rejection_masks.items():
        alone |= mask
        of_rows = result.verdicts[plugin].take(rows[mask[rows]])
        yield from (status.by(plugin) for status, _ in of_rows.counts())
    if result.verdict is not None:
        yield from (status for status, _ in result.verdict.take(rows[~alone[rows]]).counts())


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
