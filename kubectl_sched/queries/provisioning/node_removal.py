"""Removal of a node: what its autoscaler would say, and what keeps it there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.api.core import Event
from kubectl_sched.node_provisioning.karpenter.karpenter_labels import NODE_POOL
from kubectl_sched.queries.provisioning.autoscaler_removal import AutoscalerRemovals
from kubectl_sched.queries.provisioning.karpenter_removal import KarpenterRemovals
from kubectl_sched.queries.provisioning.removal_verdict import (
    HELD,
    NODE,
    REMOVABLE,
    ROOM,
    UNKNOWN,
    Reason,
    Removal,
    reasons_of_drain,
)
from kubectl_sched.sources.discovery.cluster_autoscalers import find_autoscaler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubectl_sched.api.core import Node
    from kubectl_sched.simulation.drain_plan import DrainPlan
    from kubectl_sched.snapshot import Snapshot
    from kubectl_sched.sources.dump.dump import Dump

_REASONS: Final = frozenset(
    {
        "Unconsolidatable", "DisruptionBlocked", "DisruptionTerminating", "ConsolidationCandidate",
        "ConsolidationRejected", "ConsolidationApproved", "ScaleDown", "ScaleDownEmpty", "ScaleDownFailed",
    }
)  # fmt: skip
"""The reasons of events that Karpenter and cluster-autoscaler have about the removal of nodes."""

_CONTROL_PLANE: Final = frozenset({"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"})


class NodeRemovals:
    """The removal of the nodes of a dump; `instance_types` is the content of a file with prices and its path."""

    def __init__(self, nodes: Snapshot, dump: Dump, instance_types: tuple[bytes, str] | None = None) -> None:
        self._nodes = nodes
        self._dump = dump
        self._instance_types = instance_types

    def of(self, node: Node, plan: DrainPlan, *, budgets_known: bool) -> Removal:
        """Judge the removal of a node; `plan` is its drain. Without budgets nothing is known to be removable.

        Raises SchedError if the file of instance types is unusable.
        """
        removal = replace(_left_open(self._judged(node, plan), plan), said=self._events.get(node.name, ()))
        if budgets_known or removal.verdict != REMOVABLE:
            return removal
        return replace(removal, verdict=UNKNOWN, unknown=("PodDisruptionBudgets were not read", *removal.unknown))

    def _judged(self, node: Node, plan: DrainPlan) -> Removal:
        if NODE_POOL in node.metadata.labels:
            return self._karpenter.of(node)
        if self._autoscaler is not None:
            return self._autoscaler.of(node, plan)
        reasons = (*_of_role(node), *reasons_of_drain(plan))
        return Removal(by=None, verdict=HELD if reasons else REMOVABLE, reasons=reasons)

    @cached_property
    def _events(self) -> dict[str, tuple[tuple[str, str, str], ...]]:
        """The last event of each reason that an autoscaler has about a node, newest first, by the node."""
        newest: dict[str, dict[str, Event]] = {}
        for event in self._dump.objects:
            if isinstance(event, Event) and event.about.kind == "Node" and event.reason in _REASONS:
                of_node = newest.setdefault(event.about.name, {})
                if event.reason not in of_node or of_node[event.reason].last_seen < event.last_seen:
                    of_node[event.reason] = event
        return {
            name: tuple(
                (each.reason, each.text, each.last_seen)
                for each in sorted(events.values(), key=lambda each: each.last_seen, reverse=True)
            )
            for name, events in newest.items()
        }

    @cached_property
    def _karpenter(self) -> KarpenterRemovals:
        return KarpenterRemovals(self._dump, self._instance_types)

    @cached_property
    def _autoscaler(self) -> AutoscalerRemovals | None:
        found = find_autoscaler(self._dump)
        return AutoscalerRemovals(found, self._nodes, self._dump) if found is not None else None


def _left_open(removal: Removal, plan: DrainPlan) -> Removal:
    """Return the removal without what rests on the places of pods that need a kind which was not read."""
    if not plan.unread:
        return removal
    unread = {each.pod.key for each in plan.unread}
    reasons = tuple(
        each for each in removal.reasons if each.kind != ROOM or (each.pod is not None and each.pod.key not in unread)
    )
    clauses = dict.fromkeys(each.reason for each in plan.unread if each.reason)
    unknown = (*(f"where all its pods would go, as {each}" for each in clauses), *removal.unknown)
    return replace(removal, verdict=HELD if reasons else UNKNOWN, reasons=reasons, unknown=unknown)


def _of_role(node: Node) -> Iterator[Reason]:
    if not _CONTROL_PLANE.isdisjoint(node.metadata.labels):
        yield Reason(text="a control plane node", kind=NODE)
