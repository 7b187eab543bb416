"""Extension points of each in-tree plugin in each minor, which upstream declares by Go interfaces.

Answers to the plugins' own sources and to pkg/scheduler/framework/plugins/registry.go. Gates do not matter here: a
plugin whose feature is off still has its methods.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubectl_sched.config.versions import KubeVersion

EXTENSION_POINTS: Final = (
    "preFilter",
    "filter",
    "postFilter",
    "reserve",
    "preScore",
    "score",
    "preBind",
    "bind",
    "postBind",
    "permit",
    "preEnqueue",
    "queueSort",
    "placementGenerate",
    "placementScore",
    "podGroupPostFilter",
)
"""In the order in which kube-scheduler fills them, and so meets a mistake first."""

INTERFACES: Final = {
    point: {"placementGenerate": "PlacementGenerate", "placementScore": "PlacementScore"}.get(
        point, point[0].upper() + point[1:]
    )
    + "Plugin"
    for point in EXTENSION_POINTS
}
"""The Go interface of an extension point, as error texts name it."""

_ADDED_POINTS: Final = {"preEnqueue": 26, "placementGenerate": 36, "placementScore": 36, "podGroupPostFilter": 37}

_PLUGINS: Final = {
    "DefaultBinder": "bind",
    "DefaultPreemption": "postFilter preEnqueue:32 podGroupPostFilter:37",
    "DeferredPodScheduling:37": "preFilter filter permit",
    "DynamicResources:26": (
        "preFilter filter postFilter reserve preScore:26-31 score:35 preBind:30 postBind:26-31 preEnqueue:28 "
        "podGroupPostFilter:37"
    ),
    "GangScheduling:35": "reserve:35-35 permit preEnqueue",
    "ImageLocality": "score",
    "InterPodAffinity": "preFilter filter preScore score",
    "NodeAffinity": "preFilter filter preScore score",
    "NodeDeclaredFeatures:35": "preFilter filter",
    "NodeName": "preFilter:37 filter",
    "NodePorts": "preFilter filter",
    "NodeResourcesBalancedAllocation": "preScore:27 score",
    "NodeResourcesFit": "preFilter filter preScore:27 score placementScore:36",
    "NodeUnschedulable": "preFilter:37 filter",
    "NodeVolumeLimits": "preFilter:28 filter",
    "PodGroupPodsCount:36": "placementScore",
    "PodTopologySpread": "preFilter filter preScore score",
    "PrioritySort": "queueSort",
    "SchedulingGates:26": "preEnqueue",
    "TaintToleration": "preFilter:37 filter preScore score",
    "TopologyPlacementGenerator:36": "placementGenerate",
    "VolumeBinding": "preFilter filter reserve preScore:30 score preBind",
    "VolumeRestrictions": "preFilter filter",
    "VolumeZone": "preFilter:27 filter",
    "AzureDiskLimits:22-31": "preFilter:28 filter",
    "CinderLimits:22-31": "preFilter:28 filter",
    "EBSLimits:22-31": "preFilter:28 filter",
    "GCEPDLimits:22-31": "preFilter:28 filter",
    "SelectorSpread:22-28": "preScore score",
    "NodeLabel:22-22": "filter score",
    "NodePreferAvoidPods:22-22": "score",
    "NodeResourcesLeastAllocated:22-22": "score",
    "NodeResourcesMostAllocated:22-22": "score",
    "RequestedToCapacityRatio:22-22": "score",
    "ServiceAffinity:22-22": "preFilter filter score",
}
"""Plugin -> its extension points. `:26` means since 1.26, `:26-31` from 1.26 to 1.31, nothing all minors."""


@cache
def in_tree_plugins(version: KubeVersion) -> Mapping[str, frozenset[str]]:
    """Return the plugins that kube-scheduler is built with in `version`, each with its extension points."""
    return {
        name: frozenset(point for point, served in map(_split, points.split()) if _within(served, version))
        for (name, served_plugin), points in ((_split(key), value) for key, value in _PLUGINS.items())
        if _within(served_plugin, version)
    }


def extension_points(version: KubeVersion) -> tuple[str, ...]:
    """Return the extension points that `version` has, in the order in which kube-scheduler fills them."""
    return tuple(point for point in EXTENSION_POINTS if version.minor >= _ADDED_POINTS.get(point, 0))


def _split(entry: str) -> tuple[str, str]:
    name, _, served = entry.partition(":")
    return name, served


def _within(served: str, version: KubeVersion) -> bool:
    """Report whether a minor is in `26`, `26-31` or the empty text, which is always."""
    if not served:
        return True
    first, _, last = served.partition("-")
    return int(first) <= version.minor <= int(last or first if "-" in served else version.minor)
