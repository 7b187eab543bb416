"""Changes that might let a pod on a node, by the plugin that keeps it out.

Nothing of this is shown before a replay with the changes applied has said that it helps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.suggestions.remedies import (
    neighbours,
    node_changes,
    ports,
    resource_requests,
    selectors,
    tolerations,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_sched.scheduler.result import ScheduleResult
    from kubectl_sched.suggestions.change import Way

    Remedy: TypeAlias = Callable[[ScheduleResult, int], Iterator[Way]]

REMEDIES: Mapping[str, Remedy] = {
    "NodeUnschedulable": node_changes.uncordon,
    "TaintToleration": tolerations.let_in,
    "NodeAffinity": selectors.match,
    "NodeResourcesFit": resource_requests.fit_in,
    "NodePorts": ports.free_ports,
    "PodTopologySpread": neighbours.spread,
    "InterPodAffinity": neighbours.near,
}
"""By filter plugin: the ways in which the row's node might pass it, each of them enough for that plugin.

For the others there is none that a command would bring about: volumes and devices are where they are.
"""

PRE_FILTER_REMEDIES: Mapping[str, Callable[[ScheduleResult], Iterator[Way]]] = {
    "NodeAffinity": selectors.ask_less,
}
"""Remedies by plugin where it rejects the pod as a whole."""
