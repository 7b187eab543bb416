"""Tries a group on the nodes of one topology domain after the other (plugins/topologyaware/topology_placement.go)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from kubectl_sched.framework.cycle_state import PluginError
from kubectl_sched.framework.interface import PlacementGeneratePlugin
from kubectl_sched.framework.podgroup_info import Placement

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.podgroup_info import PodGroupInfo
    from kubectl_sched.snapshot import Snapshot


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    """A group without a constraint has one placement, that of the group above it or all nodes."""

    name: ClassVar[str] = "TopologyPlacementGenerator"

    def __init__(self, args: None, handle: Handle) -> None:
        self._knows_empty = handle.release.empty_domains_count

    def generate_placements(self, info: PodGroupInfo, nodes: Snapshot, within: Placement) -> tuple[Placement, ...]:
        """Return a placement for each value of the label; only that of the members that have a node, if some do."""
        key = info.topology_key
        if key is None:
            return (within,)
        required = self._domain_of(info, key, nodes) if info.scheduled else None
        domains = nodes.label(key)
        found: dict[str, list[int]] = {}
        for row in within.rows.tolist():
            domain = domains[row]
            if (domain or (domain == "" and self._knows_empty)) and (required is None or domain == required):
                found.setdefault(domain, []).append(row)
        return tuple(Placement(name=name, rows=np.array(rows, dtype=np.intp)) for name, rows in sorted(found.items()))

    def _domain_of(self, info: PodGroupInfo, key: str, nodes: Snapshot) -> str:
        """The domain that the scheduled members are in."""
        found = ""
        for pod in info.scheduled:
            domain = _domain(pod, key, nodes)
            if not domain and not self._knows_empty:
                raise PluginError(_undetermined(f"empty topology domain found for pod {pod.key}"))
            if found not in {"", domain}:
                both = f"{found}, {domain}" if self._knows_empty else f'"{found}", "{domain}"'
                raise PluginError(_undetermined(f"more than 1 domain found for pod group: {both}"))
            found = domain
        return found


def _domain(pod: Pod, key: str, nodes: Snapshot) -> str:
    name = pod.spec.node_name
    row = nodes.row_of.get(name)
    if row is None:
        reason = f'getting node for pod {pod.key}: nodeinfo not found for node name "{name}"'
        raise PluginError(_undetermined(reason))
    domain = nodes.label(key)[row]
    if domain is None:
        raise PluginError(_undetermined(f"no topology domain found for pod {pod.key}"))
    return domain


def _undetermined(why: str) -> str:
    return f"cannot determine domain for already scheduled pods: {why}"
