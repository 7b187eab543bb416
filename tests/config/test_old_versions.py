"""Configurations of API versions that newer minors no longer serve, and what carries one."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from kubectl_sched.config import (
    NEWEST,
    Configuration,
    ConfigurationError,
    KubeVersion,
    PluginRef,
    load_configuration,
)
from kubectl_sched.config.config_map import configuration_in
from kubectl_sched.errors import SchedError

GROUP = "kubescheduler.config.k8s.io"
ONLY_IMAGES = """
profiles:
- plugins:
    filter: {disabled: [{name: '*'}], enabled: [{name: TaintToleration}]}
    score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 10}]}
    preFilter: {disabled: [{name: '*'}]}
    preScore: {disabled: [{name: '*'}]}
    postFilter: {disabled: [{name: '*'}]}
"""


def load(api: str, body: str = "", version: str | None = None) -> Configuration:
    document = yaml.safe_load(f"apiVersion: {GROUP}/{api}\nkind: KubeSchedulerConfiguration\n{body}")
    return load_configuration(document, KubeVersion.parse(version) if version else None)


def names(configuration: Configuration, point: str) -> list[str]:
    (profile,) = configuration.profiles.values()
    return [plugin.name for plugin in profile.plugins[point]]


@pytest.mark.parametrize(
    ("api", "newest", "served"),
    [("v1", str(NEWEST), ""), ("v1beta3", "1.28", "1.23 to 1.28"), ("v1beta2", "1.27", "1.22 to 1.27")],
)
def test_an_api_version_selects_the_newest_minor_that_serves_it(api: str, newest: str, served: str) -> None:
    configuration = load(api)
    assert str(configuration.version) == newest
    assert any(served in warning and "no version was given" in warning for warning in configuration.warnings) == bool(
        served
    )


@pytest.mark.parametrize(("api", "version", "served"), [("v1beta2", "1.29", "1.22 to 1.27"), ("v1", "1.24", "1.25 to")])
def test_a_minor_that_does_not_serve_it_reads_it_with_a_warning(api: str, version: str, served: str) -> None:
    configuration = load(api, version=version)
    assert str(configuration.version) == version
    assert any(served in warning and f"{version} would refuse" in warning for warning in configuration.warnings)


def test_v1beta2_weighs_and_orders_as_it_did() -> None:
    configuration = load("v1beta2", version="1.25")
    (profile,) = configuration.profiles.values()
    assert {plugin.name: plugin.weight for plugin in profile.plugins["score"]} == {
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "InterPodAffinity": 1,
        "NodeResourcesFit": 1,
        "NodeAffinity": 1,
        "PodTopologySpread": 2,
        "TaintToleration": 1,
    }
    assert names(configuration, "preFilter")[0] == "NodeResourcesFit"
    assert {"EBSLimits", "GCEPDLimits", "AzureDiskLimits"} <= set(names(configuration, "filter"))


def test_v1beta3_weighs_as_v1_does() -> None:
    old, new = load("v1beta3", version="1.26"), load("v1", version="1.26")
    assert [profile.plugins for profile in old.profiles.values()] == [
        profile.plugins for profile in new.profiles.values()
    ]


@pytest.mark.parametrize(
    ("version", "default_weight"), [("1.22", 1), ("1.23", 3), ("1.24", 3), ("1.28", 3), ("1.36", 3)]
)
def test_without_a_configuration_the_defaults_are_those_of_the_newest_api(version: str, default_weight: int) -> None:
    configuration = load_configuration(None, KubeVersion.parse(version))
    assert PluginRef("TaintToleration", default_weight) in configuration.profiles["default-scheduler"].plugins["score"]


@pytest.mark.parametrize(("api", "version"), [("v1beta2", "1.22"), ("v1beta2", "1.27"), ("v1", "1.25"), ("v1", "1.36")])
def test_one_filter_and_one_score(api: str, version: str) -> None:
    configuration = load(api, ONLY_IMAGES, version)
    (profile,) = configuration.profiles.values()
    assert {
        point: list(profile.plugins[point]) for point in ("preFilter", "filter", "postFilter", "preScore", "score")
    } == {
        "preFilter": [],
        "filter": [PluginRef("TaintToleration")],
        "postFilter": [],
        "preScore": [],
        "score": [PluginRef("ImageLocality", 10)],
    }


@pytest.mark.parametrize(("api", "ignored"), [("v1beta2", True), ("v1beta3", False), ("v1", False)])
def test_multi_point_is_read_and_ignored_by_v1beta2(api: str, ignored: bool) -> None:
    body = "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeName}]}}}]"
    configuration = load(api, body, "1.26")
    assert ("NodeName" in names(configuration, "filter")) == ignored
    assert any("ignores profiles[0].plugins.multiPoint" in warning for warning in configuration.warnings) == ignored


def test_a_default_plugin_that_is_gone_is_not_called_unknown() -> None:
    configuration = load("v1beta2", version="1.36")
    (profile,) = configuration.profiles.values()
    assert profile.unknown_plugins == ()
    assert "EBSLimits" not in names(configuration, "filter")


@pytest.mark.parametrize(
    ("api", "version", "field"),
    [
        ("v1beta2", "1.22", "profiles: [{plugins: {multiPoint: {}}}]"),
        ("v1beta3", "1.25", "profiles: [{plugins: {preEnqueue: {}}}]"),
        ("v1beta3", "1.28", "profiles: [{percentageOfNodesToScore: 5}]"),
        ("v1beta2", "1.27", "delayCacheUntilActive: true"),
        ("v1", "1.35", "profiles: [{plugins: {placementScore: {}}}]"),
        ("v1", "1.34", "profiles: [{pluginConfig: [{name: DynamicResources, args: {bindingTimeout: 5s}}]}]"),
    ],
)
def test_a_field_that_came_later_is_unknown(api: str, version: str, field: str) -> None:
    with pytest.raises(ConfigurationError, match="unknown field"):
        load(api, field, version)


def test_addresses_of_v1beta2_are_read_over() -> None:
    assert load("v1beta2", "healthzBindAddress: 0.0.0.0:10251\nmetricsBindAddress: 0.0.0.0:10251").profiles


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"apiVersion": "v1", "kind": "Policy"}, "write a KubeSchedulerConfiguration instead"),
        ({"apiVersion": f"{GROUP}/v1beta1", "kind": "KubeSchedulerConfiguration"}, "migrate it to"),
        ({"apiVersion": f"{GROUP}/v1", "kind": "NodeAffinityArgs"}, "belong under profiles"),
        ({"apiVersion": "v1", "kind": "ConfigMap"}, "ConfigMap of v1 is no configuration of kube-scheduler"),
        ({"kind": "KubeSchedulerConfiguration"}, "apiVersion is missing"),
        ({}, "kind is missing"),
        ([], "expected an object, got array"),
    ],
)
def test_other_documents_are_refused(document: Any, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        load_configuration(document)


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "my-scheduler-config"}, "data": data}


HELD = f"apiVersion: {GROUP}/v1beta2\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: my-scheduler\n"


def test_a_config_map_holds_a_configuration() -> None:
    document = config_map(**{"my-scheduler-config.yaml": f"{HELD}leaderElection:\n  leaderElect: true\n", "other": "x"})
    configuration = load_configuration(configuration_in(document, yaml.safe_load), KubeVersion(1, 29))
    assert list(configuration.profiles) == ["my-scheduler"]
    assert configuration.leader_election.resource_name == "kube-scheduler"
    assert any("1.22 to 1.27" in warning for warning in configuration.warnings)


@pytest.mark.parametrize(("data", "says"), [({"a": "x"}, "holds no"), ({"a": HELD, "b": HELD}, r"several .*\(a, b\)")])
def test_a_config_map_with_none_or_several_is_refused(data: dict[str, str], says: str) -> None:
    with pytest.raises(SchedError, match=says):
        configuration_in(config_map(**data), yaml.safe_load)
