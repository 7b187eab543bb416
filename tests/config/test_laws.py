"""Laws of profiles, durations and names."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kubectl_sched.api.apimachinery.validation import label_value_errors
from kubectl_sched.config import RELEASES, SUPPORTED, ConfigurationError, KubeVersion, load_configuration
from kubectl_sched.config.duration import format_duration, parse_duration
from kubectl_sched.config.field_errors import qualified_name_errors
from kubectl_sched.config.plugin_table import extension_points, in_tree_plugins
from kubectl_sched.config.profiles import merge, merge_set
from kubectl_sched.config.types import Plugin, Plugins, PluginSet

PLUGINS = sorted(in_tree_plugins(KubeVersion(1, 36)))
POINTS = ("preFilter", "filter", "preScore", "score", "multiPoint")

versions = st.sampled_from([version for version in SUPPORTED if RELEASES[version].exact])
named = st.builds(Plugin, name=st.sampled_from(PLUGINS), weight=st.integers(0, 9))
sets = st.builds(
    PluginSet,
    enabled=st.lists(named, unique_by=lambda plugin: plugin.name, max_size=4).map(tuple),
    disabled=st.lists(st.builds(Plugin, name=st.sampled_from([*PLUGINS, "*"])), max_size=3).map(tuple),
)


def written(plugins: PluginSet) -> dict[str, Any]:
    return {
        "enabled": [{"name": plugin.name, "weight": plugin.weight} for plugin in plugins.enabled],
        "disabled": [{"name": plugin.name} for plugin in plugins.disabled],
    }


def document(points: dict[str, PluginSet]) -> dict[str, Any]:
    plugins = {point: written(plugins) for point, plugins in points.items()}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": plugins}],
    }


@given(sets)
def test_an_empty_set_changes_nothing(default: PluginSet) -> None:
    enabled = [plugin for plugin in default.enabled if not {plugin.name, "*"} & {off.name for off in default.disabled}]
    assert list(merge_set(default, PluginSet()).enabled) == enabled


@given(sets, sets)
def test_merging_keeps_what_is_enabled_and_the_order_of_defaults(default: PluginSet, custom: PluginSet) -> None:
    merged = [plugin.name for plugin in merge_set(default, custom).enabled]
    off = {plugin.name for plugin in (*custom.disabled, *default.disabled)}
    kept = [] if "*" in off else [plugin.name for plugin in default.enabled if plugin.name not in off]
    assert {plugin.name for plugin in custom.enabled} <= set(merged)
    assert merged[: len(kept)] == kept


@given(st.dictionaries(st.sampled_from(POINTS), sets), versions)
def test_a_profile_is_refused_or_every_plugin_stands_where_it_belongs(
    points: dict[str, PluginSet], version: KubeVersion
) -> None:
    try:
        (profile,) = load_configuration(document(points), version).profiles.values()
    except ConfigurationError:
        return
    known = in_tree_plugins(version)
    assert set(profile.plugins) == set(extension_points(version))
    for point, plugins in profile.plugins.items():
        names = [plugin.name for plugin in plugins]
        assert len(names) == len(set(names))
        assert all(point in known[name] for name in names)
        assert all((plugin.weight > 0) == (point in {"score", "placementScore"}) for plugin in plugins)


@given(st.sets(st.sampled_from(sorted(set(PLUGINS) - {"PrioritySort", "DefaultBinder"})), max_size=4), versions)
def test_disabling_at_multi_point_takes_a_plugin_away_everywhere(names: set[str], version: KubeVersion) -> None:
    off = PluginSet(disabled=tuple(Plugin(name=name) for name in names))
    (profile,) = load_configuration(document({"multiPoint": off}), version).profiles.values()
    (usual,) = load_configuration(None, version).profiles.values()
    assert profile.plugins == {
        point: tuple(plugin for plugin in plugins if plugin.name not in names)
        for point, plugins in usual.plugins.items()
    }


@given(st.dictionaries(st.sampled_from(("filter", "score")), sets))
def test_merging_nothing_is_merging_none(points: dict[str, PluginSet]) -> None:
    default = Plugins(**points)
    assert merge(default, None) == default


@given(st.integers(-(2**62), 2**62))
def test_durations_are_read_as_they_are_written(nanoseconds: int) -> None:
    assert parse_duration(format_duration(nanoseconds)) == nanoseconds


@given(
    st.from_regex(r"([a-z0-9]([-a-z0-9]{0,9}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,9}[A-Za-z0-9])?", fullmatch=True)
)
def test_names_after_the_rule_are_names(name: str) -> None:
    for release in RELEASES.values():
        assert qualified_name_errors(name, release) == []
        assert label_value_errors(name.rpartition("/")[2], release.length_unit) == []


@given(st.text(max_size=70))
def test_a_label_value_is_a_name_without_prefix_or_empty(text: str) -> None:
    release = RELEASES[KubeVersion(1, 36)]
    plain = not text or ("/" not in text and not qualified_name_errors(text, release))
    assert (label_value_errors(text, release.length_unit) == []) == plain
