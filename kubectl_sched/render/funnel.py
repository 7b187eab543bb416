"""The number of nodes left after each step of the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubectl_sched.framework.plugin_error_boundary import unknown_nodes
from kubectl_sched.framework.status import passing
from kubectl_sched.record import Record

if TYPE_CHECKING:
    from kubectl_sched.scheduler.result import ScheduleResult

PRE_FILTER = "PreFilter"
NOMINATED_PODS = "nominated pods"
EXTENDERS = "extenders"
UNJUDGED = "nodes that could not be judged"
END_OF_SEARCH = "the end of the search"


class Step(Record, frozen=True, kw_only=True):
    """One step that keeps nodes out: how many were left before and after it, and how many it keeps out on its own."""

    name: str
    before: int
    after: int
    alone: int


def funnel(result: ScheduleResult) -> tuple[Step, ...]:
    """The steps that keep any node out, in the order in which kube-scheduler meets them."""
    if result.verdict is None:
        return ()
    total = len(result.nodes)
    if not result.pre_filter.is_success:
        return (Step(name=result.pre_filter.plugin or PRE_FILTER, before=total, after=0, alone=total),)
    left = np.ones(total, dtype=np.bool_)
    steps: list[Step] = []

    def narrow(name: str, passes: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> None:
        nonlocal left
        before = int(left.sum())
        left = left & passes
        if not passes.all():
            steps.append(Step(name=name, before=before, after=int(left.sum()), alone=int((~passes).sum())))

    if result.pre_filter_nodes is not None:
        inside = np.array([name in result.pre_filter_nodes for name in result.nodes.names], dtype=np.bool_)
        narrow(f"{PRE_FILTER} ({', '.join(result.narrowed_by)})", inside)
    for plugin, mask in result.rejection_masks.items():
        narrow(plugin, ~mask)
    narrow(UNJUDGED, ~unknown_nodes(result.verdict))
    feasible = result.feasible_mask
    if (left & ~feasible).any():
        passes = passing(result.verdict)
        extenders = result.verdict.where(lambda status: not status.is_success and status.plugin is None) & left
        narrow(NOMINATED_PODS, passes | extenders | ~left)
        narrow(EXTENDERS, ~extenders)
        narrow(END_OF_SEARCH, feasible | ~left)
    return tuple(steps)
