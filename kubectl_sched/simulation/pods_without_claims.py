"""Pods without volumes and devices. A verdict on one also holds for others like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_sched.api.pod_volumes import Volume

if TYPE_CHECKING:
    from kubectl_sched.api.pod import Pod


def is_plain(pod: Pod) -> bool:
    """Report whether the pod has no devices, and no volumes but those that are the node's own."""
    return not pod.spec.resource_claims and all(map(is_of_node, pod.spec.volumes))


def counts_nobody(pod: Pod) -> bool:
    """Report whether a spread constraint has an empty selector: AddPod counts pods for it that PreFilter does not."""
    return any(
        each.label_selector is not None
        and not each.label_selector.match_labels
        and not each.label_selector.match_expressions
        for each in pod.spec.topology_spread_constraints
    )


def is_of_node(volume: Volume) -> bool:
    """Report whether the volume is the node's own."""
    return volume == Volume(
        name=volume.name, empty_dir=volume.empty_dir, host_path=volume.host_path, config_map=volume.config_map
    )
