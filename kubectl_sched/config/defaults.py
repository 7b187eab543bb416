"""Defaulting of a configuration: the default plugins, and fields whose default depends on a gate or another field.

Answers to pkg/scheduler/apis/config/v1/defaults.go and default_plugins.go, and to v1beta2's of 1.22 to 1.27.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from kubectl_sched.config.plugin_table import in_tree_plugins
from kubectl_sched.config.types import (
    ARGS,
    DEFAULT_RESOURCES,
    MAX_CUSTOM_PRIORITY_SCORE,
    Args,
    Duration,
    DynamicResourcesArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    Plugin,
    Plugins,
    PluginSet,
    PodTopologySpreadArgs,
    ResourceSpec,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from kubectl_sched.config.versions import RELEASES, V1BETA2, Release

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from kubectl_sched.config.features import Features

_V1BETA2_FILTER: Final = (
    "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions EBSLimits "
    "GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone PodTopologySpread InterPodAffinity"
)
_V1BETA2_SCORE: Final = (
    "NodeResourcesBalancedAllocation:1 ImageLocality:1 InterPodAffinity:1 NodeResourcesFit:1 NodeAffinity:1 "
    "PodTopologySpread:2 TaintToleration:1"
)


def default_plugins(release: Release, features: Features, api_version: str) -> Plugins:
    """Return the default plugins of a configuration of `api_version`, gates applied."""
    source = (
        release if api_version in release.config_apis or api_version.endswith("/v1") else _last_to_serve(api_version)
    )
    known = in_tree_plugins(release.version)
    if api_version == V1BETA2:
        return _v1beta2_plugins(source, features, known)
    enabled = (
        Plugin(name=plugin.name, weight=plugin.weight)
        for plugin in source.multi_point
        if plugin.name in known
        and _gate_open(plugin.gate, features)
        and (api_version.endswith("/v1") or plugin.name != "DynamicResources")
    )
    return Plugins(multi_point=PluginSet(enabled=tuple(enabled)), reserve=_default_reserve(release, features))


def _default_reserve(release: Release, features: Features) -> PluginSet:
    """Take out DefaultPreemption's Reserve, which is for groups alone, where there are none."""
    is_idle = release.preemption_ranks_nodes and not features.enabled("GenericWorkload")
    return PluginSet(disabled=(Plugin(name="DefaultPreemption"),)) if is_idle else PluginSet()


def complete(args: Args, features: Features) -> Args:
    """Return a plugin's arguments with the defaults that depend on a gate or on another field."""
    match args:
        case NodeResourcesFitArgs():
            strategy = args.scoring_strategy
            resources = _weighted(strategy.resources or DEFAULT_RESOURCES)
            return replace(args, scoring_strategy=replace(strategy, resources=resources))
        case NodeResourcesBalancedAllocationArgs():
            return replace(args, resources=_weighted(args.resources or DEFAULT_RESOURCES))
        case PodTopologySpreadArgs():
            return replace(args, defaulting_type=args.defaulting_type or "System")
        case VolumeBindingArgs():
            return replace(args, shape=args.shape or _storage_capacity_shape(features) or args.shape)
        case DynamicResourcesArgs():
            return _timeouts(args, features)
        case _:
            return args


def args_types(release: Release) -> Mapping[str, type[Args]]:
    """Return the plugins that take arguments in a minor."""
    if release.dynamic_resources_args:
        return ARGS
    return {name: kind for name, kind in ARGS.items() if name != "DynamicResources"}


def default_args(name: str, release: Release, features: Features) -> Args | None:
    """Return the arguments of a plugin that is given none; None for a plugin that has no arguments."""
    kind = args_types(release).get(name)
    return None if kind is None else complete(kind(), features)


def _last_to_serve(api_version: str) -> Release:
    return [release for release in RELEASES.values() if api_version in release.config_apis][-1]


def _gate_open(gate: str, features: Features) -> bool:
    if gate.startswith("!"):
        return not features.enabled(gate[1:])
    return not gate or features.enabled(gate)


def _v1beta2_plugins(release: Release, features: Features, known: Container[str]) -> Plugins:
    """Return v1beta2's plugins, which are listed by extension point and weigh otherwise than v1's."""
    since_1_27 = release.version.minor >= 27
    pre_filter = (
        "NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread InterPodAffinity VolumeBinding "
        + ("VolumeZone " if since_1_27 else "")
        + "NodeAffinity"
    )
    pre_score = "InterPodAffinity PodTopologySpread TaintToleration NodeAffinity" + (
        " NodeResourcesFit NodeResourcesBalancedAllocation" if since_1_27 else ""
    )
    score = _V1BETA2_SCORE + (" VolumeBinding:1" if features.enabled("VolumeCapacityPriority") else "")
    if any(plugin.name == "SelectorSpread" for plugin in release.multi_point) and not features.enabled(
        "DefaultPodTopologySpread"
    ):
        pre_score, score = pre_score + " SelectorSpread", score + " SelectorSpread:1"
    gates = "SchedulingGates" if release.version.minor >= 26 and features.enabled("PodSchedulingReadiness") else ""
    return Plugins(
        pre_enqueue=_plugin_set(gates, known),
        queue_sort=_plugin_set("PrioritySort", known),
        pre_filter=_plugin_set(pre_filter, known),
        filter=_plugin_set(_V1BETA2_FILTER, known),
        post_filter=_plugin_set("DefaultPreemption", known),
        pre_score=_plugin_set(pre_score, known),
        score=_plugin_set(score, known),
        reserve=_plugin_set("VolumeBinding", known),
        pre_bind=_plugin_set("VolumeBinding", known),
        bind=_plugin_set("DefaultBinder", known),
    )


def _plugin_set(text: str, known: Container[str]) -> PluginSet:
    """Return the plugins of a text such as `ImageLocality:1 NodeName`, without those that are gone."""
    entries = (entry.partition(":") for entry in text.split())
    return PluginSet(
        enabled=tuple(Plugin(name=name, weight=int(weight or 0)) for name, _, weight in entries if name in known)
    )


def _weighted(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    """Give weight 1 to a resource whose weight is 0."""
    return tuple(replace(resource, weight=resource.weight or 1) for resource in resources)


def _storage_capacity_shape(features: Features) -> tuple[UtilizationShapePoint, ...]:
    """Return the default shape: StorageCapacityScoring prefers much free storage, its predecessor little."""
    top = MAX_CUSTOM_PRIORITY_SCORE
    if features.enabled("StorageCapacityScoring"):
        return UtilizationShapePoint(utilization=0, score=top), UtilizationShapePoint(utilization=100, score=0)
    if features.enabled("VolumeCapacityPriority"):
        return UtilizationShapePoint(utilization=0, score=0), UtilizationShapePoint(utilization=100, score=top)
    return ()


def _timeouts(args: DynamicResourcesArgs, features: Features) -> DynamicResourcesArgs:
    filter_timeout, binding_timeout = args.filter_timeout, args.binding_timeout
    if filter_timeout is None and features.enabled("DRASchedulerFilterTimeout"):
        filter_timeout = Duration.of(10)
    conditions = features.enabled("DRADeviceBindingConditions") and features.enabled("DRAResourceClaimDeviceStatus")
    if binding_timeout is None and conditions and "bindingTimeout" in RELEASES[features.version].dynamic_resources_args:
        binding_timeout = Duration.of(600)
    return replace(args, filter_timeout=filter_timeout, binding_timeout=binding_timeout)
