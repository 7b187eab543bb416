"""Profiles resolved: default plugins merged with a profile's, multiPoint expanded, weights settled.

Answers to mergePlugins in pkg/scheduler/apis/config/v1/default_plugins.go and to NewFramework in
pkg/scheduler/framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from kubectl_sched.api.apimachinery.int64 import MAX_INT64, wrapped
from kubectl_sched.config.plugin_table import EXTENSION_POINTS, INTERFACES, extension_points, in_tree_plugins
from kubectl_sched.config.refusal import ConfigurationError
from kubectl_sched.config.types import Args, Plugin, Plugins, PluginSet

if TYPE_CHECKING:
    from kubectl_sched.config.versions import Release

UNMERGED: Final = {"v1beta2": ("multi_point", "pre_enqueue"), "v1beta3": ("pre_enqueue",)}
"""Fields that kube-scheduler decodes from a profile of an old apiVersion but fails to merge."""

_MAX_NODE_SCORE: Final = 100
_MAX_TOTAL_SCORE: Final = MAX_INT64
_WEIGHTED: Final = {"score": "score plugins", "placementScore": "placement score plugins"}


class PluginRef(msgspec.Struct, frozen=True):
    """A plugin at an extension point; `weight` is 0 where there is nothing to weigh."""

    name: str
    weight: int = 0


class UnknownPlugin(msgspec.Struct, frozen=True, rename="camel"):
    """An enabled plugin that this kube-scheduler is not built with, and what it says of it. It is left out."""

    name: str
    extension_points: tuple[str, ...]
    """The extension points at which it is enabled, `multiPoint` among them."""
    upstream: str

    @property
    def possible(self) -> tuple[str, ...]:
        """Return the extension points that it may have; multiPoint leaves them open."""
        return EXTENSION_POINTS if "multiPoint" in self.extension_points else self.extension_points


class ResolvedProfile(msgspec.Struct, frozen=True):
    """The plugins that kube-scheduler runs for one schedulerName."""

    scheduler_name: str
    plugins: Mapping[str, tuple[PluginRef, ...]]
    """Extension point (`preFilter`) -> its plugins in run order, `()` where there are none."""
    args: Mapping[str, Args]
    """Plugin -> its arguments, for every enabled plugin that has any."""
    percentage_of_nodes_to_score: int
    """0 means adaptive."""
    percentage_of_placements_to_score: int = 0
    """0 means adaptive."""
    unknown_plugins: tuple[UnknownPlugin, ...] = ()


def merge(default: Plugins, custom: Plugins | None, api_version: str = "") -> Plugins:
    """Merge a profile's plugins into the default ones; an old apiVersion leaves out the sets that came after it."""
    if custom is None:
        return default
    unmerged = UNMERGED.get(api_version.rpartition("/")[2], ())
    fields = [name for name in Plugins.__struct_fields__ if name not in unmerged]
    merged = {name: merge_set(getattr(default, name), getattr(custom, name)) for name in fields}
    return msgspec.structs.replace(default, **merged)


def merge_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    """Merge one set: defaults stay in their order unless disabled, and take the profile's weight if it names them."""
    disabled = (*custom.disabled, *default.disabled)
    off = {plugin.name for plugin in disabled}
    last = {plugin.name: index for index, plugin in enumerate(custom.enabled)}
    replaced: set[int] = set()
    enabled: list[Plugin] = []
    for plugin in () if "*" in off else default.enabled:
        if plugin.name in off:
            continue
        index = last.get(plugin.name)
        if index is None:
            enabled.append(plugin)
        else:
            replaced.add(index)
            enabled.append(custom.enabled[index])
    enabled.extend(plugin for index, plugin in enumerate(custom.enabled) if index not in replaced)
    return PluginSet(enabled=tuple(enabled), disabled=disabled)


class Expansion:
    """One profile on its way from merged plugins to resolved ones. A mistake raises what kube-scheduler says."""

    def __init__(self, scheduler_name: str, plugins: Plugins, release: Release) -> None:
        self.scheduler_name = scheduler_name
        self.release = release
        self.points = extension_points(release.version)
        self.known = in_tree_plugins(release.version)
        self.multi_point = plugins.multi_point
        self.sets: dict[str, PluginSet] = {point: plugins.at(point) for point in self.points}
        self.unknown: dict[str, UnknownPlugin] = {}

    def warnings(self) -> list[str]:
        """Return a sentence for each plugin that is left out; after `resolve`."""
        return [
            f"the plugin {unknown.name} is not part of kube-scheduler and not replayed "
            f"(enabled at {', '.join(unknown.extension_points)}); without it kube-scheduler says: {unknown.upstream}"
            for unknown in self.unknown.values()
        ]

    def resolve(self) -> dict[str, tuple[PluginRef, ...]]:
        """Return the plugins of every extension point in run order."""
        names = {point: self._listed(point) for point in self.points}
        for point in self.points:
            names[point] = self._with_multi_point(point, names[point])
        self._check_required(names)
        weights = {point: self._weights(point) for point in _WEIGHTED if point in names}
        return {
            point: tuple(PluginRef(name, weights.get(point, {}).get(name, 0)) for name in names[point])
            for point in self.points
        }

    def _listed(self, point: str) -> tuple[str, ...]:
        """Return what the extension point itself enables (updatePluginList)."""
        names: list[str] = []
        for plugin in self.sets[point].enabled:
            if plugin.name not in self.known:
                self._note_unknown(plugin.name, point, point)
            elif point not in self.known[plugin.name]:
                raise self._refusal(f'plugin "{plugin.name}" does not extend {INTERFACES[point]} plugin')
            elif plugin.name in names:
                raise self._refusal(f'plugin "{plugin.name}" already registered as "{INTERFACES[point]}"')
            else:
                names.append(plugin.name)
        return tuple(names)

    def _with_multi_point(self, point: str, listed: tuple[str, ...]) -> tuple[str, ...]:
        """Add what multiPoint brings: listed plugins that override it first, its others, then other listed ones."""
        disabled = {plugin.name for plugin in self.sets[point].disabled}
        if "*" in disabled:
            return listed
        overriding: set[str] = set()
        added: list[str] = []
        for plugin in self.multi_point.enabled:
            name = plugin.name
            if name not in self.known:
                self._note_unknown(name, "multiPoint", point)
            elif point not in self.known[name] or name in disabled:
                continue
            elif name in listed:
                overriding.add(name)
            elif name in added:
                raise self._refusal(f'plugin "{name}" already registered as "{INTERFACES[point]}"')
            else:
                added.append(name)
        return (
            *(name for name in listed if name in overriding),
            *added,
            *(name for name in listed if name not in overriding),
        )

    def _check_required(self, names: dict[str, tuple[str, ...]]) -> None:
        """Refuse a profile that cannot sort or bind, unless a plugin that is left out may have done it."""
        profile = f'profile with scheduler name "{self.scheduler_name}"'
        for point, usual in (("queueSort", "PrioritySort"), ("bind", "DefaultBinder")):
            if not names[point] and any(point in unknown.possible for unknown in self.unknown.values()):
                names[point] = (usual,)
        if len(names["queueSort"]) != 1:
            text = f"only one queue sort plugin required for {profile}, but got {len(names['queueSort'])}"
            raise self._refusal(text, "enable one plugin at queueSort, such as PrioritySort")
        if not names["bind"]:
            text = f"at least one bind plugin is needed for {profile}"
            raise self._refusal(text, "enable one plugin at bind, such as DefaultBinder")
        if len(names.get("placementGenerate", ())) > 1 and not self.release.placements_are_merged:
            raise self._refusal(f"at most one placement generate plugin is allowed for {profile}")

    def _weights(self, point: str) -> dict[str, int]:
        """Return the weights: the extension point's before multiPoint's, 1 where unset; refuse an overflow."""
        weights: dict[str, int] = {}
        total = 0
        for plugin in (*self.sets[point].enabled, *self.multi_point.enabled):
            if point not in self.known.get(plugin.name, ()) or plugin.name in weights:
                continue
            weights[plugin.name] = plugin.weight or 1
            if weights[plugin.name] * _MAX_NODE_SCORE > wrapped(_MAX_TOTAL_SCORE - total):
                prefix = f"{_WEIGHTED[point]}: " if self.release.overflow_names_point else ""
                advice = "the weights of the score plugins are too large together, or one is negative"
                raise self._refusal(f"{prefix}total score of Score plugins could overflow", advice)
            total += weights[plugin.name] * _MAX_NODE_SCORE
        return weights

    def _note_unknown(self, name: str, enabled_at: str, met_at: str) -> None:
        before = self.unknown.get(name)
        if before is None:
            upstream = self._text(f'{INTERFACES[met_at]} "{name}" does not exist')
            self.unknown[name] = UnknownPlugin(name, (enabled_at,), upstream)
        elif enabled_at not in before.extension_points:
            points = (*before.extension_points, enabled_at)
            self.unknown[name] = msgspec.structs.replace(before, extension_points=points)

    def _refusal(self, text: str, advice: str = "") -> ConfigurationError:
        return ConfigurationError(self._text(text), advice)

    def _text(self, text: str) -> str:
        return f"initializing profiles: creating profile for scheduler name {self.scheduler_name}: {text}"
