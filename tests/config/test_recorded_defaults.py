"""The defaults of the real kube-scheduler of each minor, and the gates and plugins that it knows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubectl_sched.config import RELEASES, KubeVersion, load_configuration
from kubectl_sched.config.duration import format_duration
from kubectl_sched.config.features import known_gates
from kubectl_sched.config.plugin_table import EXTENSION_POINTS, in_tree_plugins
from kubectl_sched.config.types import Duration

RECORDED = Path(__file__).parents[2] / "fixtures" / "config"
REGISTERED_BY_THE_COMMAND = {"ContextualLogging", "LoggingAlphaOptions", "LoggingBetaOptions"}
"""Gates of logs that the command adds to those of the scheduler's packages, which is what was recorded."""

ALL_PODS = {point for point in EXTENSION_POINTS if not point.startswith(("placement", "podGroup"))}

FOUND = [path.name.removeprefix("defaults-").removesuffix(".json.gz") for path in RECORDED.glob("defaults-*.json.gz")]

pytestmark = pytest.mark.parametrize("version", sorted(map(KubeVersion.parse, FOUND)), ids=str)


def recorded(version: KubeVersion) -> Any:
    with gzip.open(RECORDED / f"defaults-{version}.json.gz", "rt", encoding="utf-8") as text:
        return json.load(text)


def shown(value: object) -> Any:
    """Write arguments in camelCase, durations as text, without what is empty."""
    if isinstance(value, Duration):
        return format_duration(value.nanoseconds)
    if isinstance(value, msgspec.Struct):
        fields = msgspec.structs.fields(type(value))
        return without_empty({field.encode_name: shown(getattr(value, field.name)) for field in fields})
    return [shown(item) for item in value] if isinstance(value, tuple) else value


def without_empty(value: Any) -> Any:
    """Write a recorded value, whose keys are Go's field names, in the same way."""
    if isinstance(value, dict):
        items = {name[0].lower() + name[1:]: without_empty(item) for name, item in value.items()}
        return {name: item for name, item in items.items() if item not in (None, "", 0, False, [], {})}
    return [without_empty(item) for item in value] if isinstance(value, list) else value


def test_the_default_profile(version: KubeVersion) -> None:
    """The recording leaves the extension points of pod groups out."""
    (profile,) = load_configuration(None, version).profiles.values()
    real = {
        point: [(plugin["name"], plugin.get("weight", 0)) for plugin in refs]
        for point, refs in recorded(version)["plugins"].items()
        if refs and point != "multiPoint"
    }
    assert {
        point: [(plugin.name, plugin.weight) for plugin in profile.plugins[point]]
        for point in ALL_PODS
        if profile.plugins.get(point)
    } == real


def test_the_default_plugins_before_they_are_expanded(version: KubeVersion) -> None:
    features = load_configuration(None, version).features
    assert [
        (plugin.name, plugin.weight)
        for plugin in RELEASES[version].multi_point
        if not plugin.gate or features.enabled(plugin.gate)
    ] == [(plugin["name"], plugin.get("weight", 0)) for plugin in recorded(version)["plugins"]["multiPoint"]]


def test_the_default_arguments(version: KubeVersion) -> None:
    (profile,) = load_configuration(None, version).profiles.values()
    assert {name: shown(args) for name, args in profile.args.items()} == {
        config["Name"]: without_empty(config["Args"]) for config in recorded(version)["pluginConfig"]
    }


def test_the_plugins_it_is_built_with(version: KubeVersion) -> None:
    assert sorted(in_tree_plugins(version)) == sorted(recorded(version)["registry"])


def test_the_feature_gates_it_knows(version: KubeVersion) -> None:
    real = recorded(version)["featureGates"]
    ours = {
        gate.name: {"default": gate.default, "locked": gate.locked, "preRelease": gate.stage.upper()}
        for gate in known_gates(version)
    }
    assert {name: ours.get(name) for name in real if name not in {"AllAlpha", "AllBeta"}} == {
        name: state for name, state in real.items() if name not in {"AllAlpha", "AllBeta"}
    }
    assert set(ours) - set(real) == REGISTERED_BY_THE_COMMAND
