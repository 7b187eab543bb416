"""What one change would let the pod in: each candidate is replayed, and only those that work are said."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.cycle_state import CycleState
from kubectl_sched.scheduler.change import Suggestion
from kubectl_sched.scheduler.remedies import REMEDIES
from kubectl_sched.scheduler.result import Outcome
from kubectl_sched.scheduler.schedule_one import schedule_one

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.runtime import Framework
    from kubectl_sched.scheduler.change import Change
    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.snapshot.arrays import Integers

_REPLAYS = 24
_REPLAYS_OF_ONE_REMEDY = 4
"""How many candidates are replayed at most: each takes as long as filtering does."""

_ALONE = {"NodeUnschedulable": frozenset({"NodeUnschedulable", "TaintToleration"})}
"""Which plugins together one remedy may satisfy: cordoning a node also taints it."""


def suggest(result: ScheduleResult) -> tuple[Suggestion, ...]:
    """The changes of one thing after which the pod fits, one of each kind, those that touch least first."""
    if result.outcome is not Outcome.UNSCHEDULABLE or not result.verdicts:
        return ()
    found: list[Suggestion] = []
    left = _REPLAYS
    for plugin, remedy in REMEDIES:
        rows = _kept_out_by(result, plugin)
        if not rows:
            continue
        for change in islice(remedy(result, rows), min(left, _REPLAYS_OF_ONE_REMEDY)):
            left -= 1
            suggestion = _tried(result, change)
            if suggestion is not None:
                if all(suggestion.change.command != other.change.command for other in found):
                    found.append(suggestion)
                break
    return tuple(found)


def _kept_out_by(result: ScheduleResult, plugin: str) -> list[int]:
    """The rows that this plugin keeps out and no other, by name."""
    mask = result.rejection_masks.get(plugin)
    if mask is None or not mask.any():
        return []
    others: Integers = np.zeros(len(result.nodes), dtype=np.int64)
    for name, other in result.rejection_masks.items():
        if name not in _ALONE.get(plugin, {plugin}):
            others += other
    return sorted(np.flatnonzero(mask & (others == 0)).tolist(), key=result.nodes.names.__getitem__)


def _tried(result: ScheduleResult, change: Change) -> Suggestion | None:
    """What becomes of the pod with the change; None where it still does not fit."""
    assert result.framework is not None  # noqa: S101 - an unschedulable result has one
    pod, nodes = result.pod, result.nodes
    if change.pod is not None:
        pod = change.pod(pod)
    if change.node is not None and change.node_name is not None:
        row = nodes.row_of[change.node_name]
        nodes = nodes.with_node(row, change.node(nodes.node_objects[row]))
    if not _may_fit(pod, nodes, result.framework):
        return None
    replayed = schedule_one(pod, nodes, result.framework)
    return Suggestion(change, replayed.best, len(replayed.feasible)) if replayed.fits else None


def _may_fit(pod: Pod, nodes: Snapshot, framework: Framework) -> bool:
    """Whether any node passes the filters; a whole cycle would also try preemption where none does."""
    state = CycleState()
    outcome = framework.run_pre_filter(state, pod, nodes)
    if not outcome.status.is_success:
        return False
    return bool(framework.run_filters(state, pod, nodes).where(lambda status: status.is_success).any())
