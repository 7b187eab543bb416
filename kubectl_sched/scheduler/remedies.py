"""Which changes might make a node take a pod, by the plugin that keeps it out.

Nothing of this is shown before a replay with the changes applied has said that it helps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from kubectl_sched.scheduler import (
    neighbour_remedies,
    node_remedies,
    port_remedies,
    request_remedies,
    selector_remedies,
    toleration_remedies,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubectl_sched.scheduler.change import Way
    from kubectl_sched.scheduler.result import ScheduleResult

    Remedy: TypeAlias = Callable[[ScheduleResult, int], Iterator[Way]]

REMEDIES: Mapping[str, Remedy] = {
    "NodeUnschedulable": node_remedies.uncordon,
    "TaintToleration": toleration_remedies.let_in,
    "NodeAffinity": selector_remedies.match,
    "NodeResourcesFit": request_remedies.fit_in,
    "NodePorts": port_remedies.free_ports,
    "PodTopologySpread": neighbour_remedies.spread,
    "InterPodAffinity": neighbour_remedies.near,
}
"""By filter plugin: the ways in which the row's node might pass it, each of them enough for that plugin.

For the others there is none that a command would bring about: volumes and devices are where they are.
"""

PRE_FILTER_REMEDIES: Mapping[str, Callable[[ScheduleResult], Iterator[Way]]] = {
    "NodeAffinity": selector_remedies.ask_less,
}
"""The same for a plugin that rejects the pod as a whole."""
