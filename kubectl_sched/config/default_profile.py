"""The plugins of the default profile, minor by minor, in the order in which they run.

Answers to getDefaultPlugins in pkg/scheduler/apis/config/v1/default_plugins.go, and to v1beta3's. What v1beta2 lists by
extension point is in `defaults.py`.
"""

from __future__ import annotations

from typing import Final

import msgspec


class DefaultPlugin(msgspec.Struct, frozen=True):
    """A plugin of the default profile: weight 0 where upstream leaves it unset, `gate` if only with that feature."""

    name: str
    weight: int = 0
    gate: str = ""


CLOUD_VOLUME_LIMITS: Final = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits")
"""The default plugins up to 1.30 that each limit the volumes of one cloud."""

PLUGINS_OF_1_24: Final = (
    DefaultPlugin("PrioritySort"),
    DefaultPlugin("NodeUnschedulable"),
    DefaultPlugin("NodeName"),
    DefaultPlugin("TaintToleration", 3),
    DefaultPlugin("NodeAffinity", 2),
    DefaultPlugin("NodePorts"),
    DefaultPlugin("NodeResourcesFit", 1),
    DefaultPlugin("VolumeRestrictions"),
    DefaultPlugin("EBSLimits"),
    DefaultPlugin("GCEPDLimits"),
    DefaultPlugin("NodeVolumeLimits"),
    DefaultPlugin("AzureDiskLimits"),
    DefaultPlugin("VolumeBinding"),
    DefaultPlugin("VolumeZone"),
    DefaultPlugin("PodTopologySpread", 2),
    DefaultPlugin("InterPodAffinity", 2),
    DefaultPlugin("DefaultPreemption"),
    DefaultPlugin("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin("ImageLocality", 1),
    DefaultPlugin("DefaultBinder"),
)


def _before(name: str, plugins: tuple[DefaultPlugin, ...], *added: DefaultPlugin) -> tuple[DefaultPlugin, ...]:
    """Insert `added` in front of the plugin `name`."""
    at = next(index for index, plugin in enumerate(plugins) if plugin.name == name)
    return (*plugins[:at], *added, *plugins[at:])


def _without(plugins: tuple[DefaultPlugin, ...], *names: str) -> tuple[DefaultPlugin, ...]:
    return tuple(plugin for plugin in plugins if plugin.name not in names)


_GATES_PLUGIN = DefaultPlugin("SchedulingGates", gate="PodSchedulingReadiness")
_DRA = DefaultPlugin("DynamicResources", gate="DynamicResourceAllocation")
_DRA_SCORING = DefaultPlugin("DynamicResources", 2, gate="DynamicResourceAllocation")
_DECLARED = DefaultPlugin("NodeDeclaredFeatures", gate="NodeDeclaredFeatures")
_GANG = DefaultPlugin("GangScheduling", gate="GangScheduling")
_TOPOLOGY = (
    DefaultPlugin("TopologyPlacementGenerator", gate="TopologyAwareWorkloadScheduling"),
    DefaultPlugin("PodGroupPodsCount", 1, gate="TopologyAwareWorkloadScheduling"),
)
_DEFERRED = DefaultPlugin("DeferredPodScheduling", gate="InPlacePodVerticalScalingSchedulerPreemption")

PLUGINS_OF_1_22: Final = (*PLUGINS_OF_1_24, DefaultPlugin("SelectorSpread", 1, gate="!DefaultPodTopologySpread"))
PLUGINS_OF_1_26: Final = _before("DefaultPreemption", (*PLUGINS_OF_1_24, _GATES_PLUGIN), _DRA)
PLUGINS_OF_1_30: Final = (DefaultPlugin("SchedulingGates"), *_without(PLUGINS_OF_1_26, "SchedulingGates"))
PLUGINS_OF_1_31: Final = _without(PLUGINS_OF_1_30, *CLOUD_VOLUME_LIMITS)
PLUGINS_OF_1_35: Final = _before(
    "DefaultPreemption", (*_without(PLUGINS_OF_1_31, "DynamicResources"), _DECLARED, _GANG), _DRA_SCORING
)
PLUGINS_OF_1_36: Final = (*PLUGINS_OF_1_35, *_TOPOLOGY)
PLUGINS_OF_1_37: Final = _before(
    "NodeUnschedulable",
    (
        *_before("NodeResourcesFit", _without(PLUGINS_OF_1_35, "NodeName", "GangScheduling"), _DEFERRED),
        DefaultPlugin("GangScheduling", gate="GenericWorkload"),
        *_TOPOLOGY,
    ),
    DefaultPlugin("NodeName"),
)
