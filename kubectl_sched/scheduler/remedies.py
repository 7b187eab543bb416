"""Which changes of one thing might let a pod in, by the plugin that keeps it out.

Nothing of this is shown before a replay with the change applied has said that the pod then fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.scheduler import node_remedies, pod_remedies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubectl_sched.scheduler.change import Change
    from kubectl_sched.scheduler.result import ScheduleResult

    Remedy: TypeAlias = Callable[[ScheduleResult, list[int]], Iterator[Change]]

REMEDIES: tuple[tuple[str, Remedy], ...] = (
    ("TaintToleration", pod_remedies.correct_toleration),
    ("NodeAffinity", pod_remedies.correct_selector),
    ("NodeUnschedulable", node_remedies.uncordon),
    ("NodeResourcesFit", pod_remedies.request_less),
    ("InterPodAffinity", node_remedies.give_topology_key),
    ("PodTopologySpread", node_remedies.join_a_domain),
    ("NodeAffinity", node_remedies.label),
    ("TaintToleration", pod_remedies.tolerate),
    ("PodTopologySpread", pod_remedies.spread_softly),
    ("NodePorts", pod_remedies.free_port),
    ("NodeAffinity", pod_remedies.select_less),
    ("NodeAffinity", pod_remedies.require_less),
    ("InterPodAffinity", pod_remedies.require_less),
)
"""Changes to try for the rows that a plugin keeps out, first those that correct or touch the least."""
