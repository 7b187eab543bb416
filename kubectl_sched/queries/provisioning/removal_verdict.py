"""The verdict on the removal of a node, and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.record import CachingRecord, Record
from kubectl_sched.simulation.queue_simulation import owner_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.pod import Pod
    from kubectl_sched.simulation.drain_plan import DrainPlan

KARPENTER, CLUSTER_AUTOSCALER = "Karpenter", "ClusterAutoscaler"
REMOVABLE, HELD, UNKNOWN = "Removable", "Held", "Unknown"
BUDGET, POD, ROOM, AUTOSCALER, NODE, NOBODY = "budget", "pod", "room", "autoscaler", "node", "nobody"
"""Kinds of what holds a node: a PodDisruptionBudget, a pod, no room elsewhere, the autoscaler's rules, the node."""


class Reason(Record, frozen=True, kw_only=True):
    """One thing that keeps a node; `pod` is the pod that it is about, None for the node or its autoscaler."""

    text: str
    pod: Pod | None = None
    kind: str = AUTOSCALER
    said: str = ""
    """The autoscaler's own word for it, as its events or its code have it."""

    @property
    def owner(self) -> str | None:
        """The workload of the pod."""
        return owner_of(self.pod) if self.pod is not None else None


class Removal(CachingRecord, frozen=True, kw_only=True):
    """The verdict of the autoscaler that owns the node; `by` is None where none is seen."""

    by: str | None
    verdict: str
    reasons: tuple[Reason, ...]
    facts: tuple[tuple[str, str], ...] = ()
    """Settings and numbers of the autoscaler by their names."""

    unknown: tuple[str, ...] = ()
    """Facts that the API does not tell."""

    how: str = ""
    """The way in which the node would go, a clause; empty if that is a plain removal."""

    said: tuple[tuple[str, str, str], ...] = ()
    """The autoscaler's last event of each reason about the node: the reason, the message and the time."""

    @property
    def held_by(self) -> str:
        """The kind of the first thing that holds the node; `nobody` where nothing does."""
        return self.reasons[0].kind if self.reasons else NOBODY


def reasons_of_drain(plan: DrainPlan) -> Iterator[Reason]:
    """Yield what blocks the node's pods, and the pods that have no other place or no controller."""
    for held in plan.blocked:
        if held.is_after_others and plan.unread:
            continue
        kind, _, name = held.by.partition("/")
        if kind == "PodDisruptionBudget":
            text = f"budget {name.rpartition('/')[2]} allows {held.allowed} disruptions"
            yield Reason(pod=held.pod, text=text, kind=BUDGET)
        else:
            yield Reason(pod=held.pod, text=held.why, kind=POD)
    for placed in plan.pending:
        yield Reason(pod=placed.pod, text="no other node has a place for it", kind=ROOM)
    again = {each.pod.key for each in plan.placements}
    for lost in plan.lost:
        if lost.pod.key not in again:
            yield Reason(pod=lost.pod, text="no controller re-creates it", kind=POD)
