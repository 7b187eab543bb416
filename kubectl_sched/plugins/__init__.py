"""The in-tree plugins: name -> where its class is. Each module is imported when a profile first uses the plugin."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from kubectl_sched.config import ResolvedProfile
    from kubectl_sched.framework.handle import Handle
    from kubectl_sched.framework.interface import Plugin

REGISTRY = {
    "DefaultBinder": "default_binder",
    "DefaultPreemption": "default_preemption.plugin",
    "DeferredPodScheduling": "deferred_pod_scheduling",
    "DynamicResources": "dynamic_resources.plugin",
    "GangScheduling": "gang_scheduling",
    "ImageLocality": "image_locality",
    "InterPodAffinity": "inter_pod_affinity.plugin",
    "NodeAffinity": "node_affinity.plugin",
    "NodeDeclaredFeatures": "node_declared_features",
    "NodeName": "node_name",
    "NodePorts": "node_ports",
    "NodeResourcesBalancedAllocation": "node_resources.balanced_allocation",
    "NodeResourcesFit": "node_resources.fit",
    "NodeUnschedulable": "node_unschedulable",
    "NodeVolumeLimits": "node_volume_limits.plugin",
    "PodGroupPodsCount": "pod_group_pods_count",
    "PodTopologySpread": "pod_topology_spread.plugin",
    "PrioritySort": "priority_sort",
    "SchedulingGates": "scheduling_gates",
    "TaintToleration": "taint_toleration",
    "TopologyPlacementGenerator": "topology_placement_generator",
    "VolumeBinding": "volume_binding.plugin",
    "VolumeRestrictions": "volume_restrictions",
    "VolumeZone": "volume_zone",
}


def make_plugins(profile: ResolvedProfile, handle: Handle) -> dict[str, Plugin]:
    """Every plugin that some extension point of the profile enables, by name."""
    names = dict.fromkeys(ref.name for refs in profile.plugins.values() for ref in refs)
    return {name: _make(name, profile, handle) for name in names if name in REGISTRY}


def _make(name: str, profile: ResolvedProfile, handle: Handle) -> Plugin:
    plugin_class = getattr(import_module(f"{__name__}.{REGISTRY[name]}"), name)
    return cast("Plugin", plugin_class(profile.args.get(name), handle))
